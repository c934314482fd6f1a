"""Closed forms and statistics shared by several test files."""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

from vera.data.digits.mnist_files import read_embedded_rows
from vera.entropy import EntropyGradient
from vera.models import LinearGenerator

SIGMAS = 5.0
"""Tolerance of a mean in standard errors; with some hundred comparisons, one false alarm in 10,000 seeds."""


def assert_mean(draws: Tensor, expected: Tensor | float, sigmas: float = SIGMAS) -> None:
    """Check that the mean of independent draws (first axis) equals its expectation in every entry."""
    error = draws.mean(0) - torch.as_tensor(expected, dtype=draws.dtype)
    standard_error = draws.std(0) / math.sqrt(len(draws))
    worst = (error.abs() / standard_error.clamp_min(1e-12)).max()
    assert worst < sigmas, f"off by {worst:.1f} standard errors: {error} against {standard_error}"


def tune_estimator(entropy: EntropyGradient, generator: LinearGenerator, steps: int, batch: int) -> None:
    """Adapt the estimator to the generator: η by the ELBO, the step size of HMC by its burn-in."""
    for _ in range(steps):
        entropy.warm_up(generator, *generator.sample_pair(batch))


def make_linear_generator(
    weight: Tensor, sigma: float, bias: Tensor | None = None, **bounds: float
) -> LinearGenerator:
    """Return x = W z + μ + σ ε with the dtype of the weight."""
    data_dim, latent_dim = weight.shape
    generator = LinearGenerator(latent_dim, data_dim, sigma=sigma, **bounds).to(weight.dtype)
    with torch.no_grad():
        generator.log_sigma.fill_(math.log(sigma))
        generator.net.weight.copy_(weight)
        generator.net.bias.copy_(torch.zeros(data_dim) if bias is None else bias)
    return generator


def fit_digits_ppca(latent_dim: int = 100) -> LinearGenerator:
    """Return probabilistic PCA of the embedded MNIST digits in [-1, 1], as in the paper's bias experiment."""
    train, _ = read_embedded_rows(28)
    return LinearGenerator.from_pca(train.float() / 127.5 - 1, latent_dim)


class GaussianEnergy(nn.Module):
    """f(x) = −‖x‖² / (2v), unnormalised, with one learnable variance."""

    def __init__(self, variance: float = 2.0, data_dim: int = 1) -> None:
        super().__init__()
        self.data_dim = data_dim
        self.log_variance = nn.Parameter(torch.tensor(math.log(variance)))

    @property
    def variance(self) -> float:
        return float(self.log_variance.detach().exp())

    def forward(self, x: Tensor) -> Tensor:
        return -0.5 * x.square().sum(1) / self.log_variance.exp()


def hessian_trace(f: Callable[[Tensor], Tensor], x: Tensor) -> tuple[Tensor, Tensor]:
    """Return (∇f, tr ∇²f) by autograd, one second derivative at a time, with a graph."""
    x = x.detach().requires_grad_(True)
    (score,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
    rows = [torch.autograd.grad(score[:, j].sum(), x, create_graph=True)[0][:, j] for j in range(x.shape[1])]
    return score, torch.stack(rows, dim=1).sum(1)


def score_matching_loss(f: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """Return the exact mean[ tr ∇²f + ½‖∇f‖² ]."""
    score, trace = hessian_trace(f, x)
    return (trace + 0.5 * score.square().sum(1)).mean()


def flat_gradient(loss: Tensor, model: nn.Module) -> Tensor:
    """Return the gradient of all weights of a model as one vector."""
    return torch.cat([g.flatten() for g in torch.autograd.grad(loss, list(model.parameters()))])
