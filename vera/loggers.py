"""Ready-made loggers: the metrics of a run in TensorBoard or Weights & Biases.

    with TensorBoardLogger("runs/first") as logger:
        Trainer(method, x, steps=1_000, on_log=logger.log_training, on_evaluate=logger.log_evaluation).run()

Metrics of training are named `training/loss`, those of evaluations `evaluation/...`. The packages are
imported when a logger is made. Sweeps export through Ray instead (`sweeps/cluster/exports.py`).
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from vera.errors import VeraError
from vera.extras import explain_missing, require_package


class MetricLogger(ABC):
    """Writes rows of metrics. `log_training` is for `on_log`, `log_evaluation` for `on_evaluate`."""

    def log_training(self, step: int, metrics: Mapping[str, float]) -> None:
        """Write the mean metrics of a block of steps."""
        self.write(step, {f"training/{name}": value for name, value in metrics.items()})

    def log_evaluation(self, step: int, metrics: Mapping[str, float]) -> None:
        """Write the results of an evaluation."""
        self.write(step, {f"evaluation/{name}": value for name, value in metrics.items()})

    @abstractmethod
    def write(self, step: int, metrics: Mapping[str, float]) -> None:
        """Write numbers under their full names."""

    @abstractmethod
    def close(self) -> None:
        """Write what is pending and end. Calling it again does nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class TensorBoardLogger(MetricLogger):
    """Writes TensorBoard's event files into a folder; view them with `tensorboard --logdir FOLDER`."""

    def __init__(self, folder: str | Path) -> None:
        self._writer = _import_summary_writer()(str(folder))

    def write(self, step: int, metrics: Mapping[str, float]) -> None:
        for name, value in metrics.items():
            self._writer.add_scalar(name, value, step)
        self._writer.flush()

    def close(self) -> None:
        self._writer.close()


class WandbLogger(MetricLogger):
    """Logs to a project of Weights & Biases.

    `options` go to `wandb.init`: `name`, `config`, `dir`, ... With `mode="offline"` or WANDB_MODE=offline
    nothing leaves this machine. The key comes from WANDB_API_KEY or `wandb login`.
    """

    def __init__(self, project: str, **options: Any) -> None:
        with explain_missing("WandbLogger"):
            import wandb
        try:
            self._run = wandb.init(project=project, **options)
        except Exception as error:  # wandb and its service raise many kinds
            reason = (str(error) or type(error).__name__).splitlines()[0]
            raise VeraError(
                f"Weights & Biases cannot be used: {reason}\n"
                "Set WANDB_API_KEY or run `wandb login`, or keep the run here with mode='offline'."
            ) from error

    def write(self, step: int, metrics: Mapping[str, float]) -> None:
        self._run.log(dict(metrics), step=step)

    def close(self) -> None:
        self._run.finish()


def _import_summary_writer() -> Any:
    """The writer of tensorboardX or, if that is missing, of torch and tensorboard."""
    try:
        from tensorboardX import SummaryWriter
    except ImportError:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            require_package("tensorboardX", "TensorBoardLogger")
            raise
    return SummaryWriter
