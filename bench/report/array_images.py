"""Stored arrays as small images: densities, points in the plane, sheets of generated images.

The arrays' names and shapes decide how they are drawn. What cannot be drawn, such as a table of samples with
many columns, is left to `vera sample` and `vera.load_model`. Pillow comes with
matplotlib.
"""

import base64
import io
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.render.density_panels import LIMIT
from bench.render.plotting import tile_colour_images

SIDE = 132
"""Side of a density or of a scatter plot in pixels."""
SHEET_ROWS = 6
"""Images in a row and in a column of a sheet, at most."""
LEVELS = 64
"""Colours of a density."""
POINT_SHADE = 120
"""Grey of a pixel with one point; more points are darker."""
MIN_IMAGE_SIDE = 6
MAX_UNIT_RANGE = 1.5
"""Pixels within ± this are of [−1, 1]; samples include noise."""
DENSITY = "density_image"


@dataclass(frozen=True)
class EmbeddedImage:
    """A PNG in base64 and its size on the page."""

    source: str
    width: int
    height: int
    label: str = ""


def draw_arrays(arrays: Mapping[str, NDArray[Any]]) -> Iterator[EmbeddedImage]:
    """The images of the arrays that can be drawn: the density first, then the samples by name."""
    limit = LIMIT if DENSITY in arrays else None
    for name in sorted(arrays, key=lambda name: (name != DENSITY, name)):
        array, label = arrays[name], name.removesuffix("_image").replace("_", " ")
        if not array.size or not np.isfinite(array).all():
            continue
        if name == DENSITY and array.ndim == 2:
            yield _embed(_draw_density(array), label)
        elif array.ndim == 2 and array.shape[1] == 2:
            yield _embed(_draw_points(array, limit), label)
        elif (sheet := _draw_sheet(array)) is not None:
            yield _embed(sheet, label)


def embed_png(data: bytes, width: int, height: int, label: str = "") -> EmbeddedImage:
    return EmbeddedImage(f"data:image/png;base64,{base64.b64encode(data).decode()}", width, height, label)


def _draw_density(density: NDArray[Any]) -> Any:
    """The density in the colours of the figures; zero is dark."""
    from matplotlib import colormaps
    from PIL import Image

    low, high = float(density.min()), float(density.max())
    scaled = (density - low) / (high - low or 1.0)
    image = Image.fromarray(np.round(scaled * (LEVELS - 1)).astype(np.uint8))
    image.putpalette(
        (colormaps["viridis"](np.linspace(0, 1, LEVELS))[:, :3] * 255).astype(np.uint8).tobytes()
    )
    return image.resize((SIDE, SIDE), Image.Resampling.NEAREST)


def _draw_points(points: NDArray[Any], limit: float | None) -> Any:
    """The points of [−limit, limit]²; without a limit, of the rectangle that holds nearly all of them. The y
    axis points upwards."""
    from PIL import Image

    if limit is None:
        low, high = np.percentile(points, (0.5, 99.5), axis=0)
        margin = 0.05 * (high - low) + 1e-12
        low, high = low - margin, high + margin
    else:
        low, high = np.full(2, -limit), np.full(2, limit)
    limits = np.stack([low, high], axis=1)
    counts, _, _ = np.histogram2d(points[:, 0], points[:, 1], bins=SIDE, range=limits)
    shades = np.clip(POINT_SHADE - POINT_SHADE / 2 * (counts.T[::-1] - 1), 0, POINT_SHADE)
    return Image.fromarray(np.where(counts.T[::-1] > 0, shades, 255).astype(np.uint8))


def _draw_sheet(array: NDArray[Any]) -> Any | None:
    """The first images of a batch as a sheet; None if the array is no batch of images."""
    from PIL import Image

    images = _read_images(array)
    if images is None:
        return None
    columns = min(SHEET_ROWS, math.ceil(math.sqrt(len(images))))
    return Image.fromarray(_drop_equal_channels(tile_colour_images(images[: columns**2], columns)))


def _read_images(array: NDArray[Any]) -> NDArray[Any] | None:
    """The array as bytes (n, channels, side, side); flat square images are recognised by their number of
    pixels."""
    if array.ndim == 2:
        side = math.isqrt(array.shape[1])
        if side < MIN_IMAGE_SIDE or side**2 != array.shape[1]:
            return None
        array = array.reshape(-1, 1, side, side)
    elif array.ndim == 3:
        array = array[:, None]
    if array.ndim != 4 or array.shape[1] not in (1, 3) or min(array.shape[2:]) < MIN_IMAGE_SIDE:
        return None
    if array.dtype == np.uint8:
        return array
    low, high = (-1.0, 1.0) if np.abs(array).max() <= MAX_UNIT_RANGE else np.percentile(array, (1, 99))
    return np.round(255 * np.clip((array - low) / max(high - low, 1e-12), 0, 1)).astype(np.uint8)


def _drop_equal_channels(sheet: NDArray[Any]) -> NDArray[Any]:
    """One channel of a grey image."""
    return sheet[..., 0] if (sheet == sheet[..., :1]).all() else sheet


def _embed(image: Any, label: str) -> EmbeddedImage:
    file = io.BytesIO()
    image.save(file, "PNG", optimize=True)
    width, height = image.size
    return embed_png(file.getvalue(), width, height, label)
