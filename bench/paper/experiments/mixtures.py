"""A mixture of 100 Gaussians on three toys: how it is trained, what the store has of it, and the claims that
this decides.

Table 10 shows where it ends, `drift` how it gets there.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import fmean

from bench.artifact import Value
from bench.judging.cell import Cell, cell_of
from bench.judging.claims import Finding, all_of, at_most, compare
from bench.judging.results import Results
from bench.paper.experiments.toys import (
    HALF_A_NAT,
    SIGMAS,
    Budget,
    Likelihood,
    Look,
    Setting,
    best,
    not_run,
    samples_hide_density,
    vera_label,
)
from bench.paper.values import paper_value
from bench.render.layout import exact, number
from sweeps.trial.identity import Profile, Trial

DATASETS = ("moons", "circles", "rings")
LAMBDAS = (0.0, 0.01, 0.1, 1.0)
BUDGETS: Mapping[Profile, Budget] = {
    "smoke": Budget(20, 5e-3),
    "laptop": Budget(2_000, 5e-3),
    "paper": Budget(100_000, 1e-3),
}
LIKELIHOOD, BEST_OF_TEN, BEST_LOOK, BEST_OF_EITHER = (
    "test_log_likelihood", "best_of_ten_batches", "best_of_ten_looks", "best_of_either",
)  # fmt: skip
BEST_PCD = "PCD (best σ)"
REFERENCES = {"ML": {"method": "ML"}, BEST_PCD: {"method": "PCD"}} | {
    vera_label(weight): {"method": "VERA", "variant": f"lambda={weight}"} for weight in LAMBDAS
}
ROUNDING = 0.005
"""The paper prints two digits after the point."""


def setting(profile: Profile, dataset: str) -> Setting:
    return Setting(profile, dataset, "mixture", BUDGETS[profile])


def trained(profile: Profile, dataset: str) -> list[Trial]:
    """What is trained on one data set, in the order of the table's lines."""
    way = setting(profile, dataset)
    return [way.ml(), *map(way.vera, LAMBDAS), *map(way.pcd, SIGMAS), *way.plugged()]


@dataclass(frozen=True)
class Block:
    """One data set's lines as the store has them, by label; the last is PCD at the σ that is best on test
    points."""

    dataset: str
    likelihood: Mapping[str, Cell]
    best_of_ten: Mapping[str, Cell]
    ceiling: float | None
    sigma: str | None
    """The label of PCD at its best."""

    @classmethod
    def read(cls, results: Results, dataset: str) -> "Block":
        trials = trained(results.profile, dataset)
        likelihood, best_of_ten = (
            {t.label: results.cell(t, metric) for t in trials} for metric in (LIKELIHOOD, BEST_OF_TEN)
        )
        ceilings = [value for trial in trials for value in results.cell(trial, "ceiling").values]
        pcd = pcd_of(likelihood)
        begun = any(cell.total for cell in pcd.values()) and not_run(pcd) is not None
        sigma = None if begun else best(pcd)
        none = cell_of([(outcome, None) for cell in pcd.values() for outcome in cell.outcomes])
        lost = Cell(reason="not every σ was run") if begun else none
        return cls(
            dataset,
            likelihood | {BEST_PCD: likelihood[sigma] if sigma else lost},
            best_of_ten | {BEST_PCD: best_of_ten[sigma] if sigma else lost},
            fmean(ceilings) if ceilings else None,
            sigma,
        )

    def paper(self, label: str) -> float | None:
        return (
            paper_value("Table 10", dataset=self.dataset, **REFERENCES[label])
            if label in REFERENCES
            else None
        )

    def excess(self, label: str) -> str:
        """What to say where the paper's value lies above the ceiling, and not by rounding alone; else
        nothing."""
        paper = self.paper(label)
        if paper is None or self.ceiling is None or paper - ROUNDING <= self.ceiling:
            return ""
        return f"{label} on {self.dataset}: the paper's {exact(paper)} lies above the ceiling of {number(self.ceiling, 3)}"

    def flattered(self, label: str) -> bool:
        """Whether our own best of ten batches lies above the ceiling."""
        mean = self.best_of_ten[label].mean
        return mean is not None and self.ceiling is not None and mean > self.ceiling

    def lines(self, looks: Mapping[str, Cell], either: Mapping[str, Cell]) -> Iterator[dict[str, Value]]:
        """`looks`: the best along the way, by label; `either`: the better of that and the best of ten
        batches. By the paper's rule the best σ is another where a σ passes good models and diverges."""
        by_rule = None if not_run(pcd_of(either)) else best(pcd_of(either))
        for label, cell in self.likelihood.items():
            shown = by_rule if by_rule and label == BEST_PCD else label
            marks = ["† paper"] * bool(self.excess(label)) + ["† best of ten"] * self.flattered(label)
            yield {
                "dataset": self.dataset,
                "method": label,
                LIKELIHOOD: cell,
                BEST_OF_TEN: self.best_of_ten[label],
                "ceiling": self.ceiling,
                BEST_LOOK: looks.get(shown, Cell(reason=cell.reason)),
                BEST_OF_EITHER: replace(either.get(shown, Cell(reason=cell.reason)), paper=self.paper(label)),
                "remark": ", ".join(
                    (self.chosen(by_rule) if label == BEST_PCD else [])
                    + self.lost_later(shown, either)
                    + marks
                ),
            }

    def lost_later(self, shown: str, either: Mapping[str, Cell]) -> list[str]:
        """What to say where trials that diverged keep their looks, which no other column counts."""
        if shown not in either or either[shown].n <= self.likelihood[shown].n:
            return []
        return [
            f"{either[shown].n - self.likelihood[shown].n} of {either[shown].total} diverged after a look"
        ]

    def chosen(self, by_rule: str | None) -> list[str]:
        """What to say of PCD at its best: its σ, and the one that the paper's rule would take if that is
        another."""
        end, rule = ((label or "").removeprefix("PCD ") for label in (self.sigma, by_rule))
        return [end] * bool(end) + [f"by the better of these two {rule}"] * (rule not in ("", end))


def pcd_of(cells: Mapping[str, Cell]) -> dict[str, Cell]:
    return {label: cell for label, cell in cells.items() if label.startswith("PCD σ")}


def excesses(blocks: list[Block]) -> list[str]:
    return [text for block in blocks for label in block.likelihood if (text := block.excess(label))]


Check = Callable[[Results, str], Finding]


def everywhere(check: Check) -> Callable[[Results], Finding]:
    """A claim about one data set, on all three."""

    def judge(results: Results) -> Finding:
        found = {dataset: check(results, dataset) for dataset in DATASETS}
        return all_of(
            [
                Finding(finding.judgement, f"{dataset}: {finding.evidence}")
                for dataset, finding in found.items()
            ]
        )

    return judge


def vera_beats_pcd(results: Results, dataset: str) -> Finding:
    """PCD's σ is chosen by the very values that are compared, so every σ counts as a comparison."""
    block = Block.read(results, dataset)
    against, own = block.sigma or BEST_PCD, block.likelihood[vera_label(1)]
    comparisons = len(DATASETS) * len(SIGMAS)
    finding = compare(vera_label(1), own, against, block.likelihood[BEST_PCD], comparisons)
    return not_run(pcd_of(block.likelihood)) or finding


def rises_with_weight(results: Results, dataset: str) -> Finding:
    """At each of the three steps between neighbouring λ; that the ends differ is the claim after this one."""
    cells = Block.read(results, dataset).likelihood
    labels = [vera_label(weight) for weight in LAMBDAS]
    comparisons = len(DATASETS) * (len(labels) - 1)
    finding = all_of(
        [compare(high, cells[high], low, cells[low], comparisons) for low, high in pairwise(labels)]
    )
    return Finding(finding.judgement, finding.evidence + falls_in_paper(dataset))


def falls_in_paper(dataset: str) -> str:
    """The steps at which the paper's own values contradict the claim."""
    values = [
        (weight, paper_value("Table 10", dataset=dataset, **REFERENCES[vera_label(weight)]))
        for weight in LAMBDAS
    ]
    falls = [
        f"λ={low:g} to {high:g} ({exact(a)} to {exact(b)})"
        for (low, a), (high, b) in pairwise(values)
        if b < a
    ]
    return f"; in the paper it falls from {', '.join(falls)}" if falls else ""


def entropy_helps(results: Results, dataset: str) -> Finding:
    cells = Block.read(results, dataset).likelihood
    high, low = vera_label(1), vera_label(0)
    return compare(high, cells[high], low, cells[low], comparisons=len(DATASETS))


def bound_is_tight(results: Results, dataset: str) -> Finding:
    cells = Block.read(results, dataset).likelihood
    return at_most(f"ML − {vera_label(1)}", cells["ML"], cells[vera_label(1)], HALF_A_NAT, len(DATASETS))


def ml_is_best(results: Results, dataset: str) -> Finding:
    """Against all others that have a value, where all have been run."""
    cells = Block.read(results, dataset).likelihood
    others = {label: cell for label, cell in cells.items() if label not in ("ML", BEST_PCD)}
    rivals = {label: cell for label, cell in others.items() if cell.values}
    if not rivals:
        return not_run(others) or Finding("undetermined", "no other method has a value")
    comparisons = len(DATASETS) * len(rivals)
    return not_run(others) or all_of(
        [compare("ML", cells["ML"], *rival, comparisons) for rival in rivals.items()]
    )


def samples_look_right(results: Results, dataset: str) -> Finding:
    """On each data set the samples are judged, and the density."""
    way = setting(results.profile, dataset)
    looks = [Look.read(results, way.pcd(noise), LIKELIHOOD) for noise in SIGMAS]
    return samples_hide_density(
        looks, Likelihood.read(results, way.vera(1.0), LIKELIHOOD), comparisons=2 * len(DATASETS)
    )


def two_beyond_ceiling(results: Results) -> Finding:
    """A finding about the paper: it needs our rows for the ceilings alone."""
    blocks = [Block.read(results, dataset) for dataset in DATASETS]
    if unknown := [block.dataset for block in blocks if block.ceiling is None]:
        return Finding("undetermined", f"no trial has measured the ceiling of {', '.join(unknown)}")
    found = excesses(blocks)
    return Finding("supported" if len(found) == 2 else "refuted", "; ".join(found) or "none does")
