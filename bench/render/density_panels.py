"""Panels of densities and samples in the plane, for figures that compare trained models."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.render.plotting import COLOURS

LIMIT = 4.0
"""Panels show [−4, 4]², the grid of the stored densities."""


@dataclass(frozen=True)
class DensityPanel:
    """One model: its density and samples, or the reason why there are none."""

    title: str
    remark: str
    density: NDArray[Any] | None = None
    samples: NDArray[Any] | None = None


def draw_density(axis: Any, panel: DensityPanel) -> None:
    """The density with the remark below it, or the remark alone."""
    if panel.density is None:
        axis.text(0.5, 0.5, panel.remark, ha="center", va="center", fontsize=7, transform=axis.transAxes)
        hide_frame(axis)
        return
    draw_frame(axis)
    axis.imshow(
        panel.density,
        cmap="viridis",
        extent=(-LIMIT, LIMIT, -LIMIT, LIMIT),
        origin="upper",
        interpolation="nearest",
    )
    axis.set_xlabel(panel.remark, fontsize=7)


def draw_samples(axis: Any, samples: NDArray[Any] | None) -> None:
    """The samples, with the number of those outside of the panel; nothing if there are none."""
    if samples is None:
        hide_frame(axis)
        return
    draw_frame(axis)
    axis.scatter(samples[:, 0], samples[:, 1], s=1, color=COLOURS[0], linewidths=0)
    outside = int(np.any(np.abs(samples) > LIMIT, axis=1).sum())
    if outside:
        axis.set_xlabel(f"{outside} of {len(samples):,} outside", fontsize=7)


def hide_frame(axis: Any) -> None:
    """Neither frame nor ticks; a label of its row stays."""
    axis.set(xticks=(), yticks=(), box_aspect=1)
    axis.spines[:].set_visible(False)


def draw_frame(axis: Any) -> None:
    """[−4, 4]² as a square without ticks."""
    axis.set(xlim=(-LIMIT, LIMIT), ylim=(-LIMIT, LIMIT), xticks=(), yticks=(), aspect="equal")
    axis.spines[:].set(visible=True, linewidth=0.5)
