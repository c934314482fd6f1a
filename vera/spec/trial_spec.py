"""A trial as plain data.

Every part is named in a registry and carries its settings: {"name": "vera", "lr": 1e-3}. Nothing here is a
path, a host or a device, and nothing here loads torch: whoever declares or renders trials needs only this.
`vera/tasks/build.py` makes Trainers of it.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from vera.errors import SettingError
from vera.spec.settings import Count, NonNegativeCount, check_fields, check_names, settings_of

Component = Mapping[str, Any]
"""{"name": a registered name, and its settings}."""


@dataclass(frozen=True)
class TrialSpec:
    """One training run: data, networks by role ("energy", "generator", "statistics"), method, budget and
    seed.

    `task` says what it trains for and what is measured (see vera/tasks/contract.py), by name or, where it has
    settings, as a part like the others; `evaluate_every` how often on the way. `restarts` is how often a run
    that diverges begins again from scratch, with another seed; each restart is recorded in the trial's row.
    """

    dataset: Component
    networks: Mapping[str, Component]
    method: Component
    steps: Count
    batch_size: Count = 128
    seed: NonNegativeCount = 0
    evaluate_every: Count | None = None
    restarts: NonNegativeCount = 0
    task: str | Component = "density"

    def __post_init__(self) -> None:
        check_fields(self)
        if not isinstance(self.networks, Mapping):
            raise SettingError(f"TrialSpec: networks must map roles to networks, got {self.networks!r}.")
        for name in ("dataset", "networks", "method", "task"):
            object.__setattr__(self, name, _plain(getattr(self, name)))
        for role, part in {
            "dataset": self.dataset,
            "method": self.method,
            "task": self.task_component,
            **self.networks,
        }.items():
            if not isinstance(part, Mapping) or not isinstance(part.get("name"), str):
                raise SettingError(f"TrialSpec: {role} must be a mapping with a 'name', got {part!r}.")

    @property
    def task_component(self) -> Component:
        return {"name": self.task} if isinstance(self.task, str) else self.task

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "TrialSpec":
        if not isinstance(values, Mapping):
            raise SettingError(f"TrialSpec: needs a mapping of its fields, got {values!r}.")
        check_names("TrialSpec", settings_of(cls), values)
        missing = [s.name for s in settings_of(cls).values() if s.is_required and s.name not in values]
        if missing:
            raise SettingError(f"TrialSpec needs {', '.join(missing)}.")
        return cls(**values)


def _plain(value: Any) -> Any:
    """As JSON would give it back: numpy's numbers as Python's, tuples as lists."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value
