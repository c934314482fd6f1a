"""Table 4: the Fréchet distance of samples from the training images, by the features of a fixed network;
lower is better.

VERA's samples are its generator's after MALA refinement, JEM's are the chains of its buffer. HDGE as
trained for Table 3 draws no samples. Its line here is also trained with JEM's log p(x), as the model behind
its paper's distance is, and draws samples by the same chains. All rows of the paper except VERA's are
copied from other papers. SNGAN and NCSN are not energy models and are not trained here.

Trap: at `laptop` the data are digits and the network is a digit classifier. Its distance is not an FID; it
only orders methods.
"""

from collections.abc import Callable, Iterator

from bench.artifact import Column, DataSets, Sheet, Value, on_first
from bench.judging.claims import Claim, Finding, require_all
from bench.judging.results import Results
from bench.paper.experiments.images import IMAGES, ImageSetting
from bench.paper.image_artifact import SampleArtifact
from bench.paper.tables.accuracy import check_more_accurate
from bench.paper.tables.sample_quality import SOURCE, SampleQuality, cell_of_paper
from bench.paper.values import PAPER
from sweeps.trial.identity import Trial

OURS = "VERA α=100"
NOT_TRAINED = ("SNGAN", "NCSN")


def claim_closer(better: str, worse: str) -> Callable[[Results, ImageSetting], Finding]:
    """A claim that the samples of one line are closer to the data than those of another."""

    def check(results: Results, data: ImageSetting) -> Finding:
        trials = (IMAGES.trial(label, results.profile, data) for label in (better, worse))
        return SampleQuality(results, data).check_closer(*trials)

    return check


def check_three_legs(results: Results, data: ImageSetting) -> Finding:
    """VERA with α = 100 against JEM's accuracy, and against the distances of JEM and HDGE."""
    checks = (
        check_more_accurate(IMAGES, OURS, "JEM"),
        claim_closer(OURS, "JEM"),
        claim_closer(OURS, "HDGE + log p(x)"),
    )
    return require_all([check(results, data) for check in checks])


class Table4(SampleArtifact):
    name = "table4"
    title = "Table 4: Fréchet distance of samples"

    def claims_on(self, data: DataSets[ImageSetting]) -> Iterator[Claim]:
        yield Claim(
            "samples-beat-jem",
            "VERA's refined samples lie closer to the data than JEM's.",
            "Sec. 6",
            on_first(claim_closer("VERA α=1", "JEM"), data),
        )
        yield Claim(
            "accuracy-and-samples",
            "VERA with α = 100 is more accurate than JEM, and its samples lie closer to the data than those "
            "of JEM and HDGE.",
            "Sec. 6",
            on_first(check_three_legs, data),
        )
        yield Claim(
            "labels-cost-quality",
            "A smaller weight on the labels gives better samples: α = 1 beats α = 100.",
            "Sec. 6",
            on_first(claim_closer("VERA α=1", "VERA α=100"), data),
        )

    def render(self, results: Results) -> Sheet:
        quality = SampleQuality(results, self.first_set(results.profile))
        trials = list(self.trials(results.profile))
        columns = (
            Column("dataset", "data"),
            Column("method", "method"),
            Column("fid", quality.make_heading(quality.distance, trials), 1),
            Column("kid", "KID", 4),
            Column("source", "source of the paper's value"),
        )
        lines = (*(self.line(quality, trial) for trial in trials), *self.list_untrained(quality))
        text = "Fréchet distance of samples from the training images, lower is better"
        note = (
            "The distance of few samples is too large by an amount that falls with their number: "
            "compare at one n."
        )
        return self.sheet(results, text, columns, lines, (note,))

    def line(self, quality: SampleQuality, trial: Trial) -> dict[str, Value]:
        paper = quality.find_paper_value("Table 4", trial, "FID", "100 MALA steps")
        found = quality.cell(trial, "fid", paper)
        return {
            "dataset": quality.data.name,
            "method": trial.label,
            "fid": found,
            "kid": quality.cell(trial, "kid"),
            "source": "" if found.paper is None else "the paper's own" if found.comparable else SOURCE,
        }

    def list_untrained(self, quality: SampleQuality) -> Iterator[dict[str, Value]]:
        """The lines of methods that the paper quotes, where its values are comparable."""
        for method in NOT_TRAINED if quality.is_comparable else ():
            value = PAPER.find("Table 4", method=method, metric="FID")
            yield {
                "dataset": quality.data.name,
                "method": method,
                "fid": cell_of_paper(value),
                "kid": cell_of_paper(),
                "source": SOURCE,
            }
