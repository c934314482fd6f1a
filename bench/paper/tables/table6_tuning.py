"""Notes of Table 6 on the search for settings at `laptop`, read from the trials of `table6-grid`."""

from collections.abc import Iterator, Sequence

from bench.judging.cell import Cell
from bench.judging.results import Results
from bench.judging.tuning import find_tuning_results
from bench.paper.experiments.tabular import TABULAR
from bench.paper.experiments.tabular_data import TableSetting
from bench.paper.tables.accuracy import ACCURACY
from sweeps.trial.identity import Trial

COMMAND = "vera run table6-grid --seeds 2"
Pairs = list[tuple[Trial, Cell]]
"""Configurations and their accuracies on the tuning seeds."""


def describe_tuning(results: Results) -> Iterator[str]:
    """How many configurations were tried, and the best ones on the data sets where every line was tried."""
    tuning, where = find_tuning_results(results, TABULAR)
    grids = {
        (table.name, line.label): read_grid(tuning, line.label, table)
        for table in TABULAR.data(results.profile)
        for line in TABULAR.lines
    }
    counts = [cell.total for pairs in grids.values() for _, cell in pairs]
    yield "The settings are one guess for all data sets."
    if not any(counts):
        yield f"A search for settings of each line and data set is not in this store; to run it: {COMMAND}."
        return
    yield (
        "A search for settings of every line on each data set has as many configurations for one line as for "
        f"another ({COMMAND}; {where} has {sum(counts)} trials of {sum(map(bool, counts))} of the "
        f"{len(counts)} configurations). What it found is not trained on the seeds of this table."
    )
    for table in TABULAR.data(results.profile):
        best = [find_best(grids[table.name, line.label]) for line in TABULAR.lines]
        if all(best):
            names = ", ".join(" or ".join(trial.label for trial in trials) for trials in best)
            yield f"Best of the search on {table.name}: {names}."


def read_grid(results: Results, label: str, table: TableSetting) -> Pairs:
    """Every configuration of the line on this data set with its accuracy."""
    trials = TABULAR.grid_trials(TABULAR.line(label), results.profile, table)
    return [(trial, results.cell(trial, ACCURACY)) for trial in trials]


def find_best(pairs: Sequence[tuple[Trial, Cell]]) -> list[Trial]:
    """The configurations with the highest mean among those that diverged least often; several if they tie."""
    ranks = [(-cell.diverged, cell.mean) for _, cell in pairs if cell.mean is not None]
    return [trial for trial, cell in pairs if ranks and (-cell.diverged, cell.mean) == max(ranks)]
