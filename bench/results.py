"""The store as tables and figures see it: the rows of one profile, found by what a trial declares. Loads neither torch nor ray.

A row's spec has every default written out, a declared trial only what it cares about; a row is the trial's if all that was declared
stands in it, whatever the seed. Where two variants of one declared trial are in the store (a default was changed in between), the
one that finished last counts, and `notes` says so.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from numpy.typing import NDArray

from bench.cell import Cell, cell_of
from bench.flags import PUBLISHED
from sweeps.canonical import canonical_json
from sweeps.places import Place, is_url, within
from sweeps.row import CurvePoint, Row
from sweeps.store import Store
from sweeps.trial import PROTOCOL, Profile, Trial

Source = Literal["local", "published"]
TUNING_SEED = 100
"""Seeds from here on are for choosing settings. What was chosen by a value is not judged by it: no table averages over them."""


@dataclass
class Results:
    """The finished trials of one profile in one store."""

    store: Store
    profile: Profile
    source: Source = "local"
    notes: list[str] = field(default_factory=list)
    """What a reader must know about the choice of rows."""

    @classmethod
    def at(cls, folder: Place, profile: Profile, source: Source = "local") -> "Results":
        return cls(open_store(folder), profile, source)

    @cached_property
    def rows(self) -> list[Row]:
        return [row for row in self.store.rows() if row.profile == self.profile and row.protocol == PROTOCOL]

    def apart(self) -> "Results":
        """The same rows, not read again, with notes of their own: one for each artifact."""
        other = Results(self.store, self.profile, self.source)
        other.rows, other._specs = self.rows, self._specs
        return other

    def like(self, trial: Trial) -> list[Row]:
        """The rows of this trial under every seed, in the order of seeds; those of tuning seeds only for a trial that has one."""
        declared = trial.spec.to_dict()
        families: dict[str, list[Row]] = {}
        for row, spec in self._specs:
            same_use = (row.seed >= TUNING_SEED) == (trial.spec.seed >= TUNING_SEED)
            if (
                same_use
                and row.method == trial.spec.method["name"]
                and _says(spec, {k: v for k, v in declared.items() if k != "seed"})
            ):
                families.setdefault(canonical_json({**spec, "seed": 0}), []).append(row)
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
        return self.store.curves(row.trial_id)

    def _take_note(self, name: str, variants: int, rows: list[Row]) -> None:
        """Once each, however often the trial is asked for."""
        restarted = sum(bool(json.loads(row.restarts)) for row in rows)
        texts = {
            f"{name}: {variants} variants of it are in the store; shown is the one that finished last.": variants > 1,
            f"{name}: {restarted} of {len(rows)} trials began again after a divergence.": restarted > 0,
        }
        self.notes += [text for text, holds in texts.items() if holds and text not in self.notes]

    @cached_property
    def _specs(self) -> list[tuple[Row, dict[str, Any]]]:
        return [(row, json.loads(row.spec)) for row in self.rows]


def open_store(folder: Place, create: bool = False, needed: bool = True) -> Store:
    """The store of a results directory; one that is not there is as good as empty where it is not `needed`. In the one that ships
    nothing is moved: git restores what is damaged."""
    ships = not is_url(folder) and Path(folder).resolve() == Path(PUBLISHED).resolve()
    return Store(within(folder, "trials"), create, restore=f"git checkout {PUBLISHED}" if ships else "", needed=needed)


def metrics_of(row: Row) -> dict[str, float]:
    return dict(json.loads(row.metrics))


def _says(stored: Any, declared: Any) -> bool:
    """Whether all that is declared stands in what is stored."""
    if isinstance(declared, Mapping):
        return isinstance(stored, Mapping) and all(key in stored and _says(stored[key], value) for key, value in declared.items())
    if isinstance(declared, list | tuple):
        return isinstance(stored, list) and len(stored) == len(declared) and all(map(_says, stored, declared))
    return bool(stored == declared)
