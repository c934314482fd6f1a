"""What the tests of the Trainer share: an energy of a user's own, and a method whose losses are told
beforehand."""

from dataclasses import dataclass

import torch
from torch import nn

from vera.methods import Method
from vera.models import GaussianMixture
from vera.training.trainer import Trainer

POINTS = torch.randn(20, 2, generator=torch.Generator().manual_seed(0))


class Bowl(nn.Module):
    """A user's own energy: f(x) = −½‖x − c‖²."""

    def __init__(self):
        super().__init__()
        self.data_dim = 2
        self.centre = nn.Parameter(torch.zeros(2))

    def forward(self, x):
        return -0.5 * (x - self.centre).square().sum(1)


@dataclass(eq=False)
class Scripted(Method):
    """Reports as its loss what a function of the step says, and one random number a step."""

    def setup(self):
        self.count = torch.zeros((), dtype=torch.int64)
        self.script = float

    def step(self, x):
        self.count += 1
        loss = self.script(int(self.count))
        return (
            loss if isinstance(loss, dict) else {"loss": torch.tensor(float(loss)), "noise": torch.rand(())}
        )


def scripted(script=float, **options) -> Trainer:
    method = Scripted(Bowl())
    method.script = script
    return Trainer(method, POINTS, **({"steps": 10, "batch_size": 5, "log_every": 4} | options))


def losses(trainer: Trainer) -> list[tuple[int, float]]:
    return [(row["step"], row["loss"]) for row in trainer.history]


def mixture() -> GaussianMixture:
    torch.manual_seed(0)
    return GaussianMixture(2, 3)
