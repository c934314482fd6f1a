"""Markdown, CSV and the terminal: text is escaped, CSV keeps every digit, no number is truncated."""

import csv
import io
import re

import pytest
from bench_helpers import GOLDEN
from hypothesis import given
from hypothesis import strategies as st

from bench.artifact import Column, Sheet
from bench.judging.cell import make_cell
from bench.judging.results import Results, open_store
from bench.render.csv_table import render_csv
from bench.render.markdown import escape_markdown, render_markdown
from bench.render.terminal import print_sheet

THIRD = make_cell([("ok", -1 / 3), ("ok", -2 / 3), ("diverged", None)], -0.1)
COLUMNS = (Column("name", "name"), Column("a", "ours", 2), Column("note", "note"))


def sheet(profile="paper", *lines):
    lines = lines or (
        {"name": "x − y", "a": THIRD},
        {"name": "z", "a": make_cell([])},
        {"name": "w", "a": "N/A"},
        {"name": "v", "a": 0.5},
    )
    return Sheet("s", "Table S", "Caption.", COLUMNS, lines, profile)


def read(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_csv_keeps_every_digit():
    first = read(render_csv(sheet()))[0]
    assert float(first["a"]) == THIRD.mean == -0.5
    assert float(first["a_half_width"]) == THIRD.half_width
    assert float(first["a_difference"]) == THIRD.difference
    counts = [
        first[f"a_{key}"] for key in ("n", "trials", "diverged", "failed", "paper", "verdict", "reason")
    ]
    assert counts == ["2", "3", "1", "0", "-0.1", "undetermined", ""]


def test_csv_gives_the_reason_for_a_missing_value_and_has_hyphens():
    first, second, third, fourth = read(render_csv(sheet()))
    assert first["name"] == "x - y"
    assert (second["a"], second["a_n"], second["a_reason"]) == ("", "0", "not run")
    assert (third["a"], third["a_n"], third["a_reason"]) == ("", "", "N/A")
    assert (fourth["a"], fourth["a_reason"]) == ("0.5", "")
    assert fourth["note"] == ""


@pytest.mark.parametrize("profile", ["smoke", "laptop"])
def test_csv_compares_with_the_paper_at_the_paper_profile_only(profile):
    first, other = read(render_csv(sheet()))[0], read(render_csv(sheet(profile)))[0]
    assert list(first) == list(other)
    assert (other["profile"], other["a_paper"], other["a_difference"], other["a_verdict"]) == (
        profile,
        "-0.1",
        "",
        "",
    )


def test_csv_of_a_column_without_cells_is_one_column():
    assert (
        render_csv(sheet("laptop", {"name": "q,r", "a": 1.5})) == 'profile,name,a,note\nlaptop,"q,r",1.5,\n'
    )


@given(st.text())
def test_markdown_escapes_every_special_character(text):
    made = escape_markdown(text)
    assert "\n" not in made
    assert re.sub(r"\\(.)", r"\1", made) == " ".join(text.split())
    assert not re.search(r"(?<!\\)(?:\\\\)*[|<*_`$\[]", made)


def test_every_line_of_a_markdown_table_has_the_same_cells():
    made = render_markdown(sheet("paper", {"name": "a|b", "a": THIRD, "note": "two\nlines"})).splitlines()
    table = [line for line in made if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in table} == {9}
    assert {len(line) for line in table} == {len(table[0])}
    assert "two lines" in table[2]


def terminal(made, monkeypatch, width=None):
    """The printed text; with a width, as printed to a terminal of that width."""
    for name in ("FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    file = io.StringIO()
    if width is not None:
        file.isatty = lambda: True
        monkeypatch.setenv("COLUMNS", str(width))
        monkeypatch.setenv("TERM", "xterm-256color")
    print_sheet(made, file)
    return file.getvalue()


def numbers(text):
    return [
        word for word in re.sub(r"\x1b\[[\d;]*m", "", text).split() if re.fullmatch(r"[−+]?\d+(\.\d+)?", word)
    ]


def test_output_that_is_not_a_terminal_has_no_colour_and_no_wrapping(golden, monkeypatch):
    made = golden["golden-table"].render(Results(open_store(GOLDEN), "laptop"))
    text = terminal(made, monkeypatch)
    assert "\x1b" not in text
    assert len(text.splitlines()) == 2 + (2 + len(made.lines)) + 1 + 1 + 3
    assert "\x1b" in terminal(made, monkeypatch, 200)


@pytest.mark.parametrize("profile", ["laptop", "paper"])
@pytest.mark.parametrize("width", [30, 79, 120])
def test_a_narrow_terminal_truncates_no_number(golden, monkeypatch, profile, width):
    made = golden["golden-table"].render(Results(open_store(GOLDEN), profile))
    narrow, plain = terminal(made, monkeypatch, width), terminal(made, monkeypatch)
    assert numbers(narrow) == numbers(plain)
    assert "…" not in narrow


def test_the_terminal_prints_markup_in_a_label_literally(monkeypatch):
    assert "[bold]x[/bold] :smile:" in terminal(
        sheet("laptop", {"name": "[bold]x[/bold] :smile:"}), monkeypatch
    )


def test_a_column_without_any_text_is_printed(monkeypatch):
    blank = Sheet("s", "T", "C.", (Column("a", ""), Column("b", "b")), ({"a": None, "b": "x"},), "laptop")
    assert "x" in terminal(blank, monkeypatch, 3)
