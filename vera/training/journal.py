"""The journal of a run: metric histories, evaluations, and the watch for divergence.

Metrics arrive as 0-d tensors and wait, unread, for the end of their block; one transfer then brings the whole
block to the host. A value that is not finite, or a loss beyond the limit, ends the run at the step where it
first stood, which is found inside the block. Nothing that is not finite is ever averaged, replaced or kept.
"""

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from vera.errors import VeraError


class DivergenceError(Exception):
    """A metric stopped being finite, or the loss left its bounds."""

    def __init__(self, step: int, reason: str) -> None:
        super().__init__(f"diverged at step {step}: {reason}")
        self.step, self.reason = step, reason


class Journal:
    """Means over blocks of `block` steps; `history` and `evaluations` are rows of plain numbers with a
    "step"."""

    def __init__(self, block: int, max_loss: float) -> None:
        self.block, self.max_loss = block, max_loss
        self.history: list[dict[str, float]] = []
        self.evaluations: list[dict[str, float]] = []
        self._names: list[str] = []
        self._waiting: list[dict[str, Tensor]] = []
        self._held = torch.empty(0, 0, dtype=torch.float64)

    def record(self, step: int, metrics: dict[str, Tensor], last: bool = False) -> None:
        if not isinstance(metrics, dict):
            raise VeraError(f"A method must report a dict of metrics, got {type(metrics).__name__}.")
        if "loss" not in metrics:
            raise VeraError(
                f"A method must report its loss at every step, got {', '.join(metrics) or 'nothing'}."
            )
        for name, value in metrics.items():
            if not isinstance(value, Tensor) or value.dim():
                raise VeraError(f"A method must report 0-d tensors, but {name} is {_no_scalar(name, value)}.")
        self._names = self._names or list(metrics)
        if metrics.keys() != set(
            self._names
        ):  # a mean over some steps of a block would pass for one over all
            odd = min(metrics.keys() ^ set(self._names), key=str)
            raise VeraError(
                f"A method must report the same metrics at every step; at step {step} '{odd}' is "
                f"{'new' if odd in metrics else 'missing'}. Where one is not computed, report it as it last was."
            )
        self._waiting.append(metrics)
        if last or step % self.block == 0:
            self._close_block(step)

    def check_pending(self, step: int) -> None:
        """Look at what waits in an unfinished block; raise if the run has diverged already."""
        if self._first_bad(self._collect()) is not None:
            self._close_block(step)

    def record_evaluation(self, step: int, values: Mapping[str, float]) -> None:
        try:
            numbers = {name: float(value) for name, value in values.items()}
        except (AttributeError, TypeError, ValueError) as error:
            raise VeraError(f"An evaluation must return names and numbers, got {values!r}.") from error
        for name, value in numbers.items():
            if not math.isfinite(value):
                self._close_block(step)
                raise DivergenceError(step, f"{name} is {value}")
        self.evaluations.append({"step": step, **numbers})

    def latest_metrics(self) -> dict[str, float]:
        """The last finite values of everything that was noted."""
        rows = (*self.history[-1:], *self.evaluations[-1:])
        return {name: value for row in rows for name, value in row.items() if name != "step"}

    def state_dict(self) -> dict[str, Any]:
        rows = {
            "history": [dict(row) for row in self.history],
            "evaluations": [dict(row) for row in self.evaluations],
        }
        return {"names": list(self._names), "held": self._collect().clone(), **rows}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self._names, self._held, self._waiting = list(state["names"]), state["held"].cpu(), []
        self.history = [dict(row) for row in state["history"]]
        self.evaluations = [dict(row) for row in state["evaluations"]]

    def _collect(self) -> Tensor:
        """All that waits, as (steps, metrics) on the host."""
        if self._waiting:
            columns = [torch.stack([metrics[name] for metrics in self._waiting]) for name in self._names]
            new = torch.stack([column.double() for column in columns], dim=1).cpu()
            self._held = torch.cat([self._held, new]) if len(self._held) else new
            self._waiting = []
        return self._held

    def _bad(self, block: Tensor) -> Tensor:
        """Which values end the run: those that are not finite, and a loss beyond its bounds."""
        bad = ~block.isfinite()
        loss = self._names.index("loss")
        bad[:, loss] |= block[:, loss].abs() > self.max_loss
        return bad

    def _first_bad(self, block: Tensor) -> tuple[int, int] | None:
        """(row, metric) of the first such value."""
        places = self._bad(block).nonzero() if len(block) else block
        return (int(places[0, 0]), int(places[0, 1])) if len(places) else None

    def _close_block(self, step: int) -> None:
        block = self._collect()
        if not len(block):
            return
        self._held = torch.empty(0, 0, dtype=torch.float64)
        first, bad = step - len(block) + 1, self._first_bad(block)
        good = len(block) if bad is None else bad[0]
        if good:
            means = block[:good].mean(0).tolist()
            self.history.append({"step": first + good - 1, **dict(zip(self._names, means, strict=True))})
        if bad is not None:
            raise DivergenceError(first + good, f"{self._names[bad[1]]} is {block[bad].item():g}")


def _no_scalar(name: str, value: Any) -> str:
    """What was reported in place of a 0-d tensor, and the cure."""
    if isinstance(value, Tensor):
        return f"a tensor of shape {tuple(value.shape)}: return its mean"
    return f"a {type(value).__name__}: return {name}.detach(), not {name}.item()"
