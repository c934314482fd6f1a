"""Exports through Ray's callbacks: TensorBoard, MLflow in a local file store, W&B offline; and nothing of
them unless asked for."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from engine_helpers import ROOT

from bench.cli.main import main
from sweeps.cluster.exports import ONE_QUESTION, Exports
from sweeps.errors import EngineError

BLOCKED = """
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name in {"mlflow", "wandb", "tensorboardX"}:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Blocked())
"""


def run(folder, *flags, before="", **environment):
    """`vera run` of three tiny trials in a process of its own."""
    arguments = [
        "run",
        "toy-demo",
        "--profile",
        "smoke",
        "--seeds",
        "1",
        "--results-dir",
        str(folder / "results"),
        *flags,
    ]
    script = f"{before}\nimport sys; from bench.cli.main import main; sys.exit(main({arguments!r}))"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=folder, capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr


def test_all_three_at_once(tmp_path):
    store = f"file://{tmp_path}/mlruns"
    flags = ["--tensorboard", "events", "--mlflow", store, "--wandb", "a-project"]
    secret = "c0ffee" * 7  # as long as a key must be
    run(
        tmp_path,
        *flags,
        WANDB_MODE="offline",
        WANDB_SILENT="true",
        WANDB_API_KEY=secret,
        MLFLOW_ALLOW_FILE_STORE="true",
    )

    assert sorted(name.split("-")[0] for name in event_folders(tmp_path)) == ["ML", "PCD", "VERA"]
    assert scalars_of(tmp_path, "ML-seed0") >= {
        "ray/tune/metrics/loss",
        "ray/tune/metrics/test_log_likelihood",
    }
    runs = list((tmp_path / "mlruns").glob("*/*/metrics/metrics/test_log_likelihood"))
    assert len(runs) == 3
    assert all(
        float(line.split()[1]) < 0 and line.split()[2] == "60"
        for path in runs
        for line in path.read_text().splitlines()
    )
    assert len(list(tmp_path.glob("wandb/offline-run-*/*.wandb"))) == 3
    everything = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not [path.name for path in everything if secret.encode() in path.read_bytes()]
    exported = [path for path in everything if "params" in path.parts]
    assert exported
    assert not [path for path in exported if str(tmp_path) in path.read_text()], "paths are not exported"


def event_folders(folder):
    return {path.parent.name for path in (folder / "events").rglob("events.out.tfevents.*")}


def scalars_of(folder, name):
    """Names of the scalars in a trial's event files: they stand there as plain text."""
    (path,) = [
        path
        for path in (folder / "events").rglob("events.out.tfevents.*")
        if path.parent.name.startswith(name)
    ]
    content = path.read_bytes()
    names = ("ray/tune/metrics/loss", "ray/tune/metrics/test_log_likelihood")
    return {name for name in names if name.encode() in content}


def test_none_of_them_is_needed(tmp_path):
    run(tmp_path, before=BLOCKED)
    assert len(list(tmp_path.rglob("rows/*.parquet"))) == 3


def test_our_own_modules_load_none_of_them():
    """Ray itself tries to import some, to count who uses them."""
    script = "import sys, sweeps.cluster.exports, sweeps.cluster.execute, bench.cli.main; print({'mlflow', 'wandb', 'tensorboardX'} & {*sys.modules})"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "set()"


def test_a_package_that_is_missing_is_named_before_anything_runs(monkeypatch):
    monkeypatch.setattr("sweeps.cluster.exports.find_spec", lambda name: None)
    with pytest.raises(EngineError, match="--wandb needs the package wandb"):
        Exports(wandb="a-project").check()


def test_a_tracking_store_that_does_not_answer_is_named_before_anything_runs(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("MLFLOW_ALLOW_FILE_STORE", raising=False)
    (tmp_path / "taken").write_text("not a folder")
    arguments = [
        "run",
        "toy-demo",
        "--profile",
        "smoke",
        "--results-dir",
        str(tmp_path),
        "--mlflow",
        f"file://{tmp_path}/taken",
    ]
    assert main(arguments) == 2
    assert "--mlflow" in capsys.readouterr().err
    assert not list(Path(tmp_path).rglob("rows/*.parquet"))


def test_wandb_without_a_key_is_named_before_anything_runs(monkeypatch, tmp_path):
    for name in ("WANDB_MODE", "WANDB_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    with pytest.raises(EngineError, match="--wandb needs a key"):
        Exports(wandb="a-project").check()


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(EngineError, match="--tensorboard"):
        Exports(tensorboard=str(tmp_path / "taken" / "events")).check()


def test_an_export_that_fails_is_switched_off_with_one_warning(capsys):
    from ray import tune

    from sweeps.cluster.callback import Tolerant

    class Gone(tune.Callback):
        calls = 0

        def on_trial_result(self, **info):
            self.calls += 1
            raise ConnectionError("the server is gone")

    callback = Tolerant(Gone())
    callback.on_trial_result(iteration=1)
    callback.on_trial_result(iteration=2)
    assert callback.inner.calls == 1
    assert (
        capsys.readouterr().err.count("Gone failed and is switched off (ConnectionError: the server is gone)")
        == 1
    )


@pytest.mark.parametrize("retries", [None, "3"])
def test_a_tracking_server_is_asked_briefly_unless_the_user_wants_it_otherwise(retries, monkeypatch):
    asked = {}

    class Client:
        def __init__(self, tracking_uri): ...

        def search_experiments(self, max_results):
            asked.update(os.environ)

    monkeypatch.setattr("mlflow.tracking.MlflowClient", Client)
    for name in ONE_QUESTION:
        monkeypatch.delenv(name, raising=False)
    if retries:
        monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", retries)
    Exports(mlflow="http://127.0.0.1:1").check()
    assert {name: asked[name] for name in ONE_QUESTION} == ONE_QUESTION | (
        {"MLFLOW_HTTP_REQUEST_MAX_RETRIES": retries} if retries else {}
    )
    assert os.environ.get("MLFLOW_HTTP_REQUEST_MAX_RETRIES") == retries, "a run may be more patient"
    assert "MLFLOW_HTTP_REQUEST_TIMEOUT" not in os.environ
