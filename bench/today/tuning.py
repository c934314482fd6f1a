"""Notes on how the settings of the lines were chosen, read from the trials of a tuning grid.

Every line of an experiment has the same number of configurations. The best is the one with the fewest
tuning trials without a score (diverged, failed, or not measurable), and of those the one with the best mean
over data sets and tuning seeds.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from bench.experiment import Experiment, Line
from bench.judging.cell import Better, Cell
from bench.judging.results import Results
from bench.judging.tuning import find_tuning_results
from sweeps.trial.identity import Trial

Score = Callable[[Results, Trial], Cell]


@dataclass(frozen=True)
class TriedConfiguration:
    """One configuration of a line, with its scores on every data set of the grid."""

    label: str
    is_chosen: bool
    cells: tuple[Cell, ...]

    @property
    def total(self) -> int:
        """Number of finished tuning trials."""
        return sum(cell.total for cell in self.cells)

    @property
    def failures(self) -> int:
        return sum(cell.total - cell.n for cell in self.cells)

    @property
    def mean(self) -> float | None:
        """The mean over data sets; None if one has no score."""
        means = [cell.mean for cell in self.cells if cell.mean is not None]
        return fmean(means) if len(means) == len(self.cells) else None


def read_grid(
    results: Results, experiment: Experiment[Any], line: Line, score: Score
) -> list[TriedConfiguration]:
    """Every configuration of the line's grid on the data sets of the experiment."""
    profile, sets = results.profile, experiment.data(results.profile)
    grids = [experiment.grid_trials(line, profile, data) for data in sets]
    return [
        TriedConfiguration(
            trials[0].label,
            all(
                trial.spec.method == experiment.trial(line, profile, data).spec.method
                for trial, data in zip(trials, sets, strict=True)
            ),
            tuple(score(results, trial) for trial in trials),
        )
        for trials in zip(*grids, strict=True)
    ]


def find_best(tried: Iterable[TriedConfiguration], better: Better) -> TriedConfiguration | None:
    """The configuration that the rule takes; None if none has a score on every data set."""
    sign = 1 if better == "higher" else -1
    known = [(each, each.mean) for each in tried if each.mean is not None]
    found = max(known, key=lambda pair: (-pair[0].failures, sign * pair[1]), default=None)
    return found and found[0]


def describe_tuning(
    results: Results,
    experiment: Experiment[Any],
    command: str,
    score: Score,
    better: Better,
    lines: Sequence[Line] | None = None,
) -> Iterator[str]:
    """How many configurations were tried, and lines that do not have the best of them. `experiment` has the
    data sets of the grid."""
    stored, where = find_tuning_results(results, experiment)
    lines = [line for line in lines or experiment.lines if line.points_at(results.profile)]
    tried = {line.label: read_grid(stored, experiment, line, score) for line in lines}
    total = sum(each.total for grid in tried.values() for each in grid)
    if not total:
        yield f"What was tried to choose the settings is not in this store; to run it: {command}."
        return
    count = min(map(len, tried.values()))
    names = ", ".join(data.name for data in experiment.data(results.profile))
    yield (
        f"Settings were chosen on tuning seeds from {count} configurations for every line, on {names} "
        f"({command}; {where} has {total} of its trials)."
    )
    for label, grid in tried.items():
        best = find_best(grid, better)
        if best is not None and not best.is_chosen:
            yield f"{label} does not have the best of what was tried, which is {best.label}."
