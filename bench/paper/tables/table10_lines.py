"""The lines of Table 10 on one toy, as the store has them, and the best evaluation during training by the
paper's rule.

The published code evaluates a model ten times during training and keeps the best. Our trials are evaluated at
the end. Their training curves hold the likelihood of fresh batches, which the model has not seen, so an
evaluation during training is the mean over the batches of the hundredth of the training that ends there.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from bench.artifact import Value
from bench.experiment import DataSetting, Line
from bench.judging.cell import Cell, make_cell
from bench.judging.results import Results, read_metrics
from bench.paper.experiments.toy_judging import find_best, report_not_run
from bench.paper.experiments.toys import MIXTURE
from bench.paper.values import PAPER
from bench.render.numbers import format_exact, format_fixed
from sweeps.store.row import Row
from sweeps.trial.identity import Trial

LIKELIHOOD, BEST_OF_TEN, BEST_EVALUATION, BEST_OF_EITHER = (
    "test_log_likelihood", "best_of_ten_batches", "best_of_ten_looks", "best_of_either",
)  # fmt: skip
BEST_PCD = "PCD (best σ)"
LINES = {
    line.label: line
    for line in (*MIXTURE.lines, Line(BEST_PCD, {"name": "pcd"}, reference={"method": "PCD"}))
}
ROUNDING = 0.005
"""The paper prints two digits after the point."""
EVALUATIONS = 10
"""How often the published code evaluates a model during training."""


@dataclass(frozen=True)
class MixtureResults:
    """Likelihoods of the mixture on one toy, by label; the last is PCD at the σ that is best on test
    points."""

    toy: DataSetting
    likelihood: Mapping[str, Cell]
    best_of_ten: Mapping[str, Cell]
    ceiling: float | None
    sigma: str | None
    """The label of PCD at its best σ."""

    @classmethod
    def read(cls, results: Results, toy: DataSetting) -> "MixtureResults":
        trials = list(MIXTURE.trials(results.profile, [toy]))
        likelihood, best_of_ten = (
            {t.label: results.cell(t, metric) for t in trials} for metric in (LIKELIHOOD, BEST_OF_TEN)
        )
        ceilings = [value for trial in trials for value in results.cell(trial, "ceiling").values]
        pcd = select_pcd(likelihood)
        is_partial = any(cell.total for cell in pcd.values()) and report_not_run(pcd) is not None
        sigma = None if is_partial else find_best(pcd)
        none = make_cell([(outcome, None) for cell in pcd.values() for outcome in cell.outcomes])
        missing = Cell(reason="not every σ was run") if is_partial else none
        return cls(
            toy,
            likelihood | {BEST_PCD: likelihood[sigma] if sigma else missing},
            best_of_ten | {BEST_PCD: best_of_ten[sigma] if sigma else missing},
            fmean(ceilings) if ceilings else None,
            sigma,
        )

    def describe_excess(self, label: str) -> str:
        """A sentence if the paper's value lies above the ceiling by more than rounding, else nothing."""
        paper = find_paper_value(self.toy, label)
        if paper is None or self.ceiling is None or paper - ROUNDING <= self.ceiling:
            return ""
        above = f"the paper's {format_exact(paper)} lies above the ceiling of {format_fixed(self.ceiling, 3)}"
        return f"{label} on {self.toy.name}: {above}"

    def is_flattered(self, label: str) -> bool:
        """Whether our own best of ten batches lies above the ceiling."""
        mean = self.best_of_ten[label].mean
        return mean is not None and self.ceiling is not None and mean > self.ceiling

    def lines(
        self, during_training: Mapping[str, Cell], either: Mapping[str, Cell]
    ) -> Iterator[dict[str, Value]]:
        """`during_training` holds the best evaluation during training by label, `either` the better of that
        and the best of ten batches. If a σ passes good models and then diverges, the paper's rule selects
        another σ."""
        by_rule = None if report_not_run(select_pcd(either)) else find_best(select_pcd(either))
        for label, cell in self.likelihood.items():
            shown = by_rule if by_rule and label == BEST_PCD else label
            chosen = self.describe_sigma(by_rule) if label == BEST_PCD else []
            marks = ["† paper"] * bool(self.describe_excess(label)) + ["† best of ten"] * self.is_flattered(
                label
            )
            missing, paper = Cell(reason=cell.reason), find_paper_value(self.toy, label)
            is_biased = shown in self.likelihood and self.likelihood[shown].diverged > 0
            yield {
                "dataset": self.toy.name,
                "method": label,
                LIKELIHOOD: replace(cell, paper=paper),
                BEST_OF_TEN: self.best_of_ten[label],
                "ceiling": self.ceiling,
                BEST_EVALUATION: during_training.get(shown, missing),
                BEST_OF_EITHER: replace(either.get(shown, missing), paper=paper, is_biased=is_biased),
                "remark": ", ".join([*chosen, *self.count_late_divergences(shown, either), *marks]),
            }

    def count_late_divergences(self, label: str, either: Mapping[str, Cell]) -> list[str]:
        """A remark if trials that diverged keep earlier evaluations, which no other column counts."""
        if label not in either or either[label].n <= self.likelihood[label].n:
            return []
        late = either[label].n - self.likelihood[label].n
        return [f"{late} of {either[label].total} diverged later"]

    def describe_sigma(self, by_rule: str | None) -> list[str]:
        """Remarks on PCD at its best: its σ, and the σ that the paper's rule selects if it is another."""
        end, rule = ((label or "").removeprefix("PCD ") for label in (self.sigma, by_rule))
        return [end] * bool(end) + [f"by the paper's rule {rule}"] * (rule not in ("", end))


def find_paper_value(toy: DataSetting, label: str) -> float | None:
    """The paper's value for a line of Table 10; None if it has none."""
    return PAPER.find_for("Table 10", LINES.get(label), toy)


def select_pcd(cells: Mapping[str, Cell]) -> dict[str, Cell]:
    """The cells of PCD at each σ."""
    return {label: cell for label, cell in cells.items() if label.startswith("PCD σ")}


def list_excesses(blocks: Sequence[MixtureResults]) -> list[str]:
    """A sentence for each of the paper's values that lies above the ceiling."""
    return [text for block in blocks for label in block.likelihood if (text := block.describe_excess(label))]


def read_best_evaluations(results: Results, toy: DataSetting) -> tuple[dict[str, Cell], dict[str, Cell]]:
    """By label: the best evaluation during training, and the best of these and of ten batches at the end."""
    trials = list(MIXTURE.trials(results.profile, [toy]))
    return (
        {trial.label: find_best_evaluation(results, trial) for trial in trials},
        {trial.label: find_best_evaluation(results, trial, BEST_OF_TEN) for trial in trials},
    )


def find_best_evaluation(results: Results, trial: Trial, *metrics: str) -> Cell:
    """The best likelihood of ten evaluations during training, over seeds; with `metrics`, the best of these
    and of the evaluations. Valid for a normalised model only. By the paper's rule, a trial that diverged
    keeps the evaluations before that."""
    return make_cell([_find_best(results, row, metrics) for row in results.find_rows(trial)])


def _find_best(results: Results, row: Row, metrics: Sequence[str]) -> tuple[str, float | None]:
    """The outcome to count the row with, and its best value."""
    values = list(_read_evaluations(results, row))
    if row.outcome == "diverged":
        return ("ok", max(values)) if values else (row.outcome, None)
    final = [value for name, value in read_metrics(row).items() if name in metrics]
    return row.outcome, max([*values, *final], default=None)


def _read_evaluations(results: Results, row: Row) -> Iterator[float]:
    """Mean log-likelihood of data, which is f, or −loss for maximum likelihood, at each tenth of the
    training. Published curves have one point per hundredth, local curves more, so both have the same mean. In
    a training of fewer points an evaluation is the point at that step, if there is one."""
    metric, sign = ("loss", -1) if row.method == "ml" else ("f_data", 1)
    points = [
        point for point in results.read_curves(row) if (point.kind, point.metric) == ("training", metric)
    ]
    for end in (row.steps * tenth // EVALUATIONS for tenth in range(1, EVALUATIONS + 1)):
        if row.outcome == "diverged" and end >= row.outcome_step:
            return
        values = [sign * point.value for point in points if end - row.steps / 100 < point.step <= end]
        if values:
            yield fmean(values)
