"""Jinja2 templates of the generated Markdown, in `templates/`."""

from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined


@cache
def _load_environment() -> Environment:
    return Environment(
        loader=PackageLoader("bench.publishing"),
        autoescape=False,  # Markdown, not HTML
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def render_template(name: str, **values: Any) -> str:
    """The template `name`.md.j2 with these values."""
    return _load_environment().get_template(f"{name}.md.j2").render(values)
