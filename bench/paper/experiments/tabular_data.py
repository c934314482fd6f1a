"""The data sets of the tabular experiment. Those of the paper carry the settings of Table 9: learning rate,
epochs, decay, λ, α, β, VAT's ε and JEM's κ. On those of `laptop` every line has settings of its own, chosen
on tuning seeds (tabular_tuning.py); on other data it has the settings at which that search starts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from bench.data_names import describe_data
from bench.experiment import DataSetting
from bench.paper.experiments.tabular_tuning import SCHEDULES, START, Settings, choose_settings
from sweeps.store.row import Row
from sweeps.trial.identity import Profile
from vera.errors import SettingError
from vera.spec.trial_spec import Component

LABELS = 10
"""Labels of each class that a method is shown."""
USUAL = {"labels_per_class": LABELS, "held_out": 0.1, "standardise": True, "side": 28, "validation": "test"}
"""Settings of data that are not printed after its name."""


@dataclass(frozen=True, kw_only=True)
class TableSetting(DataSetting):
    """A data set with its column of Table 9."""

    lr: float
    """Of the energy and of the generator."""
    decay_epochs: tuple[float, ...]
    latent_dim: int
    epsilon: float
    """Of VAT."""
    sampler_steps: int
    """Of JEM: κ."""
    alpha: float = 1.0
    beta: float = 1.0
    entropy_weight: float = 1e-4
    weight_normalised: bool = False
    """Whether the classifier normalises its weights."""
    image: bool = False
    """Whether its points are images with pixels in [−1, 1]."""
    lines: Mapping[str, Settings] = field(default_factory=dict)
    """By line: settings that differ from the column."""

    @property
    def decay_at(self) -> list[int]:
        """Steps at which the learning rate decays."""
        return [int(epochs * self.epoch) for epochs in self.decay_epochs]

    def list_decays(self, line: str, steps: int) -> list[int]:
        """Steps at which the learning rate of a line decays that is trained for this number of steps."""
        own = self.lines.get(line, {})
        if "schedule" in own:
            return [max(1, int(share * steps)) for share in SCHEDULES[own["schedule"]]]
        return [max(1, int(own.get("length", 1) * step)) for step in self.decay_at]

    def change_line(self, line: str, changes: Settings) -> "TableSetting":
        """The same data with other settings of one line."""
        return replace(self, lines={**self.lines, line: {**self.lines.get(line, {}), **changes}})

    def begin_search(self, line: str) -> "TableSetting":
        """The same data with the settings of one line at the start of the search of `laptop`."""
        return self.change_line(line, START[line])


HEPMASS = TableSetting(
    "HEPMASS",
    {"name": "hepmass", "labels_per_class": LABELS},
    "HEPMASS",
    epoch=98_437,
    steps=98_437,
    evaluations=10,
    lr=1e-5,
    decay_epochs=(0.05, 0.1),
    latent_dim=10,
    epsilon=0.1,
    sampler_steps=20,
)
CROP = TableSetting(
    "CROP",
    {"name": "crop", "labels_per_class": LABELS},
    "CROP",
    epoch=4_123,
    steps=20 * 4_123,
    lr=1e-4,
    decay_epochs=(15, 17),
    latent_dim=128,
    epsilon=3.0,
    sampler_steps=20,
)
HUMAN = TableSetting(
    "HUMAN",
    {"name": "human", "labels_per_class": LABELS},
    "HUMAN",
    epoch=103,
    steps=800 * 103,
    evaluations=80,
    lr=1e-5,
    decay_epochs=(200, 300, 400, 600),
    latent_dim=128,
    alpha=10.0,
    epsilon=0.1,
    sampler_steps=40,
)
MNIST = TableSetting(
    "MNIST",
    {"name": "mnist-table", "validation": "test", "labels_per_class": LABELS},
    "MNIST",
    epoch=937,
    steps=200 * 937,
    lr=1e-5,
    decay_epochs=(150, 175),
    latent_dim=128,
    epsilon=3.0,
    sampler_steps=80,
    weight_normalised=True,
    image=True,
)
PAPER_TABLES = (HEPMASS, CROP, HUMAN, MNIST)
"""The columns of Table 9."""

STEPS: Mapping[Profile, int] = {"smoke": 20, "laptop": 2_000}
SMALL: Mapping[Profile, int] = {"smoke": 20, "laptop": 300}
"""Steps on tables of a few hundred points."""


def _make_small(
    name: str, dataset: Component, steps: int, lines: Mapping[str, Settings] = START, image: bool = False
) -> TableSetting:
    """A data set of `laptop` or `smoke`. Plug-in methods train for all of the steps, with the usual rate."""
    return TableSetting(
        name,
        {"labels_per_class": LABELS, **dataset},
        steps=steps,
        lr=1e-3,
        decay_epochs=tuple(int(share * steps) for share in SCHEDULES["late"]),
        latent_dim=16,
        epsilon=1.0,
        sampler_steps=20,
        image=image,
        lines=lines,
    )


def _make_embedded(name: str, dataset: Component, steps: int, image: bool = False) -> TableSetting:
    """A data set with the settings that the search chose for each line."""
    lines = {line: choose_settings(line, name) for line in START}
    return _make_small(name, dataset, steps, lines, image)


def make_embedded_tables(profile: Profile) -> tuple[TableSetting, ...]:
    """The data sets that install with the package."""
    steps, few = STEPS[profile], SMALL[profile]
    return (
        _make_embedded("breast cancer", {"name": "breast-cancer"}, few),
        _make_embedded("wine", {"name": "wine"}, few),
        _make_embedded("digits 8 × 8", {"name": "digits-table"}, steps, image=True),
        _make_embedded("MNIST 5k, 14 × 14", {"name": "mnist5k-table", "side": 14}, steps, image=True),
    )


LONGEST = max(
    round((table.steps or 0) * line["length"])
    for table in make_embedded_tables("laptop")
    for line in table.lines.values()
)
"""The largest number of steps of a line at `laptop`."""


def make_other_table(dataset: Component, profile: Profile) -> TableSetting:
    """Other data, with the settings at which the search of `laptop` starts."""
    known = (*PAPER_TABLES, *make_embedded_tables("laptop"))
    image = any(table.image for table in known if table.dataset["name"] == dataset["name"])
    name = describe_data(str(dataset.get("file", dataset["name"])), dataset, USUAL)
    return _make_small(name, dataset, STEPS[profile], image=image)


def change_paper_table(dataset: Component) -> TableSetting:
    """One of the paper's data sets with other settings, such as MNIST with a tenth of its training data for
    validation; `SettingError` for any other data."""
    known = next((table for table in PAPER_TABLES if table.dataset["name"] == dataset["name"]), None)
    if known is None:
        names = ", ".join(str(table.dataset["name"]) for table in PAPER_TABLES)
        raise SettingError(
            f"At --profile paper, --dataset is one of {names}: the paper has no settings for other data."
        )
    labels = dataset.get("labels_per_class", LABELS)
    return replace(
        known,
        name=describe_data(known.name, dataset, USUAL),
        dataset={**dataset, "labels_per_class": labels},
        reference=known.reference if labels == LABELS else None,
    )


RECOMPUTED = "92924b2fd86b7ceb"
"""The fingerprint of the copy of HUMAN with recomputed columns."""
RECOMPUTED_HUMAN = (
    "HUMAN: columns 266–561 of its features were recomputed from the inertial signals; "
    "UCI's own file was not used."
)


def read_data_notes(rows: Sequence[Row]) -> tuple[str, ...]:
    """Notes on the data that these rows were trained on."""
    return (RECOMPUTED_HUMAN,) if any(row.data_fingerprint == RECOMPUTED for row in rows) else ()
