"""The store as tables and figures see it: the rows of one profile, found by what a trial declares. Loads
neither torch nor ray.

A row's spec has every default written out, a declared trial only what it cares about; a row is the trial's if
all that was declared stands in it, whatever the seed. Where two variants of one declared trial are in the
store (a default was changed in between), the one that finished last counts, and `notes` says so.

Of a data set whose content changed in between, one content is shown, in every line of every table: that of
the file where `vera render --dataset` names it, else the one that was trained last. Trials of another are as
good as not run, and `notes` names both.
"""

import json
import os
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from numpy.typing import NDArray

from bench.judging.cell import Cell, cell_of
from bench.locations import LOCAL, PUBLISHED
from sweeps.store.address import Place, is_url, within
from sweeps.store.row import FAILURES, CurvePoint, Row
from sweeps.store.store import Store
from sweeps.trial.canonical_json import canonical_json
from sweeps.trial.identity import PROTOCOL, Profile, Trial

Source = Literal["local", "published"]
TUNING_SEED = 100
"""Seeds from here on are for choosing settings. What was chosen by a value is not judged by it: no table
averages over them."""


@dataclass
class Results:
    """The finished trials of one profile in one store."""

    store: Store
    profile: Profile
    source: Source = "local"
    notes: list[str] = field(default_factory=list)
    """What a reader must know about the choice of rows."""
    at_hand: Mapping[str, str] = field(default_factory=dict)
    """Fingerprints of data sets whose file is here, by `data_key`."""
    _curves: dict[str, list[CurvePoint]] = field(default_factory=dict)
    """Those that were read, by trial: a table and each of its claims ask for them again."""

    @classmethod
    def at(
        cls,
        folder: Place,
        profile: Profile,
        source: Source = "local",
        at_hand: Mapping[str, str] | None = None,
    ) -> "Results":
        return cls(open_store(folder), profile, source, at_hand=at_hand or {})

    @property
    def flag(self) -> str:
        """What a command must add to find these rows: nothing for those in the usual place, and for those
        that ship."""
        folder = str(self.store.place).removesuffix("trials").rstrip("/")
        return (
            "" if self.source == "published" or folder == LOCAL else f" --results-dir {shlex.quote(folder)}"
        )

    @cached_property
    def rows(self) -> list[Row]:
        return [row for row in self.store.rows() if row.profile == self.profile and row.protocol == PROTOCOL]

    def apart(self) -> "Results":
        """The same rows, not read again, with notes of their own: one for each artifact."""
        other = Results(self.store, self.profile, self.source, at_hand=self.at_hand, _curves=self._curves)
        other.rows, other._specs, other._contents = self.rows, self._specs, self._contents
        return other

    def like(self, trial: Trial) -> list[Row]:
        """The rows of this trial under every seed, in the order of seeds; those of tuning seeds only for a
        trial that has one."""
        families: dict[str, list[Row]] = {}
        for row, spec in self._of(trial):
            key = data_key(spec["dataset"])
            if row.data_fingerprint == self._shown(key):
                families.setdefault(canonical_json({**spec, "seed": 0}), []).append(row)
            else:
                self._say_left_out(trial.data, key)
        latest = max(families.values(), key=lambda rows: max(row.finished_at for row in rows), default=[])
        self._take_note(f"{trial.name} on {trial.spec.dataset['name']}", len(families), latest)
        return sorted(latest, key=lambda row: row.seed)

    def rows_of(self, trials: Iterable[Trial]) -> list[Row]:
        """The rows of all of them."""
        return [row for trial in trials for row in self.like(trial)]

    def cell(self, trial: Trial, metric: str, paper: float | None = None) -> Cell:
        """A metric of the trial over its seeds."""
        return cell_of([(row.outcome, metrics_of(row).get(metric)) for row in self.like(trial)], paper)

    def arrays(self, row: Row) -> dict[str, NDArray[Any]]:
        return self.store.arrays(row.trial_id)

    def curves(self, row: Row) -> list[CurvePoint]:
        if row.trial_id not in self._curves:
            self._curves[row.trial_id] = self.store.curves(row.trial_id)
        return self._curves[row.trial_id]

    def _of(self, trial: Trial) -> Iterator[tuple[Row, dict[str, Any]]]:
        """Rows in which all stands that the trial declares, whatever their seed and the content of their
        data."""
        declared = {key: value for key, value in trial.spec.to_dict().items() if key != "seed"}
        for row, spec in self._specs:
            same_use = (row.seed >= TUNING_SEED) == (trial.spec.seed >= TUNING_SEED)
            if same_use and row.method == trial.spec.method["name"] and _says(spec, declared):
                yield row, spec

    def _say_left_out(self, name: str, key: str) -> None:
        """Once for a data set, with every content of it that is not shown."""
        shown = self._shown(key)
        others = sorted({*self._contents[key]} - {shown})
        why = "the file as it is" if key in self.at_hand else "what was trained last"
        rest = f"Shown is {shown}, {why}; trials of {', '.join(others)} are left out."
        text = f"{name}: its content changed between trials. {rest}"
        self.notes += [text] if text not in self.notes else []

    def _take_note(self, name: str, variants: int, rows: list[Row]) -> None:
        """Once each, however often the trial is asked for."""
        restarted = sum(bool(json.loads(row.restarts)) for row in rows)
        texts = {
            f"{name}: {variants} variants of it are in the store; shown is the one that finished last.": variants
            > 1,
            f"{name}: {restarted} of {len(rows)} trials began again after a divergence.": restarted > 0,
        }
        self.notes += [text for text, holds in texts.items() if holds and text not in self.notes]

    @cached_property
    def _specs(self) -> list[tuple[Row, dict[str, Any]]]:
        return [(row, json.loads(row.spec)) for row in self.rows]

    @cached_property
    def _contents(self) -> dict[str, list[str]]:
        """The fingerprints of each data set, the one that was trained last at the end; trials that failed
        come before others."""
        found: dict[str, list[str]] = {}
        for row, spec in sorted(
            self._specs, key=lambda pair: (pair[0].outcome not in FAILURES, pair[0].finished_at)
        ):
            found.setdefault(data_key(spec["dataset"]), []).append(row.data_fingerprint)
        return found

    def _shown(self, key: str) -> str:
        """The content that is shown of a data set."""
        return self.at_hand.get(key) or self._contents[key][-1]


def open_store(folder: Place, create: bool = False, needed: bool = True) -> Store:
    """The store of a results directory; one that is not there is as good as empty where it is not `needed`.
    In the one that ships nothing is moved: git restores what is damaged."""
    ships = not is_url(folder) and os.path.realpath(folder) == os.path.realpath(
        PUBLISHED
    )  # Path.resolve fails on a loop of links
    return Store(
        within(folder, "trials"), create, restore=f"git checkout {PUBLISHED}" if ships else "", needed=needed
    )


def data_key(dataset: Mapping[str, Any]) -> str:
    """A data set as a trial describes it, but for the labels that it shows: with all of them or ten, its
    content is the same."""
    return canonical_json({key: value for key, value in dataset.items() if key != "labels_per_class"})


def metrics_of(row: Row) -> dict[str, float]:
    return dict(json.loads(row.metrics))


def _says(stored: Any, declared: Any) -> bool:
    """Whether all that is declared stands in what is stored."""
    if isinstance(declared, Mapping):
        return isinstance(stored, Mapping) and all(
            key in stored and _says(stored[key], value) for key, value in declared.items()
        )
    if isinstance(declared, list | tuple):
        return isinstance(stored, list) and len(stored) == len(declared) and all(map(_says, stored, declared))
    return bool(stored == declared)
