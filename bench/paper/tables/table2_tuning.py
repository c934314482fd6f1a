"""Notes of Table 2 on the tuning of its lines at `laptop`, read from the trials of `table2-grid`."""

from collections.abc import Iterator
from pathlib import Path

from bench.experiment import Line
from bench.judging.cell import Cell
from bench.judging.results import Results, open_store
from bench.locations import PUBLISHED
from bench.paper.experiments.nice import NICE
from sweeps.trial.identity import Profile, Trial


def describe_tuning(results: Results, metric: str) -> Iterator[str]:
    """How many tuning trials there are, settings at the edge of a grid, and lines that do not have the best
    setting of their grid."""
    tuning, where = find_tuning_results(results)
    cells = {line.label: read_grid(tuning, line, metric) for line in NICE.lines}
    counts = [found.total for pairs in cells.values() for _, found in pairs]
    total, stored = len(counts), sum(map(bool, counts))
    if not stored:
        yield "What was tried to choose the settings is not in this store; to run it: vera run table2-grid."
        return
    yield (
        f"Every line of the paper has the best, by test log-likelihood, of {total // len(NICE.lines)} "
        "settings or more that were tried on a seed of their own "
        f"(vera run table2-grid; {stored} of its {total} trials are in {where})."
    )
    if edges := [text for line in NICE.lines for text in find_edges(line, results.profile)]:
        yield (
            f"The best lies at the edge of what was tried, and more might lie beyond it: {', '.join(edges)}."
        )
    for line in NICE.lines:
        best = find_best(cells[line.label])
        if best is not None and best.spec.method != line.settings(results.profile):
            yield f"{line.label} has not the best of what was tried, which is {best.label}."


def find_tuning_results(results: Results) -> tuple[Results, str]:
    """The results that hold tuning trials, and their name: the user's own, or the published ones if the user
    has none."""
    own = results.copy_without_notes()
    has_own = any(own.find_all_rows(NICE.grid_trials(line, results.profile)) for line in NICE.lines)
    if has_own or not Path(PUBLISHED, "trials").is_dir():
        return own, "this store"
    return Results(open_store(PUBLISHED), results.profile, "published"), PUBLISHED


def read_grid(results: Results, line: Line, metric: str) -> list[tuple[Trial, Cell]]:
    """Every trial of the line's grid with its cell."""
    return [(trial, results.cell(trial, metric)) for trial in NICE.grid_trials(line, results.profile)]


def find_best(pairs: list[tuple[Trial, Cell]]) -> Trial | None:
    """The trial with the highest mean; None if no trial has a value."""
    means = [(found.mean, trial) for trial, found in pairs if found.mean is not None]
    return max(means, key=lambda pair: pair[0])[1] if means else None


def find_edges(line: Line, profile: Profile) -> Iterator[str]:
    """The settings of a line that are the smallest or the largest value of its grid."""
    for name, values in line.grid_at(profile).items():
        numbers = [value for value in values if isinstance(value, float)]
        chosen = line.settings(profile)[name]
        if len(numbers) > 2 and chosen in (min(numbers), max(numbers)):
            yield f"{line.label} {name} {chosen:g}"
