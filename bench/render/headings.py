"""Heading, file name and notes of a rendering, the same in every format.

They are made here and not by the artifact, so every table names its profile and explains its marks.
"""

from collections.abc import Iterator

from bench.artifact import Drawing, Sheet
from bench.locations import DEFAULT_PROFILE
from bench.render.layout import find_measured_columns, read_cells


def make_file_stem(rendering: Sheet | Drawing) -> str:
    """The name of its files without suffix: table6 at the default profile, table6-paper at another. A
    qualified name such as other/table2 becomes other-table2."""
    name = rendering.name.replace("/", "-")
    return name if rendering.profile == DEFAULT_PROFILE else f"{name}-{rendering.profile}"


def make_heading(rendering: Sheet | Drawing) -> str:
    return f"{rendering.title} ({rendering.profile} profile)"


def collect_notes(sheet: Sheet) -> list[str]:
    """The artifact's own notes, then the meaning of the marks that occur."""
    return [*sheet.notes, *_explain_marks(sheet)]


def _explain_marks(sheet: Sheet) -> Iterator[str]:
    columns = find_measured_columns(sheet)
    cells = [cell for column in columns for cell in read_cells(sheet, column) if cell is not None]
    if any(cell.half_width is not None for cell in cells):
        yield (
            "Mean over n seeds ± half-width of its 95 % interval (Student's t); "
            "a single seed has no interval."
        )
    if sheet.profile != "paper" and any(cell.paper is not None for cell in cells):
        yield (
            "The paper's values are of its own setting and stand here for orientation: "
            f"no number of the {sheet.profile} profile reproduces or contradicts them."
        )
    if sheet.profile == "paper" and any(cell.verdict for cell in cells):
        yield (
            "Verdict: agrees if the paper's value lies where another run of ours would (95 %), "
            "else ours lies above or below it; undetermined with one seed, or where some diverged."
        )
