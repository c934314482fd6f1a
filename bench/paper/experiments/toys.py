"""The toys: three densities in the plane, and the ways to train a model of them that Table 10 and Figure 1
compare.

All is as in B.2 where the paper says it: fresh batches of 200 points, one constant learning rate for energy,
generator and posterior, γ = .1, 20 importance samples, PCD with 20 Langevin steps. It does not say over which
σ it swept PCD; these five reach from chains that hardly move to chains that diverge.

Trap: PCD's σ has to be chosen, and what it is chosen by decides what PCD looks like. A σ that lost a seed is
chosen only where every σ with a value did.

Samples look right if the true density thinks as well of them as of data, to within half a nat, and if they
leave no part of the data out. Either alone is fooled: samples of a single ring have a high density, and an
energy distance hardly sees shape (rings with six times their noise are at .001).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from bench.judging.cell import Better, Cell, cell_of
from bench.judging.claims import Finding, all_of, at_most, compare
from bench.judging.results import Results, metrics_of
from bench.render.layout import number
from sweeps.store.row import Row
from sweeps.trial.identity import Profile, Trial, plugged
from vera.spec.registry import methods
from vera.spec.trial_spec import Component, TrialSpec

BATCH_SIZE = 200
SIGMAS = (0.01, 0.03, 0.1, 0.3, 1.0)
GENERATOR = {"name": "mlp-generator"}
HALF_A_NAT = 0.5
"""How far below that of data the log-density of samples that look right may lie: that of noise 1.5 times too
wide lies .63 (moons), .55 (circles) and .62 (rings) below. A density that is further than that from its own
samples is wrong."""
NOTHING_LEFT_OUT = 0.005
"""An energy distance from data: independent points have 0 ± .002; without one of the two circles it is .15,
without one of the four rings .008 to .04."""
LOOKS = 10
"""As often the published code looks at a model along its training."""
ALL_ON_GRID = 1e-4
"""The share of mass at the grid's rim below which next to none lies beyond; that of a flat f is .005."""


@dataclass(frozen=True)
class Budget:
    """Training steps, and the learning rate of all that is trained."""

    steps: int
    rate: float


@dataclass(frozen=True)
class Setting:
    """One data set and one kind of energy at one profile; a way to train it is a trial."""

    profile: Profile
    dataset: str
    energy: str
    budget: Budget
    looks: int = 1
    """How often it is judged, evenly spaced; the last time at the end."""

    def ml(self) -> Trial:
        return self._trial("ML", {"name": "ml", "lr": self.budget.rate})

    def vera(self, entropy_weight: float) -> Trial:
        rates = dict.fromkeys(("lr", "generator_lr", "posterior_lr"), self.budget.rate)
        method = {"name": "vera", "entropy_weight": entropy_weight, "gamma": 0.1, "k": 20, **rates}
        return self._trial(vera_label(entropy_weight), method, "generator")

    def pcd(self, noise: float) -> Trial:
        return self._trial(
            f"PCD σ={noise:g}", {"name": "pcd", "noise": noise, "sampler_steps": 20, "lr": self.budget.rate}
        )

    def plugged(self) -> Iterator[Trial]:
        """Methods that a plug-in brings, with their own defaults, as far as these networks are all they
        need."""
        for name, roles, method in plugged(methods, ("energy", "generator")):
            yield self._trial(name, method, *roles)

    def _trial(self, label: str, method: Component, *roles: str) -> Trial:
        networks = {"energy": {"name": self.energy}} | (
            {"generator": GENERATOR} if "generator" in roles else {}
        )
        every = self.budget.steps // self.looks if self.looks > 1 else None
        spec = TrialSpec(
            {"name": self.dataset}, networks, method, self.budget.steps, BATCH_SIZE, evaluate_every=every
        )
        return Trial(spec, self.profile, label=label)


def vera_label(entropy_weight: float) -> str:
    return f"VERA λ={entropy_weight:g}"


def about(budgets: Mapping[Profile, Budget], profile: Profile) -> str:
    """For a caption: how long and how fast, and what the paper did where that is another thing."""
    own, paper = budgets[profile], budgets["paper"]
    aside = "" if own == paper else f" (the paper: {paper.steps:,} steps, learning rate {paper.rate:g})"
    return f"{own.steps:,} steps of {BATCH_SIZE} points, learning rate {own.rate:g}{aside}"


def best(cells: Mapping[str, Cell], better: Better = "higher") -> str | None:
    """The key of the cell with the best mean, None where no cell has a value."""
    known = {key: cell.mean for key, cell in cells.items() if cell.mean is not None}
    whole = {key: mean for key, mean in known.items() if cells[key].n == cells[key].total} or known
    return (max if better == "higher" else min)(whole, key=whole.__getitem__, default=None)


def not_run(cells: Mapping[str, Cell]) -> Finding | None:
    """What forbids a judgement: a choice among trials of which some have not been run is no choice yet."""
    missing = [key for key, cell in cells.items() if not cell.total]
    return Finding("undetermined", f"not run: {', '.join(missing)}") if missing else None


def best_of_looks(results: Results, trial: Trial, *metrics: str) -> Cell:
    """The best likelihood at ten looks along the training, over seeds: after every tenth of its steps, over
    the batches of the last hundredth. They are drawn afresh for every step, so f has not seen them; for a
    normalised model only. With `metrics`, the best of these and of the looks. A trial that diverged after a
    look keeps it, as it does by the paper's rule."""
    return cell_of([_best_of(results, row, metrics) for row in results.like(trial)])


def _best_of(results: Results, row: Row, metrics: Sequence[str]) -> tuple[str, float | None]:
    """Whether it counts, and as what."""
    looks = list(_looks(results, row))
    if row.outcome == "diverged":
        return ("ok", max(looks)) if looks else (row.outcome, None)
    return row.outcome, max(
        [*looks, *(value for name, value in metrics_of(row).items() if name in metrics)], default=None
    )


def _looks(results: Results, row: Row) -> Iterator[float]:
    """Mean log-likelihood of data, f, which maximum likelihood calls −loss. Curves that ship have a point
    each hundredth, others more, so that both have the same mean; where there are fewer points than that, a
    look is the point that falls on it."""
    metric, sign = ("loss", -1) if row.method == "ml" else ("f_data", 1)
    points = [point for point in results.curves(row) if (point.kind, point.metric) == ("training", metric)]
    for end in (row.steps * tenth // LOOKS for tenth in range(1, LOOKS + 1)):
        if row.outcome == "diverged" and end >= row.outcome_step:
            return
        values = [sign * point.value for point in points if end - row.steps / 100 < point.step <= end]
        if values:
            yield fmean(values)


def is_bound(row: Row) -> bool:
    """Whether its likelihood is an upper bound only, because mass lies beyond the grid on which it was
    normalised."""
    return metrics_of(row).get("grid_rim_share", 0.0) >= ALL_ON_GRID


@dataclass(frozen=True)
class Likelihood:
    """The likelihood of one way to train; if it is a bound for one seed, so it is for their mean."""

    label: str
    cell: Cell
    bound: bool = False

    @classmethod
    def read(cls, results: Results, trial: Trial, metric: str) -> "Likelihood":
        rows = results.like(trial)
        return cls(
            trial.label,
            results.cell(trial, metric),
            any(is_bound(row) for row in rows if row.outcome == "ok"),
        )


def lies_above(a: Likelihood, b: Likelihood, comparisons: int) -> Finding:
    """Where a side may be an upper bound: if a is one, nothing shows that it lies above b; if b is one, that
    it does not."""
    found = compare(a.label, a.cell, b.label, b.cell, comparisons)
    remark = "".join(f"; that of {side.label} is an upper bound" for side in (a, b) if side.bound)
    unsure = {"supported": a.bound, "refuted": b.bound}.get(found.judgement, False)
    return Finding("undetermined" if unsure else found.judgement, found.evidence + remark)


@dataclass(frozen=True)
class Look:
    """What there is to see of one σ: its samples, as the truth judges them, and its density."""

    density: Likelihood
    ceiling: Cell
    samples: Cell
    """Their mean true log-density."""
    distance: Cell

    @classmethod
    def read(cls, results: Results, trial: Trial, likelihood: str) -> "Look":
        cells = [
            results.cell(trial, metric)
            for metric in ("ceiling", "sample_log_density", "sample_energy_distance")
        ]
        return cls(Likelihood.read(results, trial, likelihood), *cells)

    @property
    def distance_from_ceiling(self) -> Cell:
        ceiling = self.ceiling.mean
        return replace(
            self.samples,
            values=() if ceiling is None else tuple(abs(ceiling - own) for own in self.samples.values),
        )

    def looks_right(self, comparisons: int) -> Finding:
        """By an interval over seeds for the log-density. The energy distance has no interval: a large one
        takes support away from the claim and does not refute it."""
        name = f"ceiling − log-density of samples of {self.density.label}"
        near = at_most(name, self.ceiling, self.samples, HALF_A_NAT, comparisons)
        if self.distance.mean is None or self.distance.n < 2:
            return Finding("undetermined", near.evidence)
        whole = self.distance.mean <= NOTHING_LEFT_OUT
        evidence = f"energy distance {number(self.distance.mean, 4)} (right: at most {NOTHING_LEFT_OUT:g})"
        return all_of([near, Finding("supported" if whole else "undetermined", evidence)])

    def density_is_wrong(self, comparisons: int) -> Finding:
        """The gap between what the truth says of its samples and what it says itself of data: more than half
        a nat."""
        lowered = replace(self.samples, values=tuple(value - HALF_A_NAT for value in self.samples.values))
        return lies_above(
            Likelihood(f"log-density of samples less {HALF_A_NAT:g}", lowered), self.density, comparisons
        )

    def values(self) -> str:
        cells = {
            "ceiling": self.ceiling,
            "log-density of samples": self.samples,
            "likelihood of the model": self.density.cell,
        }
        texts = [f"{name} {number(cell.mean, 2)}" for name, cell in cells.items() if cell.mean is not None]
        return f"{self.density.label}: {', '.join(texts)}"


def samples_hide_density(looks: Sequence[Look], vera: Likelihood, comparisons: int) -> Finding:
    """Whether PCD, at the σ whose samples look best, has samples that look right and a density that is wrong.

    Several σ may have samples that nobody could tell from data, and chance then picks one: the evidence names
    the others. VERA's likelihood stands beside PCD's, to show what can be reached.
    """
    incomplete, chosen = not_run({look.density.label: look.samples for look in looks}), best_looking(looks)
    if incomplete or chosen is None:
        return incomplete or Finding("undetermined", "PCD has no value at any σ")
    found = all_of([chosen.looks_right(comparisons), chosen.density_is_wrong(comparisons)])
    beside = "" if vera.cell.mean is None else f"; {vera.label}: {number(vera.cell.mean, 2)}"
    others = [
        look
        for look in looks
        if look is not chosen and look.looks_right(comparisons).judgement == "supported"
    ]
    also = "".join(f"; samples look right also of {look.values()}" for look in others)
    return Finding(found.judgement, f"{chosen.values()}{beside}; {found.evidence}{also}")


def best_looking(looks: Sequence[Look]) -> Look | None:
    """The samples of which the truth thinks most nearly as of data, among those that leave nothing out where
    there are such."""
    whole = [
        look for look in looks if look.distance.mean is not None and look.distance.mean <= NOTHING_LEFT_OUT
    ] or looks
    label = best({look.density.label: look.distance_from_ceiling for look in whole}, "lower")
    return next((look for look in whole if look.density.label == label), None)
