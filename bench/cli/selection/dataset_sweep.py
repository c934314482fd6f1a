"""The sweep of a table on the data of --dataset. The data is checked before anything is trained: its kind,
and that it fills a batch."""

import sys
from typing import TYPE_CHECKING

from bench.artifact import Artifact
from bench.catalogue import catalogue
from bench.cli.selection.dataset_flag import parse_dataset
from sweeps.errors import EngineError
from vera.errors import SettingError
from vera.spec.registry import datasets, find_plugin_file, wrap_plugin_errors

if TYPE_CHECKING:
    from sweeps.trial.identity import Profile
    from sweeps.trial.sweep import Sweep
    from vera.data.labelled import LabelledData, Split
    from vera.spec.trial_spec import Component

MAX_LISTED = 5
"""Classes that a note names at most."""
EXAMPLES = {"tables": "wine, digits-table or csv:PATH,label=COLUMN", "images": "digits32, cifar10 or svhn"}


def build_sweep_on(text: str, name: str, profile: "Profile", data_dir: str | None) -> "Sweep":
    """The sweep of the table `name` on the data set that the text describes."""
    dataset, _ = parse_dataset(text)
    if name not in catalogue:
        raise EngineError(
            f"--dataset needs a table or figure; {name} is a plain sweep. To list them: vera list"
        )
    artifact = catalogue.on_dataset(catalogue.artifact(name), dataset)
    check_kind(artifact, dataset)
    if "file" in dataset or find_plugin_file(datasets.get(dataset["name"])) is not None:
        check_points(dataset, data_dir, max(trial.spec.batch_size for trial in artifact.trials(profile)))
    return artifact.sweep()


def check_kind(artifact: Artifact, dataset: "Component") -> None:
    """Raise SettingError for data that the networks cannot take, once instead of in every trial."""
    from vera.data.images.contract import ImageData
    from vera.data.labelled import LabelledData

    factory = datasets.get(dataset["name"])
    kind = "points without labels"
    if isinstance(factory, type) and issubclass(factory, LabelledData):
        kind = "images" if issubclass(factory, ImageData) else "tables"
    if kind != artifact.takes:
        raise SettingError(
            f"{artifact.name} takes {artifact.takes} with labels, such as {EXAMPLES[artifact.takes]}, "
            f"not {kind} such as {dataset['name']}."
        )


def check_points(dataset: "Component", data_dir: str | None, batch_size: int) -> None:
    """Raise SettingError if the user's data cannot be split or has fewer training points than a batch. A
    class with too few labels is noted on stderr."""
    from vera.tasks.build import build_labelled

    source, name = build_labelled(dataset, data_dir), dataset.get("file", dataset["name"])
    with wrap_plugin_errors(f"splitting the data set '{name}'"):
        split = source.split(0)
    rows = len(split.train)
    if rows < batch_size:
        raise SettingError(
            f"{name} has {rows} training rows and {len(split.held_out)} held-out rows, fewer than a batch of "
            f"{batch_size}. Hold out fewer rows, or add rows."
        )
    if note := describe_scarce_labels(source, split):
        print(f"vera: {name}: {note}", file=sys.stderr)


def describe_scarce_labels(source: "LabelledData", split: "Split") -> str:
    """A note on the classes with fewer training rows than labels_per_class; empty if there are none."""
    wanted = getattr(source, "labels_per_class", None)
    counts = split.train_labels.bincount(minlength=split.classes).tolist()
    scarce = [(label, count) for label, count in enumerate(counts) if wanted is not None and count < wanted]
    if not scarce:
        return ""
    names = getattr(getattr(source, "content", None), "class_names", range(split.classes))
    listed = ", ".join(f"'{names[label]}' {count}" for label, count in scarce[:MAX_LISTED])
    more = ", …" if len(scarce) > MAX_LISTED else ""
    return (
        f"labels_per_class is {wanted}, but {len(scarce)} of {len(counts)} classes have fewer training rows; "
        f"all of their labels are used ({listed}{more})."
    )
