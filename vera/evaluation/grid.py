"""Densities on a grid in two dimensions: pictures of f, and its normalising constant by quadrature.

The pictures follow Figure 1: 100 x 100 points on [-4, 4]², e^f normalised over the grid, first row at the
top. For likelihoods of unnormalised models the grid must reach beyond the model's mass, so the caller can see
how much lies at its rim.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from vera.evaluation.likelihood import Estimate, evaluate_in_chunks
from vera.gradients import LogDensity
from vera.models.network_modes import evaluation_mode


@dataclass(frozen=True)
class PlaneGrid:
    """side x side points on [-limit, limit]²; row i of an image has the i-th largest second coordinate."""

    side: int = 100
    limit: float = 4.0

    def points(self) -> Tensor:
        axis = torch.linspace(-self.limit, self.limit, self.side)
        y, x = torch.meshgrid(axis.flip(0), axis, indexing="ij")
        return torch.stack([x.flatten(), y.flatten()], dim=1)

    @property
    def cell(self) -> float:
        """The area that one point stands for."""
        return (2 * self.limit / (self.side - 1)) ** 2


def density_image(f: LogDensity, grid: PlaneGrid | None = None) -> Tensor:
    """e^f normalised to sum 1 over the grid, as (side, side)."""
    grid = grid or PlaneGrid()
    return _on_grid(f, grid).softmax(0).view(grid.side, grid.side)


@dataclass(frozen=True)
class Normaliser:
    """log ∫ e^f over the grid, and the share of that mass in the outermost ring of cells.

    A flat f, which no constant normalises, has a share of .005 on the default grid: only a share far below
    that is small.
    """

    log_z: float
    rim_share: float


def grid_log_normaliser(f: LogDensity, grid: PlaneGrid | None = None) -> Normaliser:
    """log Z by the rectangle rule. Trust it only where `rim_share` is small and the cells are finer than f's
    details."""
    grid = grid or PlaneGrid(side=801, limit=10.0)
    values = _on_grid(f, grid)
    log_mass = torch.logsumexp(values, 0)
    share = (values - log_mass).exp().view(grid.side, grid.side)
    inner = float(share[1:-1, 1:-1].sum())
    return Normaliser(float(log_mass) + math.log(grid.cell), max(0.0, 1.0 - inner))


def grid_log_likelihood(
    f: LogDensity, x: Tensor, grid: PlaneGrid | None = None
) -> tuple[Estimate, Normaliser]:
    """Mean log-likelihood of an unnormalised two-dimensional model, f(x) − log Z, and the normaliser to judge
    it by."""
    normaliser = grid_log_normaliser(f, grid)
    return Estimate.from_values(_values(f, x) - normaliser.log_z), normaliser


def _on_grid(f: LogDensity, grid: PlaneGrid) -> Tensor:
    return _values(f, grid.points())


def _values(f: LogDensity, x: Tensor) -> Tensor:
    if not isinstance(f, nn.Module):
        return evaluate_in_chunks(f, x).double()
    device = next((p.device for p in f.parameters()), x.device)
    with evaluation_mode(f):
        return evaluate_in_chunks(f, x.to(device)).double().cpu()
