"""Closed forms and statistics that several test files share."""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

from vera.data.digits.sources import embedded_rows
from vera.models import LinearGenerator

SIGMAS = 5.0
"""How many standard errors a mean may miss its expectation by: with some hundred comparisons, one false alarm
in 10,000 seeds."""


def assert_mean(draws: Tensor, expected: Tensor | float, sigmas: float = SIGMAS) -> None:
    """The mean of independent draws (first axis) agrees with its expectation in every entry."""
    error = draws.mean(0) - torch.as_tensor(expected, dtype=draws.dtype)
    standard_error = draws.std(0) / math.sqrt(len(draws))
    worst = (error.abs() / standard_error.clamp_min(1e-12)).max()
    assert worst < sigmas, f"off by {worst:.1f} standard errors: {error} against {standard_error}"


def linear_generator(
    weight: Tensor, sigma: float, bias: Tensor | None = None, **bounds: float
) -> LinearGenerator:
    """x = W z + μ + σ ε in the weight's dtype."""
    data_dim, latent_dim = weight.shape
    generator = LinearGenerator(latent_dim, data_dim, sigma=sigma, **bounds).to(weight.dtype)
    with torch.no_grad():
        generator.log_sigma.fill_(math.log(sigma))
        generator.net.weight.copy_(weight)
        generator.net.bias.copy_(torch.zeros(data_dim) if bias is None else bias)
    return generator


def digits_ppca(latent_dim: int = 100) -> LinearGenerator:
    """Probabilistic PCA of the embedded MNIST digits in [-1, 1], the model of the paper's bias experiment."""
    train, _ = embedded_rows(28)
    return LinearGenerator.from_pca(train.float() / 127.5 - 1, latent_dim)


class GaussianEnergy(nn.Module):
    """f(x) = −‖x‖² / (2v), unnormalised, one learnable variance."""

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
    """(∇f, tr ∇²f) by autograd, one second derivative at a time, with a graph."""
    x = x.detach().requires_grad_(True)
    (score,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
    rows = [torch.autograd.grad(score[:, j].sum(), x, create_graph=True)[0][:, j] for j in range(x.shape[1])]
    return score, torch.stack(rows, dim=1).sum(1)


def score_matching_loss(f: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """mean[ tr ∇²f + ½‖∇f‖² ], exactly."""
    score, trace = hessian_trace(f, x)
    return (trace + 0.5 * score.square().sum(1)).mean()


def flat_gradient(loss: Tensor, model: nn.Module) -> Tensor:
    """The gradient for all weights of a model as one vector."""
    return torch.cat([g.flatten() for g in torch.autograd.grad(loss, list(model.parameters()))])
