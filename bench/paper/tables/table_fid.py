"""The extended table of App. C.3: Fréchet distance and Inception Score, of refined samples and of the
generator's own.

The score is exp E KL(p(y|x) ‖ p(y)) of the network's class probabilities, higher is better. Trap: Inception
as a TorchScript file has features and no probabilities; then the score is blank and says so, while a digit
classifier's lies between 1 and 10 and has nothing to do with Inception's. The references but VERA's own rows
come from other papers.
"""

from collections.abc import Iterator

from bench.artifact import Column, Sheet, Value
from bench.judging.cell import Cell
from bench.judging.claims import Claim, Finding, compare
from bench.judging.results import Results
from bench.paper.experiments.image_artifact import Sets, on_first
from bench.paper.experiments.images import Pictures, line, trial_of
from bench.paper.tables.image_tables import SOURCE, Judge, SampledPictures, printed, reference_cell, referred
from sweeps.trial.identity import Trial

TABLE = "Table U1 (unnumbered, App. C.3)"
REFERENCES = ("SNGAN", "NCSN", "ADE", "IGEBM", "Glow", "FCE")
KINDS = {"": ("refined by MALA", "MALA refined"), "generated_": ("generator's own", "generator samples")}
"""Prefix of the metrics → what the samples are, and what the paper calls them."""
AS_DRAWN = "as it draws them"


def refinement_helps(results: Results, pictures: Pictures) -> Finding:
    """On the same trials."""
    trial = trial_of(line("VERA α=1"), pictures, results.profile)
    judge = Judge(results, pictures)
    own, refined = (judge.cell(trial, f"{prefix}fid") for prefix in ("generated_", ""))
    return compare(f"{judge.distance} of generator samples", own, "refined", refined, better="lower")


class TableFID(SampledPictures):
    name = "table-fid"
    title = "Extended table (App. C.3): Fréchet distance and Inception Score"

    def claims_on(self, sets: Sets) -> Iterator[Claim]:
        yield Claim("refinement-helps", "MALA refinement brings the generator's samples closer to the data at α = 1.", "App. C.3",
                    on_first(refinement_helps, sets))  # fmt: skip

    def render(self, results: Results) -> Sheet:
        judge, trials = Judge(results, self.pictures(results.profile)), list(self.trials(results.profile))
        score = "IS" if judge.pictures.features == "inception" else "score"
        columns = (
            Column("dataset", "data"), Column("method", "method"), Column("samples", "samples"),
            Column("fid", judge.heading(judge.distance, trials), 1), Column("score", judge.heading(score, trials), 2),
        )  # fmt: skip
        lines = (*(entry for trial in trials for entry in self.block(judge, trial)), *self.references(judge))
        text = "Fréchet distance (lower is better) and score (higher is better) of samples"
        return self.sheet(results, text, columns, lines, tuple(self.notes(judge)))

    def block(self, judge: Judge, trial: Trial) -> Iterator[dict[str, Value]]:
        """One line for each kind of samples that the trial has."""
        kinds = KINDS if "generator" in trial.spec.networks else {"": (AS_DRAWN, "")}
        for prefix, (samples, name) in kinds.items():
            yield {
                "dataset": judge.pictures.name, "method": trial.label, "samples": samples,
                "fid": self.cell(judge, trial, prefix, "FID", name), "score": self.cell(judge, trial, prefix, "IS", name),
            }  # fmt: skip

    def cell(self, judge: Judge, trial: Trial, prefix: str, metric: str, name: str) -> Cell:
        method, variant = referred(trial.label)
        known = printed(TABLE, method, metric, variant=f"{variant} {name}".strip())
        return judge.cell(trial, f"{prefix}{'fid' if metric == 'FID' else 'score'}", known)

    def references(self, judge: Judge) -> Iterator[dict[str, Value]]:
        for method in REFERENCES if judge.comparable else ():
            fid, score = (reference_cell(printed(TABLE, method, metric)) for metric in ("FID", "IS"))
            yield {
                "dataset": judge.pictures.name,
                "method": method,
                "samples": SOURCE,
                "fid": fid,
                "score": score,
            }

    def notes(self, judge: Judge) -> Iterator[str]:
        yield "Mean of ten splits for the score; a score of another network or of another n is another quantity."
        if judge.comparable:
            yield f"{', '.join(('JEM', 'HDGE', *REFERENCES))}: the paper's values are copied from other papers: no verdict."
