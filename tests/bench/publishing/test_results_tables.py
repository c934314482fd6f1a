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


def test_every_claim_with_rows_has_a_line_and_judgements_are_counted(tmp_path):
    level = {"ML": -2.0, "VERA λ=1": -2.1, "VERA λ=0.1": -3.0, "VERA λ=0.01": -4.0, "VERA λ=0": -5.0}
    trials = [trial for trial in catalogue.artifact("table10").trials("paper") if trial.label in level]
    rows = [
        row_of(trial, seed, value, metric="test_log_likelihood")
        for trial in trials
        for seed, value in enumerate((level[trial.label], 1.001 * level[trial.label]))
    ]
    store_rows(tmp_path, rows)
    laptop, paper = Results.open_profiles(tmp_path, ("laptop", "paper"))
    text = render_verdicts(laptop, paper)
    body = [line.split("|") for line in text.splitlines() if line.startswith("| `table10`")]
    claims = {claim.text: claim.key for claim in catalogue.artifact("table10").claims}
    shown = {claims[line[2].strip()]: [cell.strip() for cell in line[4:6]] for line in body}
    supported = ("rises-with-weight", "entropy-helps", "bound-is-tight")
    assert shown == {key: ["", "✓ supported" if key in supported else "? undetermined"] for key in shown}
    assert set(shown) == set(claims.values())
    assert "At `paper`: 5 supported · 0 refuted · 5 undetermined · 0 not testable." in text
    assert "`vera report --from published`" in text


def test_an_undetermined_claim_has_the_number_of_seeds_that_would_decide_it(tmp_path):
    """Differences of 0 and 2: t(.975; n − 1) √2 / √n falls below 1 at n = 11."""
    values = {"VERA λ=1": (0.0, 3.0), "VERA λ=0": (0.0, 1.0)}
    rows = [
        row_of(trial, seed, value, metric="test_log_likelihood")
        for trial in catalogue.artifact("table2").trials("laptop")
        for seed, value in enumerate(values.get(trial.label, ()))
    ]
    text = render_verdicts(store_rows(tmp_path, rows))
    (line,) = [line for line in text.splitlines() if "The entropy term helps" in line]
    assert line.endswith("| ? undetermined (11 seeds) |")


def test_claims_that_are_not_testable_have_a_reason(tmp_path):
    trial = next(catalogue.artifact("table8").trials("laptop"))
    text = render_verdicts(store_rows(tmp_path, [row_of(trial, trial.spec.seed)]))
    (line,) = [line for line in text.splitlines() if line.startswith("| `table8`")]
    assert line.endswith("| – not testable |")
    (reason,) = [line for line in text.splitlines() if line.startswith("- `table8` at `laptop`: ")]
    assert catalogue.artifact("table8").claims[0].not_testable["laptop"] in reason


def test_ledger_has_a_line_for_each_sweep_and_profile_in_numerical_order():
    digits, images = (
        {"sweep": "figure3", "dataset": "mnist5k-pixels"},
        {"sweep": "figure10", "dataset": "digits-images"},
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
