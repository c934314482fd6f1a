"""The generated tables of README.md and results/README.md, from made-up rows."""

import re

from bench_helpers import row_of, store_rows
from store_helpers import make_row

from bench.catalogue import catalogue
from bench.judging.results import Results
from bench.paper.experiments.score_bias import IMPORTANCE, SCORE_BIAS
from bench.publishing.claim_summary import render_verdicts
from bench.publishing.ledger import render_ledger
from bench.publishing.overview import list_paper_lines
from bench.publishing.overview_entries import ENTRIES
from bench.publishing.table10_summary import render_table10
from sweeps.trial.canonical_json import canonical_json

RUN = {
    "started_at": "2026-01-02T03:04:05.678+00:00",
    "finished_at": "2026-01-02T03:09:05.678+00:00",
    "git_commit": "abcdef0123",
    "git_dirty": False,
    "cpus": 1.0,
}


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


def test_decided_claims_have_a_line_and_open_ones_are_counted(tmp_path):
    level = {"ML": -2.0, "VERA λ=1": -2.1, "VERA λ=0.1": -3.0, "VERA λ=0.01": -4.0, "VERA λ=0": -5.0}
    trials = [trial for trial in catalogue.artifact("table10").trials("paper") if trial.label in level]
    rows = [
        row_of(trial, seed, level[trial.label] + seed / 100, metric="test_log_likelihood")
        for trial in trials
        for seed in (0, 1)
    ]
    store_rows(tmp_path, rows)
    laptop, paper = Results.open_profiles(tmp_path, ("laptop", "paper"))
    _, _, *body, empty, count, command = render_verdicts(laptop, paper).splitlines()
    assert empty == ""
    assert "`vera report --from published`" in command
    shown = {line.split("|")[2].strip(): line.split("|")[4:6] for line in body if "`table10`" in line}
    assert shown == {
        "VERA's likelihood rises with λ.": ["  ", " ✓ supported "],
        "VERA with λ = 1 beats VERA without entropy (λ = 0).": ["  ", " ✓ supported "],
        catalogue.artifact("table10").claims[4].text: ["  ", " ✓ supported "],
    }
    assert count.startswith("4 more claims ")


def test_ledger_has_a_line_for_each_sweep_and_profile_in_numerical_order():
    rows = [
        make_row("1", sweep="figure10", profile="laptop", seconds=60.0, **RUN | {"cpus": 2.0}),
        make_row("2", sweep="figure3", profile="paper", seconds=90.0, **RUN),
        make_row("3", sweep="figure3", profile="laptop", seconds=30.0, outcome="diverged", **RUN),
        make_row("5", sweep="figure3", profile="laptop", dataset="cifar10", seconds=60.0, **RUN),
        make_row("4", sweep="figure3", profile="laptop", seconds=90.0, **RUN | {"git_dirty": True}),
    ]
    times = "2026-01-02 03:04 | 2026-01-02 03:09"
    assert render_ledger(rows).splitlines()[2:] == [
        f"| figure3 | laptop | 2 | 1 | {times} | 2 | `abcdef0`, `abcdef0` (changed) |",
        f"| figure3 on cifar10 | laptop | 1 | 0 | {times} | 1 | `abcdef0` |",
        f"| figure10 | laptop | 1 | 0 | {times} | 2 | `abcdef0` |",
        f"| figure3 | paper | 1 | 0 | {times} | 2 | `abcdef0` |",
    ]


def test_overview_has_every_artifact_once():
    named = [name for entry in ENTRIES for name in (entry.name, *re.findall(r"`([a-z-]+)`", entry.others))]
    sheets = {*(f"figure{number}" for number in (7, *range(9, 28)))}
    assert set(named) | sheets == {artifact.name for artifact in catalogue.artifacts() if artifact.listed}
    assert len(set(named)) == len(named)


def test_overview_at_paper_has_hours_and_an_interval_where_there_is_one(tmp_path):
    rows = [
        row_of(
            SCORE_BIAS.trial(IMPORTANCE, "paper"),
            seed,
            value,
            metric="rms_bias",
            seconds=1_800.0,
            cpus=1.0,
            finished_at=f"2026-01-0{1 + seed}",
        )
        for seed, value in enumerate((1.71, 1.77))
    ]
    one, two = (
        {line["name"]: line for line in list_paper_lines(store_rows(tmp_path / str(n), rows[:n]))}
        for n in (1, 2)
    )
    assert set(two) == {"figure3", "figure6"}
    assert [one["figure3"][key] for key in ("run", "declared", "hours", "paper")] == ["1", "108", "0.5", ""]
    assert one["figure3"]["value"].endswith(": 1.71")
    assert two["figure3"]["hours"] == "1.0"
    assert two["figure3"]["value"].endswith(": 1.74 ± 0.38")
    assert (two["figure6"]["value"], two["figure6"]["paper"]) == ("", "1.29")
