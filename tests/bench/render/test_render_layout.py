"""The printed columns of a cell, and the heading and notes of a table."""

import math
from dataclasses import replace

import pytest

from bench.artifact import Column, Sheet
from bench.judging.cell import Cell, make_cell
from bench.render.csv_table import render_csv
from bench.render.layout import collect_notes, format_value, lay_out, make_heading

ME = Column("a", "ours", 1)
THREE = make_cell([("ok", 1.0), ("ok", 2.0), ("ok", 3.0)], 1.5)
ONE = make_cell([("ok", 2.0)], 9.0)
BARE = make_cell([("ok", 1.0), ("ok", 2.0), ("ok", 3.0)])
DIVERGED = make_cell([("ok", 2.0), ("diverged", None)])
FAILED = make_cell([("ok", 2.0), ("error", None)])
UNMEASURED = make_cell([("ok", 2.0), ("ok", None)])


def sheet(*values, profile="laptop", columns=(ME,), **changes):
    """A sheet with one line per value; a tuple gives one value per column."""
    rows = [value if isinstance(value, tuple) else (value,) for value in values]
    lines = tuple(dict(zip([column.key for column in columns], row, strict=True)) for row in rows)
    return Sheet("s", "Table S", "Caption.", columns, lines, profile, **changes)


def headers(made):
    return [column.header for column in lay_out(made)]


def texts(made, header):
    return next(column.texts for column in lay_out(made) if column.header == header)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (THREE, "2.0 ± 2.5"),
        (ONE, "2.0"),
        (make_cell([]), "not run"),
        (make_cell([("diverged", None)] * 2), "diverged 2 of 2"),
        (Cell(), "no value"),
        (-1.25, "−1.2"),
        (-0.04, "0.0"),
        (0.0, "0.0"),
        (3, "3.0"),
        ("1e-4", "1e-4"),
        (None, ""),
        (math.nan, "nan"),
        (-math.inf, "−inf"),
    ],
)
def test_a_value_is_formatted_by_its_kind(value, text):
    assert format_value(value, 1) == text


def test_the_papers_value_keeps_its_own_digits():
    made = sheet(make_cell([("ok", -790.0)], -791.0), make_cell([("ok", 0.0)], 0.125), profile="paper")
    assert texts(made, "paper") == ("−791", "0.125")
    assert texts(made, "ours") == ("−790.0", "0.0")


@pytest.mark.parametrize(
    ("cell", "added"),
    [
        (THREE, ["paper"]),
        (BARE, []),
        (DIVERGED, ["diverged"]),
        (FAILED, ["failed"]),
        (UNMEASURED, ["not measured"]),
    ],
)
def test_a_printed_column_without_text_is_omitted(cell, added):
    shown_headers = [header.split(" (")[0] for header in headers(sheet(BARE, cell))]
    assert shown_headers == ["ours", "n", *added]


@pytest.mark.parametrize("profile", ["smoke", "laptop"])
def test_only_the_paper_profile_is_compared_with_the_paper(profile):
    made = sheet(THREE, ONE, profile=profile)
    assert headers(made) == ["ours", "n", "paper (its own setting)"]
    assert any("for orientation" in note and profile in note for note in collect_notes(made))
    assert not any("Verdict" in note for note in collect_notes(made))


def test_the_paper_profile_has_difference_and_verdict():
    made = sheet(THREE, ONE, BARE, profile="paper")
    assert headers(made) == ["ours", "n", "paper", "difference", "verdict"]
    assert texts(made, "difference") == ("+0.5", "−7.0", "")
    assert texts(made, "verdict") == ("agrees", "undetermined", "")
    assert not any("orientation" in note for note in collect_notes(made))
    assert any("Verdict" in note for note in collect_notes(made))


def test_a_difference_that_rounds_to_zero_has_no_sign():
    assert texts(
        sheet(make_cell([("ok", 2.01)], 2.0), make_cell([("ok", 1.99)], 2.0), profile="paper"), "difference"
    ) == ("0.0", "0.0")


def test_counts_are_of_all_finished_trials():
    made = sheet(
        make_cell([("ok", 1.0), ("diverged", None), ("diverged", None), ("timeout", None)]),
        BARE,
        make_cell([]),
    )
    assert texts(made, "n") == ("1", "3", "0")
    assert texts(made, "diverged") == ("2 of 4", "", "")
    assert texts(made, "failed") == ("1 of 4", "", "")


TWO = (ME, Column("b", "other", 1))


def test_columns_of_the_same_trials_share_their_counts():
    made = sheet((THREE, BARE), (DIVERGED, DIVERGED), columns=TWO)
    assert headers(made) == ["ours", "paper (its own setting): ours", "other", "n", "diverged"]


def test_counts_are_shared_if_a_line_has_no_cell_in_a_later_column():
    made = sheet((THREE, BARE), (DIVERGED, ""), columns=TWO)
    assert headers(made) == ["ours", "paper (its own setting): ours", "other", "n", "diverged"]
    assert texts(made, "diverged")[1]


def test_a_cell_of_other_trials_names_its_own_counts():
    made = sheet((THREE, DIVERGED), (BARE, BARE), (DIVERGED, THREE), columns=TWO)
    assert headers(made) == [
        "ours",
        "other",
        "n",
        "diverged",
        "paper (its own setting)",
    ]
    assert texts(made, "n") == ("3", "3", "1")
    assert texts(made, "other") == ("2.0 (n = 1, diverged 1 of 2)", "2.0 ± 2.5", "2.0 ± 2.5 (n = 3)")


def test_columns_with_the_same_value_of_the_paper_share_its_column():
    made = sheet((THREE, make_cell([("ok", 1.0)], 1.5)), columns=TWO, profile="paper")
    assert headers(made) == ["ours", "other", "n", "paper", "verdict: ours", "verdict: other"]
    assert (texts(made, "paper"), texts(made, "verdict: ours")) == (("1.5",), ("agrees",))


def test_columns_with_other_values_of_the_paper_have_a_column_each():
    made = sheet((THREE, ONE), columns=TWO, profile="paper")
    assert headers(made) == [
        "ours",
        "paper: ours",
        "verdict: ours",
        "other",
        "paper: other",
        "verdict: other",
        "n",
    ]
    assert (texts(made, "paper: ours"), texts(made, "paper: other")) == (("1.5",), ("9",))


def test_a_count_says_in_its_cell_whether_it_equals_the_papers():
    counts = [replace(make_cell([("ok", 523.0)], paper), exact_digits=0) for paper in (523.0, 524.0, None)]
    made = sheet(*counts, profile="paper")
    assert headers(made) == ["ours", "n"]
    assert texts(made, "ours") == ("523.0 (equal)", "523.0 (paper 524)", "523.0")


def test_a_column_only_for_csv_is_not_printed():
    hidden = replace(TWO[1], only_in_csv=True)
    made = sheet((THREE, DIVERGED), columns=(ME, hidden))
    assert headers(made) == ["ours", "n", "paper (its own setting)"]
    assert "b_diverged" in render_csv(made).splitlines()[0]


def test_columns_with_a_number_are_numeric():
    columns = (Column("w", "word"), ME, Column("f", "float"))
    made = sheet(("x", THREE, 1.0), (None, "N/A", None), columns=columns, profile="paper")
    alignment = {column.header: column.numeric for column in lay_out(made)}
    assert alignment == {
        "word": False,
        "ours": True,
        "n": True,
        "paper": True,
        "difference": True,
        "verdict": False,
        "float": True,
    }
    assert texts(made, "ours") == ("2.0 ± 2.5", "N/A")
    assert texts(made, "n") == ("3", "")


def test_a_table_without_lines_keeps_its_headers():
    assert headers(sheet(columns=TWO)) == ["ours", "other"]


def test_the_heading_names_the_profile_and_notes_explain_the_marks_that_occur():
    assert make_heading(sheet(profile="smoke")) == "Table S (smoke profile)"
    assert collect_notes(sheet(1.0, "x", None, notes=("Mine.",))) == ["Mine."]
    assert [note[:4] for note in collect_notes(sheet(BARE, notes=("Mine.",)))] == ["Mine", "Mean"]
    assert collect_notes(sheet(make_cell([("ok", 2.0)]))) == []
