"""Records of the trials of Table 10, and the lines of the table."""

from toys_helpers import record_of

from bench.catalogue import catalogue

TABLE = catalogue.artifact("table10")
CEILINGS = {"moons": -2.394, "circles": -3.268, "rings": -2.623}
NEAR, FAR = 0.001, 0.5
"""Energy distances of samples."""


def record(trial, seed, value, distance=NEAR, shortfall=0.1):
    """A diverged trial if the value is None. The best of ten batches lies half a nat above the likelihood,
    the log-density of samples `shortfall` below the ceiling."""
    if value is None:
        return record_of(trial, seed, "diverged", step=914)
    ceiling = CEILINGS[trial.spec.dataset["name"]]
    measured = {"test_log_likelihood": value, "best_of_ten_batches": value + 0.5, "ceiling": ceiling}
    samples = {"sample_energy_distance": distance, "sample_log_density": ceiling - shortfall + 0.01 * seed}
    return record_of(trial, seed, **measured, **samples)


def lines_of(results, dataset="moons"):
    """The lines of one toy by label."""
    return {line["method"]: line for line in TABLE.render(results).lines if line["dataset"] == dataset}
