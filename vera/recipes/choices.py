"""Networks and settings by the shape of a point.

Points in the plane get the networks and rates of the paper's toy experiments, tables wider networks of the
same kind, images convolutions. Labelled data get a classifier as energy. The learning rates were checked on
moons, on the 8 × 8 digits and on MNIST's digits; for other data they are a start.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vera.errors import SettingError
from vera.methods.contract import Method
from vera.models.conv import LARGEST_SIDE
from vera.spec.trial_spec import Component

Shape = tuple[int, ...]
NORMALISED = {"density", "curvature"}
"""Needs of a method that only normalised models meet."""
FLAT_NEEDS = {*NORMALISED, "hessian"}
"""Needs of a method that no convolutional energy meets."""
LARGEST_LATENT = 64

PAIR = {"lr": 1e-3, "generator_lr": 1e-3}
TABLE_SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "vera": PAIR,
    "vera-hmc": PAIR,
    "vera-ar-dae": PAIR,
    "meg": PAIR,
    "coopnet": {"lr": 1e-4, "generator_lr": 1e-3},
    "pcd": {"lr": 1e-3},
    "nce": {"lr": 1e-3},
    "ml": {"lr": 1e-3},
    "dsm": {"lr": 1e-3},
    "ssm": {"lr": 1e-3},
    "cp-sm": {"lr": 1e-3},
    "ed": {"lr": 1e-3},
    "snl": {"lr": 1e-3},
    "cd": {"lr": 1e-3},
    "short-run": {"lr": 1e-3},
}
PLANE_PAIR = {"lr": 2e-4, "generator_lr": 1e-3, "gamma": 0.01}
PLANE_SETTINGS: Mapping[str, Mapping[str, Any]] = {
    **TABLE_SETTINGS,
    "vera": PLANE_PAIR,
    "vera-hmc": PLANE_PAIR,
    "vera-ar-dae": PLANE_PAIR,
    "meg": PLANE_PAIR,
    "ml": {"lr": 5e-3},
}
IMAGE_PAIR = {"lr": 2e-4, "generator_lr": 5e-4, "entropy_weight": 1e-4}
IMAGE_SETTINGS: Mapping[str, Mapping[str, Any]] = {
    **TABLE_SETTINGS,
    "vera": IMAGE_PAIR,
    "vera-hmc": IMAGE_PAIR,
    "vera-ar-dae": IMAGE_PAIR,
    "meg": IMAGE_PAIR,
    "pcd": {"lr": 1e-4},
    "dsm": {"lr": 3e-4},
}
JOINT_PAIR = {**PAIR, "entropy_weight": 1e-2, "alpha": 10.0}
JOINT_SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "vera": JOINT_PAIR,
    "meg": JOINT_PAIR,
    "jem": {"lr": 1e-4},
    "hdge": {"lr": 1e-3},
    "supervised": {"lr": 1e-3},
    "vat": {"lr": 1e-3},
}
JOINT_IMAGE_PAIR = {**PAIR, "entropy_weight": 1e-4, "alpha": 100.0}
JOINT_IMAGE_SETTINGS = {**JOINT_SETTINGS, "vera": JOINT_IMAGE_PAIR, "meg": JOINT_IMAGE_PAIR}


@dataclass(frozen=True)
class Recipe:
    """What a run uses unless the user chooses otherwise."""

    networks: dict[str, Component]
    settings: dict[str, Any]
    steps: int
    batch_size: int


def choose_recipe(method: type[Method], shape: Shape, classes: int | None, roles: Sequence[str]) -> Recipe:
    """Networks for these roles of the method, its settings, steps and batch size."""
    is_image, name = len(shape) == 3, method.label()
    networks = (
        _choose_image_networks(shape, classes) if is_image else _choose_point_networks(method, shape, classes)
    )
    if unknown := [role for role in roles if role not in networks]:
        raise SettingError(f"The method '{name}' has a network '{unknown[0]}' that vera.train cannot choose.")
    chosen = {role: networks[role] for role in roles}
    if max(shape) > LARGEST_SIDE and any("height" in each for each in chosen.values()):
        raise SettingError(
            f"Images of {shape[1]} × {shape[2]} pixels are larger than {LARGEST_SIDE} × {LARGEST_SIDE}: "
            "resize them, or pass energy=... and generator=... of your own."
        )
    settings = dict(_get_settings(shape, classes).get(name, {}))
    return Recipe(chosen, settings, 2_000 if is_image else 5_000, 64 if is_image or classes else 200)


def _get_settings(shape: Shape, classes: int | None) -> Mapping[str, Mapping[str, Any]]:
    """The settings of each method; methods of plug-ins keep their own defaults."""
    if classes is not None:
        return JOINT_IMAGE_SETTINGS if len(shape) == 3 else JOINT_SETTINGS
    if len(shape) == 3:
        return IMAGE_SETTINGS
    return PLANE_SETTINGS if shape[0] <= 2 else TABLE_SETTINGS


def _choose_point_networks(method: type[Method], shape: Shape, classes: int | None) -> dict[str, Component]:
    (columns,) = shape
    hidden = [100, 100] if columns <= 2 else [256, 256]
    latent = max(2, min(columns, LARGEST_LATENT))
    return {
        "energy": _choose_point_energy(method, columns, hidden, classes),
        "generator": {"name": "mlp-generator", "latent_dim": latent, "hidden": hidden},
        "statistics": {"name": "statistics", "hidden": hidden},
    }


def _choose_point_energy(
    method: type[Method], columns: int, hidden: list[int], classes: int | None
) -> Component:
    needs = set(method.needs)
    if classes is not None:
        return {"name": "mlp-classifier", "hidden": hidden}
    if "curvature" in needs or ("density" in needs and columns > 2):
        return {"name": "nice", "hidden": hidden[0], "hidden_layers": 2}
    if "density" in needs:
        return {"name": "mixture"}
    return {"name": "mlp", "hidden": hidden, "activation": "softplus" if "hessian" in needs else "leaky_relu"}


def _choose_image_networks(shape: Shape, classes: int | None) -> dict[str, Component]:
    channels, height, width = shape
    size = {"channels": channels, "height": height, "width": width}
    classifier = {"name": "wrn", "depth": 10, "width": 2, "channels": channels}
    return {
        "energy": {"name": "conv", **size} if classes is None else classifier,
        "generator": {"name": "conv-generator", **size},
        "statistics": {"name": "statistics", "data_dim": math.prod(shape)},
    }
