"""A worker, without a cluster round it: it stores the trial that it was asked for, or says why it is another
one here."""

from dataclasses import asdict, replace

import pytest
from engine_helpers import plugin

from sweeps.cluster.callback import ListenerCallback
from sweeps.cluster.execute import Engine, Listener, close, job_for
from sweeps.cluster.trainable import TrialTrainable
from sweeps.run import provenance
from sweeps.run.conditions import Conditions
from sweeps.store.store import Store
from sweeps.trial import identity
from sweeps.trial.identity import Trial
from vera import tasks
from vera.errors import DataMissing

pytestmark = pytest.mark.usefixtures("trouble_plugin")


@pytest.fixture
def worker(tmp_path):
    """One that has begun with a job; its store is empty."""
    Store(tmp_path / "store")

    def begun(job):
        made = TrialTrainable.__new__(TrialTrainable)
        conditions = Conditions(checkpoint_dir=str(tmp_path / "checkpoints"))
        made.site = {"conditions": asdict(conditions), "store": str(tmp_path / "store"), "plugins": []}
        made._begin({"job": job})
        return made

    return begun


def test_a_worker_stores_the_trial_that_it_was_asked_for(worker, tmp_path):
    trial = plugin().trouble(label="mine")
    made = worker(job_for(trial, 2, 0.0))
    while not (report := made.step())["done"]:
        pass
    (row,) = Store(tmp_path / "store").rows()
    assert (report["trial"], report["outcome"]) == (trial.id, "ok")
    assert (row.trial_id, row.outcome, row.label, row.attempt) == (trial.id, "ok", "mine", 2)


def test_data_that_differ_from_the_drivers_are_an_error_of_the_trial_that_was_asked_for(
    worker, tmp_path, monkeypatch
):
    trial = plugin().trouble()
    job, asked = job_for(trial, 1, 0.0), trial.facts["data_fingerprint"]
    monkeypatch.setattr(tasks, "data_fingerprint", lambda spec: "0123456789abcdef")
    report = worker(job).step()
    (row,) = Store(tmp_path / "store").rows()
    assert (report["done"], report["trial"], report["outcome"], report["trained_steps"]) == (
        True,
        trial.id,
        "error",
        0,
    )
    assert (row.trial_id, row.outcome, row.data_fingerprint) == (trial.id, "error", asked)
    assert row.reason == (
        f"the data on this node differ from the driver's: their fingerprint is 0123456789abcdef here, {asked} there"
    )


def test_code_that_differs_from_the_drivers_is_an_error_too(worker, tmp_path, monkeypatch):
    trial = plugin().trouble()
    job = job_for(trial, 1, 0.0)
    monkeypatch.setattr(identity, "PROTOCOL", identity.PROTOCOL + 1)
    worker(job).step()
    (row,) = Store(tmp_path / "store").rows()
    assert (row.trial_id, row.outcome) == (trial.id, "error")
    assert row.reason == (
        f"the trial is another one on this node, {replace(trial).id}: the code or a plug-in differs from the driver's"
    )


def test_data_that_a_node_lacks_are_an_error_of_the_trial_that_was_asked_for(worker, tmp_path, monkeypatch):
    def lack(spec):
        raise DataMissing("there is no file points.npy")

    trial = plugin().trouble()
    job = job_for(trial, 1, 0.0)
    monkeypatch.setattr(tasks, "data_fingerprint", lack)
    worker(job).step()
    (row,) = Store(tmp_path / "store").rows()
    assert (row.trial_id, row.outcome, row.reason) == (
        trial.id,
        "error",
        "DataMissing: there is no file points.npy",
    )


def test_a_trial_as_told_is_the_trial_itself_where_nothing_differs():
    trial = plugin().trouble()
    told = Trial.as_told(trial.facts)
    assert (told.id, told.facts, told.difference_here()) == (trial.id, trial.facts, "")


def test_the_row_of_a_lost_trial_has_the_seconds_and_the_hardware_of_its_worker(
    worker, tmp_path, monkeypatch
):
    trial = plugin().trouble(steps=10_000, pause=0.001)
    job, store = job_for(trial, 1, 0.0), Store(tmp_path / "store")
    engine = Engine(tmp_path / "store", tmp_path / "checkpoints")
    monkeypatch.setattr(provenance, "processor", lambda device: "a processor elsewhere")
    provenance.provenance.cache_clear()
    made, callback = worker(job), ListenerCallback(Listener(), store)
    for _ in range(2):
        made.attempt.advance(0.02)
        callback.on_trial_result(1, [], None, made._report(done=False))
    monkeypatch.undo()
    provenance.provenance.cache_clear()
    close([(trial, job)], engine, callback, Listener(), store)
    (row,) = store.rows()
    assert (row.outcome, row.outcome_step, row.seconds) == ("error", made.attempt.step, made.attempt.seconds)
    assert row.seconds > 0
    assert (row.processor, row.started_at) == ("a processor elsewhere", made.attempt.started_at)


def test_a_worker_introduces_itself_once(worker):
    made = worker(job_for(plugin().trouble(), 1, 0.0))
    assert [made._report(done=False).keys() & {"worker"} for _ in range(2)] == [{"worker"}, set()]
