"""A results directory with trained models: two densities of moons, a generator, and a classifier."""

import shutil

import pytest

from bench.catalogue import catalogue
from sweeps.run.attempt import run_attempt
from sweeps.run.conditions import Conditions
from sweeps.store.store import Store


@pytest.fixture(scope="session")
def trained_results(tmp_path_factory):
    """A results directory, and the ids of its trials by label."""
    folder, ids = tmp_path_factory.mktemp("trained"), {}
    store = Store(folder / "trials")
    moons = catalogue.sweep("toy-demo").trials("smoke", [0])
    wine = [trial for trial in catalogue.sweep("table6").trials("smoke", [0]) if trial.data == "wine"]
    for trial in (*moons, next(trial for trial in wine if trial.spec.method["name"] == "vera")):
        attempt = run_attempt(trial, Conditions())
        store.models.write(trial.id, attempt.encode_model())
        store.write(attempt.record())
        ids[trial.label if trial in moons else "wine"] = trial.id
    return folder, ids


@pytest.fixture
def ids(trained_results, tmp_path, monkeypatch):
    """The ids by label; the working directory has a copy of the results as its own."""
    shutil.copytree(trained_results[0], tmp_path / "results" / "local")
    monkeypatch.chdir(tmp_path)
    return trained_results[1]
