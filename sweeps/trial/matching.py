"""Matching of stored rows to declared trials.

There are two definitions of "the same trial". The trial id (`sweeps.trial.identity`) is exact: it is a hash
of all settings, defaults included, of the seed and of the data. It decides what has to be run. A table or
figure declares only the settings that it is about, so it finds its rows by matching. A row matches a declared
trial if

- every declared setting has the declared value in the row's spec, and `method` has the same name. The seed is
  ignored, settings that the trial leaves open may have any value, and a setting that is declared as off is
  off in a row without it (see `OmitDefault`);
- both have the same average of the weights, or none (`ema`);
- every setting that was changed in the row's sweep (`--set method.k=5`, or a grid) is declared. A trial that
  leaves k open does not match a row in which k was set on purpose;
- both seeds serve the same purpose: seeds from `TUNING_SEED` on choose settings, the others fill tables. A
  setting that was chosen by a score is never judged by that same score.

Two choices remain, and a note reports each of them:

- Variants. Matching rows that differ in a setting which was left open (a default was changed between two
  runs) are variants of the trial. The variant with the latest row counts.
- Content of the data. If the content of a data set changed between runs, its rows have different
  fingerprints. One content is shown everywhere: that of the file if its fingerprint is given, otherwise the
  content that was trained on last. Failed trials decide this only if all trials failed. Rows of other
  contents do not match. The number of labels is not part of the content (`make_data_key`).
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sweeps.store.row import FAILURES, Row
from sweeps.trial.canonical_json import canonical_json
from sweeps.trial.identity import Trial
from sweeps.trial.variant import find_changed_paths

SEED = re.compile(r'"seed":\d+,(?="steps":)')
"""The seed of a spec in canonical JSON, where `steps` follows it."""
TUNING_SEED = 100
"""Seeds from this one on are for choosing settings; no table averages over them."""


@dataclass(frozen=True)
class MatchedRows:
    """The rows of a declared trial, ordered by seed, and notes on the choices that were made."""

    rows: list[Row]
    notes: list[str]


class RowMatcher:
    """Finds the rows of declared trials among the given rows, which all have one profile and protocol."""

    def __init__(self, rows: Sequence[Row], file_fingerprints: Mapping[str, str] | None = None) -> None:
        """`file_fingerprints` holds the fingerprints of data sets whose file was read, by `make_data_key`."""
        self._groups: dict[tuple[str, str, bool], list[RowGroup]] = {}
        """By method, data set and whether the seeds are for tuning."""
        for group in _group_rows(rows):
            self._groups.setdefault(group.key, []).append(group)
        self._matched: dict[str, MatchedRows] = {}
        """By name and declaration: tables, claims and coverage ask for the same trials."""
        self._file_fingerprints = dict(file_fingerprints or {})
        self._contents = _collect_contents(each for groups in self._groups.values() for each in groups)

    def match(self, trial: Trial) -> MatchedRows:
        """The rows that match the trial, whatever their seed: of the shown content and the latest variant."""
        declared = canonical_json({**trial.spec.to_dict(), "seed": is_tuning_seed(trial.spec.seed)})
        key = f"{trial.name} {declared}"
        if key not in self._matched:
            self._matched[key] = self._match(trial)
        found = self._matched[key]
        return MatchedRows(list(found.rows), list(found.notes))

    def _match(self, trial: Trial) -> MatchedRows:
        variants: dict[str, list[Row]] = {}
        notes: list[str] = []
        for group in self._find_candidates(trial):
            shown = self._find_shown_content(group.data_key)
            matching = [row for row in group.rows if row.data_fingerprint == shown]
            if matching:
                variants.setdefault(canonical_json({**group.spec, "seed": 0}), []).extend(matching)
            if len(matching) < len(group.rows):
                notes.append(self._describe_left_out(trial.data, group.data_key))
        if len(variants) > 1:
            name, count = f"{trial.name} on {trial.spec.dataset['name']}", len(variants)
            notes.append(
                f"{name}: {count} variants of it are in the store; shown is the one that finished last."
            )
        latest = max(variants.values(), key=lambda rows: max(row.finished_at for row in rows), default=[])
        return MatchedRows(sorted(latest, key=lambda row: row.seed), list(dict.fromkeys(notes)))

    def _find_candidates(self, trial: Trial) -> Iterator["RowGroup"]:
        """Rows whose spec holds every declared setting, whatever the content of their data."""
        declared = {key: value for key, value in trial.spec.to_dict().items() if key != "seed"}
        key = (trial.spec.method["name"], trial.spec.dataset["name"], is_tuning_seed(trial.spec.seed))
        for group in self._groups.get(key, ()):
            same_average = group.spec.get("ema") == trial.spec.ema  # not in the plain data while it is None
            if not (same_average and is_declared_in(declared, group.spec)):
                continue
            if all(_is_declared(declared, path) for path in group.changed):
                yield group

    def _find_shown_content(self, key: str) -> str:
        return self._file_fingerprints.get(key) or self._contents[key][-1]

    def _describe_left_out(self, name: str, key: str) -> str:
        shown = self._find_shown_content(key)
        others = sorted({*self._contents[key]} - {shown})
        why = "the file as it is" if key in self._file_fingerprints else "what was trained last"
        rest = f"Shown is {shown}, {why}; trials of {', '.join(others)} are left out."
        return f"{name}: its content changed between trials. {rest}"


@dataclass(frozen=True)
class RowGroup:
    """Rows that differ in nothing that matching looks at except the content of their data."""

    key: tuple[str, str, bool]
    """Method, data set, whether the seeds are for tuning."""
    spec: Mapping[str, Any]
    """That of one of the rows; only the seed differs."""
    changed: tuple[str, ...]
    """The settings that were changed in their sweep."""
    data_key: str
    rows: list[Row]


def _group_rows(rows: Iterable[Row]) -> Iterator[RowGroup]:
    """The rows in groups. A row whose spec names no data set or no method matches nothing and is left out."""
    found: dict[tuple[str, str, str, bool], list[Row]] = {}
    for row in rows:
        text = SEED.sub("", row.spec)
        found.setdefault((text, row.method, row.sweep, is_tuning_seed(row.seed)), []).append(row)
    for (_, method, sweep, is_tuning), members in found.items():
        spec = json.loads(members[0].spec)
        if "name" in spec.get("dataset", {}) and "method" in spec:
            key = (method, spec["dataset"]["name"], is_tuning)
            yield RowGroup(key, spec, find_changed_paths(sweep), make_data_key(spec["dataset"]), members)


def is_tuning_seed(seed: int) -> bool:
    """Whether the seed is for choosing settings."""
    return seed >= TUNING_SEED


def is_declared_in(declared: Any, stored: Any) -> bool:
    """Whether the stored value holds everything that is declared. Stored mappings may have further keys. A
    setting that is declared as off (0 or false) is off in a row that does not have it."""
    if isinstance(declared, Mapping):
        return isinstance(stored, Mapping) and all(
            is_declared_in(value, stored[key]) if key in stored else _is_off(value)
            for key, value in declared.items()
        )
    if isinstance(declared, list | tuple):
        same_length = isinstance(stored, list) and len(stored) == len(declared)
        return same_length and all(map(is_declared_in, declared, stored))
    return bool(stored == declared)


def _is_off(value: Any) -> bool:
    return isinstance(value, int | float) and not value


def _is_declared(declared: Mapping[str, Any], path: str) -> bool:
    """Whether the spec gives a value for this setting."""
    first, _, rest = path.partition(".")
    value = declared.get(first)
    return first in declared and (not rest or (isinstance(value, Mapping) and _is_declared(value, rest)))


def make_data_key(dataset: Mapping[str, Any]) -> str:
    """Equal for two descriptions of a data set that differ only in the number of labels: their content is the
    same."""
    return canonical_json({key: value for key, value in dataset.items() if key != "labels_per_class"})


def _collect_contents(groups: Iterable[RowGroup]) -> dict[str, list[str]]:
    """The fingerprints of each data set in the order in which they were trained on, those of failed trials
    first."""
    found: dict[str, list[tuple[bool, str, str]]] = {}
    for group in groups:
        found.setdefault(group.data_key, []).extend(
            (row.outcome not in FAILURES, row.finished_at, row.data_fingerprint) for row in group.rows
        )
    return {key: [fingerprint for *_, fingerprint in sorted(runs)] for key, runs in found.items()}
