"""The look of every figure: colours that a colour-blind reader can tell apart, sizes that survive print, no
display needed."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Okabe and Ito's palette; series differ by marker or dash as well."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
STYLE: Any = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "savefig.dpi": 200,
    "savefig.bbox": "tight",
    "pdf.fonttype": 42,
    "figure.constrained_layout.use": True,
}


def panels(rows: int, columns: int, width: float, height: float) -> tuple[Any, Any]:
    """A figure and its rows x columns axes (always a two-dimensional array), `width` by `height` inches a
    panel."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
        return figure, figure.subplots(rows, columns, squeeze=False)


def mosaic(images: NDArray[Any], rows: int, columns: int, white: float, gap: int) -> NDArray[Any]:
    """Images (n, side, side) as one, in reading order on a white sheet, as many as fit."""
    side = images.shape[1]
    pitch = side + gap
    sheet = np.full((rows * pitch - gap, columns * pitch - gap), white, images.dtype)
    for place, image in enumerate(images[: rows * columns]):
        top, left = (index * pitch for index in divmod(place, columns))
        sheet[top : top + side, left : left + side] = image
    return sheet


def colour_mosaic(images: NDArray[Any], columns: int, gap: int = 1) -> NDArray[Any]:
    """Bytes (n, channels, side, side) as one picture (height, width, 3), in reading order on a white sheet;
    one channel is grey."""
    rows = -(-len(images) // columns)
    sheets = [
        mosaic(images[:, channel], rows, columns, white=255, gap=gap) for channel in range(images.shape[1])
    ]
    return np.stack(sheets if len(sheets) == 3 else sheets[:1] * 3, axis=-1)


def save(figure: Any, path: Any) -> None:
    """To a file; the ending says the format. No date inside, so that the same rows give the same bytes."""
    import matplotlib

    metadata = {"CreationDate": None} if str(path).endswith(".pdf") else {"Software": None}
    with matplotlib.rc_context(STYLE):
        figure.savefig(path, metadata=metadata)
