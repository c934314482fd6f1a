"""The linear generator along its own axes, where an estimator of its score costs a small part and draws the
same numbers.

PCA's directions are orthogonal. With s_j = ‖W_j‖ and u_j = W_j / s_j every sample is x = μ + Σ_j a_j u_j + r,
where a_j = s_j z_j + σ ε_j, and r, orthogonal to all u_j, knows nothing of z. An estimator sees x through its
distance from g(z) alone, ‖x − g(z)‖² = ‖a − s ⊙ z‖² + ‖r‖², so it may as well run on a, coordinate by
coordinate; its direction there, carried back along the axes, plus r/σ², is its direction at x. Trap: this
holds for orthogonal columns only, so any other generator is refused.
"""

import torch
from torch import Tensor, nn

from vera.entropy import EntropyGradient
from vera.errors import IncompatibleModel
from vera.models.generator import Generator
from vera.models.linear import LinearGenerator

ORTHOGONAL = 1e-4
"""The largest cosine between two columns that single precision may leave."""


class Scaling(nn.Module):
    """z to s ⊙ z."""

    scale: Tensor

    def __init__(self, scale: Tensor) -> None:
        super().__init__()
        self.register_buffer("scale", scale)

    def forward(self, z: Tensor) -> Tensor:
        return self.scale * z


class PrincipalAxes(nn.Module):
    """`generator` makes a from z; `directions` has u_j as its columns."""

    directions: Tensor
    centre: Tensor

    @torch.no_grad()
    def __init__(self, linear: LinearGenerator) -> None:
        super().__init__()
        lengths = torch.linalg.vector_norm(linear.weight, dim=0)
        directions = linear.weight / lengths.clamp_min(
            torch.finfo(lengths.dtype).tiny
        )  # a column of zeros says nothing of z
        cosines = (directions.T @ directions).fill_diagonal_(0)
        if cosines.abs().max() > ORTHOGONAL:
            raise IncompatibleModel("Axes: the generator's columns are not orthogonal, as those of PCA are.")
        self.register_buffer("directions", directions)
        self.register_buffer("centre", linear.net.bias.clone())
        bounds = {"sigma": 1.0, "sigma_min": 1e-6, "sigma_max": 1e6}
        self.generator = Generator(Scaling(lengths), linear.latent_dim, **bounds).to(linear.weight)
        self.generator.log_sigma.copy_(linear.log_sigma)

    def split(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """(a, r)."""
        offset = x - self.centre
        a = offset @ self.directions
        return a, offset - a @ self.directions.T


class AxisEntropy(EntropyGradient):
    """An estimator of a linear generator that works on its axes."""

    def __init__(self, entropy: EntropyGradient, axes: PrincipalAxes) -> None:
        self.entropy, self.axes = entropy, axes

    @torch.no_grad()
    def direction(self, generator: Generator, z0: Tensor, x: Tensor) -> Tensor:
        a, rest = self.axes.split(x)
        along = self.entropy.direction(self.axes.generator, z0, a)
        return along @ self.axes.directions.T + rest / generator.sigma.square()
