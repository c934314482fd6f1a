"""Table 9: the settings of Table 6, read off the very trials that Table 6 runs; at `paper` against the
paper's.

It needs no rows: what stands here is what `vera run table6` would train with.
"""

from collections.abc import Callable, Iterator

from bench.artifact import Artifact, Column, Sheet, Value
from bench.judging.claims import Claim, Finding
from bench.judging.results import Results
from bench.paper.experiments.tabular import TABLES, Table, line
from bench.paper.values import paper_values
from bench.render.layout import exact
from sweeps.trial.identity import Profile, Trial
from vera.spec.trial_spec import TrialSpec

Reading = Callable[[Table, TrialSpec], str]


def _setting(label: str, name: str) -> Reading:
    return lambda table, _: exact(line(label).settings(table)[name])


def _epochs(table: Table, step: int) -> str:
    """A step as epochs, to three digits: a part of HEPMASS's one epoch is no whole number of steps."""
    return exact(step if table.epoch == 1 else float(f"{step / table.epoch:.3g}"))


READINGS: dict[str, tuple[str, Reading]] = {
    "learning_rate": ("learning rate", lambda _, spec: exact(spec.method["lr"])),
    "epochs": ("epochs", lambda table, spec: exact(spec.steps / table.epoch)),
    "batch_size": ("batch size", lambda _, spec: str(spec.batch_size)),
    "decay_rate": ("decay rate", lambda _, spec: exact(spec.method["decay"])),
    "decay_epochs": (
        "decay epochs",
        lambda table, spec: "|".join(_epochs(table, step) for step in spec.method["decay_at"]),
    ),
    "z_dim": ("dim(z)", lambda _, spec: str(spec.networks["generator"]["latent_dim"])),
    "lambda": ("λ", lambda _, spec: exact(spec.method["entropy_weight"])),
    "alpha": ("α", lambda _, spec: exact(spec.method["alpha"])),
    "beta": ("β", lambda _, spec: exact(spec.method["beta"])),
    "vat_epsilon": ("VAT ε", _setting("VAT", "epsilon")),
    "jem_mcmc_steps_kappa": ("JEM κ", _setting("JEM", "sampler_steps")),
}
"""How each setting is found in VERA's trial, or in that of the method it belongs to."""


def read(table: Table, profile: Profile, name: str) -> str:
    return READINGS[name][1](table, line("VERA").trial(table, profile).spec)


def paper_setting(table: Table, name: str) -> str:
    """As the paper prints it, in the form that `read` gives."""
    found = [entry["value"] for entry in paper_values()
             if entry["artifact"] == "Table 9" and entry["dataset"] == table.reference and entry["metric"] == name]  # fmt: skip
    return "|".join(exact(float(part)) for value in found for part in value.split("|"))


def differences(profile: Profile) -> list[str]:
    tables = [table for table in TABLES[profile] if table.reference]
    return [f"{table.name} {READINGS[name][0]}: {read(table, profile, name)}, in the paper {paper_setting(table, name)}"
            for table in tables for name in READINGS if read(table, profile, name) != paper_setting(table, name)]  # fmt: skip


def settings_agree(results: Results) -> Finding:
    if results.profile != "paper":
        return Finding("undetermined", f"the {results.profile} profile has settings of its own")
    found = differences("paper")
    return Finding("refuted" if found else "supported", "; ".join(found) or f"all {4 * len(READINGS)} equal")


class Table9(Artifact):
    name = "table9"
    title = "Table 9: settings of the semi-supervised trainings"
    claims = (
        Claim("settings", "Table 6 is declared with the settings of Table 9.", "B.8.2", settings_agree),
    )
    needs_rows = False

    def trials(self, profile: Profile) -> Iterator[Trial]:
        return iter(())

    def render(self, results: Results) -> Sheet:
        profile = results.profile
        columns = (
            Column("setting", "setting"),
            *(Column(table.name, table.name) for table in TABLES[profile]),
        )
        lines = tuple(self.line(profile, name) for name in READINGS)
        caption = f"Read off the specifications of the trials of Table 6 at the {profile} profile; no training is needed for it."
        return Sheet(self.name, self.title, caption, columns, lines, profile, tuple(differences(profile)))

    def line(self, profile: Profile, name: str) -> dict[str, Value]:
        heading = (
            READINGS[name][0] if profile == "paper" else READINGS[name][0].replace("epochs", "steps")
        )  # counted in steps
        return {"setting": heading, **{table.name: read(table, profile, name) for table in TABLES[profile]}}
