"""The verdicts and the ledger of results/README.md, from made-up rows."""

from bench_helpers import row_of, store_rows
from store_helpers import make_row

from bench.catalogue import catalogue
from bench.judging.results import Results
from bench.publishing.results_tables import render_ledger, render_verdicts

RUN = {
    "started_at": "2026-01-02T03:04:05.678+00:00",
    "finished_at": "2026-01-02T03:09:05.678+00:00",
    "git_commit": "abcdef0123",
    "git_dirty": False,
    "cpus": 1.0,
}


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
    digits, images = (
        {"sweep": "figure3", "dataset": "mnist5k-pixels"},
        {"sweep": "figure10", "dataset": "digits32"},
    )
    rows = [
        make_row("1", profile="laptop", seconds=60.0, **images | RUN | {"cpus": 2.0}),
        make_row("2", profile="paper", seconds=90.0, **digits | RUN | {"dataset": "mnist-pixels"}),
        make_row("3", profile="laptop", seconds=30.0, outcome="diverged", **digits | RUN),
        make_row("5", profile="laptop", seconds=60.0, **digits | RUN | {"dataset": "cifar10"}),
        make_row("4", profile="laptop", seconds=90.0, **digits | RUN | {"git_dirty": True}),
        make_row("6", profile="laptop", seconds=60.0, sweep="search-mine", **RUN),
    ]
    times = "2026-01-02 03:04 | 2026-01-02 03:09"
    assert render_ledger(rows).splitlines()[2:] == [
        f"| figure3 | laptop | 2 | 1 | {times} | 2 | `abcdef0`, `abcdef0` (changed) |",
        f"| figure3 on cifar10 | laptop | 1 | 0 | {times} | 1 | `abcdef0` |",
        f"| figure10 | laptop | 1 | 0 | {times} | 2 | `abcdef0` |",
        f"| search-mine | laptop | 1 | 0 | {times} | 1 | `abcdef0` |",
        f"| figure3 | paper | 1 | 0 | {times} | 2 | `abcdef0` |",
    ]
