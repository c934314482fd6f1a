"""Langevin dynamics and contrastive divergence against those of torchebm: the same network, chains, settings,
optimiser and machine, timed alternately.

torchebm's energy is U = −f, a module around the same network with the same weights. Its Langevin step is
x − η∇U + √(2η) ε, ours is x + (noise²/2) ∇f + noise ε: the same with η = noise²/2. A step of contrastive
divergence is `LANGEVIN_STEPS` Langevin steps from a batch of data, the loss and one update by the same fused
Adam; torchebm's penalty on large energies is off, because ours has none.

torchebm is needed for this benchmark only; the extra `dev` installs it.
"""

from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any

import torch
from torch import Tensor, nn

from bench.perf.measurements import BenchmarkValue, make_values
from bench.perf.timing import TimeComparison, compare
from vera.errors import MissingExtra
from vera.methods.langevin.cd import CD
from vera.models.mlp import MLP
from vera.samplers import sgld
from vera.training.optimisers import adam

BENCHMARK = "torchebm"
LANGEVIN_STEPS, NOISE, RATE = 10, 0.1, 1e-6
"""The rate is small, so that the network stays as it is while it is timed."""
WARM_UP = 3
BAR = 1.0
"""Smallest allowed time of torchebm divided by ours."""
Work = Callable[[], object]


@dataclass(frozen=True)
class ChainShape:
    """A number of chains, their dimension, and the hidden layers of the network."""

    chains: int
    dimension: int
    hidden: tuple[int, ...]

    @property
    def name(self) -> str:
        return f"{self.chains:,} × {self.dimension}, hidden {'-'.join(map(str, self.hidden))}"


SHAPES = (
    ChainShape(64, 2, (100, 100)),
    ChainShape(200, 2, (100, 100)),
    ChainShape(256, 32, (128, 128)),
    ChainShape(1_024, 128, (128, 128)),
    ChainShape(1_024, 128, (256, 256)),
)


@dataclass(frozen=True)
class RivalTiming:
    """One piece of work by both libraries. `timing.work` is torchebm's, the yardstick ours."""

    shape: ChainShape
    work: str
    timing: TimeComparison
    steps: int
    """Langevin steps, or updates, in what was timed."""

    @property
    def is_met(self) -> bool:
        return self.timing.ratio >= BAR

    @property
    def quantities(self) -> dict[str, float | None]:
        low, high = self.timing.spread
        return {
            "ours_per_second": 1000 * self.steps / self.timing.yardstick_ms,
            "torchebm_per_second": 1000 * self.steps / self.timing.work_ms,
            "ours_ms": self.timing.yardstick_ms / self.steps,
            "torchebm_ms": self.timing.work_ms / self.steps,
            "ratio": self.timing.ratio,
            "low": low,
            "high": high,
            "rounds": self.timing.rounds,
        }

    def format_cells(self) -> list[str]:
        found, (low, high) = self.quantities, self.timing.spread
        rates = [f"{found[name]:,.0f}" for name in ("ours_per_second", "torchebm_per_second")]
        verdict = "as fast or faster" if self.is_met else "slower"
        spread = f"{low:.2f}–{high:.2f}"
        return [self.shape.name, self.work, *rates, f"{self.timing.ratio:.2f}", spread, verdict]


@dataclass(frozen=True)
class ChainPair:
    """The same Langevin chain and the same training by both libraries, on copies of one network."""

    shape: ChainShape

    def make_network(self) -> MLP:
        torch.manual_seed(0)
        return MLP(self.shape.dimension, self.shape.hidden, "softplus")

    def make_points(self) -> Tensor:
        generator = torch.Generator().manual_seed(1)
        return torch.randn(self.shape.chains, self.shape.dimension, generator=generator)

    def make_samplers(self) -> tuple[Callable[[Tensor], Tensor], Callable[[Tensor], Tensor]]:
        """(ours, torchebm's): functions from the start of the chains to their end."""
        network = self.make_network()
        rival = make_rival_sampler(deepcopy(network))

        def run_ours(x: Tensor) -> Tensor:
            return sgld(network, x, steps=LANGEVIN_STEPS, noise=NOISE)

        def run_rival(x: Tensor) -> Tensor:
            found: Tensor = rival.sample(x=x, n_steps=LANGEVIN_STEPS)
            return found

        return run_ours, run_rival

    def make_trainers(self) -> tuple[Work, Work]:
        """(ours, torchebm's): functions that take one step of contrastive divergence."""
        return self.make_trainers_with_networks()[0]

    def make_trainers_with_networks(self) -> tuple[tuple[Work, Work], tuple[nn.Module, nn.Module]]:
        """The two functions, and the networks that they train."""
        from torchebm.losses import ContrastiveDivergence

        x, network = self.make_points(), self.make_network()
        method = CD(deepcopy(network), lr=RATE, sampler_steps=LANGEVIN_STEPS, noise=NOISE)
        method.begin(x)
        sampler = make_rival_sampler(network)
        loss = ContrastiveDivergence(
            model=sampler.model, sampler=sampler, k_steps=LANGEVIN_STEPS, energy_reg_weight=0.0
        )
        optimiser = adam(network.parameters(), RATE)

        def step_rival() -> None:
            optimiser.zero_grad(set_to_none=True)
            value, _ = loss(x)
            value.backward()
            optimiser.step()

        return (lambda: method.step(x), step_rival), (method.energy, network)


def make_rival_sampler(network: nn.Module) -> Any:
    """torchebm's Langevin sampler of e^f, on the device of the CPU."""
    from torchebm.core import BaseModel
    from torchebm.samplers import LangevinDynamics

    class NegatedNetwork(BaseModel):  # type: ignore[misc]
        """U = −f."""

        def __init__(self) -> None:
            super().__init__(device="cpu")
            self.network = network

        def forward(self, x: Tensor) -> Tensor:
            return -self.network(x)

    return LangevinDynamics(NegatedNetwork(), step_size=NOISE**2 / 2, noise_scale=1.0, device="cpu")


def measure_rival(shapes: Sequence[ChainShape], seconds: float, min_rounds: int) -> Iterator[RivalTiming]:
    """Both pieces of work on every shape."""
    for shape in shapes:
        pair = ChainPair(shape)
        x = pair.make_points()
        run_ours, run_rival = pair.make_samplers()
        works: dict[str, tuple[Work, Work, int]] = {
            "Langevin": (partial(run_ours, x), partial(run_rival, x), LANGEVIN_STEPS),
            "CD": (*pair.make_trainers(), 1),
        }
        for name, (ours, rival, steps) in works.items():
            for _ in range(WARM_UP):
                ours()
                rival()
            yield RivalTiming(shape, name, compare(rival, ours, seconds, min_rounds), steps)


def require_torchebm() -> None:
    """Raise `MissingExtra` unless torchebm is installed."""
    if find_spec("torchebm") is None:
        raise MissingExtra("vera perf torchebm needs the package torchebm: pip install torchebm")


def list_values(timings: Sequence[RivalTiming]) -> Iterator[BenchmarkValue]:
    for each in timings:
        yield from make_values(BENCHMARK, each.shape.name, each.work, each.quantities)


HEAD = ("chains × dimension", "work", "ours, steps/s", "torchebm, steps/s", "ratio", "quartiles", "ours is")


def format_report(timings: Sequence[RivalTiming]) -> str:
    """A table with a line for each shape and kind of work. The ratio is torchebm's time divided by ours."""
    lines = [HEAD, *(each.format_cells() for each in timings)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(f"{text:{width}}" for text, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )
