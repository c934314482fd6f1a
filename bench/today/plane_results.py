"""What is read from a trial in the plane: nats between the true density and the model, and between data and
the samples that the model was trained with; and the mean over the toys.

A seed has a mean if it has a value on every toy: a mean over fewer toys would favour a method that fails on
the hard ones.
"""

from collections.abc import Callable, Iterable, Sequence
from statistics import fmean

from bench.judging.cell import Cell, make_cell
from bench.judging.results import Results, read_metrics
from bench.paper.experiments.toy_judging import ALL_ON_GRID, is_upper_bound
from sweeps.store.row import Row
from sweeps.trial.identity import Trial

EXACT, BY_QUADRATURE = "test_log_likelihood", "grid_log_likelihood"
AVERAGED = "ema_"
Read = Callable[[Row], float | None]


def read_gap(row: Row) -> float | None:
    """Nats by which the model's log-likelihood of test points lies below the true density's. None if only a
    bound is known, because mass lies beyond the grid."""
    return _read_gap(row, "")


def read_averaged_gap(row: Row) -> float | None:
    """The same with averaged weights."""
    return _read_gap(row, AVERAGED)


def _read_gap(row: Row, kind: str) -> float | None:
    metrics = read_metrics(row)
    likelihood = metrics.get(f"{kind}{EXACT}", metrics.get(f"{kind}{BY_QUADRATURE}"))
    if likelihood is None or "ceiling" not in metrics or lies_beyond_grid(row, kind):
        return None
    return metrics["ceiling"] - likelihood


def lies_beyond_grid(row: Row, kind: str = "") -> bool:
    """Whether mass of the model lies beyond the grid."""
    if not kind:
        return is_upper_bound(row)
    return read_metrics(row).get(f"{kind}grid_rim_share", 0.0) >= ALL_ON_GRID


def read_sample_gap(row: Row) -> float | None:
    """Nats by which the true log-density of the training samples lies below that of data. Negative for
    samples that stay near the modes."""
    metrics = read_metrics(row)
    if "sample_log_density" not in metrics or "ceiling" not in metrics:
        return None
    return metrics["ceiling"] - metrics["sample_log_density"]


def read_distance(row: Row) -> float | None:
    """The energy distance of the training samples from data."""
    return read_metrics(row).get("sample_energy_distance")


def read_seconds(row: Row) -> float:
    return row.seconds


def average_over_toys(results: Results, trials: Sequence[Trial], read: Read) -> Cell:
    """The mean over toys, seed by seed. `trials` are those of one line, one for each toy."""
    found = [{row.seed: row for row in results.find_rows(trial)} for trial in trials]
    seeds = sorted(set.intersection(*map(set, found))) if found else []
    return make_cell([_average([rows[seed] for rows in found], read) for seed in seeds], None, seeds)


def _average(rows: Sequence[Row], read: Read) -> tuple[str, float | None]:
    """The outcome of a seed, and its mean if every toy has a value."""
    outcome = next((row.outcome for row in rows if row.outcome != "ok"), "ok")
    values = [value for row in rows if row.outcome == "ok" and (value := read(row)) is not None]
    return outcome, fmean(values) if len(values) == len(rows) else None


def count_rows(rows: Iterable[Row], is_counted: Callable[[Row], bool]) -> str:
    """For example "2 of 18"; empty for none."""
    found = list(rows)
    count = sum(map(is_counted, found))
    return f"{count} of {len(found)}" if count else ""
