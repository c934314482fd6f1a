"""The README: its Python block runs, and its table, plan, trials and statements are those of the code and the
published results."""

import csv
import os
import re
import subprocess
import sys

import pytest
import torch
from locations import ROOT

from bench.catalogue import catalogue
from bench.cli.main import main
from bench.judging.results import Results
from bench.locations import PUBLISHED
from sweeps.run.progress import format_row, measure_widths
from sweeps.run.provenance import collect_provenance
from sweeps.store.store import Store
from vera.spec.registry import methods

README = (ROOT / "README.md").read_text(encoding="utf-8")
(SHORTEST,) = re.findall(
    r"<!-- run by tests/project/test_readme.py -->\n```python\n(.*?)```", README, re.DOTALL
)
TABLES = ROOT / "results" / "published" / "tables"
NUMBERS = {"fourteen": 14}


def run(code, cwd):
    one_thread = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, cwd=cwd, env=one_thread
    )


def test_shortest_example_trains_plots_and_keeps_a_model(tmp_path):
    check = """
assert (loaded.score(x) == scores).all()
assert samples.shape == (64, 2)
assert np.median(scores) > model.score(6 * np.random.default_rng(1).random((2_000, 2)) - 3).mean() + 1
"""
    assert len([line for line in SHORTEST.splitlines() if line.strip()]) <= 10
    done = run(f"{SHORTEST}\n{check}", tmp_path)
    assert done.returncode == 0, done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"density.png", "mine.safetensors"}


def test_table2_is_the_published_one():
    published = (TABLES / "table2.md").read_text(encoding="utf-8")
    shown = README.partition("──\n")[2].partition("\n...\n")[0].splitlines()
    assert len(shown) == 12
    for line in shown:
        cells = re.split(r"  +", line.strip())
        row = next(row for row in published.splitlines() if row.startswith(f"| {cells[0]} "))
        assert [cell for cell in map(str.strip, row.strip("|").split("|")) if cell] == cells


@pytest.mark.parametrize(
    ("name", "page"),
    [("table2", "README.md"), ("toy-demo", "docs/quickstart.md")],
    ids=["table2", "toy-demo"],
)
def test_plan_is_the_one_that_is_printed(name, page, tmp_path, monkeypatch, capsys):
    """On two cores, as the pages say."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr("bench.cli.verbs.plan.count_cores", lambda: 2)
    assert main(["plan", name, "--results-dir", str(tmp_path)]) == 0
    shown = (ROOT / page).read_text(encoding="utf-8")
    assert f"\n{capsys.readouterr().out.splitlines()[0]}\n" in shown


def test_trials_of_table2_are_published():
    published = {row.trial_id[:8]: row for row in Store(f"{PUBLISHED}/trials").read_rows()}
    shown = [line for line in README.splitlines() if line.startswith(" ✓ ") and " mnist5k-logit " in line]
    assert len(shown) == 2
    assert shown == [
        format_row(published[line.split()[-1]], measure_widths(catalogue.sweep("table2").trials("laptop")))
        for line in shown
    ]


def test_replayed_trial_is_published_and_the_first_of_the_list(tmp_path, monkeypatch, capsys):
    """The result is identical with the processor and the versions of its row; others may round
    differently."""
    monkeypatch.chdir(ROOT)
    name = re.search(r"vera replay ([0-9a-f]{8})", README).group(1)
    assert re.search(r"^ ✓ (.*)$", README, re.MULTILINE).group(1).endswith(f" {name}")
    (row,) = [row for row in Store(f"{PUBLISHED}/trials").read_rows() if row.trial_id.startswith(name)]
    here = collect_provenance("cpu")
    same = all(here[column] == getattr(row, column) for column in ("processor", "versions"))
    same = same and torch.backends.cpu.get_cpu_capability() == "AVX512"  # "AMD EPYC" does not tell
    code = main(["replay", name, "--results-dir", str(tmp_path)])
    out = capsys.readouterr().out
    assert out.startswith("replayed ML seed 0 (from results/published) in ")
    assert ("identical to the stored row" in out, code) == (True, 0) or not same, out


def read_values(table, metric):
    """The published means of a metric by method, of a table with one line per method."""
    with (TABLES / f"{table}.csv").open(newline="", encoding="utf-8") as file:
        return {line["method"]: float(line[metric]) for line in csv.DictReader(file) if line[metric]}


def test_lessons_of_table2_follow_from_the_published_values():
    value = read_values("table2", "test_log_likelihood")
    vera = value["VERA λ=1"]
    gain, by_sigma = re.search(
        r"λ = 1 is (\d+) nats above λ = 0.*?gains (\d+) of the", README, re.DOTALL
    ).groups()
    assert f"{vera - value['VERA λ=0']:.0f}" == gain
    assert abs(value["VERA λ=0, σ held"] - value["VERA λ=0"] - int(by_sigma)) < 0.6
    assert max(value, key=value.get) == "ML"
    assert vera > max(value[name] for name in ("SSM", "DSM", "CP-SM", "PCD"))
    (ahead,) = re.search(r"CoopNet is above VERA, by (\d+\.\d) nats", README).groups()
    assert f"{value['CoopNet'] - vera:.1f}" == ahead


def test_agreement_with_table10_is_that_of_the_published_table():
    trials, all_trials, agree, values = map(
        int, re.search(r"(\d+) of (\d+) trials; (\d+) of (\d+) values", README).groups()
    )
    with (TABLES / "table10-paper.csv").open(newline="", encoding="utf-8") as file:
        verdicts = [
            line["best_of_either_verdict"] for line in csv.DictReader(file) if line["best_of_either_paper"]
        ]
    assert (verdicts.count("agrees"), len(verdicts)) == (agree, values)
    artifact = catalogue.artifact("table10")
    declared = list(artifact.trials("paper"))
    (paper,) = Results.open_profiles(PUBLISHED, ("paper",), "published")
    rows = [row for row in paper.find_all_rows(declared) if row.seed in artifact.seeds["paper"]]
    assert (len(rows), len(declared) * len(artifact.seeds["paper"])) == (trials, all_trials)


def test_number_of_methods_is_that_of_the_registry():
    others = {*methods} - {*methods.plugin_names()} - {"vera"}
    assert len(others) == NUMBERS[re.search(r"and (\w+) other training methods", README).group(1)]


def test_readme_is_short():
    assert len(README.splitlines()) <= 200
