"""The pages in docs/methods: every method has one, and its numbers and commands are those of the tables."""

import re

import pytest
from locations import ROOT

from bench.catalogue import catalogue
from bench.paper.tables.table10_lines import BEST_PCD
from bench.publishing.method_pages import LINES, list_methods, render_knobs, render_numbers
from bench.publishing.published_tables import FOLDER
from vera.spec.registry import joint_methods, methods

PAGES = sorted((ROOT / "docs" / "methods").glob("*.md"))
PARTS = ["Equation", "Knobs", "Deviations from the paper", "Numbers", "Command"]


def test_every_method_has_a_page_and_every_page_a_method():
    assert {path.stem for path in PAGES} == set(list_methods()) == set(LINES)
    assert {"ml", "vera", "meg", "jem"} <= {*methods, *joint_methods}


@pytest.mark.parametrize("table", ["table2", "table3", "table6"])
def test_pages_quote_every_line_of_a_table_once(table):
    quoted = [label for of_page in LINES.values() for label in of_page.get(table, ())]
    assert sorted(quoted) == sorted({trial.label for trial in catalogue.artifact(table).trials("laptop")})


def test_pages_quote_table10(tmp_path, monkeypatch):
    quoted = {label for of_page in LINES.values() for label in of_page.get("table10", ())}
    labels = {trial.label for trial in catalogue.artifact("table10").trials("laptop")}
    assert quoted == {label for label in labels if "σ" not in label} | {BEST_PCD}
    monkeypatch.chdir(ROOT)
    assert "| moons | VERA λ=1 | " in render_numbers("vera")
    laptop = (FOLDER / "table10.csv").read_text(encoding="utf-8")
    (tmp_path / "table10-paper.csv").write_text(laptop, encoding="utf-8")
    monkeypatch.setattr("bench.publishing.published_tables.FOLDER", tmp_path)
    assert "Table 10, paper" in render_numbers("vera")


def test_table_without_published_trials_names_its_command(tmp_path, monkeypatch):
    monkeypatch.setattr("bench.publishing.published_tables.FOLDER", tmp_path)
    text = render_numbers("meg")
    assert text.count("vera run table2`") == text.count("vera run table6`") == 1
    assert "--profile paper" not in text


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


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_deviations_that_a_page_names_exist(path):
    known = set(
        re.findall(r"^(?:\| )?(\d+)[.| ]", (ROOT / "DEVIATIONS.md").read_text(encoding="utf-8"), re.MULTILINE)
    )
    text = path.read_text(encoding="utf-8")
    part = text.partition("## Deviations from the paper")[2].partition("## Numbers")[0]
    groups = re.findall(r"(?:^- |\. )((?:\d+, )*\d+): ", part, re.MULTILINE)
    named = [number for group in groups for number in group.split(", ")]
    assert named
    assert set(named) <= known
