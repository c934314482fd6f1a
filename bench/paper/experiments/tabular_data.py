"""The data sets of the tabular experiment. Those of the paper carry the settings of Table 9: learning rate,
epochs, decay, λ, α, β, VAT's ε and JEM's κ."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from bench.data_names import describe_data
from bench.experiment import DataSetting
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

    @property
    def decay_at(self) -> list[int]:
        """Steps at which the learning rate decays."""
        return [int(epochs * self.epoch) for epochs in self.decay_epochs]


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

STEPS: Mapping[Profile, int] = {"smoke": 20, "laptop": 1_500}


def _make_small(name: str, dataset: Component, profile: Profile, image: bool = False) -> TableSetting:
    """A data set with the settings of `laptop` and `smoke`, which are counted in steps."""
    steps = STEPS[profile]
    return TableSetting(
        name,
        {"labels_per_class": LABELS, **dataset},
        lr=1e-3,
        decay_epochs=(int(0.75 * steps), int(0.875 * steps)),
        latent_dim=16,
        epsilon=1.0,
        sampler_steps=20,
        image=image,
    )


def make_embedded_tables(profile: Profile) -> tuple[TableSetting, ...]:
    """The data sets that install with the package."""
    return (
        _make_small("breast cancer", {"name": "breast-cancer"}, profile),
        _make_small("wine", {"name": "wine"}, profile),
        _make_small("digits 8 × 8", {"name": "digits-table"}, profile, image=True),
        _make_small("MNIST 5k, 14 × 14", {"name": "mnist5k-table", "side": 14}, profile, image=True),
    )


def make_other_table(dataset: Component, profile: Profile) -> TableSetting:
    """Other data with the settings of `laptop` and `smoke`."""
    known = (*PAPER_TABLES, *make_embedded_tables("laptop"))
    image = any(table.image for table in known if table.dataset["name"] == dataset["name"])
    name = describe_data(str(dataset.get("file", dataset["name"])), dataset, USUAL)
    return _make_small(name, dataset, profile, image)


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
