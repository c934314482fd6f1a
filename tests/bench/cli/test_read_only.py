"""Who only looks writes nothing, and who cannot write is told so in one line."""

import errno
import json
import os
from dataclasses import replace

import pytest
from bench_helpers import row_of, stored

from bench.cli.main import main
from sweeps.trial.sweep import find_sweep

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


def test_a_plan_says_which_files_are_missing(trials, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("VERA_DATA", str(tmp_path))
    for verb in (["plan"], ["run", "--dry-run"]):
        assert main([*verb, "table6", "--dataset", "human", "--profile", "smoke"]) == 0
        (err,) = capsys.readouterr().err.splitlines()
        assert err.startswith(
            f"vera: It cannot be run yet: UCI HAR Dataset.zip is not in {tmp_path}. Fetch it with `vera data fetch"
        )


def test_a_plan_has_columns_wide_enough(trials, tmp_path, capsys):
    (tmp_path / "a-long-name.csv").write_text("a,kind\n" + "".join(f"{n},{n % 2}\n" for n in range(400)))
    assert main(["plan", "table6", "--dataset", "csv:a-long-name.csv,label=kind", "--profile", "smoke"]) == 0
    _, *lines = capsys.readouterr().out.splitlines()
    assert len({line.index(" seed ") for line in lines}) == 1
    assert all(" a-long-name.csv seed " in line for line in lines)


def test_the_status_names_the_data(trials, tmp_path, capsys):
    own = replace(
        row_of(trials[0]),
        spec=json.dumps({"dataset": {"file": "iris.csv", "name": "csv"}}),
        dataset="csv",
        sweep="s" * 20,
    )
    stored(
        tmp_path / "results" / "local", [own, replace(row_of(trials[0]), trial_id="b" * 16, sweep="s" * 20)]
    )
    assert main(["status"]) == 0
    assert capsys.readouterr().out == f"{'s' * 20} smoke    ok             2     iris.csv, moons\n"


def test_a_trial_that_failed_is_not_called_done(trials, tmp_path, capsys):
    endings = zip(trials, ("ok", "timeout"), strict=False)
    stored(
        tmp_path / "results" / "local",
        [replace(row_of(t), trial_id=t.id, outcome=ending) for t, ending in endings],
    )
    assert main(["plan", "toy-demo", "--profile", "smoke"]) == 0
    assert "· 9 trials · 1 already done · 1 failed before" in capsys.readouterr().out


def test_what_ctrl_c_ends_has_the_exit_code_of_that(trials, monkeypatch, capsys):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("sweeps.cluster.execute.execute", interrupted)
    assert main(["run", "toy-demo", "--profile", "smoke"]) == 130
    assert capsys.readouterr().err.startswith("vera: Interrupted. What is finished is stored")


def test_a_page_that_cannot_be_written_is_one_line(trials, tmp_path, monkeypatch, capsys):
    stored(tmp_path / "results" / "local", [row_of(trials[0])])
    (tmp_path / "results" / "local" / "report.html").mkdir()
    assert main(["report"]) == 2
    assert (
        "results/local: a directory has the name of a file to be written. Move it away"
        in capsys.readouterr().err
    )

    def refused(*_):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "replace", refused)
    assert main(["report"]) == 2
    assert "vera: Cannot write the results in results/local: permission denied." in capsys.readouterr().err
    assert sorted(path.name for path in (tmp_path / "results" / "local").iterdir()) == [
        "report.html",
        "trials",
    ]
