"""The sweep of a table on the data of --dataset, checked before anything is trained: of the right kind, and
enough of it."""

import sys
from importlib import import_module
from typing import TYPE_CHECKING

from bench.artifact import Artifact
from bench.catalogue import catalogue
from bench.cli.dataset_flag import dataset_part
from sweeps.errors import EngineError
from vera.errors import SettingError
from vera.spec.registry import datasets, find_plugin_file, wrap_plugin_errors

if TYPE_CHECKING:
    from sweeps.trial.identity import Profile
    from sweeps.trial.sweep import Sweep
    from vera.data.labelled import LabelledData, Split
    from vera.spec.trial_spec import Component

LISTED = 5
"""Classes that a note names at most."""
EXAMPLES = {"tables": "wine, digits-table or csv:PATH,label=COLUMN", "images": "digits32, cifar10 or svhn"}


def sweep_on(text: str, name: str, profile: "Profile", data_dir: str | None) -> "Sweep":
    """The sweep of that name on the data that the text describes."""
    part, _ = dataset_part(text)
    if name not in catalogue:
        raise EngineError(
            f"--dataset goes with a table or a figure; {name} is neither. To see them: vera list"
        )
    elsewhere = catalogue.on_dataset(catalogue.artifact(name), part)
    check_kind(elsewhere, part)
    if "file" in part or find_plugin_file(datasets.get(part["name"])) is not None:
        check_points(part, data_dir, max(trial.spec.batch_size for trial in elsewhere.trials(profile)))
    return elsewhere.sweep()


def check_kind(artifact: Artifact, part: "Component") -> None:
    """A network for images cannot be trained on a table; say so once, before every trial does."""
    factory = datasets.get(part["name"])
    labelled, images = (
        isinstance(factory, type) and issubclass(factory, getattr(import_module(f"vera.data.{module}"), name))
        for module, name in (("labelled", "LabelledData"), ("images", "ImageData"))
    )
    kind = "images" if images else "tables" if labelled else "points without labels"
    if kind != artifact.takes:
        raise SettingError(f"{artifact.name} takes {artifact.takes} with labels, such as {EXAMPLES[artifact.takes]}; "
                           f"{part['name']} has {kind}.")  # fmt: skip


def check_points(part: "Component", data_dir: str | None, batch: int) -> None:
    """A user's own data must be fit to be split and fill a batch; that a class has fewer labels than are
    asked for is said."""
    from vera.tasks.build import build_labelled

    source, name = build_labelled(part, data_dir), part.get("file", part["name"])
    with wrap_plugin_errors(f"splitting the data set '{name}'"):
        split = source.split(0)
    rows = len(split.train)
    if rows < batch:
        raise SettingError(
            f"{name} has {rows} rows to train with and {len(split.held_out)} held out, and a batch takes {batch}: "
            "hold out fewer, or add rows."
        )
    if note := few_labels(source, split):
        print(f"vera: {name}: {note}", file=sys.stderr)


def few_labels(source: "LabelledData", split: "Split") -> str:
    """What is shown of classes that have fewer rows to train with than labels are asked for; nothing if none
    has."""
    asked = getattr(source, "labels_per_class", None)
    counts = split.train_labels.bincount(minlength=split.classes).tolist()
    few = [(label, count) for label, count in enumerate(counts) if asked is not None and count < asked]
    if not few:
        return ""
    names = getattr(getattr(source, "content", None), "class_names", range(split.classes))
    told = ", ".join(f"'{names[label]}' {count}" for label, count in few[:LISTED]) + (
        ", …" if len(few) > LISTED else ""
    )
    return f"labels_per_class is {asked}; {len(few)} of {len(counts)} classes have fewer rows to train with and show all ({told})."
