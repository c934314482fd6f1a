"""Notes of Table 3 on the tuning of its lines at `laptop`, read from the trials of `table3-grid`.

The rule is the same for all lines. Of the settings whose mean accuracy over the tuning seeds is within a
point of the line's best, the one with the lowest mean Fréchet distance of samples is chosen; a line without
samples takes the most accurate. A setting that diverged or failed with one of the seeds is never chosen.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from bench.experiment import TUNING_SEEDS, Line
from bench.judging.cell import Cell
from bench.judging.results import Results
from bench.judging.tuning import find_tuning_results
from bench.paper.experiments.images import IMAGES
from bench.paper.tables.accuracy import ACCURACY
from sweeps.trial.identity import Profile, Trial

TOLERANCE = 0.01
"""Accuracy that a setting may lack for better samples."""


@dataclass(frozen=True)
class TriedSetting:
    """One setting of a line, with its results over the tuning seeds."""

    trial: Trial
    accuracy: Cell
    distance: Cell

    @property
    def is_complete(self) -> bool:
        """Whether it ended well with every tuning seed."""
        return self.accuracy.n == self.accuracy.total == len(TUNING_SEEDS)


def read_tuning(results: Results, line: Line) -> list[TriedSetting]:
    """Every setting of a line's grid."""
    features = IMAGES.data(results.profile)[0].features
    return [
        TriedSetting(trial, results.cell(trial, ACCURACY), results.cell(trial, f"fid_{features}"))
        for trial in IMAGES.grid_trials(line, results.profile)
    ]


def choose_setting(tried: list[TriedSetting]) -> TriedSetting | None:
    """The setting that the rule chooses; None if no setting is complete."""
    complete = [each for each in tried if each.is_complete]
    if not complete:
        return None
    best = max(each.accuracy.mean or 0.0 for each in complete)
    accurate = [each for each in complete if (each.accuracy.mean or 0.0) >= best - TOLERANCE]
    if any(each.distance.mean is None for each in accurate):
        return max(complete, key=lambda each: each.accuracy.mean or 0.0)
    return min(accurate, key=lambda each: each.distance.mean or 0.0)


def describe_tuning(results: Results) -> Iterator[str]:
    """How many tuning trials there are, and lines that do not have the setting that the rule chooses."""
    tuning, where = find_tuning_results(results, IMAGES)
    tried = [(line, read_tuning(tuning, line)) for line in IMAGES.lines]
    declared = sum(len(settings) for _, settings in tried) * len(TUNING_SEEDS)
    stored = sum(each.accuracy.total for _, settings in tried for each in settings)
    if not stored:
        yield "What was tried to choose the settings is not in this store; to run it: vera run table3-grid."
        return
    yield (
        f"Learning rates were chosen with seeds {' and '.join(map(str, TUNING_SEEDS))}, by accuracy and, "
        "within a point of the best, by the distance of samples "
        f"(vera run table3-grid; {stored} of its {declared} trials are in {where})."
    )
    for line, settings in tried:
        yield from describe_choice(line, settings, results.profile)


def describe_choice(line: Line, settings: list[TriedSetting], profile: Profile) -> Iterator[str]:
    """Whether the line has another setting than the rule chooses, and whether its own is at an edge."""
    best, chosen = choose_setting(settings), line.settings(profile)
    if best is not None and best.trial.spec.method != chosen:
        yield f"{line.label} has not the setting that the rule chooses, which is {best.trial.label}."
    for name, values in line.grid_at(profile).items():
        if chosen[name] in (min(values), max(values)):
            yield f"{line.label} {name} {chosen[name]:g} lies at the edge of what was tried."
