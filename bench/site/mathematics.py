"""Formulas as MathML, which browsers show without scripts or fonts from another host."""

import re
from html import unescape

from latex2mathml.converter import convert

REPAIRS = {
    "<mi>&#x0007E;</mi>": "<mo>&#x0223C;</mo>",  # \sim
    r">\{<": ">{<",  # \big\{
    r">\}<": ">}<",
    "<mi>log</mi>": '<mi>log</mi><mspace width="0.17em"/>',
}
"""What the converter writes, and what it should."""
FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[\[(](.*?)\\[\])]</\1>', re.DOTALL)


def render_formulas(html: str) -> str:
    r"""The page with MathML in place of the formulas that Arithmatex marked: \(...\) in a line, \[...\] on
    its own."""
    return FORMULA.sub(_render, html)


def _render(match: re.Match[str]) -> str:
    tag, latex = match.groups()
    mathml = convert(unescape(latex), display="block" if tag == "div" else "inline")
    for wrong, right in REPAIRS.items():
        mathml = mathml.replace(wrong, right)
    return f'<{tag} class="formula">{mathml}</{tag}>'
