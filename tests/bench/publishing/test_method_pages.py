"""The pages in docs/methods: every method has one, and its numbers and commands are those of the tables."""

import re

import pytest
from locations import ROOT

from bench.paper.pages.method_numbers import LINES
from bench.publishing.method_pages import list_methods, render_knobs
from vera.spec.registry import joint_methods, methods

PAGES = sorted(path for path in (ROOT / "docs" / "methods").glob("*.md") if path.name != "README.md")
PARTS = ["When to use it", "Equation", "Knobs", "Deviations from the paper", "Numbers", "Command"]


def test_every_method_has_a_page_and_every_page_a_method():
    assert {path.stem for path in PAGES} == set(list_methods()) >= set(LINES)
    assert {"ml", "vera", "meg", "jem"} <= {*methods, *joint_methods}


def test_knobs_are_the_settings_of_the_class():
    text = render_knobs("vera")
    assert "| `k` | 20 |" in text
    assert text.count("| setting | default | meaning |") == 2, "one table for the joint method"


def test_commands_name_every_table_of_the_method():
    text = (ROOT / "docs" / "methods" / "supervised.md").read_text(encoding="utf-8")
    found = re.findall(r"^vera run (\S+) --only method=supervised$", text, re.MULTILINE)
    assert found == ["table3", "table6"]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_page_has_all_its_parts(path):
    text = path.read_text(encoding="utf-8")
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == PARTS
    assert text.startswith(f"# `{path.stem}`: ")
    assert text.count("$$") % 2 == 0 < text.count("$$")


def list_deviations():
    """The numbers in the first cells of DEVIATIONS.md; one line can have several."""
    text = (ROOT / "DEVIATIONS.md").read_text(encoding="utf-8")
    cells = re.findall(r"^\| (\d[\d, ]*) \|", text, re.MULTILINE)
    return [int(number) for cell in cells for number in cell.split(", ")]


def test_numbers_of_deviations_are_complete_and_unique():
    assert sorted(list_deviations()) == list(range(1, len(list_deviations()) + 1))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_deviations_that_a_page_names_exist(path):
    text = path.read_text(encoding="utf-8")
    part = text.partition("## Deviations from the paper")[2].partition("## Numbers")[0]
    groups = re.findall(r"(?:^- |\. )((?:\d+, )*\d+): ", part, re.MULTILINE)
    named = [number for group in groups for number in group.split(", ")]
    assert named
    assert set(map(int, named)) <= set(list_deviations())
