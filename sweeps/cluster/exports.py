"""Optional exports to TensorBoard, MLflow and Weights & Biases, through Ray's own callbacks.

None of the packages is required, and each is imported only when requested. The store stays the source of
truth; exports are copies for viewing. Keys come from the environment (WANDB_API_KEY, MLFLOW_TRACKING_TOKEN)
and never from a flag, so that none can end up in a row or a log.

Trap: Ray's TensorBoard callback writes into Tune's trial folders, so these must lie where the user wants the
event files.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sweeps.errors import EngineError
from vera.extras import require_package

MLFLOW_LIMITS = {"MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1", "MLFLOW_HTTP_REQUEST_TIMEOUT": "20"}
"""Retries and timeout in seconds of the first request to a tracking server, unless the user has set them."""
PACKAGES = {"tensorboard": "tensorboardX", "mlflow": "mlflow", "wandb": "wandb"}


@dataclass(frozen=True)
class Exports:
    """Where copies of the trials' histories go; None for no export."""

    tensorboard: str | None = None
    """A directory for TensorBoard's event files."""
    mlflow: str | None = None
    """A tracking URI: a server, or a local store such as sqlite:///runs.db."""
    wandb: str | None = None
    """A project; WANDB_MODE=offline keeps it on this machine."""

    def check(self) -> None:
        """Raise `MissingExtra` or `EngineError` before anything runs if an export cannot be used."""
        for name, package in PACKAGES.items():
            if getattr(self, name) is not None:
                require_package(package, f"--{name}")
        if self.tensorboard is not None:
            _make_folder(self.tensorboard)
        if self.mlflow is not None:
            _check_mlflow(self.mlflow)
        if self.wandb is not None:
            _check_wandb()

    def choose_folder(self, default: str) -> str:
        """Where Tune keeps its trial folders."""
        return default if self.tensorboard is None else str(Path(self.tensorboard).resolve())

    def build_callbacks(self, experiment: str) -> list[Any]:
        """Ray's callbacks for the requested exports. If one fails, the export ends and the run continues."""
        from sweeps.cluster.callbacks import TolerantCallback

        return [TolerantCallback(callback) for callback in self._build_ray_callbacks(experiment)]

    def _build_ray_callbacks(self, experiment: str) -> list[Any]:
        callbacks: list[Any] = []
        if self.tensorboard is not None:
            from ray.tune.logger import TBXLoggerCallback

            callbacks.append(TBXLoggerCallback())
        if self.mlflow is not None:
            from ray.air.integrations.mlflow import MLflowLoggerCallback

            callbacks.append(MLflowLoggerCallback(tracking_uri=self.mlflow, experiment_name=experiment))
        if self.wandb is not None:
            from ray.air.integrations.wandb import WandbLoggerCallback

            # Without a directory it would write into Ray's temporary files.
            folder = os.environ.get("WANDB_DIR") or os.getcwd()
            callbacks.append(WandbLoggerCallback(project=self.wandb, group=experiment, dir=folder))
        return callbacks


def _make_folder(path: str) -> None:
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EngineError(f"--tensorboard {path} cannot be used: {error}") from error


def _check_wandb() -> None:
    """Look for a key now; Ray would ask for one only after the run has started."""
    is_offline = os.environ.get("WANDB_MODE") in ("offline", "disabled", "dryrun")
    if not (is_offline or os.environ.get("WANDB_API_KEY") or (Path.home() / ".netrc").exists()):
        raise EngineError(
            "--wandb needs a key: set WANDB_API_KEY, or log in with `wandb login`, or set WANDB_MODE=offline."
        )


@contextmanager
def _limit_requests() -> Iterator[None]:
    """MLflow retries an unreachable server for minutes without a message. During a run this patience is
    right; for the first request it is not."""
    own = {name: value for name, value in MLFLOW_LIMITS.items() if name not in os.environ}
    os.environ |= own
    try:
        yield
    finally:
        for name in own:
            del os.environ[name]


def _check_mlflow(uri: str) -> None:
    """Query the tracking store now; MLflow would reject it in the middle of a run."""
    from mlflow.tracking import MlflowClient

    try:
        with _limit_requests():
            MlflowClient(tracking_uri=uri).search_experiments(max_results=1)
    except Exception as error:  # drivers of databases raise errors of their own, or are not installed
        reason = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
        raise EngineError(f"--mlflow {uri} cannot be used: {reason[:300]}") from error
