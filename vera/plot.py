"""Plots of densities, samples and training curves. matplotlib is imported when a plot is asked for.

Every function returns a matplotlib figure. Functions that draw one panel take an `axes` to draw into.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from vera.errors import SettingError, VeraError
from vera.extras import explain_missing
from vera.models.network_modes import evaluation_mode

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from vera.saved.model import SavedModel

Limits = tuple[float, float, float, float]
"""Left, right, bottom and top of a panel."""
PANEL = 3.2
"""Side of a panel in inches."""
POINTS, IMAGES, MARGINALS, REFINING_STEPS = 2_000, 64, 9, 100
CHUNK = 10_000


def plot_density(
    f: Callable[[Any], Any],
    *,
    limits: Limits = (-4.0, 4.0, -4.0, 4.0),
    resolution: int = 200,
    axes: "Axes | None" = None,
) -> "Figure":
    """Plot e^f over a rectangle of the plane. f is a network or any function of (N, 2) points."""
    if not callable(f):
        raise SettingError(
            "plot_density: f must be a network or a function of points, such as the score of a SavedModel, "
            f"got {type(f).__name__}."
        )
    left, right, bottom, top = limits
    if not (left < right and bottom < top) or resolution < 2:
        raise SettingError(f"plot_density: limits must be a rectangle, got {limits} at {resolution} points.")
    x, y = np.meshgrid(np.linspace(left, right, resolution), np.linspace(bottom, top, resolution))
    values = _evaluate(f, np.stack([x.ravel(), y.ravel()], axis=1).astype(np.float32))
    if values.shape != (resolution**2,) or not np.isfinite(values).all():
        raise VeraError("plot_density: f must return one finite number for each point of the plane.")
    density = np.exp(values - values.max()).reshape(resolution, resolution)
    axes = _make_axes() if axes is None else axes
    axes.imshow(density, origin="lower", extent=limits, aspect="auto", cmap="viridis")
    return _get_figure(axes)


def plot_samples(
    x: Any,
    *,
    side: int | None = None,
    channels: int | None = None,
    names: Sequence[str] | None = None,
    pixels: tuple[float, float] | None = None,
) -> "Figure":
    """Plot samples: a sheet of images, a scatter plot of points in the plane, or histograms of coordinates.

    Points of shape (channels, side, side) are images. Flat points are images if `side` is given, with
    `channels` (default 1). `pixels` are the values of black and white. `names` are the names of the
    coordinates.
    """
    points = _to_array(x)
    if points.ndim < 2 or not len(points):
        raise SettingError(f"plot_samples: x must be a batch of points, got shape {points.shape}.")
    if side is not None and points.ndim == 2:
        count = channels or 1
        if points.shape[1] != count * side**2:
            raise SettingError(
                f"plot_samples: {points.shape[1]} numbers are not {count} x {side} x {side} pixels."
            )
        points = points.reshape(-1, count, side, side)
    if points.ndim == 4:
        return _plot_sheet(points, pixels)
    points = points.reshape(len(points), -1)
    return _plot_scatter(points) if points.shape[1] == 2 else _plot_marginals(points, names)


def plot_curves(
    curves: Any, metrics: Sequence[str] | None = None, *, labels: Sequence[str] | None = None
) -> "Figure":
    """Plot metrics over training steps, one panel each.

    `curves` is a Trainer, a history (rows with a "step"), or a list of them, which share the panels and are
    told apart by `labels`. By default all metrics are plotted.
    """
    runs = [_get_rows(run) for run in (curves if _is_list_of_runs(curves) else [curves])]
    found = sorted({name for rows in runs for row in rows for name in row if name != "step"})
    names = found if metrics is None else list(metrics)
    if missing := [name for name in names if name not in found]:
        known = ", ".join(found) or "none"
        raise SettingError(f"plot_curves: there is no metric '{missing[0]}'; there are {known}.")
    if not names:
        raise SettingError("plot_curves: the history is empty; train first.")
    if labels is not None and len(labels) != len(runs):
        raise SettingError(f"plot_curves: {len(runs)} runs need as many labels, got {len(labels)}.")
    figure, panels = _make_panels(len(names), min(3, len(names)))
    for axes, name in zip(panels, names, strict=True):
        for i, rows in enumerate(runs):
            shown = [(row["step"], row[name]) for row in rows if name in row]
            label = None if labels is None else labels[i]
            axes.plot(*zip(*shown, strict=True), label=label) if shown else axes.plot([], [], label=label)
        axes.set(title=name, xlabel="step")
    if labels is not None:
        panels[0].legend()
    return figure


def plot_model(
    model: "SavedModel", n: int | None = None, *, refine: int | None = None, seed: int = 0
) -> "Figure":
    """Plot a trained model: density and samples (2-D), a sheet of samples (images), or marginals of samples.

    `refine` defaults to 0, or to 100 steps of MALA for a model that needs it.
    """
    steps = (0 if model.has_direct_samples else REFINING_STEPS) if refine is None else refine
    samples = model.sample(n or (IMAGES if _has_images(model) else POINTS), refine=steps, seed=seed)
    if model.facts.shape != (2,):
        return plot_model_samples(model, samples)
    limits = _find_limits(model)
    figure, panels = _make_panels(2, 2)
    plot_density(model.score, limits=limits, axes=panels[0])
    panels[0].set_title("density")
    _scatter(panels[1], _to_array(samples))
    panels[1].set(title="samples", xlim=limits[:2], ylim=limits[2:])
    return figure


def plot_model_samples(model: "SavedModel", x: Any) -> "Figure":
    """Plot samples of a model with the names and pixel values of its data."""
    data = model.facts.data
    names, pixels = data.get("feature_names"), _find_pixel_range(model) if _has_images(model) else None
    return plot_samples(x, side=data.get("side"), channels=data.get("channels"), names=names, pixels=pixels)


def save_plots(model: "SavedModel", directory: str | Path) -> list[Path]:
    """Write the plots of a model as png files into the directory, and return their paths.

    A model of points in the plane gives density.png and samples.png, a model of images samples.png, any other
    model marginals.png.
    """
    with explain_missing("vera.plot"):
        import matplotlib.pyplot as plt
    if model.facts.shape == (2,):
        steps = 0 if model.has_direct_samples else REFINING_STEPS
        density = plot_density(model.score, limits=_find_limits(model))
        figures = {
            "density.png": density,
            "samples.png": plot_samples(model.sample(POINTS, refine=steps, seed=0)),
        }
    else:
        figures = {"samples.png" if _has_images(model) else "marginals.png": plot_model(model)}
    paths = [Path(directory) / name for name in figures]
    Path(directory).mkdir(parents=True, exist_ok=True)
    for path, figure in zip(paths, figures.values(), strict=True):
        figure.savefig(path, dpi=150)
        plt.close(figure)
    return paths


def _has_images(model: "SavedModel") -> bool:
    return "side" in model.facts.data or len(model.facts.given_shape) == 3


def _find_pixel_range(model: "SavedModel") -> tuple[float, float] | None:
    """The values of black and white in the units of the data, if the data are scaled to [−1, 1]."""
    if "data.width" not in model.tensors:
        return None
    centre, width = model.tensors["data.centre"], model.tensors["data.width"]
    return float((centre - width).min()), float((centre + width).max())


def _find_limits(model: "SavedModel") -> Limits:
    """Three standard deviations of the data around their mean, in the units of the data."""
    centre, reach = model.tensors["data.mean"].double(), 3 * model.tensors["data.deviation"].double()
    if "data.width" in model.tensors:
        centre = centre * model.tensors["data.width"] + model.tensors["data.centre"]
        reach = reach * model.tensors["data.width"]
    reach = reach.clamp_min(1e-6)
    (left, bottom), (right, top) = (centre - reach).tolist(), (centre + reach).tolist()
    return left, right, bottom, top


def _evaluate(f: Callable[[Any], Any], points: NDArray[Any]) -> NDArray[Any]:
    """f of all points, in chunks; a network gets tensors on its own device."""
    if not isinstance(f, nn.Module):
        chunks = [f(torch.from_numpy(points[i : i + CHUNK])) for i in range(0, len(points), CHUNK)]
    else:
        weights = next(f.parameters(), torch.empty(0))
        with evaluation_mode(f), torch.no_grad():
            chunks = [f(chunk.to(weights)) for chunk in torch.from_numpy(points).split(CHUNK)]
    return np.concatenate([_to_array(chunk) for chunk in chunks]).astype(np.float64)


def _plot_sheet(images: NDArray[Any], pixels: tuple[float, float] | None) -> "Figure":
    """Images in a square sheet; by default pixels in [−1, 1] keep their values, others are scaled to their
    range."""
    columns = math.ceil(math.sqrt(len(images)))
    inside = np.abs(images).max() <= 1.5  # samples include noise
    low, high = pixels or ((-1.0, 1.0) if inside else np.percentile(images, (1, 99)))
    count, channels, height, width = images.shape
    rows = -(-count // columns)
    sheet = np.ones((rows * columns, channels, height, width))
    sheet[:count] = np.clip((images - low) / max(high - low, 1e-12), 0, 1)
    grid = sheet.reshape(rows, columns, channels, height, width).transpose(0, 3, 1, 4, 2)
    picture = grid.reshape(rows * height, columns * width, channels)
    axes = _make_axes()
    gray = picture if channels == 3 else picture.mean(2)
    axes.imshow(gray, cmap="gray", vmin=0, vmax=1, interpolation="nearest")
    axes.set_axis_off()
    return _get_figure(axes)


def _plot_scatter(points: NDArray[Any]) -> "Figure":
    axes = _make_axes()
    _scatter(axes, points)
    return _get_figure(axes)


def _scatter(axes: "Axes", points: NDArray[Any]) -> None:
    axes.scatter(points[:, 0], points[:, 1], s=4, alpha=0.5, linewidths=0)


def _plot_marginals(points: NDArray[Any], names: Sequence[str] | None) -> "Figure":
    """Histograms of the first coordinates."""
    shown = min(points.shape[1], MARGINALS)
    figure, panels = _make_panels(shown, min(3, shown))
    for i, axes in enumerate(panels):
        axes.hist(points[:, i], bins=50, density=True)
        axes.set_title(names[i] if names is not None and i < len(names) else f"x{i}")
    return figure


def _make_panels(count: int, columns: int) -> tuple["Figure", list["Axes"]]:
    with explain_missing("vera.plot"):
        import matplotlib.pyplot as plt

    rows = -(-count // columns)
    figure, grid = plt.subplots(
        rows, columns, squeeze=False, figsize=(PANEL * columns, PANEL * rows), layout="constrained"
    )
    panels = list(grid.flat)
    for axes in panels[count:]:
        axes.remove()
    return figure, panels[:count]


def _make_axes() -> "Axes":
    return _make_panels(1, 1)[1][0]


def _get_figure(axes: "Axes") -> "Figure":
    figure: Figure = axes.get_figure(root=True)  # type: ignore[assignment]
    return figure


def _to_array(x: Any) -> NDArray[Any]:
    return x.detach().float().cpu().numpy() if isinstance(x, Tensor) else np.asarray(x)


def _is_list_of_runs(curves: Any) -> bool:
    return isinstance(curves, list | tuple) and not any(isinstance(item, Mapping) for item in curves)


def _get_rows(run: Any) -> list[Mapping[str, float]]:
    """The rows of a history, or of both histories of a Trainer."""
    if hasattr(run, "history") and hasattr(run, "evaluations"):
        return [*run.history, *run.evaluations]
    rows = list(run)
    if not all(isinstance(row, Mapping) and "step" in row for row in rows):
        raise SettingError("plot_curves: a history is a list of rows that have a 'step'.")
    return rows
