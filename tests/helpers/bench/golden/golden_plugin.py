"""A plug-in with a table and a figure of invented trials: all kinds of cells, and characters that need
escaping."""

from bench.artifact import Artifact, Column, Drawing, Sheet
from bench.catalogue import catalogue
from bench.judging.claims import Claim, check_above
from bench.render.caption import describe_origin
from bench.render.plotting import create_panels
from sweeps.trial.identity import Trial
from vera.spec.trial_spec import TrialSpec

STEPS = {"smoke": 1, "laptop": 10, "paper": 100}
AWKWARD = r"A_b & 50% #1 {x} <y> | $z$ ~ ^ \ * [é] --σ"
LINES = {
    "ML": ({"name": "ml"}, -187.0),
    "VERA λ=1": ({"name": "vera", "entropy_weight": 1.0}, None),
    "VERA λ=0": ({"name": "vera", "entropy_weight": 0.0}, -190.5),
    "PCD": ({"name": "pcd", "noise": 0.1}, -4207.0),
    "MEG": ({"name": "meg"}, -1219.0),
    AWKWARD: ({"name": "dsm"}, -4363.0),
    "SSM": ({"name": "ssm"}, -2039.0),
}


def declare_trials(profile):
    """The trials by label."""
    specs = {
        label: TrialSpec({"name": "digits"}, {}, method, STEPS[profile])
        for label, (method, _) in LINES.items()
    }
    return {label: Trial(spec, profile, label=label) for label, spec in specs.items()}


def read_cell(results, label):
    return results.cell(declare_trials(results.profile)[label], "likelihood", LINES[label][1])


def check_vera_beats_pcd(results):
    return check_above("VERA", read_cell(results, "VERA λ=1"), "PCD", read_cell(results, "PCD"))


def check_ml_is_best(results):
    return check_above("ML", read_cell(results, "ML"), "VERA", read_cell(results, "VERA λ=1"))


class GoldenArtifact(Artifact):
    def trials(self, profile):
        return iter(declare_trials(profile).values())

    def caption(self, results):
        rows = results.find_all_rows(self.trials(results.profile))
        return f"Made-up likelihoods in nats. {describe_origin(rows)}"


@catalogue.register
class GoldenTable(GoldenArtifact):
    name = "golden-table"
    title = "Table G: likelihood & more, 100 % made up"
    claims = (
        Claim("best", "maximum likelihood is the best", "Sec. 1", check_ml_is_best),
        Claim("beats", "VERA beats PCD", "Sec. 2", check_vera_beats_pcd),
    )

    def render(self, results):
        columns = (
            Column("method", "method"),
            Column("likelihood", "log-likelihood ↑", 1),
            Column("rate", "rate", 3),
            Column("mark", ""),
        )
        remarks = {"PCD": "†", "SSM": "−"}
        lines = tuple(
            {
                "method": label,
                "likelihood": read_cell(results, label),
                "rate": 1 / 3 if label == "ML" else None,
                "mark": remarks.get(label),
            }
            for label in LINES
        )
        notes = ("† PCD_σ with 100 % noise.",)
        return Sheet(self.name, self.title, self.caption(results), columns, lines, results.profile, notes)


@catalogue.register
class GoldenFigure(GoldenArtifact):
    name = "golden-figure"
    title = "Figure G: samples"

    def render(self, results):
        row = results.find_rows(declare_trials(results.profile)["ML"])[0]
        samples, history = results.read_arrays(row)["samples"], results.read_curves(row)

        def draw():
            figure, axes = create_panels(1, 2, 2.0, 2.0)
            axes[0, 0].scatter(*samples.T, s=4)
            axes[0, 1].plot([point.step for point in history], [point.value for point in history])
            return figure

        return Drawing(self.name, self.title, self.caption(results), draw, results.profile)
