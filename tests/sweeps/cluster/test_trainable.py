"""A worker without a cluster: it stores its trial, or reports why the trial differs on this node."""

import errno
from dataclasses import asdict, replace
from types import SimpleNamespace

import pytest
from facts import raises_with
from store_helpers import refuse

from sweeps.cluster.callbacks import ListenerCallback
from sweeps.cluster.engine import Engine, build_job
from sweeps.cluster.execute import ensure_rows
from sweeps.cluster.trainable import TrialTrainable
from sweeps.errors import StoreError
from sweeps.run import provenance
from sweeps.run.conditions import Conditions
from sweeps.run.progress import TrialListener
from sweeps.store.store import Store
from sweeps.trial import identity
from sweeps.trial.identity import Trial
from vera.errors import DataMissing

FINGERPRINT = "vera.tasks.build.compute_fingerprint"


@pytest.fixture
def build_worker(tmp_path):
    """Builds a worker that has begun a job; its store is empty."""
    Store(tmp_path / "store")

    def build(job):
        worker = TrialTrainable.__new__(TrialTrainable)
        conditions = Conditions(checkpoint_dir=str(tmp_path / "checkpoints"))
        store = str(tmp_path / "store")
        worker.settings = {"conditions": asdict(conditions), "store": store, "plugins": []}
        worker._begin({"job": job})
        return worker

    return build


def test_a_worker_stores_its_trial(build_worker, trouble_plugin, tmp_path):
    trial = trouble_plugin.trouble(label="mine")
    worker = build_worker(build_job(trial, 2, 0.0))
    while not (report := worker.step())["done"]:
        pass
    (row,) = Store(tmp_path / "store").read_rows()
    assert (report["trial"], report["outcome"]) == (trial.id, "ok")
    assert (row.trial_id, row.outcome, row.label, row.attempt) == (trial.id, "ok", "mine", 2)


def test_a_full_disk_while_the_model_is_written_loses_no_row(
    build_worker, trouble_plugin, tmp_path, monkeypatch
):
    trial = trouble_plugin.trouble()
    job, store = build_job(trial, 1, 0.0), Store(tmp_path / "store")
    monkeypatch.setattr("sweeps.store.models._write_content", lambda content: refuse(errno.ENOSPC))
    worker, callback = build_worker(job), ListenerCallback(TrialListener(), store)
    while not (report := worker.step())["done"]:
        pass
    callback.on_trial_result(1, [], None, report)
    engine = Engine(tmp_path / "store", tmp_path / "checkpoints")
    with raises_with(StoreError, "1 trial", "No space left", f"vera replay {trial.id} --keep-model"):
        ensure_rows([(trial, job)], engine, callback, TrialListener(), store)
    assert [row.outcome for row in store.read_rows()] == ["ok"]
    assert store.models.list_sizes() == {}
    assert list((tmp_path / "store" / "models").iterdir()) == [], "no temporary file remains"


def test_a_worker_keeps_no_model_if_it_is_told_so(build_worker, trouble_plugin, tmp_path):
    trial = trouble_plugin.trouble()
    worker = build_worker(build_job(trial, 1, 0.0))
    worker.attempt.conditions = replace(worker.attempt.conditions, keep_model=False)
    while not worker.step()["done"]:
        pass
    store = Store(tmp_path / "store")
    assert ([row.outcome for row in store.read_rows()], store.models.list_sizes()) == (["ok"], {})


def test_a_trial_that_diverges_leaves_no_model_of_a_milestone(build_worker, trouble_plugin, tmp_path):
    trial, store = trouble_plugin.trouble(fault="diverge"), Store(tmp_path / "store")
    worker = build_worker(build_job(trial, 1, 0.0, [3]))
    worker.step()
    assert list(store.models.list_sizes()) == [trial.id], "a scheduler may stop it here"
    while not (report := worker.step())["done"]:
        pass
    assert (report["outcome"], store.models.list_sizes()) == ("diverged", {})


def test_data_that_differ_from_the_drivers_are_an_error(build_worker, trouble_plugin, tmp_path, monkeypatch):
    trial = trouble_plugin.trouble()
    job, expected = build_job(trial, 1, 0.0), trial.facts["data_fingerprint"]
    monkeypatch.setattr(FINGERPRINT, lambda spec: "0123456789abcdef")
    report = build_worker(job).step()
    (row,) = Store(tmp_path / "store").read_rows()
    assert (report["done"], report["trial"]) == (True, trial.id)
    assert (report["outcome"], report["trained_steps"]) == ("error", 0)
    assert (row.trial_id, row.outcome, row.data_fingerprint) == (trial.id, "error", expected)
    assert "0123456789abcdef" in row.reason
    assert expected in row.reason


def test_code_that_differs_from_the_drivers_is_an_error(build_worker, trouble_plugin, tmp_path, monkeypatch):
    trial = trouble_plugin.trouble()
    job = build_job(trial, 1, 0.0)
    monkeypatch.setattr(identity, "PROTOCOL", identity.PROTOCOL + 1)
    build_worker(job).step()
    (row,) = Store(tmp_path / "store").read_rows()
    assert (row.trial_id, row.outcome) == (trial.id, "error")
    assert replace(trial).id in row.reason
    assert "plug-in" in row.reason


def test_data_that_a_node_lacks_are_an_error(build_worker, trouble_plugin, tmp_path, monkeypatch):
    def fail(spec):
        raise DataMissing("there is no file points.npy")

    trial = trouble_plugin.trouble()
    job = build_job(trial, 1, 0.0)
    monkeypatch.setattr(FINGERPRINT, fail)
    build_worker(job).step()
    (row,) = Store(tmp_path / "store").read_rows()
    assert (row.trial_id, row.outcome) == (trial.id, "error")
    assert row.reason == "DataMissing: there is no file points.npy"


def test_a_trial_with_pinned_facts_equals_the_trial_if_nothing_differs(trouble_plugin):
    trial = trouble_plugin.trouble()
    pinned = Trial.from_pinned_facts(trial.facts)
    assert (pinned.id, pinned.facts, pinned.explain_difference()) == (trial.id, trial.facts, "")


def test_the_row_of_a_failed_trial_has_the_seconds_and_the_hardware_of_its_worker(
    build_worker, trouble_plugin, tmp_path, monkeypatch
):
    trial = trouble_plugin.trouble(steps=10_000, pause=0.001)
    job, store = build_job(trial, 1, 0.0), Store(tmp_path / "store")
    engine = Engine(tmp_path / "store", tmp_path / "checkpoints")
    monkeypatch.setattr(provenance, "read_processor", lambda device: "a processor elsewhere")
    provenance.collect_provenance.cache_clear()
    worker, callback = build_worker(job), ListenerCallback(TrialListener(), store)
    for _ in range(2):
        worker.attempt.advance(0.02)
        callback.on_trial_result(1, [], None, worker._build_report(done=False))
    monkeypatch.undo()
    provenance.collect_provenance.cache_clear()
    ensure_rows([(trial, job)], engine, callback, TrialListener(), store)
    (row,) = store.read_rows()
    attempt = worker.attempt
    assert (row.outcome, row.outcome_step, row.seconds) == ("error", attempt.step, attempt.seconds)
    assert row.seconds > 0
    assert (row.processor, row.started_at) == ("a processor elsewhere", attempt.started_at)


def test_only_the_first_report_describes_the_worker(build_worker, trouble_plugin):
    worker = build_worker(build_job(trouble_plugin.trouble(), 1, 0.0))
    assert ["worker" in worker._build_report(done=False) for _ in range(2)] == [True, False]


def test_a_checkpoint_that_cannot_be_used_is_noted_once(build_worker, trouble_plugin, tmp_path):
    trial = trouble_plugin.trouble(label="mine", seed=3)
    checkpoint = tmp_path / "checkpoints" / f"{trial.id}.pt"
    checkpoint.parent.mkdir()
    checkpoint.write_bytes(b"half a checkpo")
    job, notes = build_job(trial, 1, 0.0), []
    worker, listener = build_worker(job), TrialListener()
    listener.on_note = notes.append
    callback = ListenerCallback(listener, Store(tmp_path / "store"))
    while not (report := worker.step())["done"]:
        callback.on_trial_result(1, [], SimpleNamespace(config={"job": job}), report)
    callback.on_trial_result(1, [], SimpleNamespace(config={"job": job}), report)
    (note,) = notes
    assert "mine seed 3" in note
    assert "not a readable checkpoint" in note
    assert str(tmp_path) not in note
