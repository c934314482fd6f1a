"""The text of generated Markdown: tables, and the Jinja2 templates in `templates/`."""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined


def render_grid(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A table; a vertical bar in a cell is escaped. In templates: `grid(head, lines)`."""
    cells = [[cell.replace("|", "\\|") for cell in line] for line in lines]
    return "".join(f"| {' | '.join(line)} |\n" for line in (head, ["---"] * len(head), *cells))


@cache
def _load_environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("bench.publishing"),
        autoescape=False,  # Markdown, not HTML
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals["grid"] = render_grid
    return environment


def render_template(name: str, **values: Any) -> str:
    """The template `name`.md.j2 with these values."""
    return _load_environment().get_template(f"{name}.md.j2").render(values)
