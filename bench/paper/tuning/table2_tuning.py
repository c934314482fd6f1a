"""Notes of Table 2 on the tuning of its lines at `laptop`, read from the trials of `table2-grid`.

The best setting of a line is the one with the highest mean over the tuning seeds, among those that were tried
with all of them. Of settings within one standard error of that mean, the one with the smallest learning rate
is taken. A setting that diverged or failed with one seed is never taken.
"""

import math
from collections.abc import Iterator, Sequence
from statistics import fmean, stdev

from bench.experiment import TUNING_SEEDS, Line
from bench.judging.cell import Cell
from bench.judging.results import Results
from bench.judging.tuning import find_tuning_results
from bench.paper.experiments.nice import NICE
from bench.render.numbers import format_fixed
from sweeps.trial.identity import Profile, Trial

TriedSettings = Sequence[tuple[Trial, Cell]]
"""Every setting of a line's grid, with its results over the tuning seeds."""


def describe_tuning(results: Results, metric: str) -> Iterator[str]:
    """How many tuning trials there are, settings at the edge of a grid, lines that do not have the best
    setting of their grid, and lines whose noise is larger than any in the paper's grid."""
    tuning, where = find_tuning_results(results, NICE)
    lines = [line for line in NICE.lines if line.points_at(results.profile)]
    tried = [(line, read_grid(tuning, line, metric)) for line in lines]
    sizes = [len(pairs) for _, pairs in tried]
    stored = sum(found.total for _, pairs in tried for _, found in pairs)
    if not stored:
        yield "What was tried to choose the settings is not in this store; to run it: vera run table2-grid."
        return
    first, second = TUNING_SEEDS
    yield (
        f"Every line of the paper has the best, by test log-likelihood, of {min(sizes)} settings or more: "
        f"all tried with the seeds {first} and {second}, chosen by the mean; of settings "
        "within one standard error of the highest mean, the one with the smallest learning rate (vera run "
        f"table2-grid; {stored} of its {sum(sizes) * len(TUNING_SEEDS)} trials are in {where})."
    )
    if edges := [text for line in lines for text in find_edges(line, results.profile)]:
        yield (
            f"The best lies at the edge of what was tried, and more might lie beyond it: {', '.join(edges)}."
        )
    for line, pairs in tried:
        best = find_best(pairs)
        if best is not None and best[0].spec.method != line.settings(results.profile):
            yield f"{line.label} has not the best of what was tried, which is {best[0].label}."
        yield from describe_noise(line, pairs, results.profile)


def read_grid(results: Results, line: Line, metric: str) -> TriedSettings:
    return [(trial, results.cell(trial, metric)) for trial in NICE.grid_trials(line, results.profile)]


def find_best(pairs: TriedSettings) -> tuple[Trial, float] | None:
    """The setting that the rule takes, and its mean; None if no setting has a value for every tuning seed."""
    complete = [
        (trial, fmean(found.values), stdev(found.values) / math.sqrt(found.n))
        for trial, found in pairs
        if found.n == found.total == len(TUNING_SEEDS)
    ]
    if not complete:
        return None
    _, highest, error = max(complete, key=lambda entry: entry[1])
    near = [(trial, mean) for trial, mean, _ in complete if mean >= highest - error]
    return min(near, key=lambda pair: (pair[0].spec.method["lr"], -pair[1]))


def find_edges(line: Line, profile: Profile) -> Iterator[str]:
    """The settings of a line that are the smallest or the largest value of those tried."""
    points, chosen = line.points_at(profile), line.settings(profile)
    for name in dict.fromkeys(name for point in points for name in point):
        values = {point[name] for point in points if isinstance(point.get(name), float)}
        if len(values) > 2 and chosen[name] in (min(values), max(values)):
            yield f"{line.label} {name} {chosen[name]:g}"


def describe_noise(line: Line, pairs: TriedSettings, profile: Profile) -> Iterator[str]:
    """What a line whose noise lies beyond the paper's grid reaches within that grid."""
    largest, noise = max(line.grid.get("noise", ()), default=None), line.settings(profile).get("noise")
    if largest is None or noise is None or noise <= largest:
        return
    inside = find_best([pair for pair in pairs if pair[0].spec.method["noise"] <= largest])
    best = find_best(pairs)
    if inside is not None and best is not None:
        yield (
            f"{line.label} has noise {noise:g}, beyond the paper's grid, which ends at {largest:g}. On the "
            f"tuning seeds it has {format_fixed(best[1], 1)}, and with at most {largest:g} "
            f"{format_fixed(inside[1], 1)}."
        )
