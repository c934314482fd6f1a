"""The parts of the generated pages that speak about the paper: Table 10 in short, numbers of methods."""

import pytest
from bench_helpers import row_of, store_rows
from locations import ROOT

from bench.catalogue import catalogue
from bench.paper.pages.method_numbers import LINES, QUOTED_TABLES
from bench.paper.pages.table10_summary import render_table10
from bench.paper.tables.table10_lines import BEST_PCD
from bench.publishing.method_pages import render_numbers
from bench.publishing.quotes import FOLDER
from sweeps.trial.canonical_json import canonical_json


def test_table10_has_means_seeds_and_divergences_next_to_the_papers_values(tmp_path):
    trials = {
        (trial.label, trial.spec.dataset["name"]): trial
        for trial in catalogue.artifact("table10").trials("paper")
    }
    both = canonical_json({"test_log_likelihood": -3.0, "best_of_ten_batches": -2.5})
    rows = [row_of(trials["VERA λ=1", "moons"], seed, metrics=both) for seed in (0, 1)]
    rows += [
        row_of(trials["VERA λ=1", "rings"], 0, metrics=both),
        row_of(trials["VERA λ=1", "rings"], 1, outcome="diverged"),
    ]
    rows += [
        row_of(trials[f"PCD σ={sigma}", "circles"], 0, outcome="diverged")
        for sigma in (0.01, 0.03, 0.1, 0.3, 1)
    ]
    found = {
        line.split("|")[1].strip(): line for line in render_table10(store_rows(tmp_path, rows)).splitlines()
    }
    assert found["VERA λ=1"] == (
        "| VERA λ=1 | −3.00 ± 0.00; −2.50 ± 0.00 (paper −2.58), n = 2 | not run | "
        "−3.00; −2.50 (paper −3.17), n = 1, 1 diverged |"
    )
    assert found["PCD (best σ)"] == "| PCD (best σ) | not run | diverged 5 of 5 | not run |"


@pytest.mark.parametrize("table", ["table2", "table3", "table6"])
def test_pages_quote_every_line_of_a_table_once(table):
    quoted = [label for of_page in LINES.values() for label in of_page.get(table, ())]
    assert sorted(quoted) == sorted({trial.label for trial in catalogue.artifact(table).trials("laptop")})


def test_pages_quote_table10(tmp_path, monkeypatch):
    quoted = {label for of_page in LINES.values() for label in of_page.get("table10", ())}
    labels = {trial.label for trial in catalogue.artifact("table10").trials("laptop")}
    assert quoted == {label for label in labels if "σ" not in label} | {BEST_PCD}
    monkeypatch.chdir(ROOT)
    assert "| moons | VERA λ=1 | " in render_numbers(QUOTED_TABLES, LINES["vera"])
    laptop = (FOLDER / "table10.csv").read_text(encoding="utf-8")
    (tmp_path / "table10-paper.csv").write_text(laptop, encoding="utf-8")
    monkeypatch.setattr("bench.publishing.quotes.FOLDER", tmp_path)
    assert "Table 10, paper" in render_numbers(QUOTED_TABLES, LINES["vera"])


def test_table_without_published_trials_names_its_command(tmp_path, monkeypatch):
    monkeypatch.setattr("bench.publishing.quotes.FOLDER", tmp_path)
    text = render_numbers(QUOTED_TABLES, LINES["meg"])
    assert text.count("vera run table2`") == text.count("vera run table6`") == 1
    assert "--profile paper" not in text
