"""Table 7: the settings that the paper recommends, and those of the declared trials: the lines of VERA in
Table 3, and all data sets of Table 6. It needs no rows.

At `paper` they are compared with the paper's. Where it recommends several values (α, β) any of them will do.
Not compared are the learning rates of Table 6, for which Table 9 has other values, and β in Table 3, where
all labels are known and the class entropy has no weight.

Trap: a footnote divides the learning rates by α if α > 1. That contradicts the appendix (1e-4 and 2e-4) and
the published command for α = 100 (3e-5, 6e-5, 3e-5), which Table 3 follows. So these differences are shown,
and do not count as a wrong setting.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bench.artifact import Artifact, Column, Sheet, Value
from bench.judging.claims import Claim, Finding
from bench.judging.compared import ComparedValue
from bench.judging.results import Results
from bench.paper.experiments.images import IMAGES
from bench.paper.experiments.tabular import TABULAR
from bench.paper.values import PAPER
from bench.render.numbers import format_exact
from sweeps.trial.identity import Profile, Trial
from vera.spec.trial_spec import Component
from vera.training.adam_betas import PAPER_BETAS
from vera.wording import plural

IMAGE_LINES = ("VERA α=1", "VERA α=30", "VERA α=100")
TABLES = "Table 6"
BETAS = ("adam_beta1", "adam_beta2")
RATES = {"lr_energy": "lr", "lr_generator": "generator_lr", "lr_posterior": "posterior_lr"}
SETTINGS = {
    "lambda_entropy_weight": "entropy_weight",
    "gamma_gradient_penalty": "gamma",
    "alpha_classification_weight": "alpha",
    "beta_classification_entropy": "beta",
}
HEADINGS = {
    "adam_beta1": "Adam β₁",
    "adam_beta2": "Adam β₂",
    "lr_energy": "learning rate, energy",
    "lr_generator": "learning rate, generator",
    "lr_posterior": "learning rate, posterior",
    "lambda_entropy_weight": "λ",
    "gamma_gradient_penalty": "γ",
    "alpha_classification_weight": "α",
    "beta_classification_entropy": "β",
}
"""By the setting's name in the paper's values, in the paper's order."""


@dataclass(frozen=True)
class Declared:
    """A setting of one trial, and the values that the paper recommends for it; no value: not compared."""

    place: str
    value: float
    recommended: tuple[float, ...]

    @property
    def differs(self) -> bool:
        return bool(self.recommended) and format_exact(self.value) not in map(format_exact, self.recommended)


def read_recommended(name: str, alpha: float) -> tuple[float, ...]:
    """The paper's values of a setting for a model with this α; Table 7's footnote divides rates by α."""
    plain, _, condition = PAPER.read_text("Table 7", metric=name).partition(" (")
    factors = {"1": 1.0, "0.1*alpha": 0.1 * alpha, "alpha": alpha}
    values = [factors.get(text) or float(text) for text in plain.split("|")]
    divisor = alpha if "alpha" in condition and alpha > 1 else 1.0
    return tuple(value / divisor for value in values)


def list_declared(name: str, profile: Profile) -> Iterator[Declared]:
    """The setting on every line and data set that Table 7 shows."""
    for label in IMAGE_LINES:
        yield read_declared(name, IMAGES.trial(label, profile), label, is_compared="beta_class" not in name)
    for data in TABULAR.data(profile):
        if profile != "paper" or data.reference:
            place = f"{TABLES}, {data.name}"
            trial = TABULAR.trial("VERA", profile, data)
            yield read_declared(name, trial, place, is_compared=name not in RATES)


def read_declared(name: str, trial: Trial, place: str, is_compared: bool) -> Declared:
    method = trial.spec.method
    recommended = read_recommended(name, method["alpha"]) if is_compared else ()
    return Declared(place, float(read_setting(name, method)), recommended)


def read_setting(name: str, method: Component) -> float:
    """The setting of a method; η learns at the generator's rate unless it has one of its own."""
    if name in BETAS:
        return PAPER_BETAS[BETAS.index(name)]
    value: float = method.get((RATES | SETTINGS)[name], method["generator_lr"])
    return value


def find_differences(profile: Profile) -> Mapping[bool, list[str]]:
    """Every setting that is not recommended: True for learning rates with α > 1, where the paper contradicts
    itself, False for the others."""
    found: dict[bool, list[str]] = {True: [], False: []}
    for name, heading in HEADINGS.items():
        for each in list_declared(name, profile):
            if each.differs:
                paper = " or ".join(format_exact(float(f"{value:.3g}")) for value in each.recommended)
                text = f"{each.place}, {heading}: {format_exact(each.value)}, in Table 7 {paper}"
                found[name in RATES].append(text)
    return found


def settings_agree(results: Results) -> Finding:
    if results.profile != "paper":
        return Finding("undetermined", f"the {results.profile} profile has settings of its own")
    found = find_differences("paper")
    rates = "; ".join(found[True])
    evidence = f"the published command is followed where Table 7's footnote contradicts it: {rates}"
    return Finding("refuted" if found[False] else "supported", "; ".join([*found[False], evidence]))


class Table7(Artifact):
    name = "table7"
    title = "Table 7: recommended settings of VERA"
    claims = (
        Claim(
            "settings",
            "VERA is declared with the settings of Table 7, or of the published command where it differs.",
            "B.1",
            settings_agree,
            {"laptop": "its networks and data are others and have settings of their own"},
        ),
    )
    columns = (
        Column("setting", "setting"),
        Column("paper", "paper"),
        *(Column(label, label) for label in IMAGE_LINES),
        Column(TABLES, TABLES),
    )
    needs_rows = False

    def trials(self, profile: Profile) -> Iterator[Trial]:
        return iter(())

    def render(self, results: Results) -> Sheet:
        profile = results.profile
        lines = tuple(self.line(profile, name) for name in HEADINGS)
        caption = (
            f"Read off the specifications of the trials of VERA in Tables 3 and 6 at the {profile} profile; "
            "no training is needed for it."
        )
        found = find_differences(profile) if profile == "paper" else {True: [], False: []}
        return Sheet(
            self.name, self.title, caption, self.columns, lines, profile, (*found[False], *found[True])
        )

    def list_compared(self, results: Results) -> Iterator[ComparedValue]:
        for name in HEADINGS:
            differing = sum(each.differs for each in list_declared(name, "paper"))
            others = "the published command's" if name in RATES else "others"
            verdict = f"equal but for {plural(differing, 'trial')} with {others}" if differing else "equal"
            yield ComparedValue(PAPER.find_number("Table 7", metric=name), verdict=verdict)

    def line(self, profile: Profile, name: str) -> dict[str, Value]:
        """The setting of each line of Table 3, and its values over the data sets of Table 6."""
        declared = list(list_declared(name, profile))
        on_tables = sorted({each.value for each in declared if each.place.startswith(TABLES)})
        values = {each.place: format_exact(each.value) for each in declared if each.place in IMAGE_LINES}
        paper = PAPER.read_text("Table 7", metric=name).replace("|", ", ").replace("*alpha", "α")
        return {
            "setting": HEADINGS[name],
            "paper": paper.replace("alpha", "α"),
            **values,
            TABLES: ", ".join(map(format_exact, on_tables)),
        }
