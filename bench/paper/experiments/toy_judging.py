"""How models of the toys are judged: their likelihood, their training samples, and the choice of PCD's σ.

Samples look right if their mean true log-density lies within half a nat of that of data, and if no part of
the data is left out. One criterion alone is not enough: samples of a single ring have a high density, and an
energy distance hardly sees shape (rings with six times their noise are at .001).

Trap: PCD's σ has to be chosen, and the criterion decides what PCD looks like. A σ for which a seed diverged
or failed is chosen only if this happened at every σ that has a value.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from bench.judging.cell import Better, Cell
from bench.judging.claims import Finding, check_above, check_at_most, require_all
from bench.judging.results import Results, read_metrics
from bench.render.numbers import format_fixed
from sweeps.store.row import Row
from sweeps.trial.identity import Trial

HALF_A_NAT = 0.5
"""How far the log-density of samples that look right may lie below that of data. Samples with 1.5 times the
noise lie .63 (moons), .55 (circles) and .62 (rings) below. A density whose log-likelihood of data lies
further than this below the true log-density of its samples is wrong."""
NOTHING_LEFT_OUT = 0.005
"""The largest energy distance from data of samples that leave nothing out. Independent points have 0 ± .002;
without one of the two circles it is .15, without one of the four rings .008 to .04."""
ALL_ON_GRID = 1e-4
"""The share of mass at the grid's rim below which almost no mass lies beyond the grid; that of a flat f is
.005."""


def find_best(cells: Mapping[str, Cell], better: Better = "higher") -> str | None:
    """The key of the cell with the best mean, among cells without failed seeds if there are any; None if no
    cell has a value."""
    known = {key: cell.mean for key, cell in cells.items() if cell.mean is not None}
    complete = {key: mean for key, mean in known.items() if cells[key].n == cells[key].total} or known
    return (max if better == "higher" else min)(complete, key=complete.__getitem__, default=None)


def report_not_run(cells: Mapping[str, Cell]) -> Finding | None:
    """Undetermined if some of the cells were not run, because the best of the others may not be the best of
    all; else None."""
    missing = [key for key, cell in cells.items() if not cell.total]
    return Finding("undetermined", f"not run: {', '.join(missing)}") if missing else None


def is_upper_bound(row: Row) -> bool:
    """Whether the row's likelihood is only an upper bound, because mass lies beyond the grid of the
    normaliser."""
    return read_metrics(row).get("grid_rim_share", 0.0) >= ALL_ON_GRID


@dataclass(frozen=True)
class ModelLikelihood:
    """The likelihood of one line over seeds. If it is an upper bound for one seed, so is the mean."""

    label: str
    cell: Cell
    is_bound: bool = False

    @classmethod
    def read(cls, results: Results, trial: Trial, metric: str) -> "ModelLikelihood":
        is_bound = any(is_upper_bound(row) for row in results.find_rows(trial) if row.outcome == "ok")
        return cls(trial.label, results.cell(trial, metric), is_bound)


def compare_likelihoods(a: ModelLikelihood, b: ModelLikelihood) -> Finding:
    """Whether a lies above b. An upper bound on a cannot show that it does: not testable, unless the bound
    itself lies below b. An upper bound on b cannot show that it does not."""
    found = check_above(a.label, a.cell, b.label, b.cell)
    found = found.withhold("supported") if a.is_bound else found
    found = found.withhold("refuted") if b.is_bound else found
    remark = "".join(f"; that of {side.label} is an upper bound" for side in (a, b) if side.is_bound)
    if a.is_bound and found.judgement != "refuted":
        why = f"the likelihood of {a.label} is only an upper bound: mass lies beyond the grid"
        return replace(found, judgement="not testable", evidence=why, measured=found.evidence + remark)
    return replace(found, evidence=found.evidence + remark)


@dataclass(frozen=True)
class SampleEvaluation:
    """PCD at one σ: its samples under the true density, and the likelihood of its model."""

    likelihood: ModelLikelihood
    ceiling: Cell
    samples: Cell
    """Mean true log-density of the samples."""
    distance: Cell
    """Energy distance of the samples from data."""

    @classmethod
    def read(cls, results: Results, trial: Trial, likelihood: str) -> "SampleEvaluation":
        metrics = ("ceiling", "sample_log_density", "sample_energy_distance")
        cells = [results.cell(trial, metric) for metric in metrics]
        return cls(ModelLikelihood.read(results, trial, likelihood), *cells)

    @property
    def label(self) -> str:
        return self.likelihood.label

    @property
    def leaves_nothing_out(self) -> bool:
        return self.distance.mean is not None and self.distance.mean <= NOTHING_LEFT_OUT

    @property
    def distance_from_ceiling(self) -> Cell:
        """How far the log-density of the samples of each seed lies from that of data, above or below."""
        ceiling = self.ceiling.mean
        distances = () if ceiling is None else tuple(abs(ceiling - own) for own in self.samples.values)
        return replace(self.samples, values=distances)

    def check_samples(self) -> Finding:
        """Whether the samples look right: the log-density by an interval over seeds. The energy distance has
        no interval, so a large one makes the claim undetermined and does not refute it."""
        name = f"ceiling − log-density of samples of {self.label}"
        near = check_at_most(name, self.ceiling, self.samples, HALF_A_NAT)
        if self.distance.mean is None or self.distance.n < 2:
            return Finding("undetermined", near.evidence)
        evidence = (
            f"energy distance {format_fixed(self.distance.mean, 4)} (right: at most {NOTHING_LEFT_OUT:g})"
        )
        return require_all(
            [near, Finding("supported" if self.leaves_nothing_out else "undetermined", evidence)]
        )

    def check_bad_samples(self) -> Finding:
        """Whether the log-density of the samples lies more than half a nat below that of data."""
        bar = replace(self.ceiling, values=tuple(value - HALF_A_NAT for value in self.ceiling.values))
        name = f"samples of {self.label}"
        return check_above(f"ceiling less {HALF_A_NAT:g}", bar, name, self.samples)

    def check_density(self) -> Finding:
        """Whether the density is wrong: the true log-density of the samples exceeds the model's
        log-likelihood of data by more than half a nat."""
        lowered = replace(self.samples, values=tuple(value - HALF_A_NAT for value in self.samples.values))
        bar = ModelLikelihood(f"log-density of samples less {HALF_A_NAT:g}", lowered)
        return compare_likelihoods(bar, self.likelihood)

    def describe(self) -> str:
        """The means that are known, with their names."""
        cells = {
            "ceiling": self.ceiling,
            "log-density of samples": self.samples,
            "likelihood of the model": self.likelihood.cell,
        }
        texts = [
            f"{name} {format_fixed(cell.mean, 2)}" for name, cell in cells.items() if cell.mean is not None
        ]
        return f"{self.label}: {', '.join(texts)}"


def check_hidden_density(evaluations: Sequence[SampleEvaluation], vera: ModelLikelihood) -> Finding:
    """Whether PCD, at the σ with the best samples, has samples that look right and a density that is wrong.

    The samples of several σ may be indistinguishable from data, and chance then picks one: the evidence names
    the others. It also gives VERA's likelihood, to show what can be reached.
    """
    incomplete = report_not_run({each.label: each.samples for each in evaluations})
    chosen = find_best_samples(evaluations)
    if incomplete or chosen is None:
        return incomplete or Finding("undetermined", "PCD has no value at any σ")
    found = require_all([chosen.check_samples(), chosen.check_density()])
    beside = "" if vera.cell.mean is None else f"; {vera.label}: {format_fixed(vera.cell.mean, 2)}"
    others = [each for each in evaluations if each is not chosen]
    also = "".join(
        f"; samples look right also of {each.describe()}"
        for each in others
        if each.check_samples().judgement == "supported"
    )
    return replace(found, evidence=f"{chosen.describe()}{beside}; {found.evidence}{also}")


def check_sigma_range(evaluations: Sequence[SampleEvaluation]) -> Finding:
    """PCD at the smallest σ has bad samples and a worse density than at the best σ; at the largest it
    diverges with most of at least two seeds."""
    cells = {each.label: each.likelihood.cell for each in evaluations}
    smallest, *others = evaluations
    best = find_best({each.label: each.likelihood.cell for each in others})
    incomplete = report_not_run(cells)
    if incomplete or best is None:
        return incomplete or Finding("undetermined", "PCD has no value at any larger σ")
    likelihoods = {each.label: each.likelihood for each in evaluations}
    worse = compare_likelihoods(likelihoods[best], smallest.likelihood)
    return require_all([smallest.check_bad_samples(), worse, check_diverges(others[-1])])


def check_diverges(evaluation: SampleEvaluation) -> Finding:
    """Supported if most of at least two seeds diverged."""
    cell = evaluation.likelihood.cell
    evidence = f"{evaluation.label}: {cell.diverged} of {cell.total} diverged"
    if cell.total < 2:
        return Finding("undetermined", evidence)
    return Finding("supported" if 2 * cell.diverged > cell.total else "refuted", evidence)


def find_best_samples(evaluations: Sequence[SampleEvaluation]) -> SampleEvaluation | None:
    """The samples whose log-density is nearest to that of data, among those that leave nothing out if there
    are any; None if none has a value."""
    complete = [each for each in evaluations if each.leaves_nothing_out] or evaluations
    label = find_best({each.label: each.distance_from_ceiling for each in complete}, "lower")
    return next((each for each in complete if each.label == label), None)
