"""`--dataset`: `wine`, `human,labels_per_class=5`, `csv:path/to/iris.csv,label=species`.

Values are converted to the type of the setting, so neither text nor numbers need quotes. Settings that are
not given get their defaults, so that rows of another variant never match. Before anything is trained, the
data is checked: its kind, and that it fills a batch.

Trap: a trial contains no path. Of `csv:path/to/iris.csv` it keeps the file name; the folder becomes the data
directory of the run.
"""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.artifact import Artifact
from bench.catalogue import catalogue
from sweeps.errors import EngineError
from sweeps.trial.identity import register_tables
from vera.errors import DataMissing, SettingError, UnknownName
from vera.spec.registry import datasets, find_plugin_file, wrap_plugin_errors
from vera.spec.settings import Setting, check_names, check_value, settings_of

if TYPE_CHECKING:
    from sweeps.trial.identity import Profile
    from sweeps.trial.sweep import Sweep
    from vera.data.labelled import LabelledData, Split
    from vera.spec.trial_spec import Component

USER_FILES = ("csv", "parquet")
"""Data sets that read a file of the user."""
WORDS = {"none": None, "true": True, "false": False}
MAX_LISTED = 5
"""Classes that a note names at most."""
EXAMPLES = {
    "tables": "tables with labels, such as wine, digits-table or csv:PATH,label=COLUMN",
    "images": "images with labels, such as digits32, cifar10 or svhn",
    "points": "points without labels, such as moons, circles or rings",
}


def parse_dataset(text: str) -> tuple[dict[str, Any], str | None]:
    """(component of a spec, data directory). The directory is None unless the text names a file by its
    path."""
    register_tables()
    head, *pairs = text.split(",")
    name, colon, path = head.strip().partition(":")
    if not colon:
        _refuse_bare_file(name, text, bool(pairs))
    known = {key: setting for key, setting in settings_of(datasets.get(name)).items() if key != "data_dir"}
    settings = dict(_split_pair(pair, text) for pair in pairs)
    if colon:
        _check_path(name, path, text, "file" in known and "file" not in settings)
        settings["file"] = Path(path).name
    check_names(f"data set '{name}'", known, settings)
    missing = [key for key, setting in known.items() if setting.is_required and key not in settings]
    if missing:
        raise SettingError(f"The data set '{name}' needs {', '.join(missing)}: {_show_usage(name, missing)}.")
    given = {key: _convert(name, known[key], value) for key, value in settings.items()}
    defaults = {key: setting.default for key, setting in known.items() if not setting.is_required}
    return {"name": name} | defaults | given, _find_folder(path) if colon else None


def fingerprint_file(dataset: Mapping[str, Any], data_dir: str | None) -> str | None:
    """The fingerprint of the user's file; None for other data, and if the file is missing."""
    if "file" not in dataset:
        return None
    source = datasets.create(**dataset, **({} if data_dir is None else {"data_dir": data_dir}))
    path = getattr(source, "path", None)  # a plug-in's data set may have none
    return str(source.fingerprint) if path is not None and Path(path).is_file() else None


def _refuse_bare_file(name: str, text: str, has_settings: bool) -> None:
    """A file name without `csv:` or `parquet:`."""
    kind = Path(name).suffix.removeprefix(".")
    if kind in USER_FILES:
        meant = f"{kind}:{text}" if has_settings else f"{kind}:{text},label=COLUMN"
        raise UnknownName(f"There is no data set '{name}'. Did you mean {meant}?")


def _check_path(name: str, path: str, text: str, takes_path: bool) -> None:
    if not takes_path:
        raise SettingError(f"'{text}': only csv:PATH and parquet:PATH take a path, which replaces file=.")
    kind = Path(path).suffix.removeprefix(".")
    if kind in USER_FILES and kind != name:
        raise SettingError(f"{path} is a {kind} file. Did you mean {kind}:{text.partition(':')[2]}?")


def _split_pair(pair: str, text: str) -> tuple[str, str]:
    key, equals, value = pair.partition("=")
    if not equals or not key.strip():
        raise SettingError(f"'{text}': settings of a data set are written key=value, got '{pair}'.")
    return key.strip(), value.strip()


def _show_usage(name: str, missing: list[str]) -> str:
    if "file" in missing or "label" in missing:
        return f"{name}:PATH,label=COLUMN"
    return ",".join([name, *(f"{setting}=…" for setting in missing)])


def _find_folder(path: str) -> str:
    file = Path(path).expanduser()
    if not path or file.is_dir():
        problem = "a directory" if path else "no file"
        raise SettingError(f"'{path}' is {problem}: name a file, as in csv:PATH,label=COLUMN.")
    if not file.is_file():
        raise DataMissing(f"There is no file {path}.")
    return str(file.parent)


def _convert(name: str, setting: Setting, text: str) -> Any:
    """The first reading of the text that the setting admits; else the error of the first reading."""
    errors = []
    for reading in _list_readings(text):
        try:
            return check_value(name, setting.name, reading, setting.annotation)
        except SettingError as error:
            errors.append(error)
    raise errors[0]


def _list_readings(text: str) -> list[Any]:
    """The text as none, true or false, as an int, as a float, as several ints (1+2), and as text."""
    readings: list[Any] = [WORDS[text.lower()]] if text.lower() in WORDS else []
    for kind in (int, float):
        try:
            readings.append(kind(text))
        except ValueError:
            continue
    numbers = text.split("+")
    several = [tuple(map(int, numbers))] if all(number.isdecimal() for number in numbers) else []
    return [*readings, *several, text]


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
        batch_size = max(trial.spec.batch_size for trial in artifact.trials(profile))
        check = check_unlabelled if artifact.takes == "points" else check_points
        check(dataset, data_dir, batch_size)
    return artifact.sweep()


def check_kind(artifact: Artifact, dataset: "Component") -> None:
    """Raise SettingError for data that the networks cannot take, once instead of in every trial."""
    from vera.data.images.contract import ImageData
    from vera.data.labelled import LabelledData

    factory = datasets.get(dataset["name"])
    kind = "points"
    if isinstance(factory, type) and issubclass(factory, LabelledData):
        kind = "images" if issubclass(factory, ImageData) else "tables"
    if kind != artifact.takes:
        raise SettingError(
            f"{artifact.name} takes {EXAMPLES[artifact.takes]}, "
            f"not {kind}{' without labels' if kind == 'points' else ''} such as {dataset['name']}."
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


def check_unlabelled(dataset: "Component", data_dir: str | None, batch_size: int) -> None:
    """Raise SettingError if the data of a plug-in cannot fill a batch."""
    from vera.tasks.build import build_dataset

    with wrap_plugin_errors(f"drawing a batch of the data set '{dataset['name']}'"):
        build_dataset(dataset, data_dir).stream(batch_size, 0).next_batch()


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
