"""The queries of docs/rows.md run on the published rows, and the three libraries agree."""

import re

import duckdb
import pytest
from locations import ROOT

from bench.locations import PUBLISHED
from sweeps.store.frame import build_frame
from sweeps.store.schema import SCHEMAS
from sweeps.store.store import Store

PAGE = (ROOT / "docs" / "rows.md").read_text(encoding="utf-8")
SHOWN = re.findall(
    r"<!-- run by tests/project/pages/test_rows_page.py -->\n```(\w+)\n(.*?)```", PAGE, re.DOTALL
)


@pytest.fixture
def frame(monkeypatch):
    """The published rows; the working directory is the checkout."""
    monkeypatch.chdir(ROOT)
    return build_frame(Store(f"{PUBLISHED}/trials").read_rows())


def find_block(word):
    (block,) = [block for _, block in SHOWN if re.search(word, block)]
    return block


def test_every_block_is_marked_to_be_run():
    assert len(SHOWN) == PAGE.count("```python") + PAGE.count("```sql") == 5


@pytest.mark.parametrize("library", ["pandas", "duckdb", "polars"])
def test_means_of_table2_are_those_of_the_store(library, frame, capsys):
    exec(find_block(f"import {library}"), {})
    out = capsys.readouterr().out
    table2 = frame[(frame["sweep"] == "table2") & (frame["outcome"] == "ok")]
    for label in ("ML", "VERA λ=1", "PCD"):
        mean = table2.loc[table2["label"] == label, "metric.test_log_likelihood"].mean()
        (line,) = [line for line in out.splitlines() if re.search(rf"(^|│ ){label} +(┆|│|-)", line)]
        assert f"{mean:.6f}"[:-2] in line


def test_settings_and_metrics_are_columns(frame, capsys):
    exec(find_block("build_frame"), {})
    heading = capsys.readouterr().out.splitlines()[0].split()
    assert heading == ["label", "method.lr", "metric.test_log_likelihood"]


def test_curves_are_joined_to_rows(frame):
    found = duckdb.sql(find_block("curves")).fetchall()
    assert len(found) == len(frame[frame["sweep"] == "drift"])
    steps = max(frame.loc[frame["sweep"] == "drift", "steps"])
    assert all(0 <= step <= steps and value < 0 for *_, step, value in found)


def test_columns_of_the_page_exist():
    table = re.search(r"## Columns\n\n(.*?)\n\n", PAGE, re.DOTALL).group(1)
    named = {name for line in table.splitlines()[2:] for name in re.findall(r"`(\w+)`", line.split("|")[1])}
    assert len(named) > 15
    assert named <= set(SCHEMAS["rows"].names)
