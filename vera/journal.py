"""The journal of a run: metric histories, evaluations, and the watch for divergence.

Metrics arrive as 0-d tensors and wait, unread, for the end of their block; one transfer then brings the whole block to the host.
A value that is not finite, or a loss beyond the limit, ends the run at the step where it first stood, which is found inside the
block. Nothing that is not finite is ever averaged, replaced or kept.
"""

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from vera.errors import VeraError


class Diverged(Exception):
    """A metric stopped being finite, or the loss left its bounds."""

    def __init__(self, step: int, reason: str) -> None:
        super().__init__(f"diverged at step {step}: {reason}")
        self.step, self.reason = step, reason


class Journal:
    """Means over blocks of `block` steps; `history` and `evaluations` are rows of plain numbers with a "step"."""

    def __init__(self, block: int, max_loss: float) -> None:
        self.block, self.max_loss = block, max_loss
        self.history: list[dict[str, float]] = []
        self.evaluations: list[dict[str, float]] = []
        self._names: list[str] = []
        self._waiting: list[dict[str, Tensor]] = []
        self._held = torch.empty(0, 0, dtype=torch.float64)

    def note(self, step: int, metrics: dict[str, Tensor], last: bool = False) -> None:
        self._names = self._names or list(metrics)
        self._waiting.append(metrics)
        if last or step % self.block == 0:
            self._close_block(step)

    def note_evaluation(self, step: int, values: Mapping[str, float]) -> None:
        for name, value in values.items():
            if not math.isfinite(value):
                raise Diverged(step, f"{name} is {value}")
        self.evaluations.append({"step": step, **values})

    def latest(self) -> dict[str, float]:
        """The last finite values of everything that was noted."""
        rows = (*self.history[-1:], *self.evaluations[-1:])
        return {name: value for row in rows for name, value in row.items() if name != "step"}

    def state_dict(self) -> dict[str, Any]:
        return {"names": self._names, "held": self._collect(), "history": self.history, "evaluations": self.evaluations}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self._names, self._held, self._waiting = list(state["names"]), state["held"].cpu(), []
        self.history, self.evaluations = list(state["history"]), list(state["evaluations"])

    def _collect(self) -> Tensor:
        """All that waits, as (steps, metrics) on the host."""
        if self._waiting:
            try:
                columns = [torch.stack([metrics[name] for metrics in self._waiting]) for name in self._names]
            except KeyError as error:
                raise VeraError(f"A method must report the same metrics at every step; {error} is missing.") from error
            new = torch.stack([column.double() for column in columns], dim=1).cpu()
            self._held = torch.cat([self._held, new]) if len(self._held) else new
            self._waiting = []
        return self._held

    def _close_block(self, step: int) -> None:
        block = self._collect()
        self._held = torch.empty(0, 0, dtype=torch.float64)
        bad = ~block.isfinite()
        if "loss" in self._names:
            bad[:, self._names.index("loss")] |= block[:, self._names.index("loss")].abs() > self.max_loss
        good = int(bad.any(1).int().argmax()) if bad.any() else len(block)
        first = step - len(block) + 1
        if good:
            means = block[:good].mean(0).tolist()
            self.history.append({"step": first + good - 1, **dict(zip(self._names, means, strict=True))})
        if good < len(block):
            culprit = int(bad[good].int().argmax())
            raise Diverged(first + good, f"{self._names[culprit]} is {block[good, culprit].item():g}")
