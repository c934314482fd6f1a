"""A sheet as an HTML table, laid out like the same table in every other format: `bench.render.layout` decides
what is said."""

from collections.abc import Sequence

from bench.artifact import Sheet
from bench.render.headings import heading
from bench.render.layout import Strip, spread
from bench.report.markup import Markup, element


def table(sheet: Sheet) -> Markup:
    """The first column names its line."""
    strips = spread(sheet)
    head = element(
        "tr", [element("th", strip.header, scope="col", class_=_numeric(strip)) for strip in strips]
    )
    lines = [element("tr", _line(strips, i)) for i in range(len(sheet.lines))]
    return element(
        "table", element("thead", head), element("tbody", lines), class_="sheet", aria_label=heading(sheet)
    )


def _line(strips: Sequence[Strip], i: int) -> list[Markup]:
    first, *others = strips
    return [
        element("th", first.texts[i], scope="row", class_=_numeric(first)),
        *(_cell(strip, strip.texts[i]) for strip in others),
    ]


def _cell(strip: Strip, text: str) -> Markup:
    """A word among numbers is the reason why there is none."""
    return element("td", text, class_="reason" if strip.numeric and text[:1].isalpha() else _numeric(strip))


def _numeric(strip: Strip) -> str | None:
    return "number" if strip.numeric else None
