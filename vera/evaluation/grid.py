"""Two-dimensional densities on a grid: images of e^f, and the normalising constant of f by quadrature.

The images follow Figure 1: 100 x 100 points on [-4, 4]², e^f normalised over the grid, first row at the top.
For likelihoods of unnormalised models the grid must extend beyond the mass of the model, so the mass at its
rim is reported.
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
    """A grid of side x side points on [-limit, limit]².

    Row i of an image has the i-th largest second coordinate.
    """

    side: int = 100
    limit: float = 4.0

    def points(self) -> Tensor:
        """Return all points, shape (side², 2), in the order of the pixels of an image."""
        axis = torch.linspace(-self.limit, self.limit, self.side)
        y, x = torch.meshgrid(axis.flip(0), axis, indexing="ij")
        return torch.stack([x.flatten(), y.flatten()], dim=1)

    @property
    def cell(self) -> float:
        """The area that one point represents."""
        return (2 * self.limit / (self.side - 1)) ** 2


def density_image(f: LogDensity, grid: PlaneGrid | None = None) -> Tensor:
    """Return e^f normalised to sum 1 over the grid, shape (side, side)."""
    grid = grid or PlaneGrid()
    return _evaluate(f, grid.points()).softmax(0).view(grid.side, grid.side)


@dataclass(frozen=True)
class Normaliser:
    """log ∫ e^f over the grid, and the share of that mass in the outermost ring of cells.

    A flat f, which cannot be normalised, has a share of .005 on the default grid. A share counts as small
    only if it is far below that.
    """

    log_z: float
    rim_share: float


def grid_log_normaliser(f: LogDensity, grid: PlaneGrid | None = None) -> Normaliser:
    """Return log Z by the rectangle rule.

    It is reliable only if `rim_share` is small and the cells are finer than the details of f.
    """
    grid = grid or PlaneGrid(side=801, limit=10.0)
    values = _evaluate(f, grid.points())
    log_mass = torch.logsumexp(values, 0)
    share = (values - log_mass).exp().view(grid.side, grid.side)
    inner = float(share[1:-1, 1:-1].sum())
    return Normaliser(float(log_mass) + math.log(grid.cell), max(0.0, 1.0 - inner))


def grid_log_likelihood(
    f: LogDensity, x: Tensor, grid: PlaneGrid | None = None
) -> tuple[Estimate, Normaliser]:
    """Return the mean log-likelihood f(x) − log Z of an unnormalised model in 2-D, and its normaliser."""
    normaliser = grid_log_normaliser(f, grid)
    return Estimate.from_values(_evaluate(f, x) - normaliser.log_z), normaliser


def _evaluate(f: LogDensity, x: Tensor) -> Tensor:
    if not isinstance(f, nn.Module):
        return evaluate_in_chunks(f, x).double()
    device = next((p.device for p in f.parameters()), x.device)
    with evaluation_mode(f):
        return evaluate_in_chunks(f, x.to(device)).double().cpu()
