"""Table 3: accuracy of one Wide ResNet as classifier and energy model in one, trained in five ways.

The rows Classifier, JEM and HDGE of the paper are copied from other papers, with protocols of their own; here
all are trained. The accuracy is the last one, without early stopping.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

from bench.artifact import Column, Sheet, Value
from bench.judging.cell import Cell
from bench.judging.claims import Claim, Finding, all_of, at_most, compare
from bench.judging.results import Results
from bench.paper.experiments.image_artifact import PictureArtifact, Sets
from bench.paper.experiments.images import COPIED, LINES, Pictures, line, trial_of, trials
from bench.paper.tables.table6 import percent
from bench.paper.values import paper_values

ACCURACY, BEST = "test_accuracy", "best_test_accuracy"
POINTS = 0.5
"""The paper's own differences, .3, 0 and .2, count as none."""


def paper_accuracy(pictures: Pictures, label: str) -> float | None:
    """None where the paper has no such row or prints N/A."""
    entry = next((entry for entry in LINES if entry.label == label), None)
    if pictures.reference is None or entry is None or entry.reference is None:
        return None
    wanted = {"artifact": "Table 3", "dataset": pictures.reference, **entry.reference}
    (found,) = [row["value"] for row in paper_values() if wanted.items() <= row.items()]
    return None if found == "N/A" else float(found)


def accuracy(results: Results, pictures: Pictures, label: str) -> Cell:
    return percent(results.cell(trial_of(line(label), pictures, results.profile), ACCURACY))


Check = Callable[[Results, Pictures, int], Finding]
"""On one data set, of so many."""


def above(high: str, low: str) -> Check:
    return lambda results, p, n: compare(high, accuracy(results, p, high), low, accuracy(results, p, low), n)


def not_below(other: str, own: str) -> Check:
    return lambda results, p, n: at_most(
        f"{other} − {own}", accuracy(results, p, other), accuracy(results, p, own), POINTS, n
    )


def on_all(check: Check, sets: Sets) -> Callable[[Results], Finding]:
    """On every data set."""

    def judge(results: Results) -> Finding:
        asked = sets(results.profile)
        found = [(pictures.name, check(results, pictures, len(asked))) for pictures in asked]
        return all_of([Finding(finding.judgement, f"{name}: {finding.evidence}") for name, finding in found])

    return judge


class Table3(PictureArtifact):
    name = "table3"
    title = "Table 3: accuracy of a Wide ResNet that is an energy model too"
    columns = (
        Column("dataset", "data"),
        Column("method", "method"),
        Column(ACCURACY, "accuracy, %", 1),
        Column(BEST, "best on the way, %", 1),
        Column("calibration_error", "ECE", 3),
    )

    def claims_on(self, sets: Sets) -> Iterator[Claim]:
        yield Claim("alpha-buys-accuracy", "A larger weight on the labels buys accuracy: α = 100 beats α = 1.", "Sec. 6",
                    on_all(above("VERA α=100", "VERA α=1"), sets))  # fmt: skip
        yield Claim("as-accurate-as-jem", f"VERA with α = 100 is as accurate as JEM, to within {POINTS:g} points.", "Sec. 6",
                    on_all(not_below("JEM", "VERA α=100"), sets))  # fmt: skip

    def render(self, results: Results) -> Sheet:
        lines = [line for pictures in self.sets(results.profile) for line in self.block(results, pictures)]
        text = "Accuracy on the test set at the end of training, higher is better"
        return self.sheet(results, text, self.columns, lines, tuple(self.notes()))

    def block(self, results: Results, pictures: Pictures) -> Iterator[dict[str, Value]]:
        for trial in trials(results.profile, [pictures]):
            last = percent(results.cell(trial, ACCURACY, paper_accuracy(pictures, trial.label)))
            yield {
                "dataset": pictures.name, "method": trial.label,
                ACCURACY: replace(last, comparable=trial.label not in COPIED),
                BEST: percent(results.cell(trial, BEST)), "calibration_error": results.cell(trial, "calibration_error"),
            }  # fmt: skip

    def notes(self) -> Iterator[str]:
        yield "Best on the way: the highest of all evaluations, chosen on the test set; never a result."
        yield "The paper's Classifier, JEM and HDGE are copied from other papers: no verdict."
