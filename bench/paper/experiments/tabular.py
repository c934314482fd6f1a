"""E-SSL: a classifier that is an energy model, trained with ten labels a class on tables of numbers. Tables
6, 8 and 9, Figure 8.

`paper` is the paper's protocol: four data sets, a classifier with six hidden layers, a generator with three
of 500, and for each data set the learning rate, epochs, decay, λ, α, β, VAT's ε and JEM's κ of Table 9, which
this file writes down once. `laptop` has four sets that install with the package, smaller networks and some
thousand steps. "Supervised" sees only the labelled points, "full-label" sees every label.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bench.artifact import data_name
from bench.judging.results import TUNING_SEED
from sweeps.store.row import Row
from sweeps.trial.identity import Profile, Trial, with_seed
from sweeps.trial.identity import plugged as methods_of_plugins
from sweeps.trial.sweep import sweep
from vera.errors import SettingError
from vera.spec.registry import joint_methods
from vera.spec.trial_spec import Component, TrialSpec

BATCH = 64
DECAY = 0.3
LABELS = 10
"""Labels of each class that a method is shown."""
USUAL = {"labels_per_class": LABELS, "held_out": 0.1, "standardise": True, "side": 28, "validation": "test"}
"""Settings of data that a table need not name."""


@dataclass(frozen=True)
class Table:
    """A data set of the experiment with the settings that go with it (a column of Table 9)."""

    name: str
    """As it is printed."""
    dataset: Component
    steps: int
    epoch: int
    """Batches in an epoch; 1 where settings are counted in steps."""
    lr: float
    decay_epochs: tuple[float, ...]
    latent_dim: int
    alpha: float
    beta: float
    entropy_weight: float
    epsilon: float
    """Of VAT."""
    sampler_steps: int
    """Of JEM."""
    reference: str | None = None
    """The data set's name in the paper, where it has it."""
    weight_normalised: bool = False
    image: bool = False
    evaluations: int = 20

    @property
    def decay_at(self) -> list[int]:
        return [int(epochs * self.epoch) for epochs in self.decay_epochs]

    @property
    def epochs(self) -> float:
        return self.steps / self.epoch


def _column(
    name: str,
    dataset: Component,
    steps: int,
    epoch: int,
    lr: float,
    decay_epochs: tuple[float, ...],
    **own: Any,
) -> Table:
    """A data set of the paper; what all four share stands here."""
    shared: dict[str, Any] = {
        "latent_dim": 128,
        "alpha": 1.0,
        "beta": 1.0,
        "entropy_weight": 1e-4,
        "reference": name,
    }
    return Table(name, dataset, steps, epoch, lr, decay_epochs, **(shared | own))


PAPER = (
    _column("HEPMASS", {"name": "hepmass"}, 98_437, 98_437, 1e-5, (0.05, 0.1), latent_dim=10, epsilon=0.1, sampler_steps=20,
            evaluations=10),
    _column("CROP", {"name": "crop"}, 82_460, 4_123, 1e-4, (15, 17), epsilon=3.0, sampler_steps=20),
    _column("HUMAN", {"name": "human"}, 82_400, 103, 1e-5, (200, 300, 400, 600), alpha=10.0, epsilon=0.1, sampler_steps=40,
            evaluations=80),
    _column("MNIST", {"name": "mnist-table", "validation": "test"}, 187_400, 937, 1e-5, (150, 175), epsilon=3.0, sampler_steps=80,
            weight_normalised=True, image=True),
)  # fmt: skip
"""Table 9, one line a column of it."""


def _small(name: str, dataset: Component, steps: int, **changes: Any) -> Table:
    decays = (int(0.75 * steps), int(0.875 * steps))
    return replace(
        Table(name, dataset, steps, 1, 1e-3, decays, 16, 1.0, 1.0, 1e-4, 1.0, 20, evaluations=10), **changes
    )


LAPTOP_STEPS = 1_500
LAPTOP = (
    _small("breast cancer", {"name": "breast-cancer"}, LAPTOP_STEPS),
    _small("wine", {"name": "wine"}, LAPTOP_STEPS),
    _small("digits 8 × 8", {"name": "digits-table"}, LAPTOP_STEPS, image=True),
    _small("MNIST 5k, 14 × 14", {"name": "mnist5k-table", "side": 14}, LAPTOP_STEPS, image=True),
)
TABLES: Mapping[Profile, tuple[Table, ...]] = {
    "smoke": tuple(
        _small(table.name, table.dataset, 20, image=table.image, evaluations=2) for table in LAPTOP
    ),
    "laptop": LAPTOP,
    "paper": PAPER,
}
ABOUT: Mapping[Profile, str] = {
    "smoke": "20 steps of tiny networks: shows that everything runs, and nothing else",
    "laptop": f"{LAPTOP_STEPS:,} steps of {BATCH}, energy 256-128-128-64-64-64, generator 3 × 128",
    "paper": f"energy 1000-500-500-250-250-250, generator 3 × 500, settings of Table 9, batches of {BATCH}",
}
HIDDEN: Mapping[Profile, tuple[list[int], list[int]]] = {
    "smoke": ([32] * 6, [32] * 3),
    "laptop": ([256, 128, 128, 64, 64, 64], [128] * 3),
    "paper": ([1000, 500, 500, 250, 250, 250], [500] * 3),
}
"""Of the energy and of the generator."""


def own_table(dataset: Component, profile: Profile) -> Table:
    """A user's own data in place of the paper's, with the settings of the laptop; the paper has none for
    them."""
    if profile == "paper":
        return _papers_own(dataset)
    steps = TABLES["smoke"][0].steps if profile == "smoke" else LAPTOP_STEPS
    image = any(table.image for table in (*PAPER, *LAPTOP) if table.dataset["name"] == dataset["name"])
    return _small(
        data_name(str(dataset.get("file", dataset["name"])), dataset, USUAL), dataset, steps, image=image
    )


def _papers_own(dataset: Component) -> Table:
    """One of the paper's four with other settings of its data, such as MNIST judged on a tenth of its
    training data."""
    known = next((table for table in PAPER if table.dataset["name"] == dataset["name"]), None)
    if known is None:
        names = ", ".join(str(table.dataset["name"]) for table in PAPER)
        raise SettingError(
            f"At --profile paper, --dataset is one of {names}: the paper has no settings for other data."
        )
    reference = (
        known.reference if dataset.get("labels_per_class", LABELS) == LABELS else None
    )  # the paper's are for ten
    return replace(known, name=data_name(known.name, dataset, USUAL), dataset=dataset, reference=reference)


def networks(table: Table, profile: Profile, roles: Sequence[str]) -> dict[str, Component]:
    energy, generator = HIDDEN[profile]
    parts: dict[str, Component] = {
        "energy": {"name": "mlp-classifier", "hidden": energy, "weight_normalised": table.weight_normalised},
        "generator": {
            "name": "mlp-generator", "latent_dim": table.latent_dim, "hidden": generator, "activation": "softplus",
            "output": "tanh" if table.image else "identity",
        },
        "statistics": {"name": "statistics", "hidden": generator},
    }  # fmt: skip
    return {role: parts[role] for role in roles}


@dataclass(frozen=True)
class Line:
    """A method of Table 6."""

    label: str
    method: str
    roles: tuple[str, ...] = ("energy",)
    labels: int | None = LABELS

    def settings(self, table: Table) -> dict[str, Any]:
        shared: dict[str, Any] = {
            "name": self.method,
            "lr": table.lr,
            "decay_at": table.decay_at,
            "decay": DECAY,
        }
        weights = {"alpha": table.alpha, "beta": table.beta}
        amortised = {**weights, "generator_lr": table.lr, "entropy_weight": table.entropy_weight}
        own: dict[str, dict[str, Any]] = {
            "supervised": {},
            "vat": {**weights, "epsilon": table.epsilon},
            "meg": amortised,
            "jem": {**weights, "sampler_steps": table.sampler_steps, "gamma": 0.0},
            "vera": amortised,
        }
        return shared | own[self.method]

    def trial(self, table: Table, profile: Profile, **changes: Any) -> Trial:
        return made(table, profile, self.label, {**self.settings(table), **changes}, self.roles, self.labels)


LINES = (
    Line("Supervised", "supervised"),
    Line("VAT", "vat"),
    Line("MEG", "meg", ("energy", "generator", "statistics")),
    Line("JEM", "jem"),
    Line("VERA", "vera", ("energy", "generator")),
    Line("Full-label", "supervised", labels=None),
)


GFLOP: Mapping[str, tuple[float, ...]] = {
    "hepmass": (0.12, 1.16, 2.14, 6.10, 3.19, 0.39),
    "crop": (0.43, 1.59, 2.78, 7.31, 4.12, 0.43),
    "human": (0.49, 1.91, 3.44, 17.13, 5.13, 0.52),
    "mnist-table": (0.59, 2.21, 3.99, 38.34, 5.95, 0.59),
}
"""Of one step at the `paper` profile, in the order of the lines; counted from the matrix products of a
step."""


def flop(trial: Trial) -> float | None:
    """Of a whole trial at the `paper` profile."""
    counts = dict(
        zip([entry.label for entry in LINES], GFLOP.get(trial.spec.dataset["name"], ()), strict=False)
    )
    return (
        1e9 * counts[trial.label] * trial.spec.steps
        if trial.profile == "paper" and trial.label in counts
        else None
    )


RECOMPUTED = "92924b2fd86b7ceb"
"""The fingerprint of HUMAN with recomputed columns."""
RECOMPUTED_HUMAN = "HUMAN: columns 266–561 of its features were recomputed from the inertial signals; UCI's own file was not used."


def data_notes(rows: Sequence[Row]) -> tuple[str, ...]:
    """What is to be said of the data that these rows were made with."""
    return (RECOMPUTED_HUMAN,) if any(row.data_fingerprint == RECOMPUTED for row in rows) else ()


def line(label: str) -> Line:
    return next(line for line in LINES if line.label == label)


def made(
    table: Table,
    profile: Profile,
    label: str,
    method: Component,
    roles: Sequence[str],
    labels: int | None = LABELS,
    steps: int | None = None,
) -> Trial:
    shown = None if labels is None else table.dataset.get("labels_per_class", labels)
    dataset, steps = {**table.dataset, "labels_per_class": shown}, steps or table.steps
    spec = TrialSpec(
        dataset, networks(table, profile, roles), method, steps, BATCH,
        evaluate_every=max(1, steps // table.evaluations), task="joint",
    )  # fmt: skip
    return Trial(spec, profile, label=label)


def trials(profile: Profile, tables: Sequence[Table] | None = None) -> Iterator[Trial]:
    """Every line on every data set, and every method that a plug-in brings, with its own defaults."""
    for table in TABLES[profile] if tables is None else tables:
        yield from (line.trial(table, profile) for line in LINES)
        yield from plugged(table, profile)


def plugged(table: Table, profile: Profile) -> Iterator[Trial]:
    """Methods that a plug-in brings, as far as these networks are all they need."""
    for name, roles, method in methods_of_plugins(joint_methods, ("energy", "generator", "statistics")):
        yield made(table, profile, name, method, roles)


GRIDS: Mapping[str, Mapping[str, Sequence[Any]]] = {
    "VAT": {"epsilon": (0.01, 0.1, 1.0, 3.0, 10.0)},
    "JEM": {"sampler_steps": (20, 40, 80), "gamma": (0.0, 0.1)},
    "VERA": {"entropy_weight": (1.0, 0.1, 0.01, 1e-3, 1e-4), "alpha": (1.0, 10.0, 30.0, 100.0)},
}
RATES = (1e-3, 1e-4, 1e-5)
"""Tried with every line; the other grids are tried one at a time round the chosen settings."""


def tried(profile: Profile) -> Iterator[Trial]:
    for table in TABLES[profile]:
        for entry in LINES:
            chosen = entry.settings(table)
            axes: dict[str, Sequence[Any]] = {"lr": RATES, **GRIDS.get(entry.label, {})}
            if entry.label == "VERA":
                axes["beta"] = sorted({1.0, 0.1 * table.alpha, table.alpha})  # as Table 7 has it
            yield replace(entry.trial(table, profile), label=f"{entry.label} as chosen")
            others = (
                (name, value) for name, values in axes.items() for value in values if value != chosen[name]
            )
            yield from (_varied(entry, table, profile, name, value) for name, value in others)


def _varied(entry: Line, table: Table, profile: Profile, name: str, value: Any) -> Trial:
    changes = {name: value}
    if name == "lr" and "generator" in entry.roles:
        changes["generator_lr"] = value
    return replace(entry.trial(table, profile, **changes), label=f"{entry.label} {name}={value:g}")


@sweep(
    "table6-grid",
    "what is tried for each line of Table 6: learning rates, VAT's ε, JEM's κ, VERA's λ, β and α, one at a time",
    (TUNING_SEED,),
)
def table6_grid(profile: Profile, seeds: Sequence[int]) -> Iterator[Trial]:
    for seed in seeds:  # `--seeds 2` means the first two of those that no table uses
        yield from (with_seed(trial, max(seed, TUNING_SEED + seed % TUNING_SEED)) for trial in tried(profile))
