"""VERA with one setting changed at a time, on the flow of Table 2, where the likelihood is exact.

The base is "VERA λ=1" of Table 2 at `laptop`. Every trial declares every setting that is varied, and is
measured at the end only, so that no table takes the rows for those of Table 2. Nothing is tuned again: a
setting that needs other learning rates looks worse than it is.

σ starts at .3 as in Table 2, or at the largest σ allowed if that is smaller.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from bench.experiment import Experiment, Line
from bench.paper.experiments.nice import PAIR, SCALES, WITH_ENTROPY

BASE_LABEL = "base"
METHOD = {
    "name": "vera",
    **WITH_ENTROPY,
    "posterior_lr": 1e-2,
    "k": 20,
    "entropy_weight": 1.0,
    "gamma": 0.1,
    "penalty": "half",
    "shared_eta": False,
}
GENERATOR = {"sigma": 0.3, "sigma_min": 0.01, "sigma_max": 3.0, "latent_dim": 10}
"""The base: its method, and what it changes of the generator."""
PIXELS = 196
"""The dimension of the data."""


@dataclass(frozen=True)
class AblationAxis:
    """One setting, and the values that are tried beside that of the base."""

    name: str
    """As it is printed."""
    setting: str
    others: tuple[Any, ...]
    of_generator: bool = False

    @property
    def base(self) -> Any:
        return (GENERATOR if self.of_generator else METHOD)[self.setting]

    @property
    def values(self) -> list[Any]:
        """All values in order, that of the base included."""
        return sorted([self.base, *self.others])

    def label(self, value: Any) -> str:
        """The label of the line with this value."""
        return BASE_LABEL if value == self.base else f"{self.name} = {spell_value(value)}"

    def make_lines(self) -> list[Line]:
        return [make_line(self.label(value), self.change(value)) for value in self.others]

    def change(self, value: Any) -> Mapping[str, Any]:
        """The changed settings. σ may not start above its bound."""
        if self.setting == "sigma_max":
            return {self.setting: value, "sigma": min(value, GENERATOR["sigma"])}
        if self.setting == "sigma_min":
            return {self.setting: value, "sigma": max(value, GENERATOR["sigma"])}
        return {self.setting: value}


def spell_value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def make_line(label: str, changes: Mapping[str, Any]) -> Line:
    method = {**METHOD, **{name: value for name, value in changes.items() if name in METHOD}}
    generator = {**GENERATOR, **{name: value for name, value in changes.items() if name in GENERATOR}}
    return Line(label, method, roles=PAIR, networks={"generator": generator})


AXES = (
    AblationAxis("k", "k", (1, 5, 80)),
    AblationAxis("λ", "entropy_weight", (0.0, 0.1, 0.3, 3.0)),
    AblationAxis("γ, half", "gamma", (0.0, 0.01, 1.0)),
    AblationAxis("penalty", "penalty", ("full",)),
    AblationAxis("shared η", "shared_eta", (True,)),
    AblationAxis("σ max", "sigma_max", (0.3, 1.0), of_generator=True),
    AblationAxis("σ min", "sigma_min", (0.5, 1.0), of_generator=True),
    AblationAxis("latent dimension", "latent_dim", (2, 5, 40, PIXELS, 2 * PIXELS), of_generator=True),
)
ABLATIONS = Experiment(
    "ablations",
    (make_line(BASE_LABEL, {}), *(line for axis in AXES for line in axis.make_lines())),
    {profile: replace(scale, evaluations=1) for profile, scale in SCALES.items() if profile != "paper"},
    registry=None,
)
