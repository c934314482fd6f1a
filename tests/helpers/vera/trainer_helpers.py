"""Shared by the tests of the Trainer: a user-defined energy, and a method whose losses are scripted."""

from dataclasses import dataclass

import torch
from torch import nn

from vera.methods import Method
from vera.models import GaussianMixture
from vera.training.trainer import Trainer

POINTS = torch.randn(20, 2, generator=torch.Generator().manual_seed(0))


class Bowl(nn.Module):
    """A user-defined energy: f(x) = −½‖x − c‖²."""

    def __init__(self):
        super().__init__()
        self.data_dim = 2
        self.centre = nn.Parameter(torch.zeros(2))

    def forward(self, x):
        return -0.5 * (x - self.centre).square().sum(1)


@dataclass(eq=False)
class ScriptedMethod(Method):
    """Reports a function of the step as its loss, and draws one random number per step."""

    def setup(self):
        self.count = torch.zeros((), dtype=torch.int64)
        self.script = float

    def step(self, x):
        self.count += 1
        loss = self.script(int(self.count))
        if isinstance(loss, dict):
            return loss
        return {"loss": torch.tensor(float(loss)), "noise": torch.rand(())}


def make_scripted_trainer(script=float, **options) -> Trainer:
    """A Trainer of ten steps whose losses are script(1), script(2), …"""
    method = ScriptedMethod(Bowl())
    method.script = script
    return Trainer(method, POINTS, **({"steps": 10, "batch_size": 5, "log_every": 4} | options))


def list_losses(trainer: Trainer) -> list[tuple[int, float]]:
    """(step, mean loss) of each row of the history."""
    return [(row["step"], row["loss"]) for row in trainer.history]


def make_mixture() -> GaussianMixture:
    """A mixture of three Gaussians in the plane, always with the same weights."""
    torch.manual_seed(0)
    return GaussianMixture(2, 3)
