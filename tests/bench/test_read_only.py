"""Who only looks writes nothing, and who cannot write is told so in one line."""

import errno
import os
from dataclasses import replace

import pytest
from bench_helpers import row_of, stored

from bench.cli import main
from sweeps.sweep import find_sweep

LOOKS = (
    "list", "status", "plan toy-demo", "run toy-demo --dry-run", "retry toy-demo --dry-run", "search moons --dry-run", "show zzzz",
)  # fmt: skip


@pytest.fixture
def trials(tmp_path, monkeypatch):
    """A working directory, and the trials of a small sweep."""
    monkeypatch.chdir(tmp_path)
    return find_sweep("toy-demo").trials("smoke")


@pytest.mark.parametrize("line", LOOKS)
def test_a_look_leaves_nothing_behind(line, trials, tmp_path):
    main(line.split())
    assert list(tmp_path.iterdir()) == []


def test_a_dry_run_says_what_would_be_run(trials, capsys):
    assert main(["plan", "toy-demo", "--profile", "smoke"]) == 0
    planned = capsys.readouterr().out
    assert main(["run", "toy-demo", "--profile", "smoke", "--dry-run"]) == 0
    assert capsys.readouterr().out == planned
    assert all(trial.id[:8] in planned for trial in trials)


def test_a_trial_that_failed_is_not_called_done(trials, tmp_path, capsys):
    endings = zip(trials, ("ok", "timeout"), strict=False)
    stored(tmp_path / "results" / "local", [replace(row_of(t), trial_id=t.id, outcome=ending) for t, ending in endings])
    assert main(["plan", "toy-demo", "--profile", "smoke"]) == 0
    assert "· 9 trials · 1 already done · 1 failed before" in capsys.readouterr().out


def test_what_ctrl_c_ends_has_the_exit_code_of_that(trials, monkeypatch, capsys):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("sweeps.execute.execute", interrupted)
    assert main(["run", "toy-demo", "--profile", "smoke"]) == 130
    assert capsys.readouterr().err.startswith("vera: Interrupted. What is finished is stored")


def test_a_page_that_cannot_be_written_is_one_line(trials, tmp_path, monkeypatch, capsys):
    stored(tmp_path / "results" / "local", [row_of(trials[0])])
    (tmp_path / "results" / "local" / "report.html").mkdir()
    assert main(["report"]) == 2
    assert "results/local: a directory has the name of a file to be written. Move it away" in capsys.readouterr().err

    def refused(*_):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "replace", refused)
    assert main(["report"]) == 2
    assert "vera: Cannot write the results in results/local: permission denied." in capsys.readouterr().err
    assert sorted(path.name for path in (tmp_path / "results" / "local").iterdir()) == ["report.html", "trials"]
