"""The linear generator x = W z + μ + σ ε, that is, probabilistic PCA.

Everything that the estimators approximate has a closed form: the covariance Σ = W Wᵀ + σ² I, the score
−Σ⁻¹(x − μ), the entropy gradients ∇_W H = Σ⁻¹ W and dH/d log σ = σ² tr Σ⁻¹, and the posterior z | x, which is
Gaussian with precision P = I + WᵀW/σ² and mean P⁻¹Wᵀ(x − μ)/σ². Trap: the paper prints the covariance as
WᵀW + σ²I.
"""

import torch
from torch import Tensor, nn

from vera.errors import SettingError
from vera.models.generator import Generator
from vera.spec.registry import models
from vera.spec.settings import Count, Positive, validate_arguments


class LinearGenerator(Generator):
    """A generator whose mean is one Linear layer with bias (79,184 weights for 100 -> 784)."""

    net: nn.Linear

    @validate_arguments
    def __init__(
        self,
        latent_dim: Count,
        data_dim: Count,
        *,
        sigma: Positive | None = 0.1,
        sigma_min: Positive = 1e-6,
        sigma_max: Positive = 1e6,
    ) -> None:
        super().__init__(
            nn.Linear(latent_dim, data_dim), latent_dim, sigma=sigma, sigma_min=sigma_min, sigma_max=sigma_max
        )

    @classmethod
    @torch.no_grad()
    def from_pca(cls, x: Tensor, components: int, *, noise: str = "deviation") -> "LinearGenerator":
        """Return the maximum-likelihood probabilistic PCA of the points x.

        W_j = u_j √(λ_j − σ²), and σ² is the mean of the discarded eigenvalues of the covariance.
        `noise="variance"` sets σ to the noise *variance*, as the published bias experiment does by mistake.
        """
        if noise not in ("deviation", "variance"):
            raise SettingError(
                f"LinearGenerator: noise must be one of 'deviation', 'variance', got {noise!r}."
            )
        if not 1 <= components < x.shape[1]:
            raise SettingError(
                f"LinearGenerator: components must be at least 1 and below {x.shape[1]}, got {components}."
            )
        mean = x.mean(0)
        eigenvalues, vectors = torch.linalg.eigh(torch.cov((x - mean).T))
        kept, discarded = eigenvalues[-components:].flip(0), eigenvalues[:-components]
        variance = discarded.clamp_min(0).mean()
        sigma = variance if noise == "variance" else variance.sqrt()
        model = cls(components, x.shape[1], sigma=float(sigma)).to(x)
        model.net.weight.copy_(vectors[:, -components:].flip(1) * (kept - variance).clamp_min(0).sqrt())
        model.net.bias.copy_(mean)
        return model

    @property
    def weight(self) -> Tensor:
        return self.net.weight

    def precision(self) -> Tensor:
        """Return P = I + WᵀW/σ², the precision of z given x."""
        identity = torch.eye(self.latent_dim, device=self.weight.device, dtype=self.weight.dtype)
        return identity + self.weight.T @ self.weight / self.sigma.square()

    def posterior_mean(self, x: Tensor) -> Tensor:
        """Return E[z | x] = P⁻¹Wᵀ(x − μ)/σ²."""
        moved = (x - self.net.bias) @ self.weight / self.sigma.square()
        return torch.linalg.solve(self.precision(), moved.T).T

    def exact_score(self, x: Tensor) -> Tensor:
        """Return ∇ log q(x) = −(x − μ − W E[z|x]) / σ².

        This is the Woodbury form of −Σ⁻¹(x − μ); it solves in the small latent space.
        """
        return -(x - self.net.bias - self.posterior_mean(x) @ self.weight.T) / self.sigma.square()

    def covariance(self) -> Tensor:
        """Return Σ = W Wᵀ + σ² I."""
        identity = torch.eye(self.weight.shape[0], device=self.weight.device, dtype=self.weight.dtype)
        return self.weight @ self.weight.T + self.sigma.square() * identity

    def entropy(self) -> Tensor:
        """Return H(q) = ½ log det(2πe Σ)."""
        return 0.5 * torch.logdet(2 * torch.pi * torch.e * self.covariance())


@models.register("linear-generator")
@validate_arguments
def linear_generator(
    data_dim: Count,
    latent_dim: Count = 100,
    sigma: Positive | None = None,
    sigma_min: Positive = 0.01,
    sigma_max: Positive = 0.3,
) -> LinearGenerator:
    """A linear-Gaussian generator (probabilistic PCA)."""
    return LinearGenerator(latent_dim, data_dim, sigma=sigma, sigma_min=sigma_min, sigma_max=sigma_max)
