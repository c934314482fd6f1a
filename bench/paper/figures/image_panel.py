"""Figures of images: a panel with one image or the reason why there is none, and the acceptance of MALA."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from bench.judging.results import read_metrics
from sweeps.store.row import Row


@dataclass(frozen=True)
class ImagePanel:
    """An image with its title. If the image is None, `reason` says why."""

    title: str
    image: NDArray[Any] | None
    reason: str = ""


def draw_image(axis: Any, image: NDArray[Any] | None, reason: str) -> None:
    """Draw the image, or the reason if there is none."""
    axis.set(xticks=(), yticks=())
    axis.spines[:].set_visible(False)
    if image is None:
        axis.text(0.5, 0.5, reason, ha="center", va="center", transform=axis.transAxes)
    else:
        axis.imshow(image, cmap="gray", vmin=0, vmax=1, interpolation="nearest")


def describe_acceptance(rows: Sequence[Row]) -> str:
    """The share of MALA proposals that were accepted, for a caption; empty if no row has it."""
    found = [read_metrics(row).get("refinement_acceptance") for row in rows]
    shares = [f"{100 * value:.0f} %" for value in found if value is not None]
    return f" Of the MALA proposals {' and '.join(shares)} were accepted." if shares else ""
