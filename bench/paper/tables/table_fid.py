"""The extended table of App. C.3: Fréchet distance and Inception Score of refined samples and of the
generator's samples.

The score is exp E KL(p(y|x) ‖ p(y)) of the network's class probabilities; higher is better. Trap: Inception
as a TorchScript file has features and no probabilities, so the score stays blank and the cell gives this
reason. The score of a digit classifier lies between 1 and 10 and is not comparable with Inception's. All
values of the paper except VERA's come from other papers.
"""

from collections.abc import Iterator

from bench.artifact import Column, DataSets, Sheet, Value, on_first
from bench.judging.cell import Cell
from bench.judging.claims import Claim, Finding, check_above
from bench.judging.results import Results
from bench.paper.experiments.images import IMAGES, ImageSetting
from bench.paper.image_artifact import SampleArtifact
from bench.paper.tables.sample_quality import SOURCE, SampleQuality, cell_of_paper
from bench.paper.values import PAPER
from sweeps.trial.identity import Trial

TABLE = "Table U1 (unnumbered, App. C.3)"
NOT_TRAINED = ("SNGAN", "NCSN", "ADE", "IGEBM", "Glow", "FCE")
KINDS = {"": ("refined by MALA", "MALA refined"), "generated_": ("generator's own", "generator samples")}
"""Prefix of the metrics → name of the samples, and their name in the paper."""
METRICS = {"FID": "fid", "IS": "score"}
"""Metric in the paper → ours."""
AS_DRAWN = "as it draws them"


def check_refinement_helps(results: Results, data: ImageSetting) -> Finding:
    """Compare the generator's samples with the refined samples of the same trials."""
    trial = IMAGES.trial("VERA α=1", results.profile, data)
    quality = SampleQuality(results, data)
    own, refined = (quality.cell(trial, f"{prefix}fid") for prefix in ("generated_", ""))
    return check_above(f"{quality.distance} of generator samples", own, "refined", refined, better="lower")


class TableFID(SampleArtifact):
    name = "table-fid"
    title = "Extended table (App. C.3): Fréchet distance and Inception Score"

    def claims_on(self, data: DataSets[ImageSetting]) -> Iterator[Claim]:
        yield Claim(
            "refinement-helps",
            "MALA refinement brings the generator's samples closer to the data at α = 1.",
            "App. C.3",
            on_first(check_refinement_helps, data),
        )

    def render(self, results: Results) -> Sheet:
        quality = SampleQuality(results, self.first_set(results.profile))
        trials = list(self.trials(results.profile))
        score = "IS" if quality.data.features == "inception" else "score"
        columns = (
            Column("dataset", "data"),
            Column("method", "method"),
            Column("samples", "samples"),
            Column("fid", quality.make_heading(quality.distance, trials), 1),
            Column("score", quality.make_heading(score, trials), 2),
        )
        measured = (line for trial in trials for line in self.block(quality, trial))
        lines = (*measured, *self.list_untrained(quality))
        text = "Fréchet distance (lower is better) and score (higher is better) of samples"
        return self.sheet(results, text, columns, lines, tuple(self.notes(quality)))

    def block(self, quality: SampleQuality, trial: Trial) -> Iterator[dict[str, Value]]:
        """One line for each kind of samples that the trial has."""
        kinds = KINDS if "generator" in trial.spec.networks else {"": (AS_DRAWN, "")}
        for prefix, (samples, in_paper) in kinds.items():
            cells: dict[str, Cell] = {}
            for metric, key in METRICS.items():
                paper = quality.find_paper_value(TABLE, trial, metric, in_paper)
                cells[key] = quality.cell(trial, f"{prefix}{key}", paper)
            yield {"dataset": quality.data.name, "method": trial.label, "samples": samples, **cells}

    def list_untrained(self, quality: SampleQuality) -> Iterator[dict[str, Value]]:
        """The lines of methods that the paper quotes, where its values are comparable."""
        for method in NOT_TRAINED if quality.is_comparable else ():
            values = {key: PAPER.find(TABLE, method=method, metric=metric) for metric, key in METRICS.items()}
            cells = {key: cell_of_paper(value) for key, value in values.items()}
            yield {"dataset": quality.data.name, "method": method, "samples": SOURCE, **cells}

    def notes(self, quality: SampleQuality) -> Iterator[str]:
        yield (
            "Mean of ten splits for the score; "
            "a score of another network or of another n is another quantity."
        )
        if quality.is_comparable:
            names = ", ".join(("JEM", "HDGE", *NOT_TRAINED))
            yield f"{names}: the paper's values are copied from other papers: no verdict."
