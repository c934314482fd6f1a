"""Table 3: accuracy of one network that is a classifier and an energy model, trained in seven ways.

The paper copied its rows Classifier, JEM and HDGE from other papers with their own protocols; here all are
trained. The accuracy is the last one, without early stopping.
"""

from collections.abc import Iterator
from dataclasses import replace

from bench.artifact import Column, DataSets, Sheet, Value, on_all
from bench.judging.claims import Claim, Finding, check_at_most
from bench.judging.results import Results
from bench.paper.experiments.images import IMAGES, ImageSetting
from bench.paper.image_artifact import ImageArtifact
from bench.paper.tables.accuracy import ACCURACY, BEST, check_more_accurate, read_accuracy, to_percent
from bench.paper.tuning.image_tuning import describe_tuning
from bench.paper.values import PAPER

OURS, RIVAL = "VERA α=100", "JEM"
POINTS = 0.5
"""The paper treats its own differences of .3, 0 and .2 points as none."""


def is_as_accurate(results: Results, data: ImageSetting) -> Finding:
    rival, own = (read_accuracy(results, IMAGES, data, label) for label in (RIVAL, OURS))
    return check_at_most(f"{RIVAL} − {OURS}", rival, own, POINTS)


class Table3(ImageArtifact):
    name = "table3"
    title = "Table 3: accuracy of a classifier that is an energy model too"
    columns = (
        Column("dataset", "data"),
        Column("method", "method"),
        Column(ACCURACY, "accuracy, %", 1),
        Column(BEST, "best on the way, %", 1),
        Column("calibration_error", "ECE", 3),
    )

    def claims_on(self, data: DataSets[ImageSetting]) -> Iterator[Claim]:
        yield Claim(
            "alpha-buys-accuracy",
            "A larger weight on the labels buys accuracy: α = 100 beats α = 1.",
            "Sec. 6",
            on_all(check_more_accurate(IMAGES, OURS, "VERA α=1"), data),
        )
        yield Claim(
            "as-accurate-as-jem",
            f"VERA with α = 100 is as accurate as JEM, to within {POINTS:g} points.",
            "Sec. 6",
            on_all(is_as_accurate, data),
        )

    def render(self, results: Results) -> Sheet:
        lines = [line for data in self.data(results.profile) for line in self.block(results, data)]
        text = "Accuracy on the test set at the end of training, higher is better"
        notes = [
            "Best on the way: the highest of all evaluations, chosen on the test set; never a result.",
            "The paper's Classifier, JEM and HDGE are copied from other papers: no verdict.",
        ]
        if results.profile == "laptop" and self.dataset is None:
            notes += describe_tuning(results)
        return self.sheet(results, text, self.columns, lines, notes)

    def block(self, results: Results, data: ImageSetting) -> Iterator[dict[str, Value]]:
        """The lines of one data set."""
        for trial in self.trials_on(results.profile, [data]):
            line = IMAGES.find_line(trial.label)
            final = to_percent(results.cell(trial, ACCURACY, PAPER.find_for("Table 3", line, data)))
            yield {
                "dataset": data.name,
                "method": trial.label,
                ACCURACY: replace(final, comparable=line is None or not line.copied),
                BEST: to_percent(results.cell(trial, BEST)),
                "calibration_error": results.cell(trial, "calibration_error"),
            }
