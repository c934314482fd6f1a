"""Verbs that only read write nothing, and what cannot be written is reported in one line."""

import errno
import json
import os
import re
from dataclasses import replace

import pytest
from bench_helpers import row_of, store_rows

from bench.cli.main import main
from sweeps.trial.sweep import find_sweep

READ_ONLY = (
    "list",
    "status",
    "plan toy-demo",
    "run toy-demo --dry-run",
    "retry toy-demo --dry-run",
    "search moons --dry-run",
    "show zzzz",
    "run tabel2",
)


@pytest.fixture
def trials(tmp_path, monkeypatch):
    """The trials of a small sweep, in an empty working directory."""
    monkeypatch.chdir(tmp_path)
    return find_sweep("toy-demo").trials("smoke")


@pytest.mark.parametrize("line", READ_ONLY)
def test_reading_creates_no_files(line, trials, tmp_path):
    main(line.split())
    assert list(tmp_path.iterdir()) == []


def test_dry_run_prints_the_plan(trials, capsys):
    assert main(["plan", "toy-demo", "--profile", "smoke"]) == 0
    planned = capsys.readouterr().out
    assert main(["run", "toy-demo", "--profile", "smoke", "--dry-run"]) == 0
    assert capsys.readouterr().out == planned
    assert all(trial.id[:8] in planned for trial in trials)


def test_plan_names_missing_files(trials, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("VERA_DATA", str(tmp_path))
    for verb in (["plan"], ["run", "--dry-run"]):
        assert main([*verb, "table6", "--dataset", "human", "--profile", "smoke"]) == 0
        (err,) = capsys.readouterr().err.splitlines()
        assert all(fact in err for fact in ("UCI HAR Dataset.zip", str(tmp_path), "vera data fetch"))


def test_columns_of_a_plan_are_aligned(trials, tmp_path, capsys):
    (tmp_path / "a-long-name.csv").write_text("a,kind\n" + "".join(f"{n},{n % 2}\n" for n in range(400)))
    assert main(["plan", "table6", "--dataset", "csv:a-long-name.csv,label=kind", "--profile", "smoke"]) == 0
    _, *lines, sizes = capsys.readouterr().out.splitlines()
    assert "models" in sizes
    assert len({line.index(" seed ") for line in lines}) == 1
    assert all(" a-long-name.csv seed " in line for line in lines)


def test_status_names_the_data(trials, tmp_path, capsys):
    own = replace(
        row_of(trials[0]),
        spec=json.dumps({"dataset": {"file": "iris.csv", "name": "csv"}}),
        dataset="csv",
        sweep="s" * 20,
    )
    store_rows(
        tmp_path / "results" / "local", [own, replace(row_of(trials[0]), trial_id="b" * 16, sweep="s" * 20)]
    )
    assert main(["status"]) == 0
    assert re.fullmatch(r"s{20} smoke +ok +2 +iris\.csv, moons\n", capsys.readouterr().out)


def test_failed_trial_does_not_count_as_done(trials, tmp_path, capsys):
    endings = zip(trials, ("ok", "timeout"), strict=False)
    store_rows(
        tmp_path / "results" / "local",
        [replace(row_of(t), trial_id=t.id, outcome=ending) for t, ending in endings],
    )
    assert main(["plan", "toy-demo", "--profile", "smoke"]) == 0
    assert "· 9 trials · 1 already done · 1 failed before" in capsys.readouterr().out


def test_interrupt_has_its_exit_code(trials, monkeypatch, capsys):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("sweeps.cluster.execute.execute", interrupt)
    assert main(["run", "toy-demo", "--profile", "smoke"]) == 130
    assert "Interrupted" in capsys.readouterr().err


def test_report_that_cannot_be_written_is_one_line(trials, tmp_path, monkeypatch, capsys):
    folder = tmp_path / "results" / "local"
    store_rows(folder, [row_of(trials[0])])
    (folder / "report.html").mkdir()
    assert main(["report"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert all(fact in line for fact in ("results/local", "directory"))

    def refuse(*_):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "replace", refuse)
    assert main(["report"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert all(fact in line for fact in ("results/local", "permission denied"))
    assert sorted(path.name for path in folder.iterdir()) == ["report.html", "trials"]


@pytest.mark.parametrize(
    ("words", "reads"), [(["plan", "toy-demo"], 1), (["status"], 1), (["list"], 0), (["report"], 1)]
)
def test_store_is_opened_and_read_once(words, reads, trials, tmp_path, monkeypatch):
    from sweeps.store.store import Store

    store_rows(tmp_path / "results" / "local", [row_of(trials[0])])
    opened, read = [], []
    create, read_rows = Store.__init__, Store.read_rows
    monkeypatch.setattr(
        Store, "__init__", lambda self, *args, **flags: opened.append(self) or create(self, *args, **flags)
    )
    monkeypatch.setattr(Store, "read_rows", lambda self: read.append(self) or read_rows(self))
    assert main(words) == 0
    assert (len(opened), len(read)) == (1, reads)


def test_run_opens_the_store_once(trials, tmp_path, monkeypatch):
    from sweeps.store.store import Store

    opened, create = [], Store.__init__
    monkeypatch.setattr(
        Store, "__init__", lambda self, *args, **flags: opened.append(self) or create(self, *args, **flags)
    )
    monkeypatch.setattr("bench.cli.verbs.run._execute", lambda *_: [])
    assert main(["run", "toy-demo", "--profile", "smoke"]) == 1
    assert len(opened) == 1
