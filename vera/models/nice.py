"""NICE: a volume-preserving flow with a diagonal scale, the tractable model of Table 2.

a holds the even-indexed coordinates, b the odd-indexed ones. Four additive couplings follow: b += m₁(a),
a += m₂(b), b += m₃(a), a += m₄(b). Then y = exp(s) ⊙ (a, b) and
log p(x) = −½‖y‖² − (D/2) log 2π + Σ s, with a standard normal (not logistic) prior. The two halves stay
separate tensors, so nothing is permuted, concatenated or multiplied by a permutation matrix.
"""

import math

import torch
from torch import Tensor, nn

from vera.errors import SettingError
from vera.models.curvature import Curvature, pull_through, record_inputs
from vera.models.mlp import build_dense
from vera.spec.registry import models
from vera.spec.settings import Count, validate_arguments


@models.register("nice")
class NICE(nn.Module):
    """A NICE flow. Default: the paper's, with couplings 392 -> 4 x 1000 -> 392, Softplus, 15,154,352 weights.

    The paper's text says five hidden layers, its code has four. `hidden_layers=5` gives five (19,158,352
    weights).
    """

    @validate_arguments
    def __init__(
        self, data_dim: Count = 784, hidden: Count = 1000, hidden_layers: Count = 4, couplings: Count = 4
    ) -> None:
        super().__init__()
        self.data_dim = data_dim
        sizes = ((data_dim + 1) // 2, data_dim // 2)
        if data_dim < 2:
            raise SettingError(
                f"NICE: data_dim must be at least 2, got {data_dim}; a coupling needs two halves."
            )
        self.shifts = nn.ModuleList(
            build_dense((sizes[i % 2], *[hidden] * hidden_layers, sizes[1 - i % 2]), "softplus")
            for i in range(couplings)
        )
        self.log_scale = nn.Parameter(torch.zeros(data_dim))

    def forward(self, x: Tensor) -> Tensor:
        """f(x) = log p(x)."""
        a, b = self.couple(x)
        scale_a, scale_b = self._halves(self.log_scale.exp())
        square = (a * scale_a).square().sum(1) + (b * scale_b).square().sum(1)
        return self.log_scale.sum() - 0.5 * self.data_dim * math.log(2 * math.pi) - 0.5 * square

    def log_prob(self, x: Tensor) -> Tensor:
        return self(x)

    def couple(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return both halves after the couplings, before the scale."""
        halves = [x[:, 0::2], x[:, 1::2]]
        for i, shift in enumerate(self.shifts):
            halves[1 - i % 2] = halves[1 - i % 2] + shift(halves[i % 2])
        return halves[0], halves[1]

    def encode(self, x: Tensor) -> Tensor:
        """Return y, the point in the space of the standard normal prior."""
        return torch.cat(self.couple(x), dim=1) * self.log_scale.exp()

    def decode(self, y: Tensor) -> Tensor:
        """Return the inverse of `encode`."""
        halves = list(self._halves(y * (-self.log_scale).exp()))
        for i, shift in reversed(list(enumerate(self.shifts))):
            halves[1 - i % 2] = halves[1 - i % 2] - shift(halves[i % 2])
        return _interleave(*halves)

    @torch.no_grad()
    def sample(self, n: int) -> Tensor:
        return self.decode(
            torch.randn(n, self.data_dim, device=self.log_scale.device, dtype=self.log_scale.dtype)
        )

    def score_and_curvature(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return ∇f and an unbiased estimate of diag ∇²f, both from one sweep of curvature propagation."""
        halves = [x[:, 0::2], x[:, 1::2]]
        inputs = []
        for i, shift in enumerate(self._nets()):
            change, layer_inputs = record_inputs(shift, halves[i % 2])
            halves[1 - i % 2] = halves[1 - i % 2] + change
            inputs.append(layer_inputs)
        scales = self._halves(self.log_scale.exp())
        down = [
            Curvature.at_normal_prior(half * scale).scale(scale)
            for half, scale in zip(halves, scales, strict=True)
        ]
        for i, shift in reversed(list(enumerate(self._nets()))):
            down[i % 2] = down[i % 2] + pull_through(shift, inputs[i], down[1 - i % 2])
        return _interleave(down[0].gradient, down[1].gradient), _interleave(
            down[0].diagonal(), down[1].diagonal()
        )

    def _nets(self) -> list[nn.Sequential]:
        return [shift for shift in self.shifts if isinstance(shift, nn.Sequential)]

    def _halves(self, y: Tensor) -> tuple[Tensor, Tensor]:
        first = (self.data_dim + 1) // 2
        return y[..., :first], y[..., first:]


def _interleave(a: Tensor, b: Tensor) -> Tensor:
    """Return the inverse of x[:, 0::2], x[:, 1::2]."""
    x = a.new_empty(len(a), a.shape[1] + b.shape[1])
    x[:, 0::2], x[:, 1::2] = a, b
    return x
