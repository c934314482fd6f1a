"""Table 4: the Fréchet distance of samples from the training images, by the features of a fixed network;
lower is better.

VERA's samples are its generator's after MALA refinement, JEM's are the chains of its buffer. HDGE as trained
for Table 3 draws none; its line here has JEM's log p(x) too, as the model of its paper's distance does, and
its chains. The paper's rows but VERA's are copied from other papers; SNGAN and NCSN are no energy models and
are not trained here.

Trap: at `laptop` the data are digits and the network is a digit classifier. Its distance is no FID: it orders
methods, no more.
"""

from collections.abc import Iterator

from bench.artifact import Column, Sheet, Value
from bench.judging.claims import Claim, Finding
from bench.judging.results import Results
from bench.paper.experiments.image_artifact import Check, Sets, on_first
from bench.paper.experiments.images import Pictures, line, trial_of
from bench.paper.tables.image_tables import SOURCE, Judge, SampledPictures, printed, reference_cell, referred

REFERENCES = ("SNGAN", "NCSN")


def lower(better: str, worse: str) -> Check:
    def check(results: Results, pictures: Pictures) -> Finding:
        trials = (trial_of(line(label), pictures, results.profile) for label in (better, worse))
        return Judge(results, pictures).closer(*trials)

    return check


class Table4(SampledPictures):
    name = "table4"
    title = "Table 4: Fréchet distance of samples"

    def claims_on(self, sets: Sets) -> Iterator[Claim]:
        yield Claim("samples-beat-jem", "VERA's refined samples lie closer to the data than JEM's.", "Sec. 6",
                    on_first(lower("VERA α=1", "JEM"), sets))  # fmt: skip
        yield Claim("labels-cost-quality", "A smaller weight on the labels gives better samples: α = 1 beats α = 100.",
                    "Sec. 6", on_first(lower("VERA α=1", "VERA α=100"), sets))  # fmt: skip

    def render(self, results: Results) -> Sheet:
        pictures = self.pictures(results.profile)
        judge, trials = Judge(results, pictures), list(self.trials(results.profile))
        columns = (
            Column("dataset", "data"), Column("method", "method"), Column("fid", judge.heading(judge.distance, trials), 1),
            Column("kid", "KID", 4), Column("source", "source of the paper's value"),
        )  # fmt: skip
        lines = (*self.measured(judge), *self.references(judge))
        text = "Fréchet distance of samples from the training images, lower is better"
        notes = (
            "The distance of few samples is too large by an amount that falls with their number: compare at one n.",
        )
        return self.sheet(results, text, columns, lines, notes)

    def measured(self, judge: Judge) -> Iterator[dict[str, Value]]:
        for trial in self.trials(judge.results.profile):
            method, variant = referred(trial.label)
            found = judge.cell(trial, "fid", printed("Table 4", method, "FID", variant=variant))
            source = "" if found.paper is None else SOURCE if not found.comparable else "the paper's own"
            yield {
                "dataset": judge.pictures.name,
                "method": trial.label,
                "fid": found,
                "kid": judge.cell(trial, "kid"),
                "source": source,
            }

    def references(self, judge: Judge) -> Iterator[dict[str, Value]]:
        for method in REFERENCES if judge.comparable else ():
            known = {"fid": reference_cell(printed("Table 4", method, "FID")), "kid": reference_cell()}
            yield {"dataset": judge.pictures.name, "method": method, **known, "source": SOURCE}
