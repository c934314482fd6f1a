"""The toys: three densities in the plane, and the ways to train a model of them that Table 10 and Figure 1 compare.

All is as in B.2 where the paper says it: fresh batches of 200 points, one constant learning rate for energy, generator and
posterior, γ = .1, 20 importance samples, PCD with 20 Langevin steps. It does not say over which σ it swept PCD; these five reach
from chains that hardly move to chains that diverge.

Trap: PCD's σ has to be chosen, and what it is chosen by decides what PCD looks like. A σ that lost a seed is chosen only where
every σ with a value did.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bench.cell import Better, Cell
from bench.claims import Finding, all_of, compare
from bench.render.spread import number
from bench.results import Results
from sweeps.row import Row
from sweeps.trial import Profile, Trial
from vera.registry import methods
from vera.spec import Part, TrialSpec

BATCH_SIZE = 200
SIGMAS = (0.01, 0.03, 0.1, 0.3, 1.0)
GENERATOR = {"name": "mlp-generator"}
LOOKS_RIGHT = 0.01
"""An energy distance from data: about that of moons moved by one standard deviation of their noise."""


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

    def ml(self) -> Trial:
        return self._trial("ML", {"name": "ml", "lr": self.budget.rate})

    def vera(self, entropy_weight: float) -> Trial:
        rates = dict.fromkeys(("lr", "generator_lr", "posterior_lr"), self.budget.rate)
        method = {"name": "vera", "entropy_weight": entropy_weight, "gamma": 0.1, "k": 20, **rates}
        return self._trial(vera_label(entropy_weight), method, "generator")

    def pcd(self, noise: float) -> Trial:
        return self._trial(f"PCD σ={noise:g}", {"name": "pcd", "noise": noise, "sampler_steps": 20, "lr": self.budget.rate})

    def plugged(self) -> Iterator[Trial]:
        """Methods that a plug-in brings, with their own defaults, as far as these networks are all they need."""
        for name in methods.foreign():
            roles = methods.get(name).network_names()
            if set(roles) <= {"energy", "generator"}:
                yield self._trial(name, {"name": name}, *roles)

    def _trial(self, label: str, method: Part, *roles: str) -> Trial:
        networks = {"energy": {"name": self.energy}} | ({"generator": GENERATOR} if "generator" in roles else {})
        spec = TrialSpec({"name": self.dataset}, networks, method, self.budget.steps, BATCH_SIZE)
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


def rows_of(results: Results, trials: Sequence[Trial]) -> list[Row]:
    return [row for trial in trials for row in results.like(trial)]


def samples_hide_density(results: Results, vera: Trial, pcd: Sequence[Trial], likelihood: str) -> Finding:
    """Whether PCD, at the σ whose samples are nearest to data, has samples that look right and a density worse than VERA's.

    Several σ may have samples that nobody could tell from data, and chance then picks one: the evidence names the others.
    """
    metrics = ("sample_energy_distance", "sample_log_density", likelihood)
    distances, truths, densities = ({trial.label: results.cell(trial, metric) for trial in pcd} for metric in metrics)
    incomplete, label = not_run(distances), best(distances, "lower")
    if incomplete or label is None:
        return incomplete or Finding("undetermined", "PCD has no value at any σ")
    density = compare(vera.label, results.cell(vera, likelihood), label, densities[label])
    found = all_of([samples_finding(label, distances[label], truths[label]), density])
    others = {key: densities[key].mean for key, cell in distances.items() if key != label and looks_right(cell)}
    named = ", ".join(f"{key} ({number(mean, 2)})" for key, mean in others.items() if mean is not None)
    return Finding(found.judgement, found.evidence + (f"; samples look right also of {named}" if named else ""))


def samples_finding(label: str, distance: Cell, truth: Cell) -> Finding:
    values = ((f"energy distance (right: at most {LOOKS_RIGHT:g})", distance, 4), ("mean true log-density", truth, 2))
    texts = [f"{name} {number(cell.mean, digits)}" for name, cell, digits in values if cell.mean is not None]
    return Finding("supported" if looks_right(distance) else "refuted", f"samples of {label}: {', '.join(texts)}")


def looks_right(distance: Cell) -> bool:
    return distance.mean is not None and distance.mean <= LOOKS_RIGHT
