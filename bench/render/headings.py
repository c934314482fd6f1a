"""What stands around a table in every format: a heading that names the profile, the caption, and notes that
explain its marks.

The heading and the notes are made here, not by the artifact, so that no table can leave out which profile it
is of.
"""

from collections.abc import Iterator

from bench.artifact import Drawing, Sheet
from bench.locations import DEFAULT_PROFILE
from bench.render.layout import cells_of, measured_columns


def stem(rendering: Sheet | Drawing) -> str:
    """What its files are called: table6 at the default profile, table6-paper at another, so that none is
    written over another's."""
    return rendering.name if rendering.profile == DEFAULT_PROFILE else f"{rendering.name}-{rendering.profile}"


def heading(rendering: Sheet | Drawing) -> str:
    return f"{rendering.title} ({rendering.profile} profile)"


def notes(sheet: Sheet) -> list[str]:
    """The artifact's own, then what the marks mean, as far as they occur."""
    return [*sheet.notes, *_legend(sheet)]


def _legend(sheet: Sheet) -> Iterator[str]:
    cells = [
        cell for column in measured_columns(sheet) for cell in cells_of(sheet, column) if cell is not None
    ]
    if any(cell.half_width is not None for cell in cells):
        yield "Mean over n seeds ± half-width of its 95 % interval (Student's t); a single seed has no interval."
    if sheet.profile != "paper" and any(cell.paper is not None for cell in cells):
        yield (
            f"The paper's values are of its own setting and stand here for orientation: no number of the {sheet.profile} profile "
            "reproduces or contradicts them."
        )
    if sheet.profile == "paper" and any(cell.verdict for cell in cells):
        yield (
            "Verdict: agrees if the paper's value lies where another run of ours would (95 %), else ours lies above or below it; "
            "undetermined with one seed, or where some diverged."
        )
