"""Table 9: the settings of Table 6, read from the declared trials of Table 6; at `paper` compared with the
paper's settings. It needs no rows.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

from bench.artifact import Artifact, Column, Sheet, Value
from bench.judging.claims import Claim, Finding
from bench.judging.compared import ComparedValue
from bench.judging.results import Results
from bench.paper.experiments.tabular import TABULAR
from bench.paper.experiments.tabular_data import PAPER_TABLES, TableSetting
from bench.paper.values import PAPER
from bench.render.numbers import format_exact
from sweeps.trial.identity import Profile, Trial
from vera.spec.trial_spec import TrialSpec


@dataclass(frozen=True)
class SettingReading:
    """How a setting of Table 9 is read from the trial of the line that it belongs to."""

    heading: str
    read: Callable[[TrialSpec, TableSetting], str]
    label: str = "VERA"


def _read_method(name: str) -> Callable[[TrialSpec, TableSetting], str]:
    return lambda spec, _: format_exact(spec.method[name])


def _format_epochs(step: int, table: TableSetting) -> str:
    """A step as epochs, with three digits: a part of the one epoch of HEPMASS is no whole number of steps."""
    return format_exact(step if table.epoch == 1 else float(f"{step / table.epoch:.3g}"))


READINGS = {
    "learning_rate": SettingReading("learning rate", _read_method("lr")),
    "epochs": SettingReading("epochs", lambda spec, table: format_exact(spec.steps / table.epoch)),
    "batch_size": SettingReading("batch size", lambda spec, _: str(spec.batch_size)),
    "decay_rate": SettingReading("decay rate", _read_method("decay")),
    "decay_epochs": SettingReading(
        "decay epochs",
        lambda spec, table: "|".join(_format_epochs(step, table) for step in spec.method["decay_at"]),
    ),
    "z_dim": SettingReading("dim(z)", lambda spec, _: str(spec.networks["generator"]["latent_dim"])),
    "lambda": SettingReading("λ", _read_method("entropy_weight")),
    "alpha": SettingReading("α", _read_method("alpha")),
    "beta": SettingReading("β", _read_method("beta")),
    "vat_epsilon": SettingReading("VAT ε", _read_method("epsilon"), "VAT"),
    "jem_mcmc_steps_kappa": SettingReading("JEM κ", _read_method("sampler_steps"), "JEM"),
}
"""By the setting's name in the paper's values."""


def read_setting(table: TableSetting, profile: Profile, name: str) -> str:
    reading = READINGS[name]
    return reading.read(TABULAR.trial(reading.label, profile, table).spec, table)


def read_paper_setting(table: TableSetting, name: str) -> str:
    """The paper's setting in the form of `read_setting`."""
    text = PAPER.read_text("Table 9", dataset=table.reference or "", metric=name)
    return "|".join(format_exact(float(value)) for value in text.split("|"))


def find_differences(profile: Profile) -> list[str]:
    """Every setting that is not the paper's."""
    pairs = [(table, name) for table in TABULAR.data(profile) if table.reference for name in READINGS]
    settings = [
        (
            f"{table.name} {READINGS[name].heading}",
            read_setting(table, profile, name),
            read_paper_setting(table, name),
        )
        for table, name in pairs
    ]
    return [f"{place}: {ours}, in the paper {paper}" for place, ours, paper in settings if ours != paper]


def settings_agree(results: Results) -> Finding:
    if results.profile != "paper":
        return Finding("undetermined", f"the {results.profile} profile has settings of its own")
    found = find_differences("paper")
    return Finding("refuted" if found else "supported", "; ".join(found) or f"all {4 * len(READINGS)} equal")


class Table9(Artifact):
    name = "table9"
    title = "Table 9: settings of the semi-supervised trainings"
    claims = (
        Claim(
            "settings",
            "Table 6 is declared with the settings of Table 9.",
            "B.8.2",
            settings_agree,
            {"laptop": "its data sets are others and have settings of their own"},
        ),
    )
    needs_rows = False

    def trials(self, profile: Profile) -> Iterator[Trial]:
        return iter(())

    def render(self, results: Results) -> Sheet:
        profile = results.profile
        tables = TABULAR.data(profile)
        columns = (Column("setting", "setting"), *(Column(table.name, table.name) for table in tables))
        lines = tuple(self.line(profile, name) for name in READINGS)
        caption = (
            f"Read off the specifications of the trials of Table 6 at the {profile} profile; "
            "no training is needed for it."
        )
        notes = tuple(find_differences(profile))
        return Sheet(self.name, self.title, caption, columns, lines, profile, notes)

    def list_compared(self, results: Results) -> Iterator[ComparedValue]:
        for table, name in product(PAPER_TABLES, READINGS):
            number = PAPER.find_number("Table 9", dataset=table.reference or "", metric=name)
            is_equal = read_setting(table, "paper", name) == read_paper_setting(table, name)
            yield ComparedValue(number, verdict="equal" if is_equal else "differs")

    def line(self, profile: Profile, name: str) -> dict[str, Value]:
        """The setting on every data set. At `smoke` and `laptop` an epoch is a step."""
        heading = READINGS[name].heading
        heading = heading if profile == "paper" else heading.replace("epochs", "steps")
        settings = {table.name: read_setting(table, profile, name) for table in TABULAR.data(profile)}
        return {"setting": heading, **settings}
