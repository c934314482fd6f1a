"""Notes of Table 6 on the search for its settings at `laptop`, read from the trials of `table6-grid`.

The rule is the same for all lines and data sets: the configuration with the highest mean accuracy over the
tuning seeds, among those that diverged least often. Means within a tenth of a point count as equal.
"""

from collections.abc import Iterator, Sequence

from bench.experiment import TUNING_SEEDS
from bench.judging.cell import Cell
from bench.judging.results import Results
from bench.judging.tuning import find_tuning_results
from bench.paper.experiments.tabular import TABULAR, spell_configuration
from bench.paper.experiments.tabular_data import TableSetting
from bench.paper.experiments.tabular_tuning import CHOSEN, MOVES_TRIED
from bench.paper.tables.accuracy import ACCURACY
from sweeps.trial.identity import Trial

COMMAND = f"vera run table6-grid --seeds {len(TUNING_SEEDS)}"
EQUAL = 0.001
"""Means of accuracy that are closer than this count as equal."""
Pairs = list[tuple[Trial, Cell]]
"""Configurations and their accuracies on the tuning seeds."""


def describe_tuning(results: Results) -> Iterator[str]:
    """How many configurations were tried, what was chosen, and lines that do not have the best of them."""
    tuning, where = find_tuning_results(results, TABULAR)
    grids = {
        (table.name, line.label): read_grid(tuning, line.label, table)
        for table in TABULAR.data(results.profile)
        for line in TABULAR.lines
    }
    counts = [cell.total for pairs in grids.values() for _, cell in pairs]
    if not any(counts):
        yield f"What was tried to choose the settings is not in this store; to run it: {COMMAND}."
        return
    seeds = " and ".join(map(str, TUNING_SEEDS))
    yield (
        f"The settings of every line on the sets of digits were chosen with seeds {seeds} by mean accuracy, "
        "from as many configurations for one line as for another "
        f"({COMMAND}; {where} has {sum(counts)} trials of {sum(map(bool, counts))} of the {len(counts)})."
    )
    for table in TABULAR.data(results.profile):
        if table.name not in MOVES_TRIED:
            yield f"On {table.name} nothing was searched: every line has the settings where a search starts."
            continue
        chosen = [name_chosen(line.label, table) for line in TABULAR.lines]
        yield f"Chosen on {table.name}: {', '.join(chosen)}."
        for line in TABULAR.lines:
            best = [trial.label for trial in find_best(grids[table.name, line.label])]
            if best and name_chosen(line.label, table) not in best:
                yield f"On {table.name} the best of {line.label} is not what was chosen: {' or '.join(best)}."


def name_chosen(label: str, table: TableSetting) -> str:
    """The label of the configuration that a line has in the table."""
    return spell_configuration(label, CHOSEN.get(table.name, {}).get(label, {}))


def read_grid(results: Results, label: str, table: TableSetting) -> Pairs:
    """Every configuration of the line on this data set with its accuracy."""
    trials = TABULAR.grid_trials(TABULAR.line(label), results.profile, table)
    return [(trial, results.cell(trial, ACCURACY)) for trial in trials]


def find_best(pairs: Sequence[tuple[Trial, Cell]]) -> list[Trial]:
    """The configurations with the highest mean among those that diverged least often; several if they are
    equal."""
    found = [(trial, cell.diverged, cell.mean) for trial, cell in pairs if cell.mean is not None]
    fewest = min((diverged for _, diverged, _ in found), default=0)
    steady = [(trial, mean) for trial, diverged, mean in found if diverged == fewest]
    best = max((mean for _, mean in steady), default=0.0)
    return [trial for trial, mean in steady if mean > best - EQUAL]
