"""Learning-rate schedule: a linear warm-up, then a factor at each milestone (2.6).

Step t (from 0) uses rate · min(1, (t + 1) / warm-up) · factor^(milestones ≤ t). The schedule applies to the
optimisers of energy and generator; the posterior scale η keeps its rate. Traps: a milestone is a step, not an
epoch, so on a stream without epochs the published code's defaults decay after 160 iterations. An optimiser
that loads a state gets new parameter groups, so the groups are looked up at each step.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import torch


class Schedule:
    """Sets the learning rates of its optimisers before each step and counts the steps."""

    def __init__(
        self,
        optimisers: Iterable[torch.optim.Optimizer],
        *,
        warmup: int = 0,
        milestones: Sequence[int] = (),
        factor: float = 0.3,
    ) -> None:
        self.optimisers = list(optimisers)
        self.rates = [group["lr"] for group in self.groups()]
        self.warmup, self.milestones, self.factor = warmup, tuple(milestones), factor
        self.next_step = 0

    def groups(self) -> list[dict[str, Any]]:
        """The current parameter groups of all optimisers."""
        return [group for optimiser in self.optimisers for group in optimiser.param_groups]

    def scale(self, step: int) -> float:
        """The factor on every learning rate at a step."""
        rise = min(1.0, (step + 1) / self.warmup) if self.warmup else 1.0
        return rise * self.factor ** sum(step >= milestone for milestone in self.milestones)

    def advance(self) -> None:
        """Set the rates for the next step."""
        scale = self.scale(self.next_step)
        for group, rate in zip(self.groups(), self.rates, strict=True):
            group["lr"] = rate * scale
        self.next_step += 1

    def state_dict(self) -> dict[str, Any]:
        return {"next_step": self.next_step}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.next_step = state["next_step"]
