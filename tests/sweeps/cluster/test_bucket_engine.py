"""Trials with results and checkpoints in a bucket: saved, resumed, and read by every verb."""

import os
import re
import signal
import tempfile
from pathlib import Path

import pytest
from cluster_helpers import is_alive, read_log, read_processes, run_here
from engine_helpers import PLUGIN, ROOT, content, start, wait_for

from bench.cli.selection.stores import find_output_folder
from sweeps.run.attempt import Attempt, run_trial
from sweeps.run.checkpoint_store import delete_checkpoints
from sweeps.run.conditions import Conditions
from sweeps.store.bucket_folder import BucketFolder
from sweeps.store.location import join_location
from sweeps.store.row import Record
from sweeps.store.store import Store
from sweeps.trial.sweep import find_sweep


@pytest.fixture
def list_left(tmp_path, monkeypatch):
    """Lists the files that attempts have left on this machine."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return lambda: list(tmp_path.glob("vera-*"))


def start_and_save(trial, conditions):
    attempt = Attempt(trial, conditions)
    while attempt.step < 6:
        attempt.advance(0.001)
    attempt.save()
    assert attempt.save_error is None
    return attempt


def finish_attempt(attempt):
    while attempt.ending is None:
        attempt.advance(1.0)
    return attempt.record()


# Checkpoints, without Ray.


def test_a_trial_continues_from_the_bucket_and_leaves_no_file(bucket, list_left, trouble_plugin):
    trial, conditions = trouble_plugin.trouble(steps=60, pause=0.005), Conditions(checkpoint_dir=bucket)
    first = start_and_save(trial, conditions)
    assert BucketFolder(bucket).list_names("") == {f"{trial.id}.pt"}
    assert list_left() == []
    second = Attempt(trial, conditions)
    assert second.step == first.step
    assert content(finish_attempt(second)) == content(run_trial(trial))
    second.checkpoints.delete()
    assert BucketFolder(bucket).list_names("") == set()
    assert list_left() == []


def test_the_log_of_restarts_is_in_the_bucket(bucket, trouble_plugin):
    trial = trouble_plugin.trouble(steps=60, fault="diverge", restarts=1, pause=0.01)
    first = Attempt(trial, Conditions(checkpoint_dir=bucket))
    while not first.restarts.entries:
        first.advance(0.001)
    assert BucketFolder(bucket).list_names("") == {f"{trial.id}.restarts.json"}
    second = Attempt(trial, Conditions(checkpoint_dir=bucket))
    assert second.restarts == first.restarts
    assert content(finish_attempt(second)) == content(run_trial(trial))


def test_an_unreadable_checkpoint_in_the_bucket_is_dropped(bucket, tmp_path, trouble_plugin):
    trial = trouble_plugin.trouble()
    (tmp_path / "bad").write_text("no checkpoint")
    BucketFolder(bucket).put(f"{trial.id}.pt", tmp_path / "bad")
    attempt = Attempt(trial, Conditions(checkpoint_dir=bucket))
    assert (attempt.step, attempt.ending) == (0, None)
    assert BucketFolder(bucket).list_names("") == set()


def test_an_unreachable_server_stops_the_attempt_or_ends_it_as_an_error(
    bucket, monkeypatch, list_left, trouble_plugin
):
    trial, conditions = trouble_plugin.trouble(steps=60, pause=0.005), Conditions(checkpoint_dir=bucket)
    attempt = start_and_save(trial, conditions)

    def fail(*_):
        raise OSError(5, "the server does not answer")

    monkeypatch.setattr(BucketFolder, "put", fail)
    attempt.save()
    assert [fact for fact in (bucket, "the server does not answer") if fact not in attempt.save_error] == []
    monkeypatch.setattr(BucketFolder, "get", fail)
    row = Attempt(trial, conditions).record().row
    assert (row.outcome, "the server does not answer" in row.reason) == ("error", True)
    assert "endpoint_override" not in row.reason + row.log_tail
    assert list_left() == []


def test_only_the_checkpoints_of_finished_trials_are_deleted(bucket, tmp_path):
    (tmp_path / "file").write_text("state")
    for name in ("aa.pt", "aa.restarts.json", "ab.pt"):
        BucketFolder(bucket).put(name, tmp_path / "file")
    delete_checkpoints(bucket, ["aa", "zz"])
    assert BucketFolder(bucket).list_names("") == {"ab.pt"}


# The command line.


def test_rendered_files_of_a_bucket_go_to_a_directory_of_its_name():
    assert find_output_folder("s3://lab/a/../b?region=eu") == Path("results/remote/lab/a/b")
    assert find_output_folder("elsewhere") == Path("elsewhere")


@pytest.mark.parametrize(
    "verb",
    ["status", "run toy-demo", "plan toy-demo", "show abc", "list", "render table2", "report", "replay abc"],
)
def test_every_verb_reports_a_missing_bucket_in_one_line(verb, s3_endpoint):
    address = f"s3://nowhere/x?endpoint_override={s3_endpoint}&scheme=http&region=us-east-1"
    code, _, err = run_here(*verb.split(), "--results-dir", address)
    assert code == 2
    assert len(err.splitlines()) == 1
    assert re.search(r"^vera: .*s3://nowhere/x.*no such bucket", err)


def test_results_in_a_bucket_are_rendered_like_those_in_a_directory(bucket, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    published, own = Store(ROOT / "results" / "published" / "trials"), Store("mine/trials")
    rows = [row for row in published.read_rows() if row.sweep == "table2"]
    for row in rows:
        own.write(Record(row, published.read_curves(row.trial_id), published.read_arrays(row.trial_id)))
    assert Store(join_location(bucket, "trials")).merge("mine/trials") == len(rows) > 0
    tables = []
    for place in ("mine", bucket):
        code, out, _ = run_here("render", "table2", "--from", "local", "--results-dir", place)
        file = find_output_folder(place) / "tables" / "table2.md"
        assert code == 0
        assert str(file) in out
        tables.append(file.read_text())
    assert tables[0] == tables[1]
    assert run_here("report", "--from", "local", "--results-dir", bucket)[0] == 0
    assert (find_output_folder(bucket) / "report.html").is_file()


@pytest.mark.long
def test_a_sweep_in_a_bucket_survives_its_driver_and_runs_once(
    bucket, tmp_path, monkeypatch, trouble_plugin, shared_ray
):
    """The driver is killed as soon as a checkpoint is in the bucket. The second run continues from it, and
    the third runs nothing."""
    log, (trial,) = tmp_path / "log", find_sweep("patience").trials("laptop", range(1))
    flags = ("--plugin", PLUGIN, "--checkpoint-every", 0)
    command = ("run", "patience", "--seeds", 1, "--results-dir", bucket, *flags)
    driver = start(*command, TROUBLE_LOG=log)
    checkpoints = BucketFolder(join_location(bucket, "checkpoints"))
    wait_for(lambda: checkpoints.list_names(""), driver)
    os.kill(driver.pid, signal.SIGKILL)
    driver.communicate()
    wait_for(lambda: not any(is_alive(pid) for pid, *_ in read_log(log)))
    assert Store(join_location(bucket, "trials")).read_rows() == []

    code, out, err = run_here(*command)
    assert (code, err) == (0, "")
    assert "1 of 1" in out
    assert bucket in out
    (before,), (after,) = (read_processes(file, 0).values() for file in (log, shared_ray.log))
    assert 1 < after[0] <= before[-1] + 1
    row = Store(join_location(bucket, "trials")).read_row(trial.id)
    assert (row.outcome, row.attempt) == ("ok", 1)
    assert checkpoints.list_names("") == set()

    monkeypatch.setattr("bench.cli.verbs.run._execute", lambda *_: pytest.fail("something ran"))
    code, out, _ = run_here(*command)
    assert code == 0
    assert "1 trial · 1 already done" in out
    assert re.search(r"patience +smoke +ok +1", run_here("status", "--results-dir", bucket)[1])
    assert trial.id in run_here("show", trial.id[:8], "--results-dir", bucket)[1]
    assert trial.id[:8] in run_here("models", "--results-dir", bucket)[1]
    sample = ("sample", trial.id[:8], "-n", 3, "-o", tmp_path / "samples.npy", "--results-dir", bucket)
    assert run_here(*sample, "--plugin", PLUGIN)[0] == 0
    assert run_here("models", "prune", "--yes", "--results-dir", bucket)[0] == 0
    assert Store(join_location(bucket, "trials")).models.list_sizes() == {}
