"""The journal of a run: metric histories, evaluations and the detection of divergence.

Metrics arrive as 0-d tensors and stay on the device until their block ends; one transfer then copies the
whole block to the host. A value that is not finite, or a loss beyond the limit, ends the run at the exact
step where it first occurred, which is found inside the block. Non-finite values are never averaged, replaced
or stored.
"""

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from vera.errors import VeraError


class DivergenceError(Exception):
    """A metric is no longer finite, or the loss exceeds its limit."""

    def __init__(self, step: int, reason: str) -> None:
        super().__init__(f"diverged at step {step}: {reason}")
        self.step, self.reason = step, reason


class Journal:
    """Records metrics as means over blocks of `block` steps, and evaluations as they are.

    `history` and `evaluations` are rows of plain numbers with a "step". A run may end inside a block. The
    block then has a row in `history` but stays open, so that a run that is extended averages over the same
    blocks as one that was longer from the start.
    """

    def __init__(self, block: int, max_loss: float) -> None:
        self.block, self.max_loss = block, max_loss
        self.end: int | None = None
        """The last step of the run, once it is reached."""
        self.evaluations: list[dict[str, float]] = []
        self._blocks: list[dict[str, float]] = []
        self._names: list[str] = []
        self._on_device: list[dict[str, Tensor]] = []
        self._on_host = torch.empty(0, 0, dtype=torch.float64)

    @property
    def history(self) -> list[dict[str, float]]:
        """The means over all blocks; at the end of the run also over the last, incomplete one."""
        if self.end is None or not len(block := self._fetch_block()):
            return self._blocks
        return [*self._blocks, self._summarise(self.end, block)]

    def record(self, step: int, metrics: dict[str, Tensor], last: bool = False) -> None:
        """Add the metrics of a step; raise `DivergenceError` at the end of a block that diverged."""
        _check_metrics(metrics)
        self._names = self._names or list(metrics)
        if metrics.keys() != set(self._names):  # else a mean over some steps would pass for one over all
            odd = min(metrics.keys() ^ set(self._names), key=str)
            change = "new" if odd in metrics else "missing"
            raise VeraError(
                f"A method must report the same metrics at every step; at step {step} '{odd}' is {change}. "
                "At steps where it is not computed, report its last value."
            )
        self._on_device.append(metrics)
        if step % self.block == 0:
            self._close_block(step)
        elif last:
            self.check_pending(step)
        self.end = step if last else None

    def check_pending(self, step: int) -> None:
        """Raise `DivergenceError` if the unfinished block has diverged already."""
        if self._find_first_bad(self._fetch_block()) is not None:
            self._close_block(step)

    def record_evaluation(self, step: int, values: Mapping[str, float]) -> None:
        """Add an evaluation; raise `DivergenceError` if one of its values is not finite."""
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
        """The last recorded value of each metric and evaluation; all are finite."""
        rows = (*self.history[-1:], *self.evaluations[-1:])
        return {name: value for row in rows for name, value in row.items() if name != "step"}

    def state_dict(self) -> dict[str, Any]:
        rows = {
            "history": [dict(row) for row in self._blocks],
            "evaluations": [dict(row) for row in self.evaluations],
        }
        return {"names": list(self._names), "held": self._fetch_block().clone(), **rows}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self._names, self._on_host, self._on_device = list(state["names"]), state["held"].cpu(), []
        self._blocks, self.end = [dict(row) for row in state["history"]], None
        self.evaluations = [dict(row) for row in state["evaluations"]]

    def _fetch_block(self) -> Tensor:
        """The unfinished block, of shape (steps, metrics), on the host."""
        if self._on_device:
            columns = [torch.stack([metrics[name] for metrics in self._on_device]) for name in self._names]
            new = torch.stack([column.double() for column in columns], dim=1).cpu()
            self._on_host = torch.cat([self._on_host, new]) if len(self._on_host) else new
            self._on_device = []
        return self._on_host

    def _find_first_bad(self, block: Tensor) -> tuple[int, int] | None:
        """(row, metric) of the first value that is not finite, or loss that exceeds its limit."""
        if not len(block):
            return None
        bad = ~block.isfinite()
        loss = self._names.index("loss")
        bad[:, loss] |= block[:, loss].abs() > self.max_loss
        places = bad.nonzero()
        return (int(places[0, 0]), int(places[0, 1])) if len(places) else None

    def _close_block(self, step: int) -> None:
        """Append the mean over the block's good steps to the history; raise if the block diverged."""
        block = self._fetch_block()
        if not len(block):
            return
        self._on_host = torch.empty(0, 0, dtype=torch.float64)
        first, bad = step - len(block) + 1, self._find_first_bad(block)
        good = len(block) if bad is None else bad[0]
        if good:
            self._blocks.append(self._summarise(first + good - 1, block[:good]))
        if bad is not None:
            raise DivergenceError(first + good, f"{self._names[bad[1]]} is {block[bad].item():g}")

    def _summarise(self, step: int, block: Tensor) -> dict[str, float]:
        return {"step": step, **dict(zip(self._names, block.mean(0).tolist(), strict=True))}


def _check_metrics(metrics: Any) -> None:
    """Raise unless the metrics are a dict of 0-d tensors with a loss."""
    if not isinstance(metrics, dict):
        raise VeraError(f"A method must report a dict of metrics, got {type(metrics).__name__}.")
    if "loss" not in metrics:
        found = ", ".join(metrics) or "nothing"
        raise VeraError(f"A method must report its loss at every step, got {found}.")
    for name, value in metrics.items():
        if not isinstance(value, Tensor):
            hint = f"a {type(value).__name__}: return {name}.detach(), not {name}.item()"
        elif value.dim():
            hint = f"a tensor of shape {tuple(value.shape)}: return its mean"
        else:
            continue
        raise VeraError(f"A method must report 0-d tensors, but {name} is {hint}.")
