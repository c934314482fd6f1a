"""How data that a user names with --dataset is called, in titles and in file names."""

import hashlib
import re
from collections.abc import Mapping
from typing import Any

from vera.spec.trial_spec import Component

OPTIONS = r"( \([a-z_]+=[a-z0-9.]+(, [a-z_]+=[a-z0-9.]+)*\))?"
USER_FILE = re.compile(rf"[a-z0-9]+(-[a-z0-9]+)*\.(csv|parquet){OPTIONS}")
DATA_SET = re.compile(rf"[A-Za-z0-9]+(-[A-Za-z0-9]+)*{OPTIONS}")
"""Names that become part of a file name without a hash: my.csv, CIFAR10 (batches=1). Two data sets whose
names differ only in case would share a file; only plug-ins could register such names."""


def describe_data(name: str, dataset: Component, defaults: Mapping[str, Any]) -> str:
    """The name with the settings that differ from `defaults`: iris.csv (label=species,
    labels_per_class=5)."""
    changed = sorted(
        key for key in dataset if key not in ("name", "file") and dataset[key] != defaults.get(key)
    )
    options = ", ".join(f"{key}={_spell_value(dataset[key])}" for key in changed)
    return f"{name} ({options})" if options else name


def _spell_value(value: Any) -> str:
    """As on the command line."""
    if isinstance(value, list | tuple):
        return "+".join(map(str, value))
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)


def slugify_data(name: str) -> str:
    """The name of the data as part of a file name. It ends in a hash where another name would give the same
    text: a_b.csv and a-b.csv get different files."""
    words = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    if USER_FILE.fullmatch(name) or (
        DATA_SET.fullmatch(name) and not re.search("-(csv|parquet)(-|$)", words)
    ):
        return words
    digest = hashlib.sha256(name.encode(errors="surrogateescape")).hexdigest()[:6]
    return f"{words}-{digest}" if words else digest
