"""`--reuse-published`: published trials are copied instead of trained, and nothing else is copied."""

import shutil

import pytest
from bench_helpers import ROOT

from bench.cli.main import main
from sweeps.store.store import Store

LINE = ("--only", "label=ML")


@pytest.fixture
def clone(tmp_path, monkeypatch):
    """A working directory with the published trials, where nothing may be trained."""
    shutil.copytree(ROOT / "results" / "published" / "trials", tmp_path / "results" / "published" / "trials")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        "bench.cli.verbs.run._execute", lambda arguments, plan: pytest.fail(f"{len(plan.missing)} trials ran")
    )
    return tmp_path / "results"


def read_published(name):
    return {
        row.trial_id: row
        for row in Store(ROOT / "results" / "published" / "trials", create=False).read_rows()
        if row.label == name
    }


def test_plan_counts_published_trials_and_copies_none(clone, capsys):
    assert main(["plan", "table2", *LINE, "--reuse-published"]) == 0
    assert "table2 · laptop profile · 3 trials · 0 already done · 3 published\n" in capsys.readouterr().out
    assert main(["run", "table2", *LINE, "--reuse-published", "--dry-run"]) == 0
    assert Store(clone / "local" / "trials").read_rows() == []


def test_published_trials_are_copied_unchanged(clone, capsys):
    assert main(["run", "table2", *LINE, "--reuse-published"]) == 0
    assert "3 of 3 trials are done and in results/local" in capsys.readouterr().out
    store, ours = Store(clone / "local" / "trials"), Store(clone / "published" / "trials")
    rows = {row.trial_id: row for row in store.read_rows()}
    assert len(rows) == 3
    assert {name: read_published("ML")[name] for name in rows} == rows
    assert all(store.read_curves(name) == ours.read_curves(name) != [] for name in rows)
    assert main(["plan", "table2", *LINE]) == 0
    assert "3 trials · 3 already done\n" in capsys.readouterr().out


def test_published_models_are_copied_unless_none_are_wanted(clone):
    trial_id = next(name for name, row in read_published("ML").items() if row.sweep == "table2")
    Store(clone / "published" / "trials").models.write(trial_id, b"weights")
    own = Store(clone / "local" / "trials").models
    assert main(["run", "table2", *LINE, "--reuse-published", "--models", "none"]) == 0
    assert own.list_sizes() == {}
    shutil.rmtree(clone / "local")
    assert main(["run", "table2", *LINE, "--reuse-published"]) == 0
    assert own.list_sizes() == {trial_id: len(b"weights")}


def test_everything_is_trained_without_the_flag(clone, capsys):
    assert main(["run", "table2", *LINE, "--dry-run"]) == 0
    assert "3 trials · 0 already done" in capsys.readouterr().out


def test_unpublished_seed_is_run(clone, capsys):
    assert main(["plan", "table2", *LINE, "--seeds", "4", "--reuse-published"]) == 0
    out = capsys.readouterr().out
    assert "4 trials · 0 already done · 3 published" in out
    assert out.count("3,000 steps") == 1


def test_outcome_of_retry_is_not_copied(clone, capsys):
    lost = ("--profile", "paper", "--only", "label=PCD σ=1", "--only", "dataset=rings")
    assert main(["run", "table10", *lost, "--reuse-published", "--dry-run", "--retry", "diverged"]) == 0
    out = capsys.readouterr().out
    assert "3 trials · 0 already done" in out
    assert " published\n" not in out
    assert main(["run", "table10", *lost, "--reuse-published", "--dry-run"]) == 0
    assert "3 trials · 0 already done · 3 published\n" in capsys.readouterr().out


def test_error_without_published_results(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["plan", "table2", "--reuse-published"]) == 2
    err = capsys.readouterr().err
    assert all(fact in err for fact in ("--reuse-published", "results/published"))
