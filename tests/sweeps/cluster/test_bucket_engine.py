"""Trials whose results and checkpoints lie in a bucket: saved there, resumed from there, read by every
verb."""

import os
import re
import signal
import tempfile
from pathlib import Path

import pytest
from engine_helpers import PLUGIN, ROOT, content, start, vera, wait_for
from test_survival import alive, processes_of, read_log

from bench.cli.flags import output_folder
from bench.cli.main import main
from sweeps.run.attempt import Attempt, run_trial
from sweeps.run.checkpoint_store import forget_checkpoints
from sweeps.run.conditions import Conditions
from sweeps.store.address import within
from sweeps.store.bucket_folder import RemoteFolder
from sweeps.store.row import Record
from sweeps.store.store import Store
from sweeps.trial.sweep import find_sweep


@pytest.fixture
def left_here(tmp_path, monkeypatch):
    """What attempts have left on this machine."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return lambda: list(tmp_path.glob("vera-*"))


def advanced(trial, conditions):
    attempt = Attempt(trial, conditions)
    while attempt.step < 6:
        attempt.advance(0.001)
    attempt.save()
    assert attempt.unsaved is None
    return attempt


def ended(attempt):
    while attempt.ending is None:
        attempt.advance(1.0)
    return attempt.record()


# Checkpoints, without Ray.


def test_a_trial_goes_on_from_the_bucket_and_leaves_nothing_behind(bucket, left_here, trouble_plugin):
    trial, conditions = trouble_plugin.trouble(steps=60, pause=0.005), Conditions(checkpoint_dir=bucket)
    first = advanced(trial, conditions)
    assert RemoteFolder(bucket).names("") == {f"{trial.id}.pt"}
    assert left_here() == []
    second = Attempt(trial, conditions)
    assert second.step == first.step
    assert content(ended(second)) == content(run_trial(trial))
    second.forget_checkpoint()
    assert RemoteFolder(bucket).names("") == set()
    assert left_here() == []


def test_the_log_of_restarts_is_in_the_bucket_too(bucket, trouble_plugin):
    trial = trouble_plugin.trouble(steps=60, fault="diverge", restarts=1, pause=0.01)
    first = Attempt(trial, Conditions(checkpoint_dir=bucket))
    while not first.restarts.entries:
        first.advance(0.001)
    assert RemoteFolder(bucket).names("") == {f"{trial.id}.restarts.json"}
    second = Attempt(trial, Conditions(checkpoint_dir=bucket))
    assert second.restarts == first.restarts
    assert content(ended(second)) == content(run_trial(trial))


def test_a_checkpoint_in_the_bucket_that_is_of_no_use_is_dropped(bucket, tmp_path, trouble_plugin):
    trial = trouble_plugin.trouble()
    (tmp_path / "bad").write_text("no checkpoint")
    RemoteFolder(bucket).put(f"{trial.id}.pt", tmp_path / "bad")
    attempt = Attempt(trial, Conditions(checkpoint_dir=bucket))
    assert (attempt.step, attempt.ending) == (0, None)
    assert RemoteFolder(bucket).names("") == set()


def test_a_server_that_goes_away_stops_the_attempt_or_ends_it_as_an_error(
    bucket, monkeypatch, left_here, trouble_plugin
):
    trial, conditions = trouble_plugin.trouble(steps=60, pause=0.005), Conditions(checkpoint_dir=bucket)
    attempt = advanced(trial, conditions)

    def away(*_):
        raise OSError(5, "the server does not answer")

    monkeypatch.setattr(RemoteFolder, "put", away)
    attempt.save()
    assert attempt.unsaved == f"Cannot write the results in {bucket}: the server does not answer."
    monkeypatch.setattr(RemoteFolder, "get", away)
    row = Attempt(trial, conditions).record().row
    assert (row.outcome, "the server does not answer" in row.reason) == ("error", True)
    assert "endpoint_override" not in row.reason + row.log_tail
    assert left_here() == []


def test_only_the_checkpoints_of_finished_trials_are_forgotten(bucket, tmp_path):
    (tmp_path / "file").write_text("state")
    for name in ("aa.pt", "aa.restarts.json", "ab.pt"):
        RemoteFolder(bucket).put(name, tmp_path / "file")
    forget_checkpoints(bucket, ["aa", "zz"])
    assert RemoteFolder(bucket).names("") == {"ab.pt"}


# The command line.


def test_files_that_show_a_bucket_are_written_to_a_directory_of_its_name():
    assert output_folder("s3://lab/a/../b?region=eu") == Path("results/remote/lab/a/b")
    assert output_folder("elsewhere") == Path("elsewhere")


@pytest.mark.parametrize("verb", [["status"], ["run", "toy-demo"], ["plan", "toy-demo"], ["show", "abc"], ["list"],
                                  ["render", "table2"], ["report"], ["replay", "abc"]])  # fmt: skip
def test_every_verb_answers_a_refusal_in_one_line(verb, s3_endpoint, capsys):
    address = f"s3://nowhere/x?endpoint_override={s3_endpoint}&scheme=http&region=us-east-1"
    assert main([*verb, "--results-dir", address]) == 2
    err = capsys.readouterr().err
    assert len(err.splitlines()) == 1
    assert re.search(r"^vera: .*s3://nowhere/x.*there is no such bucket", err)


def test_results_in_a_bucket_are_rendered_and_reported_like_those_in_a_directory(
    bucket, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    ships, mine = Store(ROOT / "results" / "published" / "trials"), Store("mine/trials")
    for row in [row for row in ships.rows() if row.sweep == "table2"]:
        mine.write(Record(row, ships.curves(row.trial_id), ships.arrays(row.trial_id)))
    assert Store(within(bucket, "trials")).merge("mine/trials") == 22
    for place in ("mine", bucket):
        assert main(["render", "table2", "--from", "local", "--results-dir", place]) == 0
        assert str(output_folder(place) / "tables" / "table2.md") in capsys.readouterr().out
    tables = [(output_folder(place) / "tables" / "table2.md").read_text() for place in ("mine", bucket)]
    assert tables[0] == tables[1]
    assert main(["report", "--from", "local", "--results-dir", bucket]) == 0
    assert (output_folder(bucket) / "report.html").is_file()


def test_a_sweep_in_a_bucket_survives_its_driver_and_runs_once(
    bucket, tmp_path, capsys, monkeypatch, trouble_plugin
):
    """Killed as soon as a checkpoint is in the bucket, then run again: it goes on; then again: nothing
    runs."""
    log, (trial,) = tmp_path / "log", find_sweep("patience").trials("laptop", range(1))
    command = (
        "run",
        "patience",
        "--seeds",
        "1",
        "--plugin",
        str(PLUGIN),
        "--results-dir",
        bucket,
        "--checkpoint-every",
        "0",
    )
    driver = start(*command, TROUBLE_LOG=log)
    checkpoints = RemoteFolder(within(bucket, "checkpoints"))
    wait_for(lambda: checkpoints.names(""), driver)
    os.kill(driver.pid, signal.SIGKILL)
    driver.communicate()
    wait_for(lambda: not any(alive(pid) for pid, *_ in read_log(log)))
    assert Store(within(bucket, "trials")).rows() == []

    code, out, err = vera(*command, TROUBLE_LOG=log)
    assert (code, err) == (0, "")
    assert f"1 of 1 trials are done and in {bucket}" in out
    before, after = processes_of(log, 0).values()
    assert 1 < after[0] <= before[-1] + 1
    row = Store(within(bucket, "trials")).row(trial.id)
    assert (row.outcome, row.attempt) == ("ok", 1)
    assert checkpoints.names("") == set()

    monkeypatch.setattr("bench.cli.verbs.run._execute", lambda *_: pytest.fail("something ran"))
    assert main(list(command)) == 0
    assert "1 trial · 1 already done" in capsys.readouterr().out
    assert main(["status", "--results-dir", bucket]) == 0
    assert re.search(r"patience +smoke +ok +1", capsys.readouterr().out)
    assert main(["show", trial.id[:8], "--results-dir", bucket]) == 0
    assert trial.id in capsys.readouterr().out
