"""How a cell spreads over columns, and what stands around a table."""

import math

import pytest

from bench.artifact import Column, Sheet
from bench.judging.cell import Cell, cell_of
from bench.render.headings import heading, notes
from bench.render.layout import exact, number, shown, spread

ME = Column("a", "ours", 1)
THREE = cell_of([("ok", 1.0), ("ok", 2.0), ("ok", 3.0)], 1.5)
ONE = cell_of([("ok", 2.0)], 9.0)
BARE = cell_of([("ok", 1.0), ("ok", 2.0), ("ok", 3.0)])
DIVERGED = cell_of([("ok", 2.0), ("diverged", None)])
FAILED = cell_of([("ok", 2.0), ("error", None)])
UNMEASURED = cell_of([("ok", 2.0), ("ok", None)])


def sheet(*values, profile="laptop", columns=(ME,), **changes):
    """Each value is a line, a tuple over the columns or a single one."""
    rows = [value if isinstance(value, tuple) else (value,) for value in values]
    lines = tuple(dict(zip([column.key for column in columns], row, strict=True)) for row in rows)
    return Sheet("s", "Table S", "Caption.", columns, lines, profile, **changes)


def headers(made):
    return [strip.header for strip in spread(made)]


def texts(made, header):
    return next(strip.texts for strip in spread(made) if strip.header == header)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (THREE, "2.0 ± 2.5"),
        (ONE, "2.0"),
        (cell_of([]), "not run"),
        (cell_of([("diverged", None)] * 2), "diverged 2 of 2"),
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
def test_a_value_as_it_is_shown(value, text):
    assert shown(value, 1) == text


def test_the_papers_value_keeps_its_own_digits():
    assert [exact(value) for value in (-791.0, 0.12, -3.5, 25.5)] == ["−791", "0.12", "−3.5", "25.5"]
    assert number(-791.0, 2) == "−791.00"


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
def test_a_column_stands_only_where_a_line_has_something_to_say(cell, added):
    shown_headers = [header.split(" (")[0] for header in headers(sheet(BARE, cell))]
    assert shown_headers == ["ours", "n", *added]


@pytest.mark.parametrize("profile", ["smoke", "laptop"])
def test_below_the_paper_profile_nothing_is_compared_with_the_paper(profile):
    made = sheet(THREE, ONE, profile=profile)
    assert headers(made) == ["ours", "n", "paper (its own setting)"]
    assert any("for orientation" in note and profile in note for note in notes(made))
    assert not any("Verdict" in note for note in notes(made))


def test_at_the_paper_profile_difference_and_verdict_stand_beside_the_papers_value():
    made = sheet(THREE, ONE, BARE, profile="paper")
    assert headers(made) == ["ours", "n", "paper", "difference", "verdict"]
    assert texts(made, "difference") == ("+0.5", "−7.0", "")
    assert texts(made, "verdict") == ("agrees", "undetermined", "")
    assert not any("orientation" in note for note in notes(made))
    assert any("Verdict" in note for note in notes(made))


def test_a_difference_that_rounds_to_nothing_has_no_sign():
    assert texts(
        sheet(cell_of([("ok", 2.01)], 2.0), cell_of([("ok", 1.99)], 2.0), profile="paper"), "difference"
    ) == ("0.0", "0.0")


def test_counts_are_of_all_that_ended():
    made = sheet(
        cell_of([("ok", 1.0), ("diverged", None), ("diverged", None), ("timeout", None)]), BARE, cell_of([])
    )
    assert texts(made, "n") == ("1", "3", "0")
    assert texts(made, "diverged") == ("2 of 4", "", "")
    assert texts(made, "failed") == ("1 of 4", "", "")


TWO = (ME, Column("b", "other", 1))


def test_columns_that_count_the_same_trials_share_their_counts():
    made = sheet((THREE, BARE), (DIVERGED, DIVERGED), columns=TWO)
    assert headers(made) == ["ours", "paper (its own setting): ours", "other", "n", "diverged"]


def test_a_blank_place_does_not_keep_counts_from_being_shared():
    made = sheet((THREE, BARE), (DIVERGED, ""), columns=TWO)
    assert headers(made) == ["ours", "paper (its own setting): ours", "other", "n", "diverged"]
    assert texts(made, "diverged")[1]


def test_columns_that_count_different_trials_have_their_own():
    made = sheet((THREE, DIVERGED), (BARE, BARE), columns=TWO)
    assert headers(made) == [
        "ours",
        "n: ours",
        "paper (its own setting): ours",
        "other",
        "n: other",
        "diverged: other",
    ]


def test_words_stand_left_and_numbers_right():
    columns = (Column("w", "word"), ME, Column("f", "float"))
    made = sheet(("x", THREE, 1.0), (None, "N/A", None), columns=columns, profile="paper")
    alignment = {strip.header: strip.numeric for strip in spread(made)}
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


def test_the_heading_names_the_profile_and_the_legend_explains_what_occurs():
    assert heading(sheet(profile="smoke")) == "Table S (smoke profile)"
    assert notes(sheet(1.0, "x", None, notes=("Mine.",))) == ["Mine."]
    assert [note[:4] for note in notes(sheet(BARE, notes=("Mine.",)))] == ["Mine", "Mean"]
    assert notes(sheet(cell_of([("ok", 2.0)]))) == []
