"""Quotes of published tables: a line's value, a table that is not published, a line that does not exist."""

import pytest

from bench.publishing import quotes
from bench.publishing.quotes import TableQuote

TEXT = "method,score,score_half_width,score_paper\nOurs,1.25,0.5,2.0\nTheirs,3,,\n"


@pytest.fixture(autouse=True)
def published(tmp_path, monkeypatch):
    monkeypatch.setattr(quotes, "FOLDER", tmp_path)
    (tmp_path / "one.csv").write_text(TEXT)


@pytest.mark.parametrize(
    ("method", "expected"), [("Ours", ("score: 1.2 ± 0.5", "2")), ("Theirs", ("score: 3.0", ""))]
)
def test_a_quote_is_the_value_of_a_line_with_its_interval_and_the_papers(method, expected):
    assert TableQuote("score", {"method": method}, "score", 1).read("one", ()) == expected


def test_a_table_that_is_not_published_has_nothing_to_quote():
    assert TableQuote("score", {"method": "Ours"}, "score", 1).read("two", ()) == ("", "")


def test_a_line_that_a_published_table_lacks_is_an_error():
    with pytest.raises(ValueError, match="unpack"):
        TableQuote("score", {"method": "Nobody"}, "score", 1).read("one", ())
