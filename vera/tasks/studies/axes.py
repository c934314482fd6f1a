"""A linear generator in the coordinates of its principal axes, where estimating its score is much cheaper.

The columns of a PCA generator are orthogonal. With s_j = ‖W_j‖ and u_j = W_j / s_j every sample is x = μ +
Σ_j a_j u_j + r, where a_j = s_j z_j + σ ε_j, and r is orthogonal to all u_j and independent of z. An
estimator depends on x only through ‖x − g(z)‖² = ‖a − s ⊙ z‖² + ‖r‖², so it can run on a, coordinate by
coordinate, with the same random numbers. Its direction at x is its direction at a, mapped back along the
axes, plus r/σ². Trap: this holds for orthogonal columns only; other generators are refused.
"""

import torch
from torch import Tensor, nn

from vera.entropy import EntropyGradient
from vera.errors import IncompatibleModel
from vera.models.generator import Generator
from vera.models.linear import LinearGenerator

ORTHOGONAL = 1e-4
"""Columns count as orthogonal if their cosine is at most this, the rounding error of single precision."""


class Scaling(nn.Module):
    """Maps z to s ⊙ z."""

    scale: Tensor

    def __init__(self, scale: Tensor) -> None:
        super().__init__()
        self.register_buffer("scale", scale)

    def forward(self, z: Tensor) -> Tensor:
        return self.scale * z


class PrincipalAxes(nn.Module):
    """The axes of a linear generator: `generator` maps z to a, `directions` has the columns u_j."""

    directions: Tensor
    centre: Tensor

    @torch.no_grad()
    def __init__(self, linear: LinearGenerator) -> None:
        super().__init__()
        lengths = torch.linalg.vector_norm(linear.weight, dim=0)
        tiny = torch.finfo(lengths.dtype).tiny  # a column of zeros carries no information about z
        directions = linear.weight / lengths.clamp_min(tiny)
        cosines = (directions.T @ directions).fill_diagonal_(0)
        if cosines.abs().max() > ORTHOGONAL:
            raise IncompatibleModel(
                "PrincipalAxes: the columns of the generator must be orthogonal, as those of PCA are."
            )
        self.register_buffer("directions", directions)
        self.register_buffer("centre", linear.net.bias.clone())
        bounds = {"sigma": 1.0, "sigma_min": 1e-6, "sigma_max": 1e6}
        self.generator = Generator(Scaling(lengths), linear.latent_dim, **bounds).to(linear.weight)
        self.generator.log_sigma.copy_(linear.log_sigma)

    def split(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """The coordinates a along the axes, and the rest r."""
        offset = x - self.centre
        a = offset @ self.directions
        return a, offset - a @ self.directions.T


class AxisEntropy(EntropyGradient):
    """Runs an estimator for a linear generator in the coordinates of its axes."""

    def __init__(self, entropy: EntropyGradient, axes: PrincipalAxes) -> None:
        self.entropy, self.axes = entropy, axes

    @torch.no_grad()
    def direction(self, generator: Generator, z0: Tensor, x: Tensor) -> Tensor:
        a, rest = self.axes.split(x)
        along = self.entropy.direction(self.axes.generator, z0, a)
        return along @ self.axes.directions.T + rest / generator.sigma.square()
