"""Exports on request: TensorBoard, MLflow and Weights & Biases, through Ray's own callbacks.

None is required, and none is imported unless it was asked for. The store stays the truth; these are copies to
look at. Keys come from the environment (WANDB_API_KEY, MLFLOW_TRACKING_TOKEN), never from a flag, so that
none can end up in a row or a log.

Trap: Ray's TensorBoard callback writes into Tune's own trial folders, so these must lie where the user wants
the event files.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sweeps.errors import EngineError

ONE_QUESTION = {"MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1", "MLFLOW_HTTP_REQUEST_TIMEOUT": "20"}
"""How long a tracking server may take to answer at all, in seconds, unless the user has said so."""
PACKAGES = {"tensorboard": "tensorboardX", "mlflow": "mlflow", "wandb": "wandb"}


@dataclass(frozen=True)
class Exports:
    """Where copies of the trials' histories go; None for nowhere."""

    tensorboard: str | None = None
    """A directory for TensorBoard's event files."""
    mlflow: str | None = None
    """A tracking URI: a server, or a local store such as sqlite:///runs.db."""
    wandb: str | None = None
    """A project; WANDB_MODE=offline keeps it on this machine."""

    def check(self) -> None:
        """Say what is missing before anything runs: a package, or a tracking store that answers."""
        for name, package in PACKAGES.items():
            if getattr(self, name) is not None and find_spec(package) is None:
                raise EngineError(
                    f"--{name} needs the package {package}, which is not installed: pip install 'vera[exports]'"
                )
        if self.tensorboard is not None:
            _make_folder(self.tensorboard)
        if self.mlflow is not None:
            _ask_mlflow(self.mlflow)
        if self.wandb is not None:
            _ask_wandb()

    def folder(self, otherwise: str) -> str:
        """Where Tune keeps its trial folders."""
        return otherwise if self.tensorboard is None else str(Path(self.tensorboard).resolve())

    def callbacks(self, experiment: str) -> list[Any]:
        """Ray's callbacks for what was asked, each so that its failure costs the export and not the run."""
        from sweeps.cluster.callback import Tolerant

        return [Tolerant(callback) for callback in self._callbacks(experiment)]

    def _callbacks(self, experiment: str) -> list[Any]:
        made: list[Any] = []
        if self.tensorboard is not None:
            from ray.tune.logger import TBXLoggerCallback

            made.append(TBXLoggerCallback())
        if self.mlflow is not None:
            from ray.air.integrations.mlflow import MLflowLoggerCallback

            made.append(MLflowLoggerCallback(tracking_uri=self.mlflow, experiment_name=experiment))
        if self.wandb is not None:
            from ray.air.integrations.wandb import WandbLoggerCallback

            # Without a directory it would write into Ray's own temporary files.
            folder = os.environ.get("WANDB_DIR") or os.getcwd()
            made.append(WandbLoggerCallback(project=self.wandb, group=experiment, dir=folder))
        return made


def _make_folder(path: str) -> None:
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EngineError(f"--tensorboard {path} cannot be used: {error}") from error


def _ask_wandb() -> None:
    """Ray asks for a key when the run has begun; so look for one first."""
    away = os.environ.get("WANDB_MODE") in ("offline", "disabled", "dryrun")
    if not (away or os.environ.get("WANDB_API_KEY") or (Path.home() / ".netrc").exists()):
        raise EngineError(
            "--wandb needs a key: set WANDB_API_KEY, or log in with `wandb login`, or set WANDB_MODE=offline."
        )


@contextmanager
def _impatient() -> Iterator[None]:
    """MLflow asks a server that is not there for minutes, without a word; a run that has begun may be as
    patient as that."""
    mine = {name: value for name, value in ONE_QUESTION.items() if name not in os.environ}
    os.environ |= mine
    try:
        yield
    finally:
        for name in mine:
            del os.environ[name]


def _ask_mlflow(uri: str) -> None:
    """MLflow refuses a store when it is first used, which would be in the middle of a run."""
    from mlflow.exceptions import MlflowException
    from mlflow.tracking import MlflowClient

    try:
        with _impatient():
            MlflowClient(tracking_uri=uri).search_experiments(max_results=1)
    except (MlflowException, OSError) as error:
        raise EngineError(f"--mlflow {uri} cannot be used: {str(error).splitlines()[0]}") from error
