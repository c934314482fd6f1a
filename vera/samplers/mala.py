"""The Metropolis-adjusted Langevin algorithm (MALA), and refinement of generator samples with it (B.7.1).

The proposal v' = v + τ∇h(v) + √(2τ) ξ is accepted with probability
min{1, e^{h(v') − h(v)} q(v|v') / q(v'|v)}. For refinement, v = (z, ε) and h = f(g(z) + σε) / T, without the
priors of z and ε, as in the paper. T is the temperature. T = 1 is e^f; VERA with an entropy weight λ
trains its generator on e^{f/λ}, to which T = λ belongs.

Traps:
- The paper prints the forward and backward densities swapped, and a variance δ² with a mean step δ/2.
- τ starts at 1/d and must be tuned to acceptance .57 first.
- Without the priors, chains need not converge. They may drift to where f is flat and every proposal is
  accepted, so a step size tuned along one long run is far too large for fresh samples. It is tuned on fresh
  samples.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Literal

import torch
from torch import Tensor, nn

from vera.gradients import LogDensity, squared_norm, value_and_gradient
from vera.models.generator import Generator
from vera.models.network_modes import evaluation_mode, use_batch_statistics
from vera.samplers.metropolis import StepSize, accept, choose
from vera.spec.settings import Count, Positive, validate_arguments

TARGET_ACCEPTANCE = 0.57
CORRECTIONS, CLOSE_ENOUGH, GAIN = 8, 0.03, 2.0
"""Tuning: maximum number of runs that correct the step size, tolerance of the acceptance, gain of log τ."""


@validate_arguments
def mala(
    f: LogDensity, v: Tensor, *, steps: Count, step: StepSize, adapt: bool = False
) -> tuple[Tensor, Tensor]:
    """Return v after `steps` transitions and their mean acceptance. With `adapt` the step size adapts."""
    value, slope = value_and_gradient(f, v)
    acceptances = []
    for t in range(steps):
        tau = step.value
        proposal = v + tau * slope + (2 * tau).sqrt() * torch.randn_like(v)
        new_value, new_slope = value_and_gradient(f, proposal)
        forward = squared_norm(proposal - v - tau * slope)
        backward = squared_norm(v - proposal - tau * new_slope)
        taken, acceptance = accept(new_value - value + (forward - backward) / (4 * tau))
        v, value, slope = (
            choose(taken, proposal, v),
            choose(taken, new_value, value),
            choose(taken, new_slope, slope),
        )
        acceptances.append(acceptance)
        if adapt:
            step.adapt(acceptance, boost=_boost(t))
    return v, torch.stack(acceptances).mean()


def _boost(t: int) -> float:
    """Return the factor of the adaptation rate at transition t, large at first and 1 in the end.

    A step size that is wrong by a factor of 100 is corrected within a few hundred transitions.
    """
    return max(1.0, 25.0 / (1 + t / 20))


class Refiner(ABC):
    """Moves samples x(v) towards high f by MALA over v, from fresh points v."""

    energy: nn.Module
    step: StepSize
    temperature: float = 1.0

    @abstractmethod
    def start(self, n: int) -> Tensor:
        """Return n fresh points v, of shape (n, dimensions)."""

    @abstractmethod
    def _decode(self, v: Tensor) -> Tensor:
        """Return x(v), with a graph to v."""

    @abstractmethod
    def _sampling_modes(self) -> AbstractContextManager[None]:
        """Return the context in which the networks are used."""

    def tune(self, n: int = 64, steps: int = 500, length: int = 100) -> float:
        """Tune the step size to acceptance .57 in runs of `length` transitions from fresh samples.

        One run of `steps` transitions finds the order of magnitude, then whole runs correct it. Returns the
        acceptance of the last run.
        """
        with self._sampling_modes():
            mala(self.potential, self.start(n), steps=steps, step=self.step, adapt=True)
            for _ in range(CORRECTIONS):
                acceptance = self._measure_acceptance(n, length)
                if abs(acceptance - TARGET_ACCEPTANCE) <= CLOSE_ENOUGH:
                    return acceptance
                self.step.value = self.step.value * math.exp(GAIN * (acceptance - TARGET_ACCEPTANCE))
            return self._measure_acceptance(n, length)

    def _measure_acceptance(self, n: int, length: int) -> float:
        return float(mala(self.potential, self.start(n), steps=length, step=self.step)[1])

    def refine(self, v: Tensor, steps: int = 100) -> tuple[Tensor, Tensor]:
        """Return v after `steps` transitions and the mean acceptance."""
        with self._sampling_modes():
            return mala(self.potential, v, steps=steps, step=self.step)

    @torch.no_grad()
    def decode(self, v: Tensor) -> Tensor:
        """Return x(v)."""
        with self._sampling_modes():
            return self._decode(v)

    def potential(self, v: Tensor) -> Tensor:
        """Return h(v) = f(x(v)) / T."""
        return self.energy(self._decode(v)) / self.temperature


class LatentRefiner(Refiner):
    """Moves generator samples towards high f by MALA over v = (z, ε), with x = g(z) + σ ε.

    With `batch_norm="running"`, g uses its running averages, so that chains do not interact. "batch" is the
    published code.
    """

    @validate_arguments
    def __init__(
        self,
        energy: nn.Module,
        generator: Generator,
        *,
        batch_norm: Literal["running", "batch"] = "running",
        step_size: Positive | None = None,
        temperature: Positive = 1.0,
    ) -> None:
        self.energy, self.generator, self.batch_norm = energy, generator, batch_norm
        self.temperature = temperature
        initial = 1 / generator.latent_dim if step_size is None else step_size
        self.step = StepSize(initial, TARGET_ACCEPTANCE, rate=0.02, like=generator.log_sigma)

    @validate_arguments
    def start(self, n: Count) -> Tensor:
        """Return n fresh points (z, ε), flattened and concatenated."""
        z = self.generator.sample_latent(n)
        with self._sampling_modes(), torch.no_grad():
            noise = torch.randn_like(self.generator(z))
        return torch.cat([z, noise.flatten(1)], dim=1)

    def _decode(self, v: Tensor) -> Tensor:
        d = self.generator.latent_dim
        mean = self.generator(v[:, :d])
        return torch.addcmul(mean, self.generator.sigma, v[:, d:].view_as(mean))

    @contextmanager
    def _sampling_modes(self) -> Iterator[None]:
        mode = evaluation_mode if self.batch_norm == "running" else use_batch_statistics
        with evaluation_mode(self.energy), mode(self.generator.net):
            yield


class DataRefiner(Refiner):
    """Moves Gaussian noise with the data's mean and spread towards high f by MALA in data space.

    The chains run in v = (x − mean) / deviation, so that one step size fits all coordinates.
    """

    @validate_arguments
    def __init__(self, energy: nn.Module, mean: Tensor, deviation: Tensor) -> None:
        self.energy, self.mean, self.deviation = energy, mean, deviation
        self.step = StepSize(1 / mean.numel(), TARGET_ACCEPTANCE, rate=0.02, like=mean)

    @validate_arguments
    def start(self, n: Count) -> Tensor:
        return torch.randn(n, self.mean.numel(), device=self.mean.device, dtype=self.mean.dtype)

    def _decode(self, v: Tensor) -> Tensor:
        return self.mean + self.deviation * v.view(len(v), *self.mean.shape)

    def _sampling_modes(self) -> AbstractContextManager[None]:
        return evaluation_mode(self.energy)
