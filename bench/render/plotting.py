"""The style of every figure: a palette for colour-blind readers, sizes for print, no display needed."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, Literal

import numpy as np
from numpy.typing import NDArray

from sweeps.trial.identity import Profile

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""The palette of Okabe and Ito; series differ by marker or dash as well."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
STYLE: Any = {
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.labelsize": 8,
    "axes.linewidth": 0.7,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "savefig.dpi": 200,
    "savefig.bbox": "tight",
    "pdf.fonttype": 42,
    "figure.constrained_layout.use": True,
}
NO_RESULT = "not a result"
FigureFormat = Literal["png", "pdf"]
FIGURE_FORMATS: tuple[FigureFormat, ...] = ("png", "pdf")


def draw_figure(draw: Callable[[], Any], name: str, profile: Profile) -> Any:
    """The figure that `draw` makes, in the style of all figures, with its name and profile at the bottom,
    because images are copied without their captions. At `smoke` it is stamped: it shows no result."""
    import matplotlib

    with matplotlib.rc_context(STYLE):
        figure = draw()
        # Below the figure's edge: `save_figure` extends the bounding box to include it.
        figure.text(0.0, 0.0, f"{name}, {profile} profile", va="top", fontsize=6, color="0.4")
        if profile == "smoke":
            style = {"fontsize": 26, "color": "0.4", "alpha": 0.3, "rotation": 20, "weight": "bold"}
            figure.text(0.5, 0.5, NO_RESULT, ha="center", va="center", zorder=10, **style)
        return figure


def create_panels(rows: int, columns: int, width: float, height: float) -> tuple[Any, Any]:
    """A figure and its axes as a two-dimensional array; each panel is `width` by `height` inches."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
        return figure, figure.subplots(rows, columns, squeeze=False)


def tile_images(images: NDArray[Any], rows: int, columns: int, white: float, gap: int) -> NDArray[Any]:
    """The first rows × columns images (n, side, side) in reading order on a white sheet."""
    side = images.shape[1]
    pitch = side + gap
    sheet = np.full((rows * pitch - gap, columns * pitch - gap), white, images.dtype)
    for place, image in enumerate(images[: rows * columns]):
        top, left = (index * pitch for index in divmod(place, columns))
        sheet[top : top + side, left : left + side] = image
    return sheet


def tile_colour_images(images: NDArray[Any], columns: int, gap: int = 1) -> NDArray[Any]:
    """Bytes (n, channels, side, side) as one image (height, width, 3) in reading order on a white sheet.

    Images with one channel are grey.
    """
    rows = -(-len(images) // columns)
    sheets = [
        tile_images(images[:, channel], rows, columns, white=255, gap=gap)
        for channel in range(images.shape[1])
    ]
    return np.stack(sheets if len(sheets) == 3 else sheets[:1] * 3, axis=-1)


def draw_image(axis: Any, image: NDArray[Any] | None, reason: str) -> None:
    """Draw the image, or the reason if there is none."""
    axis.set(xticks=(), yticks=())
    axis.spines[:].set_visible(False)
    if image is None:
        axis.text(0.5, 0.5, reason, ha="center", va="center", transform=axis.transAxes)
    else:
        axis.imshow(image, cmap="gray", vmin=0, vmax=1, interpolation="nearest")


def save_figure(figure: Any, file: BinaryIO | str | Path, kind: FigureFormat = "png") -> None:
    """Write the figure without a date, so the same rows give the same bytes."""
    import matplotlib

    metadata = {"CreationDate": None} if kind == "pdf" else {"Software": None}
    with matplotlib.rc_context(STYLE):
        figure.savefig(file, format=kind, metadata=metadata)
