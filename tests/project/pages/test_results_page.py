"""The numbers that results/README.md states by hand are those of the published rows."""

import json
import re

import duckdb
import pytest
from locations import ROOT

from bench.locations import PUBLISHED
from sweeps.store.store import Store

PAGE = (ROOT / "results" / "README.md").read_text(encoding="utf-8")
CURVES = """
    SELECT dataset, step, value FROM 'results/published/trials/curves/*.parquet'
    JOIN (
        SELECT trial_id, sweep, profile, label, dataset, seed FROM 'results/published/trials/rows/*.parquet'
    )
    USING (trial_id)
    WHERE sweep = 'drift' AND profile = 'paper' AND label = 'PCD σ=0.1' AND seed = 0
    AND metric = 'test_log_likelihood'
"""


@pytest.fixture
def drift(monkeypatch):
    """Data set → step → likelihood of PCD with σ = .1 at `paper`, seed 0."""
    monkeypatch.chdir(ROOT)
    found = {}
    for dataset, step, value in duckdb.sql(CURVES).fetchall():
        found.setdefault(dataset, {})[step] = value
    return found


def read_line(name):
    (line,) = re.findall(rf"^\| {re.escape(name)} \|(.*)\|$", PAGE, re.MULTILINE)
    return [cell.strip().replace("−", "-") for cell in line.split("|")]


def test_drift_has_the_values_of_the_curves(drift):
    curves = [drift[name] for name in ("moons", "circles", "rings")]
    assert read_line("best evaluation") == [f"{max(curve.values()):.2f}" for curve in curves]
    coarse = [[value for step, value in curve.items() if step % 10_000 == 0] for curve in curves]
    assert read_line("best of the evaluations every 10,000 steps") == [f"{max(each):.2f}" for each in coarse]
    assert read_line("at the end") == [f"{curve[max(curve)]:.2f}" for curve in curves]
    best = [max(curve, key=curve.get) for curve in curves]
    first, last = re.search(r"best after ([\d,]+) to ([\d,]+) steps", PAGE).groups()
    assert [f"{min(best):,}", f"{max(best):,}"] == [first, last]


def test_loss_against_maximum_likelihood_is_that_of_table10():
    stated = re.search(
        r"It is \.(\d+) nats below .* on moons,\n\.(\d+) on circles and \.(\d+) on rings", PAGE
    )
    rows = [
        row
        for row in Store(ROOT / PUBLISHED / "trials").read_rows()
        if (row.sweep, row.profile) == ("table10", "paper") and row.label in ("ML", "VERA λ=1")
    ]

    def mean(dataset, label):
        values = [
            json.loads(row.metrics)["test_log_likelihood"]
            for row in rows
            if (row.dataset, row.label) == (dataset, label)
        ]
        assert len(values) == 3
        return sum(values) / 3

    found = [mean(name, "ML") - mean(name, "VERA λ=1") for name in ("moons", "circles", "rings")]
    assert [f"{value:.2f}" for value in found] == [f"0.{digits}" for digits in stated.groups()]
