"""HTML by construction: whatever is not `Markup` already is escaped, so that no label, reason or log line
becomes a tag."""

from collections.abc import Iterable
from html import escape

VOID = ("img", "input", "link", "meta")
"""Elements that have no end."""


class Markup(str):
    """Text that is HTML already. Only the functions of this file make it of anything but a constant."""

    __slots__ = ()


Child = str | Iterable[str]
"""Text, markup, or several of either."""


def element(tag: str, *children: Child, **attributes: str | int | bool | None) -> Markup:
    """<tag ...>children</tag>. An attribute is written `class_`, `aria_label`; True stands alone, None and
    False are left out."""
    given = {
        name.rstrip("_").replace("_", "-"): value
        for name, value in attributes.items()
        if value not in (None, False)
    }
    texts = [
        f" {name}" if value is True else f' {name}="{escape(str(value))}"' for name, value in given.items()
    ]
    start = f"<{tag}{''.join(texts)}>"
    return Markup(start if tag in VOID else f"{start}{together(*children)}</{tag}>")


def together(*children: Child) -> Markup:
    """Children one after the other."""
    return Markup("".join(_part(child) for child in children))


def _part(child: Child) -> str:
    if isinstance(child, Markup):
        return child
    return escape(child) if isinstance(child, str) else together(*child)
