"""Mode counting: how many of StackedMNIST's 1,000 triples of digits a generator makes (Sec. 5.2, B.5).

Trap: a count depends on the classifier and on the number of samples. The count on held-out data, with the
same number of images, is printed beside it.
"""

from bench.artifact import Column, ExperimentArtifact, Sheet, Value
from bench.judging.cell import Cell
from bench.judging.claims import Claim, Finding, check_at_most
from bench.judging.results import Results
from bench.paper.experiments.modes import MODES, PUBLISHED_HMC
from bench.paper.values import PAPER
from sweeps.trial.identity import Trial

SOURCE = "Text Sec 5.2 (App. B.5)"
FEWER = 10.0
"""How many fewer modes still count as the same number."""


def read_cell(results: Results, label: str, metric: str) -> Cell:
    return results.cell(MODES.trial(label, results.profile), metric)


def check_nearly_all(results: Results) -> Finding:
    """Compared with the same number of held-out images, because the classifier errs and a sample is
    finite."""
    data, own = (read_cell(results, "VERA", metric) for metric in ("data_modes", "modes"))
    return check_at_most("modes of held-out data − modes of VERA", data, own, FEWER)


def check_as_many_as_hmc(results: Results) -> Finding:
    """The paper has 999 modes for both; its HMC has the prior-only force."""
    vera, hmc = (read_cell(results, label, "modes") for label in ("VERA", PUBLISHED_HMC))
    return check_at_most("VERA-HMC − VERA", hmc, vera, FEWER)


class Modes(ExperimentArtifact):
    experiment = MODES
    name = "modes"
    title = "Mode counting: StackedMNIST's 1,000 modes"
    claims = (
        Claim(
            "nearly-all",
            f"VERA's generator finds all modes that held-out data show, to within {FEWER:.0f}.",
            "Sec. 5.2",
            check_nearly_all,
        ),
        Claim(
            "as-many-as-hmc",
            f"VERA finds as many modes as VERA-HMC, to within {FEWER:.0f}.",
            "Sec. 5.2",
            check_as_many_as_hmc,
        ),
    )
    columns = (
        Column("method", "method"),
        Column("modes", "modes", 1),
        Column("data_modes", "of held-out data", 0),
        Column("mode_divergence", "KL(q‖p)", 3),
        Column("data_mode_divergence", "KL of held-out data", 3),
        Column("classifier_accuracy", "accuracy of the classifier", 3),
    )

    def render(self, results: Results) -> Sheet:
        trials = list(self.trials(results.profile))
        samples = trials[0].spec.task_component["samples"]
        text = f"Triples of digits among {samples:,} samples of the generator, of 1,000, higher is better"
        notes = (
            "Of held-out data: as many images, by the same classifier. Of a perfect generator, KL(q‖p) is "
            "about 999 / 2n.",
            "Neither λ nor the learning rates of this experiment are in the paper. Its VERA-HMC has the "
            "prior-only force.",
        )
        return self.sheet(results, text, self.columns, [self.make_row(results, t) for t in trials], notes)

    def make_row(self, results: Results, trial: Trial) -> dict[str, Value]:
        """The line of one trial."""
        data = MODES.data(results.profile)[0]
        paper = PAPER.find_for(SOURCE, MODES.find_line(trial.label), data, metric="modes_of_1000")
        cells: dict[str, Value] = {c.key: results.cell(trial, c.key) for c in self.columns[1:]}
        return {"method": trial.label, **cells, "modes": results.cell(trial, "modes", paper)}
