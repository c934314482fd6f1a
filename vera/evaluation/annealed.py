"""Annealed importance sampling (AIS; Neal, 2001): log Z of an unnormalised model in any dimension.

Points start at a normalised Gaussian q and pass K densities from q to e^f,
log π_k = (1 − β_k) log q + β_k f with 0 = β_0 < … < β_K = 1. Before each move at β_k the log weight of a
point grows by (β_k − β_{k−1}) (f − log q); the move is a Metropolis-adjusted Langevin or Hamiltonian
transition that leaves π_k unchanged. The mean of the weights is an unbiased estimate of Z, so its logarithm
is too small on average, and very much so if no point finds the mass of e^f. The likelihood then looks too
*good*.

Three numbers say how far to trust the estimate: its standard error, from the spread of the weights over
points; the effective number of points 1 / Σ w̃²; and the acceptance of the moves. Trap: none of them sees a
mode that no point has found.
"""

import math
from dataclasses import dataclass
from typing import Annotated

import torch
from torch import Tensor, nn

from vera.data.contract import DataSet
from vera.evaluation.likelihood import Estimate, evaluate_in_chunks
from vera.gradients import LogDensity
from vera.models.fitted_gaussian import FittedGaussian
from vera.models.network_modes import evaluation_mode
from vera.samplers import Chain, ExactForce, StepSize, hmc_transition
from vera.spec.settings import Count, Positive, validate_arguments
from vera.training.state.random_state import derive_seed

TARGET_ACCEPTANCE = 0.65
FIT_POINTS = 10_000
"""Number of training points to which the Gaussian is fitted."""


@dataclass(frozen=True)
class AnnealedEstimate:
    """log Z with its standard error, the effective number of points, and the mean acceptance of the moves."""

    log_z: float
    standard_error: float
    effective_points: float
    acceptance: float

    @classmethod
    def from_log_weights(cls, log_weights: Tensor, acceptance: float) -> "AnnealedEstimate":
        """The delta method: the error of the log of a mean is that of the mean over the mean."""
        values = log_weights.double().cpu()
        n, shares = len(values), values.softmax(0)
        log_z = float(values.logsumexp(0)) - math.log(n)
        error = float((n * shares).std()) / math.sqrt(n)
        return cls(log_z, error, float(1 / shares.square().sum()), acceptance)


class Whitened:
    """f and q in v = L⁻¹ (x − mean), where q is standard normal: one step size then fits all directions."""

    def __init__(self, f: LogDensity, q: FittedGaussian) -> None:
        self.f, self.q = f, q
        self.log_volume = q.scale_tril.diagonal().log().sum()

    def decode(self, v: Tensor) -> Tensor:
        """Return x(v)."""
        return (self.q.mean + v @ self.q.scale_tril.T).view(len(v), *self.q.shape)

    def log_target(self, v: Tensor) -> Tensor:
        """Return f(x(v)) as a log-density of v."""
        return self.f(self.decode(v)) + self.log_volume

    def log_start(self, v: Tensor) -> Tensor:
        """Return the log-density of the standard normal."""
        return -0.5 * (v.square().sum(1) + v.shape[1] * math.log(2 * math.pi))

    def between(self, beta: float) -> LogDensity:
        """Return log π at β."""
        return lambda v: torch.lerp(self.log_start(v), self.log_target(v), beta)


@validate_arguments
def annealed_log_normaliser(
    f: LogDensity,
    q: FittedGaussian,
    points: Annotated[Count, "independent points"] = 200,
    temperatures: Annotated[Count, "K, densities between q and e^f"] = 200,
    leapfrog_steps: Annotated[Count, "leapfrog steps of a move; 1 is the Langevin algorithm"] = 5,
    step_size: Annotated[Positive, "initial step of a move, where q is standard normal"] = 0.3,
) -> AnnealedEstimate:
    """Return log ∫ e^f. The step size follows the acceptance of earlier moves."""
    space, step = Whitened(f, q), StepSize(step_size, TARGET_ACCEPTANCE, rate=0.05, like=q.mean)
    v = torch.randn(points, q.shape.numel()).to(q.mean)
    log_weights, acceptances = v.new_zeros(points), []
    for k in range(temperatures):
        log_weights += _log_ratio(space, v) / temperatures
        target = ExactForce(space.between((k + 1) / temperatures))
        chain, acceptance = hmc_transition(Chain.start(v, target), target, step.value, leapfrog_steps)
        step.adapt(acceptance)
        v = chain.z
        acceptances.append(acceptance)
    return AnnealedEstimate.from_log_weights(log_weights, float(torch.stack(acceptances).mean()))


@torch.no_grad()
def _log_ratio(space: Whitened, v: Tensor) -> Tensor:
    return space.log_target(v) - space.log_start(v)


def fit_gaussian(data: DataSet, seed: int, like: Tensor, batch_size: int = 500) -> FittedGaussian:
    """Return a Gaussian fitted to training points of the data."""
    stream = data.stream(batch_size, derive_seed(seed, "annealing"))
    batches = [stream.next_batch().to(like) for _ in range(FIT_POINTS // batch_size)]
    gaussian = FittedGaussian(batches[0].shape[1:]).to(like)
    gaussian.add(torch.cat(batches))
    return gaussian


def annealed_log_likelihood(
    energy: nn.Module, data: DataSet, seed: int, points: int = 200, temperatures: int = 200
) -> tuple[Estimate, AnnealedEstimate]:
    """Return the mean of f(x) − log Z over test points, and log Z. The errors of the two are independent."""
    like = next(energy.parameters())
    with evaluation_mode(energy):
        normaliser = annealed_log_normaliser(energy, fit_gaussian(data, seed, like), points, temperatures)
        values = evaluate_in_chunks(energy, data.test_points(seed).to(like)).double()
    return Estimate.from_values(values - normaliser.log_z), normaliser
