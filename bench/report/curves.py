"""Metric histories as small drawings in SVG, light enough for hundreds of trials on one page.

A long history is thinned to its extremes: of each stretch the lowest and the highest point stay, so that a
spike, which is often what one looks for, is not averaged or stepped over. Coordinates are whole tenths of a
pixel, each relative to the last.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from bench.report.markup import Markup, element, together
from bench.report.numbers import number
from sweeps.store.row import CurvePoint

LIMIT = 200
"""Points of a curve on the page, at most."""
WIDTH, HEIGHT = 2_000, 640
"""Of the plot, in tenths of a pixel."""
DOTTED = 40
"""An evaluation's points are marked where they are no more than this."""

Name = tuple[str, str]
"""(kind, metric)."""
Curve = list[tuple[int, float]]
"""(step, value), by step."""


def by_name(points: Iterable[CurvePoint]) -> dict[Name, Curve]:
    curves: dict[Name, Curve] = {}
    for point in points:
        curves.setdefault((point.kind, point.metric), []).append((point.step, point.value))
    return {name: sorted(curves[name]) for name in sorted(curves)}


def thinned(curve: Curve, limit: int = LIMIT) -> Curve:
    """The first and the last point, and of each stretch between them the lowest and the highest."""
    if len(curve) <= limit:
        return curve
    inner, stretches = curve[1:-1], limit // 2 - 1
    bounds = [len(inner) * i // stretches for i in range(stretches + 1)]
    kept: Curve = []
    for start, end in pairwise(bounds):
        stretch = inner[start:end]
        ends = (min(stretch, key=lambda point: point[1]), max(stretch, key=lambda point: point[1]))
        kept += sorted(set(ends))
    return [curve[0], *kept, curve[-1]]


def drawing(name: Name, curve: Curve) -> Markup:
    """One curve with its axes: lowest and highest value, first and last step."""
    kind, metric = name
    values = [value for _, value in curve]
    low, high, first, last = min(values), max(values), curve[0][0], curve[-1][0]
    places = [
        (_scaled(step, first, last, WIDTH), HEIGHT - _scaled(value, low, high, HEIGHT))
        for step, value in thinned(curve)
    ]
    line = element("path", d=_line(places), class_="line")
    labels = [
        _label(metric, 58, 11, "title"),
        _label(number(high), 53, 24, "end") if high > low else "",
        _label(number(low), 53, 84 if high > low else 56, "end"),
        _label(f"{first:,}", 58, 97),
        _label(f"step ({kind})", 158, 97, "middle"),
        _label(f"{last:,}", 258, 97, "end") if last > first else "",
    ]
    plot = element("g", _axes(), line, _dots(kind, places), transform="translate(58 20) scale(.1)")
    words = _in_words(name, curve, low, high)
    return element("svg", plot, labels, viewBox="0 0 264 102", role="img", aria_label=words, class_=kind)


def _in_words(name: Name, curve: Curve, low: float, high: float) -> str:
    start, end = curve[0], curve[-1]
    return (
        f"{name[0]} curve of {name[1]}: {number(start[1])} at step {start[0]:,}, {number(end[1])} at step {end[0]:,}, "
        f"lowest {number(low)}, highest {number(high)}"
    )


def _scaled(value: float, low: float, high: float, size: int) -> int:
    """Halves, because the distance of two finite numbers may not be finite; the middle where there is no
    distance."""
    span = high / 2 - low / 2
    return round(size * ((value / 2 - low / 2) / span)) if span else size // 2


def _axes() -> Markup:
    return element("path", d=f"M0 0V{HEIGHT}H{WIDTH}", class_="axes")


def _dots(kind: str, places: Sequence[tuple[int, int]]) -> Markup:
    if len(places) > 1 and (kind != "evaluation" or len(places) > DOTTED):
        return together()
    return element("path", d="".join(f"M{x} {y}h0" for x, y in places), class_="dots")


def _line(places: Sequence[tuple[int, int]]) -> str:
    """A path; a minus sign parts two numbers as well as a space does."""
    x, y = places[0]
    moves = [(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(places)]
    text = " ".join(f"{dx} {dy}" for dx, dy in moves).replace(" -", "-")
    return f"M{x} {y}" + (f"l{text}" if moves else "")


def _label(text: str, x: int, y: int, class_: str | None = None) -> Markup:
    return element("text", text, x=x, y=y, class_=class_)
