"""Markdown, CSV and the terminal: nothing is taken for markup, no digit is lost, no number is shortened."""

import csv
import io
import re

import pytest
from bench_helpers import GOLDEN
from hypothesis import given
from hypothesis import strategies as st

from bench.artifact import Column, Sheet
from bench.judging.cell import cell_of
from bench.judging.results import Results
from bench.render.csv_table import csv_text
from bench.render.markdown import escaped, markdown
from bench.render.terminal import print_sheet

THIRD = cell_of([("ok", -1 / 3), ("ok", -2 / 3), ("diverged", None)], -0.1)
COLUMNS = (Column("name", "name"), Column("a", "ours", 2), Column("note", "note"))


def sheet(profile="paper", *lines):
    lines = lines or (
        {"name": "x − y", "a": THIRD},
        {"name": "z", "a": cell_of([])},
        {"name": "w", "a": "N/A"},
        {"name": "v", "a": 0.5},
    )
    return Sheet("s", "Table S", "Caption.", COLUMNS, lines, profile)


def read(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_csv_keeps_every_digit():
    first = read(csv_text(sheet()))[0]
    assert float(first["a"]) == THIRD.mean == -0.5
    assert float(first["a_half_width"]) == THIRD.half_width
    assert float(first["a_difference"]) == THIRD.difference
    counts = [
        first[f"a_{key}"] for key in ("n", "trials", "diverged", "failed", "paper", "verdict", "reason")
    ]
    assert counts == ["2", "3", "1", "0", "-0.1", "undetermined", ""]


def test_csv_says_why_a_value_is_missing_and_has_ascii_minus():
    first, second, third, fourth = read(csv_text(sheet()))
    assert first["name"] == "x - y"
    assert (second["a"], second["a_n"], second["a_reason"]) == ("", "0", "not run")
    assert (third["a"], third["a_n"], third["a_reason"]) == ("", "", "N/A")
    assert (fourth["a"], fourth["a_reason"]) == ("0.5", "")
    assert fourth["note"] == ""


@pytest.mark.parametrize("profile", ["smoke", "laptop"])
def test_csv_compares_with_the_paper_at_its_profile_only(profile):
    first, other = read(csv_text(sheet()))[0], read(csv_text(sheet(profile)))[0]
    assert list(first) == list(other)
    assert (other["profile"], other["a_paper"], other["a_difference"], other["a_verdict"]) == (
        profile,
        "-0.1",
        "",
        "",
    )


def test_csv_of_a_column_without_cells_is_one_column():
    assert csv_text(sheet("laptop", {"name": "q,r", "a": 1.5})) == 'profile,name,a,note\nlaptop,"q,r",1.5,\n'


@given(st.text())
def test_markdown_shows_every_character_as_itself(text):
    made = escaped(text)
    assert "\n" not in made
    assert re.sub(r"\\(.)", r"\1", made) == " ".join(text.split())
    assert not re.search(r"(?<!\\)(?:\\\\)*[|<*_`$\[]", made)


def test_every_line_of_a_markdown_table_has_the_same_cells():
    made = markdown(sheet("paper", {"name": "a|b", "a": THIRD, "note": "two\nlines"})).splitlines()
    table = [line for line in made if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in table} == {9}
    assert {len(line) for line in table} == {len(table[0])}
    assert "two lines" in table[2]


def terminal(made, monkeypatch, width=None):
    """What is printed; with a width, as to a terminal so wide."""
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


def test_where_the_output_is_no_terminal_there_is_no_colour_and_no_wrapping(golden, monkeypatch):
    made = golden["golden-table"].render(Results.at(GOLDEN, "laptop"))
    text = terminal(made, monkeypatch)
    assert "\x1b" not in text
    assert len(text.splitlines()) == 2 + (2 + len(made.lines)) + 1 + 1 + 3
    assert "\x1b" in terminal(made, monkeypatch, 200)


@pytest.mark.parametrize("profile", ["laptop", "paper"])
@pytest.mark.parametrize("width", [30, 79, 120])
def test_a_narrow_terminal_shortens_no_number(golden, monkeypatch, profile, width):
    made = golden["golden-table"].render(Results.at(GOLDEN, profile))
    narrow, plain = terminal(made, monkeypatch, width), terminal(made, monkeypatch)
    assert numbers(narrow) == numbers(plain)
    assert "…" not in narrow


def test_markup_in_a_label_is_shown_at_the_terminal(monkeypatch):
    assert "[bold]x[/bold] :smile:" in terminal(
        sheet("laptop", {"name": "[bold]x[/bold] :smile:"}), monkeypatch
    )


def test_a_column_without_any_text_is_printed_too(monkeypatch):
    blank = Sheet("s", "T", "C.", (Column("a", ""), Column("b", "b")), ({"a": None, "b": "x"},), "laptop")
    assert "x" in terminal(blank, monkeypatch, 3)
