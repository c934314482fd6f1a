"""`vera.train`: trains a model of any data with sensible networks, settings and evaluation, in one call.

The explicit way is `vera.Trainer`, with a method and networks of one's own.
"""

from inspect import signature
from pathlib import Path
from typing import Annotated, Any

from vera.data.contract import DataSet
from vera.data.labelled import LabelledData, Split
from vera.data.user_data import UserData, read_user_data
from vera.data.user_file import load
from vera.errors import SettingError, VeraError
from vera.methods.contract import Method
from vera.recipes.choices import choose_recipe
from vera.recipes.held_out import make_evaluation
from vera.recipes.networks import Network, NetworkSet
from vera.recipes.prepare_data import find_shape, prepare_data
from vera.saved.model import SavedModel
from vera.spec.registry import Registry, joint_methods, methods
from vera.spec.settings import (
    Bound,
    Count,
    Decay,
    NonNegativeCount,
    check_names,
    settings_of,
    validate_arguments,
)
from vera.training.callbacks import Callbacks
from vera.training.trainer import Trainer

Share = Annotated[float, Bound(0, below=1)]
EVALUATIONS = 5
"""Number of evaluations during a run."""


@validate_arguments
def train(
    data: Any,
    *,
    label: str | None = None,
    method: str | None = None,
    energy: Network | None = None,
    generator: Network | None = None,
    start_from: SavedModel | None = None,
    steps: Count | None = None,
    batch_size: Count | None = None,
    seed: NonNegativeCount = 0,
    held_out: Share = 0.1,
    evaluate_every: Count | None = None,
    ema: Decay | None = None,
    log_every: Count = 100,
    device: str = "cpu",
    checkpoint: str | Path | None = None,
    progress: bool | None = None,
    on_log: Callbacks = None,
    on_evaluate: Callbacks = None,
    **settings: Any,
) -> SavedModel:
    """Train a model of the data and return it. A run that diverges raises `VeraError`.

    - `data`: an array, a tensor, images, a pair (x, y), a data frame, a torch Dataset, a csv, npy or npz
      file, or a data set of vera. `label` names the column that holds the class.
    - `method`: the name of a training method, "vera" by default. Its settings are further arguments: `lr=...`
    - `energy`, `generator`: a module, or a registered network such as {"name": "mlp", "hidden": [64, 64]}. By
      default they follow from the shape of the data; labelled data get a classifier as energy.
    - `start_from`: a model whose networks are trained on, with the scale and the classes of its data.
    - `held_out`: the share of points that do not train. The metrics of the model are measured on them.
    - `ema`: the decay of averaged weights, such as .999; `model.averaged()` is then the model with these.
    - `checkpoint`: a file that is written during the run. If it exists, the run continues from it.
    """
    networks = NetworkSet.collect({"energy": energy, "generator": generator}, start_from)
    source = _read(data, label)
    cls = _find_method(method or _get_method_name(start_from), source)
    dataset = prepare_data(source, networks.takes_rows(cls), held_out, seed, start_from)
    options: dict[str, Any] = {"seed": seed, "device": device, "checkpoint": checkpoint, "ema": ema}
    options |= {"progress": progress, "log_every": log_every, "on_log": on_log, "on_evaluate": on_evaluate}
    budget = {"steps": steps, "batch_size": batch_size, "evaluate_every": evaluate_every}
    trainer = _build_trainer(cls, networks, dataset, settings, budget, options)
    _run(trainer)
    return SavedModel.from_trainer(trainer, networks=networks.components)


def _read(data: Any, label: str | None) -> UserData | DataSet | LabelledData:
    if isinstance(data, str | Path):
        return load(data, label)
    if isinstance(data, DataSet | LabelledData):
        if label is not None:
            raise SettingError(f"label='{label}' names a column; {type(data).__name__} has no columns.")
        return data
    return read_user_data(data, label)


def _get_method_name(start_from: SavedModel | None) -> str:
    return "vera" if start_from is None else str(start_from.facts.method["name"])


def _find_method(name: str, source: UserData | DataSet | LabelledData) -> type[Method]:
    """The class of a method that trains on such data."""
    has_labels = source.labels is not None if isinstance(source, UserData) else _has_labels(source)
    registry, other = (joint_methods, methods) if has_labels else (methods, joint_methods)
    if name not in registry.names() and name in other.names():
        remedy = "pass x alone" if has_labels else "pass (x, y), or label= for a column"
        state = "does not use labels" if has_labels else "needs labels"
        raise SettingError(f"The method '{name}' {state}: {remedy}, or use {_list_names(registry)}.")
    method: type[Method] = registry.get(name)
    return method


def _has_labels(data: DataSet | LabelledData) -> bool:
    return isinstance(data, LabelledData | Split)


def _list_names(registry: Registry[Any]) -> str:
    *names, last = registry.names()
    return f"{', '.join(names)} or {last}"


def _build_trainer(
    cls: type[Method],
    networks: NetworkSet,
    data: DataSet,
    settings: dict[str, Any],
    budget: dict[str, int | None],
    options: dict[str, Any],
) -> Trainer:
    """The Trainer with the recipe's choices for everything that the user left open."""
    roles = cls.network_names()
    known = {*settings_of(cls), *signature(train).parameters} - {*roles, "settings"}
    check_names(f"vera.train with the method '{cls.label()}'", dict.fromkeys(known), settings)
    missing = networks.select(cls)
    recipe = choose_recipe(cls, find_shape(data), getattr(data, "classes", None), missing)
    networks.components |= recipe.networks
    steps = budget["steps"] or recipe.steps
    rows = len(getattr(data, "train", range(recipe.batch_size)))
    method = cls(**networks.build(roles, data, options["seed"]), **recipe.settings | settings)
    return Trainer(
        method,
        data,
        steps=steps,
        batch_size=budget["batch_size"] or min(rows, recipe.batch_size),
        evaluate=make_evaluation(data, options["seed"]),
        evaluate_every=budget["evaluate_every"] or max(1, steps // EVALUATIONS),
        **options,
    )


def _run(trainer: Trainer) -> None:
    """Train to the end, from the checkpoint if there is one."""
    if trainer.checkpoint is not None and trainer.checkpoint.exists():
        trainer.restore(trainer.checkpoint)
    result = trainer.run()
    assert result is not None
    if result.outcome != "ok":
        rate = trainer.method.settings().get("lr", 1e-3) / 3
        raise VeraError(
            f"Training diverged at step {result.step} ({result.reason}). Lower the learning rate, for "
            f"example lr={rate:.1g}, or check the data for outliers."
        )
