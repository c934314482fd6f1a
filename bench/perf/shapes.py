"""The training steps that `vera perf` measures, as plain data: data, networks and batch size. Loads no torch.

The data is synthetic where real data would have to be fetched: the time of a step depends on shapes alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from vera.spec.registry import joint_methods
from vera.spec.trial_spec import Component


@dataclass(frozen=True)
class StepShape:
    """Data, networks by role, batch size, and settings by method that differ from its defaults."""

    title: str
    dataset: Component | int
    """A data set, or the dimension of synthetic points."""
    networks: Mapping[str, Component]
    batch_size: int
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class ImageShape:
    """Networks and batch size on random images of `side` × `side` pixels."""

    title: str
    energy: Component
    generator: Component
    batch_size: int
    timed: bool
    """Whether a step is short enough to be timed; memory is measured in any case."""
    side: int = 32

    def select_networks(self, method: str) -> dict[str, Component]:
        """The networks that the joint method needs, by role."""
        networks = {"energy": self.energy, "generator": {**self.generator, "side": self.side}}
        return {role: networks[role] for role in joint_methods.get(method).network_names()}


STATISTICS: Component = {"name": "statistics", "hidden": (500, 500, 500)}
TOY_GENERATOR: Component = {"name": "mlp-generator"}
TABULAR_ENERGY: Component = {"name": "mlp", "hidden": (1000, 500, 500, 250, 250, 250)}
TABULAR_GENERATOR: Component = {
    "name": "mlp-generator",
    "latent_dim": 128,
    "hidden": (500, 500, 500),
    "activation": "softplus",
}

SHAPES: dict[str, StepShape] = {
    "toy": StepShape(
        "MLP 2-100-100-1 on moons, batch 200",
        {"name": "moons"},
        {"energy": {"name": "mlp"}, "generator": TOY_GENERATOR, "statistics": STATISTICS},
        batch_size=200,
    ),
    "mixture": StepShape(
        "100 diagonal Gaussians on moons, batch 200",
        {"name": "moons"},
        {"energy": {"name": "mixture"}, "generator": TOY_GENERATOR, "statistics": STATISTICS},
        batch_size=200,
    ),
    "nice": StepShape(
        "NICE flow of 784 dimensions, batch 128",
        784,
        {"energy": {"name": "nice"}, "generator": {"name": "nice-generator"}, "statistics": STATISTICS},
        batch_size=128,
        settings={"pcd": {"sampler_steps": 40}},
    ),
    "tabular": StepShape(
        "tabular MLP of 523 features (HUMAN), batch 64",
        523,
        {"energy": TABULAR_ENERGY, "generator": TABULAR_GENERATOR, "statistics": STATISTICS},
        batch_size=64,
    ),
}
IMAGE_SHAPES: dict[str, ImageShape] = {
    "wrn-28-2": ImageShape(
        "WRN-28-2 and SNGAN generator of 48 maps on 32 × 32 images, batch 16, as VERA-JEM",
        {"name": "wrn", "width": 2},
        {"name": "sngan-generator", "width": 48},
        batch_size=16,
        timed=True,
    ),
    "wrn-28-10": ImageShape(
        "WRN-28-10 and SNGAN generator of 256 maps (the paper's) on 32 × 32 images, batch 4, as VERA-JEM",
        {"name": "wrn"},
        {"name": "sngan-generator"},
        batch_size=4,
        timed=False,
    ),
}
SHAPE_NAMES = (*SHAPES, *IMAGE_SHAPES)


def find_title(name: str) -> str:
    return SHAPES[name].title if name in SHAPES else IMAGE_SHAPES[name].title
