"""What is written into pages from the published results: the ledger in results/README.md, the table of tables
in README.md."""

import re
import subprocess
import sys

from bench_helpers import row_of, stored
from engine_helpers import make_row
from locations import ROOT

from bench.catalogue import catalogue
from bench.paper.experiments.score_bias import IMPORTANCE, SCORE_BIAS
from bench.publishing import claim_summary as verdicts
from bench.publishing import ledger, overview
from bench.publishing import table10_summary as short
from bench.publishing.marked_block import written_block
from sweeps.trial.canonical_json import canonical_json


def test_the_ledger_is_that_of_the_published_rows(monkeypatch, capsys):
    """If the change is meant: python -m bench.publishing.ledger."""
    monkeypatch.chdir(ROOT)
    assert ledger.main(["--check"]) == 0, capsys.readouterr().err


def test_the_verdicts_are_those_of_the_published_rows(monkeypatch, capsys):
    """If the change is meant: python -m bench.publishing.claim_summary."""
    monkeypatch.chdir(ROOT)
    assert verdicts.main(["--check"]) == 0, capsys.readouterr().err


def test_table_10_in_short_is_that_of_the_published_rows(monkeypatch, capsys):
    """If the change is meant: python -m bench.publishing.table10_summary."""
    monkeypatch.chdir(ROOT)
    assert short.main(["--check"]) == 0, capsys.readouterr().err


def test_table_10_in_short_has_means_seeds_and_losses_beside_the_papers(tmp_path):
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
    stored(tmp_path, rows)
    found = {line.split("|")[1].strip(): line for line in short.lines(str(tmp_path))}
    assert found["VERA λ=1"] == (
        "| VERA λ=1 | −3.00 ± 0.00; −2.50 ± 0.00 (paper −2.58), n = 2 | not run | −3.00; −2.50 (paper −3.17), n = 1, 1 diverged |"
    )
    assert found["PCD (best σ)"] == "| PCD (best σ) | not run | diverged 5 of 5 | not run |"


def test_what_rows_decide_has_a_line_and_the_rest_is_counted(tmp_path):
    level = {"ML": -2.0, "VERA λ=1": -2.1, "VERA λ=0.1": -3.0, "VERA λ=0.01": -4.0, "VERA λ=0": -5.0}
    trials = [trial for trial in catalogue.artifact("table10").trials("paper") if trial.label in level]
    rows = [
        row_of(trial, seed, level[trial.label] + seed / 100, metric="test_log_likelihood")
        for trial in trials
        for seed in (0, 1)
    ]
    stored(tmp_path, rows)
    head, rule, *body, empty, count, way = verdicts.lines(str(tmp_path))
    assert (head, rule, empty, way) == (*verdicts.HEAD, "", "`vera report --from published`.")
    shown = {line.split("|")[2].strip(): line.split("|")[4:6] for line in body if "`table10`" in line}
    assert shown == {
        "VERA's likelihood rises with λ.": ["  ", " ✓ supported "],
        "VERA with λ = 1 beats VERA without entropy (λ = 0).": ["  ", " ✓ supported "],
        catalogue.artifact("table10").claims[4].text: ["  ", " ✓ supported "],
    }
    assert count.startswith("4 more claims of those that have rows are open")


def test_a_line_for_each_sweep_and_profile_in_the_order_of_numbers():
    about = {
        "started_at": "2026-01-02T03:04:05.678+00:00",
        "finished_at": "2026-01-02T03:09:05.678+00:00",
        "git_commit": "abcdef0123",
    }
    rows = [
        make_row("1", sweep="figure10", profile="laptop", seconds=60.0, cpus=2.0, git_dirty=False, **about),
        make_row("2", sweep="figure3", profile="paper", seconds=90.0, cpus=1.0, git_dirty=False, **about),
        make_row(
            "3",
            sweep="figure3",
            profile="laptop",
            seconds=30.0,
            cpus=1.0,
            git_dirty=False,
            outcome="diverged",
            **about,
        ),
        make_row(
            "5",
            sweep="figure3",
            profile="laptop",
            dataset="cifar10",
            seconds=60.0,
            cpus=1.0,
            git_dirty=False,
            **about,
        ),
        make_row("4", sweep="figure3", profile="laptop", seconds=90.0, cpus=1.0, git_dirty=True, **about),
    ]
    assert list(ledger.lines(rows))[2:] == [
        "| figure3 | laptop | 2 | 1 | 2026-01-02 03:04 | 2026-01-02 03:09 | 2 | `abcdef0`, `abcdef0` (changed) |",
        "| figure3 on cifar10 | laptop | 1 | 0 | 2026-01-02 03:04 | 2026-01-02 03:09 | 1 | `abcdef0` |",
        "| figure10 | laptop | 1 | 0 | 2026-01-02 03:04 | 2026-01-02 03:09 | 2 | `abcdef0` |",
        "| figure3 | paper | 1 | 0 | 2026-01-02 03:04 | 2026-01-02 03:09 | 2 | `abcdef0` |",
    ]


def test_a_page_that_is_stale_is_said_to_be_and_written(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(ROOT)
    page = tmp_path / "README.md"
    page.write_text(ledger.PAGE.read_text().replace("| trials |", "| runs |"))
    monkeypatch.setattr(ledger, "PAGE", page)
    assert ledger.main(["--check"]) == 1
    assert "python -m bench.publishing.ledger" in capsys.readouterr().err
    assert ledger.main([]) == 0
    assert ledger.main(["--check"]) == 0


def test_the_table_of_tables_is_that_of_the_published_results(monkeypatch, capsys):
    """If the change is meant: python -m bench.publishing.overview."""
    monkeypatch.chdir(ROOT)
    assert overview.main(["--check"]) == 0, capsys.readouterr().err


def test_the_table_of_tables_has_every_artifact_once():
    named = [
        name for entry in overview.ENTRIES for name in (entry.name, *re.findall(r"`([a-z-]+)`", entry.others))
    ]
    sheets = {*(f"figure{number}" for number in (7, *range(9, 28)))}
    assert set(named) | sheets == {artifact.name for artifact in catalogue.artifacts() if artifact.listed}
    assert len(set(named)) == len(named)


def test_at_paper_stands_what_was_run_of_it_with_its_hours_and_an_interval_where_there_is_one(tmp_path):
    trial = SCORE_BIAS.trial(IMPORTANCE, "paper")
    rows = [
        row_of(
            trial,
            seed,
            value,
            metric="rms_bias",
            seconds=1_800.0,
            cpus=1.0,
            finished_at=f"2026-01-0{1 + seed}",
        )
        for seed, value in enumerate((1.71, 1.77))
    ]
    about, of_3, of_6 = (
        "root-mean-square bias of importance sampling",
        *(f"`make reproduce-figure{n} PROFILE=paper`" for n in (3, 6)),
    )
    one, two = (
        {line[0]: line[1:] for line in overview.paper_lines(stored(tmp_path / str(n), rows[:n]))}
        for n in (1, 2)
    )
    assert one[of_3] == ("1", "108", "0.5", f"{about}: 1.71", "")
    assert two[of_3] == ("2", "108", "1.0", f"{about}: 1.74 ± 0.38", "")
    assert set(two) == {of_3, of_6}
    assert two[of_6][3:] == ("", "1.29"), "no such measurement is in these rows"


def test_the_pages_are_written_without_torch_and_ray():
    code = "import sys, bench.publishing.overview, bench.publishing.ledger, bench.perf.measurements, bench.publishing.publish; print({'torch', 'ray'} & set(sys.modules))"
    assert (
        subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True).stdout
        == "set()\n"
    )


def test_a_page_without_marks_is_refused(tmp_path, capsys):
    page = tmp_path / "page.md"
    page.write_text("nothing here\n")
    assert written_block([], "bench.publishing.ledger", "ledger", page, lambda: ["a line"]) == 1
    assert "has no place for it" in capsys.readouterr().err
    assert page.read_text() == "nothing here\n"
