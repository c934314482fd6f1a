"""Data sets on the command line: `wine`, `human,labels_per_class=5`, `csv:path/to/iris.csv,label=species`.

A value is read as what the setting's annotation admits, so text needs no quotes and a number none either.
Trap: a path is not part of a trial; of `csv:path/to/iris.csv` the trial keeps the file's name, and the folder
is where the run looks for data. What is not said is filled in, so that no other variant's rows can be taken
for these.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sweeps.trial.identity import register_tables
from vera.errors import DataMissing, SettingError, UnknownName
from vera.spec.registry import datasets
from vera.spec.settings import Setting, check_names, check_value, settings_of

OWN = ("csv", "parquet")
"""Kinds of files that users bring."""
WORDS = {"none": None, "true": True, "false": False}


def dataset_part(text: str) -> tuple[dict[str, Any], str | None]:
    """The data set of a spec, and the data directory if the text names a file by its path."""
    register_tables()
    head, *pairs = text.split(",")
    name, colon, path = head.strip().partition(":")
    if not colon and (kind := Path(name).suffix.removeprefix(".")) in OWN:
        meant = f"{kind}:{text}" if pairs else f"{kind}:{text},label=COLUMN"
        raise UnknownName(f"There is no data set '{name}'. Did you mean {meant}?")
    known = {key: setting for key, setting in settings_of(datasets.get(name)).items() if key != "data_dir"}
    settings = dict(_pair(pair, text) for pair in pairs)
    if colon:
        if "file" not in known or "file" in settings:
            raise SettingError(f"'{text}': only csv:PATH and parquet:PATH take a path, and then no file=.")
        if (kind := Path(path).suffix.removeprefix(".")) in OWN and kind != name:
            raise SettingError(f"{path} is named as {kind}. Did you mean {kind}:{text.partition(':')[2]}?")
        settings["file"] = Path(path).name
    check_names(f"data set '{name}'", known, settings)
    missing = [key for key, setting in known.items() if setting.is_required and key not in settings]
    if missing:
        raise SettingError(f"The data set '{name}' needs {', '.join(missing)}: {_usage(name, missing)}.")
    written = {key: _value(name, known[key], value) for key, value in settings.items()}
    part = (
        {"name": name}
        | {key: setting.default for key, setting in known.items() if not setting.is_required}
        | written
    )
    return part, _folder(path) if colon else None


def fingerprint_at_hand(part: Mapping[str, Any], data_dir: str | None) -> str | None:
    """Of a user's own file as it is now; None for other data, and where the file is not here."""
    if "file" not in part:
        return None
    source = datasets.create(**part, **({} if data_dir is None else {"data_dir": data_dir}))
    path = getattr(source, "path", None)  # a plug-in may keep its file in its own way
    return str(source.fingerprint) if path is not None and Path(path).is_file() else None


def _pair(pair: str, text: str) -> tuple[str, str]:
    key, equals, value = pair.partition("=")
    if not equals or not key.strip():
        raise SettingError(
            f"'{text}': after the name of a data set come settings as key=value, got '{pair}'."
        )
    return key.strip(), value.strip()


def _usage(name: str, missing: list[str]) -> str:
    """How a data set of the user's own is spelled."""
    return (
        f"{name}:PATH,label=COLUMN"
        if "file" in missing or "label" in missing
        else ",".join([name, *(f"{m}=…" for m in missing)])
    )


def _folder(path: str) -> str:
    place = Path(path).expanduser()
    if not path or place.is_dir():
        raise SettingError(
            f"'{path}' is {'a directory' if path else 'no file'}: name a file, as in csv:PATH,label=COLUMN."
        )
    if not place.is_file():
        raise DataMissing(f"There is no file {path}.")
    return str(place.parent)


def _value(name: str, setting: Setting, text: str) -> Any:
    """The first reading of a text that its setting admits; if none is, what is wrong with the first."""
    errors = []
    for reading in _readings(text):
        try:
            return check_value(name, setting.name, reading, setting.annotation)
        except SettingError as error:
            errors.append(error)
    raise errors[0]


def _readings(text: str) -> list[Any]:
    """As a word that stands for a value, as a whole number, as a number, as several whole numbers (1+2), as
    text."""
    readings: list[Any] = [WORDS[text.lower()]] if text.lower() in WORDS else []
    for kind in (int, float):
        try:
            readings.append(kind(text))
        except ValueError:
            continue
    parts = text.split("+")
    return [*readings, *([tuple(map(int, parts))] if all(part.isdecimal() for part in parts) else []), text]
