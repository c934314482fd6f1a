"""Trials whose rows cannot be stored are refused before training; a row that cannot be written does not
affect the others."""

import json
from types import SimpleNamespace

import pytest
from engine_helpers import PLUGIN, plugin
from facts import raises_with

from bench.cli.main import main
from sweeps.cluster.engine import Engine, build_job
from sweeps.cluster.execute import ensure_rows, execute
from sweeps.cluster.search_run import SearchOptions, run_search
from sweeps.errors import StoreError
from sweeps.run.progress import TrialListener
from sweeps.run.record import check_storable
from sweeps.search.declaration import Search
from sweeps.search.objective import Objective
from sweeps.search.space import Space, choice
from sweeps.store.store import Store

pytestmark = pytest.mark.usefixtures("trouble_plugin")

PATH = "/data/points.npy"


def trouble_search(*axes):
    objective = Objective("test_log_likelihood", worst=-50.0)
    return Search(
        "trouble", "for these tests", lambda profile: plugin().trouble(), Space(axes), (objective,), (0,)
    )


@pytest.fixture
def engine(tmp_path, monkeypatch):
    """An engine that fails the test if it starts a cluster."""
    for function in ("sweeps.cluster.execute.open_cluster", "sweeps.cluster.search_run.open_cluster"):
        monkeypatch.setattr(function, lambda *_: pytest.fail("a cluster was started"))
    return Engine(tmp_path / "trials", tmp_path / "checkpoints")


@pytest.mark.parametrize(
    ("settings", "facts"),
    [
        ({"fault": PATH}, ["spec", f"'{PATH}'"]),
        ({"label": "/home/x"}, ["label", "'/home/x'"]),
        ({"label": "half \ud800"}, ["surrogates"]),
    ],
)
def test_a_trial_that_cannot_be_stored_is_refused_before_training(engine, settings, facts):
    trials = [plugin().trouble(), plugin().trouble(seed=7, **settings)]
    with raises_with(StoreError, "trouble", "seed 7", *facts):
        execute(trials, engine)
    assert Store(engine.store).read_rows() == []


def test_a_label_in_a_spec_file_that_cannot_be_stored_is_refused_in_one_line(tmp_path, capsys):
    spec = plugin().trouble().spec.to_dict()
    (tmp_path / "mine.json").write_text(json.dumps({"label": "/home/x", "profile": "smoke", "spec": spec}))
    flags = ["--plugin", str(PLUGIN), "--results-dir", str(tmp_path)]
    assert main(["run", f"spec:{tmp_path / 'mine.json'}", *flags]) == 2
    err = capsys.readouterr().err
    assert "label" in err
    assert "'/home/x'" in err
    assert len(err.splitlines()) == 1


def test_a_choice_of_a_search_that_cannot_be_stored_is_refused_before_training(engine):
    search = trouble_search(
        choice("method.fault", values=("none", "raise", PATH)), choice("batch_size", values=(10, 20))
    )
    with raises_with(StoreError, "spec", f"'{PATH}'"):
        run_search(search, "smoke", SearchOptions("random", "none", 1), engine)


def test_every_choice_of_every_axis_is_checked():
    search = trouble_search(
        choice("method.fault", values=("none", "raise", "die")), choice("batch_size", values=(10, 20))
    )
    seen = [
        (trial.spec.method["fault"], trial.spec.batch_size) for trial in search.list_choice_trials("smoke")
    ]
    assert seen == [("none", 10), ("raise", 20), ("die", 10)]
    assert [trial.spec.batch_size for trial in trouble_search().list_choice_trials("smoke")] == [50]


def test_relative_paths_and_ordinary_labels_can_be_stored():
    check_storable([plugin().trouble(label="a/b ~ 1/2", fault="points.npy")])


def test_a_failed_trial_whose_row_cannot_be_written_does_not_affect_the_others(engine, monkeypatch):
    trials = [plugin().trouble(seed=seed) for seed in range(3)]
    store, write = Store(engine.store), Store.write

    def refuse_the_first(self, record):
        if record.row.trial_id == trials[0].id:
            raise StoreError("no room for it")
        write(self, record)

    monkeypatch.setattr(Store, "write", refuse_the_first)
    callback = SimpleNamespace(errors={}, last_reports={}, model_errors={})
    with raises_with(StoreError, "no room for it"):
        ensure_rows(
            [(trial, build_job(trial, 1, 0.0)) for trial in trials], engine, callback, TrialListener(), store
        )
    assert {row.trial_id for row in store.read_rows()} == {trial.id for trial in trials[1:]}
