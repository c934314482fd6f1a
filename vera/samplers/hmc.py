"""Hamiltonian Monte Carlo with unit mass: leapfrog steps follow a force, the accept test uses the density.

With any force that depends on the position only, the leapfrog map is reversible and volume-preserving, so the
chain leaves the density invariant. Only the exact force makes it efficient. This is why the published code
can use the force of the prior alone and still be a valid sampler, although nearly a random walk.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import torch
from torch import Tensor

from vera.gradients import LogDensity, squared_norm, value_and_gradient
from vera.samplers.metropolis import StepSize, accept, choose


class Target(ABC):
    """The density to sample and the force that drives the proposals."""

    @abstractmethod
    def value_and_force(self, z: Tensor) -> tuple[Tensor, Tensor]:
        """Return the log-density and the force at z."""

    def force(self, z: Tensor) -> Tensor:
        """Return the force at z."""
        return self.value_and_force(z)[1]


@dataclass(frozen=True)
class ExactForce(Target):
    """Uses the force ∇ log π of the density itself."""

    log_density: LogDensity

    def value_and_force(self, z: Tensor) -> tuple[Tensor, Tensor]:
        return value_and_gradient(self.log_density, z)


@dataclass(frozen=True)
class PriorForce(Target):
    """Uses the force −z of a standard normal prior for any density."""

    log_density: LogDensity

    def value_and_force(self, z: Tensor) -> tuple[Tensor, Tensor]:
        with torch.no_grad():
            return self.log_density(z), -z

    def force(self, z: Tensor) -> Tensor:
        return -z


@dataclass(frozen=True)
class Chain:
    """Positions with their log-density and force, stored so that no transition recomputes them."""

    z: Tensor
    value: Tensor
    force: Tensor

    @classmethod
    def start(cls, z: Tensor, target: Target) -> "Chain":
        """Return the chain at z."""
        return cls(z, *target.value_and_force(z))


def hmc_transition(
    chain: Chain, target: Target, step: Tensor | float, leapfrog_steps: int
) -> tuple[Chain, Tensor]:
    """Run one trajectory with its accept test; return the next chain and the mean acceptance probability."""
    step = torch.as_tensor(step, dtype=chain.z.dtype, device=chain.z.device)
    start_momentum = torch.randn_like(chain.z)
    z, momentum = chain.z, torch.addcmul(start_momentum, step, chain.force, value=0.5)
    for _ in range(leapfrog_steps - 1):
        z = torch.addcmul(z, step, momentum)
        momentum.addcmul_(step, target.force(z))
    z = torch.addcmul(z, step, momentum)
    value, force = target.value_and_force(z)
    momentum.addcmul_(step, force, value=0.5)
    log_ratio = value - chain.value + 0.5 * (squared_norm(start_momentum) - squared_norm(momentum))
    taken, acceptance = accept(log_ratio)
    moved = Chain(
        choose(taken, z, chain.z), choose(taken, value, chain.value), choose(taken, force, chain.force)
    )
    return moved, acceptance


def hmc(
    z: Tensor, target: Target, step: StepSize, *, burn_in: int, kept: int, leapfrog_steps: int
) -> list[Tensor]:
    """Return the kept positions of a run from z. The step size adapts during burn-in only."""
    chain = Chain.start(z, target)
    for _ in range(burn_in):
        chain, acceptance = hmc_transition(chain, target, step.value, leapfrog_steps)
        step.adapt(acceptance)
    positions = []
    for _ in range(kept):
        chain, _ = hmc_transition(chain, target, step.value, leapfrog_steps)
        positions.append(chain.z)
    return positions
