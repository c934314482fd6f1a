"""Formulas become MathML."""

from xml.etree import ElementTree

import pytest

from bench.site.mathematics import render_formulas


def list_texts(html):
    return [element.text for element in ElementTree.fromstring(html).iter() if element.text]


def test_a_formula_on_its_own_is_shown_as_a_block():
    html = render_formulas(r'<div class="arithmatex">\[\frac{a}{b} &lt; c\]</div>')
    (mathml,) = ElementTree.fromstring(html)
    assert mathml.get("display") == "block"
    assert list(list_texts(html)) == ["a", "b", "<", "c"]


def test_a_formula_in_a_line_stays_in_the_line():
    html = render_formulas(r'<p>Scale <span class="arithmatex">\(\hat f\)</span> by 1.</p>')
    assert ElementTree.fromstring(html)[0][0].get("display") == "inline"
    assert "arithmatex" not in html


@pytest.mark.parametrize(
    ("latex", "texts"),
    [(r"z \sim q", ["z", "∼", "q"]), (r"\big\{ x \big\}", ["{", "x", "}"])],
)
def test_what_the_converter_gets_wrong_is_repaired(latex, texts):
    assert list_texts(render_formulas(rf'<span class="arithmatex">\({latex}\)</span>')) == texts
