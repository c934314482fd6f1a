"""Metric histories as small SVG drawings, light enough for hundreds of trials on one page.

Long histories are thinned to their extremes: the lowest and the highest point of each stretch are kept, so a
spike is neither averaged nor skipped. Coordinates are whole tenths of a pixel, each relative to the previous
one.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from bench.render.numbers import format_significant
from sweeps.store.row import CurvePoint

POINT_LIMIT = 200
"""Maximum number of points of a curve on the page."""
WIDTH, HEIGHT = 2_000, 640
"""Size of the plot in tenths of a pixel."""
DOT_LIMIT = 40
"""Evaluations are marked by dots if there are at most this many."""

CurveName = tuple[str, str]
"""(kind, metric)."""
History = list[tuple[int, float]]
"""(step, value), ordered by step."""
Coordinates = Sequence[tuple[int, int]]


@dataclass(frozen=True)
class SvgLabel:
    text: str
    x: int
    y: int
    style: str = ""
    """The CSS class."""


@dataclass(frozen=True)
class CurveDrawing:
    kind: str
    description: str
    """For screen readers."""
    axes: str
    line: str
    dots: str
    """Empty if points are not marked. These three are the data of SVG paths."""
    labels: Sequence[SvgLabel]


def group_points(points: Iterable[CurvePoint]) -> dict[CurveName, History]:
    """The histories by kind and metric, each ordered by step."""
    histories: dict[CurveName, History] = {}
    for point in points:
        histories.setdefault((point.kind, point.metric), []).append((point.step, point.value))
    return {name: sorted(histories[name]) for name in sorted(histories)}


def thin_history(history: History, limit: int = POINT_LIMIT) -> History:
    """The first and the last point, and the lowest and the highest of each stretch between them."""
    if len(history) <= limit:
        return history
    inner, stretches = history[1:-1], limit // 2 - 1
    bounds = [len(inner) * i // stretches for i in range(stretches + 1)]
    extremes: History = []
    for start, end in pairwise(bounds):
        stretch = inner[start:end]
        ends = (min(stretch, key=lambda point: point[1]), max(stretch, key=lambda point: point[1]))
        extremes += sorted(set(ends))
    return [history[0], *extremes, history[-1]]


def draw_curve(name: CurveName, history: History) -> CurveDrawing:
    """One curve; the axes are labelled with the lowest and highest value and the first and last step."""
    kind, metric = name
    values = [value for _, value in history]
    low, high, first, last = min(values), max(values), history[0][0], history[-1][0]
    points = [
        (_scale(step, first, last, WIDTH), HEIGHT - _scale(value, low, high, HEIGHT))
        for step, value in thin_history(history)
    ]
    labels = [SvgLabel(metric, 58, 11, "title")]
    labels += [SvgLabel(format_significant(high), 53, 24, "end")] if high > low else []
    labels += [
        SvgLabel(format_significant(low), 53, 84 if high > low else 56, "end"),
        SvgLabel(f"{first:,}", 58, 97),
        SvgLabel(f"step ({kind})", 158, 97, "middle"),
    ]
    labels += [SvgLabel(f"{last:,}", 258, 97, "end")] if last > first else []
    axes = f"M0 0V{HEIGHT}H{WIDTH}"
    return CurveDrawing(
        kind, _describe(name, history), axes, _trace_line(points), _mark_dots(kind, points), labels
    )


def _describe(name: CurveName, history: History) -> str:
    (first, start), (last, end) = history[0], history[-1]
    values = [value for _, value in history]
    return (
        f"{name[0]} curve of {name[1]}: {format_significant(start)} at step {first:,}, "
        f"{format_significant(end)} at step {last:,}, "
        f"lowest {format_significant(min(values))}, highest {format_significant(max(values))}"
    )


def _scale(value: float, low: float, high: float, size: int) -> int:
    """The position of a value between low and high; the middle if they are equal.

    Computed with halves, because the difference of two finite numbers may overflow.
    """
    span = high / 2 - low / 2
    return round(size * ((value / 2 - low / 2) / span)) if span else size // 2


def _mark_dots(kind: str, points: Coordinates) -> str:
    if len(points) > 1 and (kind != "evaluation" or len(points) > DOT_LIMIT):
        return ""
    return "".join(f"M{x} {y}h0" for x, y in points)


def _trace_line(points: Coordinates) -> str:
    """A path of relative moves. A minus sign separates two numbers, so the space before it is omitted."""
    x, y = points[0]
    moves = [(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(points)]
    text = " ".join(f"{dx} {dy}" for dx, dy in moves).replace(" -", "-")
    return f"M{x} {y}" + (f"l{text}" if moves else "")
