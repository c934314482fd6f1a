"""Densities in the plane: how far the model and its training samples are from the truth, for every way to
train it.

All columns but the counts are means over the six toys, seed by seed. The gap is ceiling − likelihood: nats by
which the model's mean log-likelihood of 100,000 test points lies below that of the true density. The samples'
gap is the same for the true log-density of the samples that training used; a method without samples has none.

Traps. A small gap of the samples alone says little, because samples that stay near a mode have a high
density: the energy distance sees what they leave out. Good samples do not imply a good model. Seconds are
those of a whole trial with its evaluations and its measurement, on a machine that ran others beside it.
"""

from collections.abc import Callable, Iterator
from typing import ClassVar

from bench.artifact import Column, Sheet, Value
from bench.experiment import DataSetting, Experiment
from bench.judging.cell import Cell
from bench.judging.claims import Claim, Finding, check_above, require_all
from bench.judging.results import Results
from bench.paper.experiments.toy_judging import HALF_A_NAT
from bench.today.experiments.plane import (
    MIXTURE_TUNING,
    NETWORK_TUNING,
    PLANE_MIXTURE,
    PLANE_NETWORK,
    TOYS,
)
from bench.today.plane_results import (
    Read,
    average_over_toys,
    count_rows,
    lies_beyond_grid,
    read_averaged_gap,
    read_distance,
    read_gap,
    read_sample_gap,
    read_seconds,
)
from bench.today.today_artifact import TodayArtifact
from bench.today.tuning import describe_tuning
from sweeps.trial.identity import Profile, Trial

OURS = "where the methods are compared (ours)"
READS: dict[str, Read] = {
    "gap": read_gap,
    "averaged_gap": read_averaged_gap,
    "sample_gap": read_sample_gap,
    "distance": read_distance,
    "seconds": read_seconds,
}
COLUMNS = (
    Column("method", "method"),
    Column("gap", "nats below the true density", 3),
    Column("averaged_gap", "with averaged weights", 3),
    Column("sample_gap", "of its samples", 3),
    Column("distance", "energy distance of samples", 4),
    Column("seconds", "seconds", 1),
    Column("diverged_trials", "diverged trials"),
    Column("beyond_grid", "mass beyond the grid"),
    *(Column(f"gap_{toy.name}", f"gap on {toy.name}", 3, only_in_csv=True) for toy in TOYS),
)


def list_line_trials(experiment: Experiment[DataSetting], label: str, profile: Profile) -> list[Trial]:
    """The trials of a line, one for each toy."""
    return [experiment.trial(label, profile, toy) for toy in experiment.data(profile)]


def read_mean_gap(results: Results, experiment: Experiment[DataSetting], label: str, read: Read) -> Cell:
    return average_over_toys(results, list_line_trials(experiment, label, results.profile), read)


def check_nearer(
    experiment: Experiment[DataSetting], near: str, *rivals: str, read: Read = read_gap
) -> Callable[[Results], Finding]:
    """A claim that a line has a smaller gap than each of its rivals."""

    def check(results: Results) -> Finding:
        own = read_mean_gap(results, experiment, near, read)
        return require_all(
            [
                check_above(
                    f"gap of {rival}",
                    read_mean_gap(results, experiment, rival, read),
                    f"gap of {near}",
                    own,
                    better="lower",
                )
                for rival in rivals
            ]
        )

    return check


def check_samples_beat_density(results: Results) -> Finding:
    """Whether the samples of short-run training are more than half a nat nearer to the truth than its
    model."""
    model = read_mean_gap(results, PLANE_NETWORK, "Short-run", lambda row: _subtract_half(read_gap(row)))
    samples = read_mean_gap(results, PLANE_NETWORK, "Short-run", read_sample_gap)
    return check_above(
        f"gap of the model less {HALF_A_NAT:g}", model, "gap of its samples", samples, better="lower"
    )


def _subtract_half(gap: float | None) -> float | None:
    return None if gap is None else gap - HALF_A_NAT


def check_averaging_helps(experiment: Experiment[DataSetting], label: str) -> Callable[[Results], Finding]:
    def check(results: Results) -> Finding:
        raw, averaged = (
            read_mean_gap(results, experiment, label, read) for read in (read_gap, read_averaged_gap)
        )
        return check_above(f"gap of {label}", raw, "gap with averaged weights", averaged, better="lower")

    return check


class PlaneTable(TodayArtifact):
    """The table of one experiment in the plane."""

    columns = COLUMNS
    tuning: ClassVar[Experiment[DataSetting]]
    grid_command: ClassVar[str]

    def render(self, results: Results) -> Sheet:
        lines = [self.line(results, line.label) for line in self.experiment.lines]
        text = "Means over the toys, lower is better but for the samples' gap, which is best at 0"
        return self.sheet(results, text, self.columns, lines, tuple(self.notes(results)))

    def line(self, results: Results, label: str) -> dict[str, Value]:
        trials = list_line_trials(self.experiment, label, results.profile)
        rows = results.find_all_rows(trials)
        cells = {key: average_over_toys(results, trials, read) for key, read in READS.items()}
        has_samples = any(read_sample_gap(row) is not None for row in rows)
        ok = [row for row in rows if row.outcome == "ok"]
        return {
            "method": label,
            **{
                key: cell if has_samples or key not in ("sample_gap", "distance") else ""
                for key, cell in cells.items()
            },
            "diverged_trials": count_rows(rows, lambda row: row.outcome == "diverged"),
            "beyond_grid": count_rows(ok, lies_beyond_grid),
            **{f"gap_{trial.spec.dataset['name']}": results.measure(trial, read_gap) for trial in trials},
        }

    def notes(self, results: Results) -> Iterator[str]:
        yield (
            "A seed counts if it has a value on every toy. The gap on each toy is in the CSV file. Mass "
            "beyond the grid: trials whose likelihood is only a bound, which count as not measured."
        )
        if results.profile == "laptop":
            yield from describe_tuning(
                results, self.tuning, self.grid_command, lambda r, t: r.measure(t, read_gap), "lower"
            )


class DensityTable(PlaneTable):
    experiment, tuning = PLANE_NETWORK, NETWORK_TUNING
    name = "density"
    title = "Density of a small network on six toys, by method"
    grid_command = "vera run today/density-grid"
    companions = ("densities",)
    claims = (
        Claim(
            "vera-beats-langevin",
            "VERA is nearer to the true density than PCD, CD and short-run training.",
            OURS,
            check_nearer(PLANE_NETWORK, "VERA", "PCD", "CD", "Short-run"),
        ),
        Claim(
            "contrast-beats-vera",
            "In the plane NCE, SNL and energy discrepancy are nearer to the true density than VERA.",
            OURS,
            lambda results: require_all(
                [check_nearer(PLANE_NETWORK, near, "VERA")(results) for near in ("NCE", "SNL", "ED")]
            ),
        ),
        Claim(
            "short-run-samples",
            "Short-run training has good samples and a poor density: its samples are more than half a nat "
            "nearer to the truth than its model.",
            "Nijkamp et al., 2019",
            check_samples_beat_density,
        ),
        Claim(
            "ar-dae-beats-is",
            "VERA with the entropy gradient of AR-DAE is nearer to the true density than with importance "
            "sampling.",
            OURS,
            check_nearer(PLANE_NETWORK, "VERA-AR-DAE", "VERA"),
        ),
        Claim(
            "averaging-helps-vera",
            "Averaged weights bring VERA nearer to the true density.",
            OURS,
            check_averaging_helps(PLANE_NETWORK, "VERA"),
        ),
    )


class MixtureDensity(PlaneTable):
    experiment, tuning = PLANE_MIXTURE, MIXTURE_TUNING
    name = "mixture"
    title = "Density of a mixture of 100 Gaussians on six toys, by method"
    grid_command = "vera run today/mixture-grid"
    claims = (
        Claim(
            "ml-is-best",
            "Maximum likelihood is nearest to the true density where it can be had.",
            OURS,
            check_nearer(
                PLANE_MIXTURE, "ML", *(line.label for line in PLANE_MIXTURE.lines if line.label != "ML")
            ),
        ),
        Claim(
            "vera-beats-langevin",
            "VERA is nearer to the true density than PCD, CD and short-run training.",
            OURS,
            check_nearer(PLANE_MIXTURE, "VERA", "PCD", "CD", "Short-run"),
        ),
        Claim(
            "averaging-helps-vera",
            "Averaged weights bring VERA nearer to the true density.",
            OURS,
            check_averaging_helps(PLANE_MIXTURE, "VERA"),
        ),
    )
