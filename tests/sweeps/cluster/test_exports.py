"""Exports through Ray's callbacks: TensorBoard, MLflow in a local file store, and W&B offline."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from cluster_helpers import WANDB, run_here
from engine_helpers import ROOT
from facts import raises_with
from ray import tune

from sweeps.cluster.callbacks import TolerantCallback
from sweeps.cluster.exports import MLFLOW_LIMITS, Exports
from sweeps.errors import EngineError
from vera.errors import MissingExtra

SCALARS = ("ray/tune/metrics/loss", "ray/tune/metrics/test_log_likelihood")


def test_all_exports_of_a_run(tmp_path, monkeypatch, shared_ray):
    monkeypatch.chdir(tmp_path)
    for name, value in (WANDB | {"MLFLOW_ALLOW_FILE_STORE": "true"}).items():
        monkeypatch.setenv(name, value)
    exports = ("--tensorboard", "events", "--mlflow", f"file://{tmp_path}/mlruns", "--wandb", "a-project")
    trials = ("--profile", "smoke", "--only", "method=ml", "--seeds", 2)
    code, _, err = run_here("run", "toy-demo", *trials, "--results-dir", tmp_path / "results", *exports)
    assert (code, err) == (0, "")
    events = {path.parent.name: path for path in (tmp_path / "events").rglob("events.out.tfevents.*")}
    assert sorted(name.rpartition("-")[0] for name in events) == ["ML-seed0", "ML-seed1"]
    for path in events.values():  # the names of scalars are plain text in an event file
        assert [name for name in SCALARS if name.encode() not in path.read_bytes()] == []
    runs = list((tmp_path / "mlruns").glob("*/*/metrics/metrics/test_log_likelihood"))
    assert len(runs) == 2
    for run in runs:
        for _, value, step in map(str.split, run.read_text().splitlines()):
            assert float(value) < 0
            assert step == "60"
    assert len(list(tmp_path.glob("wandb/offline-run-*/*.wandb"))) == 2
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    secret = WANDB["WANDB_API_KEY"].encode()
    assert [path.name for path in files if secret in path.read_bytes()] == []
    parameters = [path for path in files if "params" in path.parts]
    assert parameters
    assert [path for path in parameters if str(tmp_path) in path.read_text()] == [], "no paths are exported"


def test_our_modules_import_no_export_package():
    """Ray itself tries to import some of them for its usage statistics."""
    modules = "sweeps.cluster.exports, sweeps.cluster.execute, bench.cli.main"
    script = f"import sys, {modules}; print({{'mlflow', 'wandb', 'tensorboardX'}} & {{*sys.modules}})"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "set()"


def test_a_missing_package_is_named_before_anything_runs(monkeypatch):
    monkeypatch.setattr("vera.extras.find_spec", lambda name: None)
    with raises_with(MissingExtra, "--wandb", "package wandb", "pip install 'vera[exports]'"):
        Exports(wandb="a-project").check()


def test_an_unusable_tracking_store_is_named_before_anything_runs(tmp_path, monkeypatch):
    monkeypatch.delenv("MLFLOW_ALLOW_FILE_STORE", raising=False)
    (tmp_path / "taken").write_text("not a folder")
    uri = f"file://{tmp_path}/taken"
    code, _, err = run_here(
        "run", "toy-demo", "--profile", "smoke", "--results-dir", tmp_path, "--mlflow", uri
    )
    assert code == 2
    assert f"--mlflow {uri}" in err
    assert not list(Path(tmp_path).rglob("rows/*.parquet"))


@pytest.mark.parametrize("uri", ["sqlite:///{}/taken", "mysql://nobody@127.0.0.1:1/none", "x:y"])
def test_an_address_that_is_no_tracking_store_is_one_line(uri, tmp_path, monkeypatch):
    """A driver of a database raises errors of its own, or is not installed."""
    monkeypatch.delenv("MLFLOW_ALLOW_FILE_STORE", raising=False)
    (tmp_path / "taken").write_text("not a database")
    uri = uri.format(tmp_path)
    with raises_with(EngineError, f"--mlflow {uri}"):
        Exports(mlflow=uri).check()


def test_a_missing_wandb_key_is_named_before_anything_runs(monkeypatch, tmp_path):
    for name in ("WANDB_MODE", "WANDB_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    with raises_with(EngineError, "--wandb", "WANDB_API_KEY", "wandb login"):
        Exports(wandb="a-project").check()


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "taken").write_text("a file")
    folder = str(tmp_path / "taken" / "events")
    with raises_with(EngineError, f"--tensorboard {folder}"):
        Exports(tensorboard=folder).check()


class BrokenCallback(tune.Callback):
    calls = 0

    def on_trial_result(self, **info):
        self.calls += 1
        raise ConnectionError("the server is gone")


def test_a_failing_export_is_switched_off_with_one_warning(capsys):
    callback = TolerantCallback(BrokenCallback())
    callback.on_trial_result(iteration=1)
    callback.on_trial_result(iteration=2)
    assert callback.inner.calls == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "BrokenCallback" in line
    assert "ConnectionError: the server is gone" in line


@pytest.mark.parametrize("retries", [None, "3"])
def test_the_first_request_to_a_tracking_server_is_short_unless_the_user_sets_limits(retries, monkeypatch):
    seen = {}

    class Client:
        def __init__(self, tracking_uri): ...

        def search_experiments(self, max_results):
            seen.update(os.environ)

    monkeypatch.setattr("mlflow.tracking.MlflowClient", Client)
    for name in MLFLOW_LIMITS:
        monkeypatch.delenv(name, raising=False)
    if retries:
        monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", retries)
    Exports(mlflow="http://127.0.0.1:1").check()
    own = {"MLFLOW_HTTP_REQUEST_MAX_RETRIES": retries} if retries else {}
    assert {name: seen[name] for name in MLFLOW_LIMITS} == MLFLOW_LIMITS | own
    assert os.environ.get("MLFLOW_HTTP_REQUEST_MAX_RETRIES") == retries, "the run itself has no such limit"
    assert "MLFLOW_HTTP_REQUEST_TIMEOUT" not in os.environ
