"""A trial as plain data.

Each component of a spec has a registered name and its settings: {"name": "vera", "lr": 1e-3}. A spec contains
no path, host or device, and this module does not load torch, so declaring and rendering trials stays cheap.
`vera/tasks/build.py` builds Trainers from specs.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from vera.errors import SettingError
from vera.spec.settings import Count, Decay, NonNegativeCount, check_fields, check_names, settings_of

Component = Mapping[str, Any]
"""A registered name with its settings: {"name": ..., setting: value, ...}."""


@dataclass(frozen=True)
class TrialSpec:
    """One training run: data, networks by role ("energy", "generator", "statistics"), method, steps and seed.

    `task` decides what is trained and measured (see vera/tasks/contract.py); it is a name or a component with
    settings. The model is evaluated every `evaluate_every` steps. A run that diverges starts again from
    scratch with another seed, at most `restarts` times; each restart is recorded in the trial's row. With
    `ema`, a decay such as .999, an average of the weights is measured too; it is in no id while it is None.
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
    ema: Decay | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        if not isinstance(self.networks, Mapping):
            raise SettingError(f"TrialSpec: networks must map roles to networks, got {self.networks!r}.")
        for name in ("dataset", "networks", "method", "task"):
            object.__setattr__(self, name, to_plain(getattr(self, name)))
        components = {"dataset": self.dataset, "method": self.method, "task": self.task_component}
        for role, component in {**components, **self.networks}.items():
            if not isinstance(component, Mapping) or not isinstance(component.get("name"), str):
                raise SettingError(f"TrialSpec: {role} must be a mapping with a 'name', got {component!r}.")

    @property
    def task_component(self) -> Component:
        """The task as a component, also if it is given by name only."""
        return {"name": self.task} if isinstance(self.task, str) else self.task

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain data, without `ema` while it is None."""
        fields = asdict(self)
        return {name: value for name, value in fields.items() if name != "ema" or value is not None}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "TrialSpec":
        """The spec with these fields; unknown and missing fields raise."""
        if not isinstance(values, Mapping):
            raise SettingError(f"TrialSpec: needs a mapping of its fields, got {values!r}.")
        check_names("TrialSpec", settings_of(cls), values)
        missing = [s.name for s in settings_of(cls).values() if s.is_required and s.name not in values]
        if missing:
            raise SettingError(f"TrialSpec needs {', '.join(missing)}.")
        return cls(**values)


def split_component(component: Component) -> tuple[str, dict[str, Any]]:
    """The name and the settings of a component."""
    return component["name"], {key: value for key, value in component.items() if key != "name"}


def to_plain(value: Any) -> Any:
    """The value as JSON would return it: numpy numbers as Python numbers, tuples as lists."""
    if isinstance(value, Mapping):
        return {key: to_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value
