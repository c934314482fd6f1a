"""Multilayer perceptrons: energy f(x), generator mean g(z) and MEG's statistics network T(x, z).

All use PyTorch's default initialisation. A hidden layer of the generator is Linear without bias, batch norm,
activation. The energy has no batch norm, because f of one point must not depend on the rest of the batch.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Literal

import torch
from torch import Tensor, nn

from vera.models.generator import Generator
from vera.spec.registry import models
from vera.spec.settings import Count, Positive, Sizes, validate_arguments

Activation = Literal["leaky_relu", "relu", "softplus"]
Output = Literal["identity", "tanh", "sigmoid"]

_ACTIVATIONS: dict[str, Callable[[], nn.Module]] = {
    "leaky_relu": lambda: nn.LeakyReLU(0.2, inplace=True),
    "relu": lambda: nn.ReLU(inplace=True),
    "softplus": nn.Softplus,
}
_OUTPUTS: dict[str, Callable[[], nn.Module]] = {
    "identity": nn.Identity,
    "tanh": nn.Tanh,
    "sigmoid": nn.Sigmoid,
}


def build_dense(sizes: Sequence[int], activation: Activation, batch_norm: bool = False) -> nn.Sequential:
    """Return Linear layers of the given sizes, with the activation (after batch norm, if any) in between."""
    layers: list[nn.Module] = []
    for fan_in, fan_out in pairwise(sizes[:-1]):
        layers.append(nn.Linear(fan_in, fan_out, bias=not batch_norm))
        if batch_norm:
            layers.append(nn.BatchNorm1d(fan_out))
        layers.append(_ACTIVATIONS[activation]())
    return nn.Sequential(*layers, nn.Linear(sizes[-2], sizes[-1]))


@models.register("mlp")
class MLP(nn.Module):
    """A fully connected f(x).

    Default: the paper's toy energy, 2 -> 100 -> 100 -> 1 with LeakyReLU .2 (10,501 weights).
    """

    @validate_arguments
    def __init__(
        self, data_dim: Count, hidden: Sizes = (100, 100), activation: Activation = "leaky_relu"
    ) -> None:
        super().__init__()
        self.data_dim = data_dim
        self.piecewise_linear = activation != "softplus"
        self.net = build_dense((data_dim, *hidden, 1), activation)

    def forward(self, x: Tensor) -> Tensor:
        return self.net(x).squeeze(-1)


class MLPGenerator(nn.Module):
    """A fully connected mean g(z).

    Default: the paper's toy generator, z -> 100 -> 100 -> 2 with batch norm and ReLU.
    """

    @validate_arguments
    def __init__(
        self,
        latent_dim: Count,
        data_dim: Count,
        hidden: Sizes = (100, 100),
        activation: Activation = "relu",
        output: Output = "identity",
    ) -> None:
        super().__init__()
        self.latent_dim = latent_dim
        self.data_dim = data_dim
        self.net = build_dense((latent_dim, *hidden, data_dim), activation, batch_norm=True)
        self.output = _OUTPUTS[output]()

    def forward(self, z: Tensor) -> Tensor:
        return self.output(self.net(z))


@models.register("mlp-generator")
@validate_arguments
def mlp_generator(
    data_dim: Count,
    latent_dim: Count = 2,
    hidden: Sizes = (100, 100),
    activation: Activation = "relu",
    output: Output = "identity",
    sigma: Positive | None = None,
    sigma_min: Positive = 0.01,
    sigma_max: Positive = 0.3,
) -> Generator:
    """A generator with batch norm. Default: the paper's toy generator (10,802 weights and σ)."""
    net = MLPGenerator(latent_dim, data_dim, hidden, activation, output)
    return Generator(net, sigma=sigma, sigma_min=sigma_min, sigma_max=sigma_max)


@models.register("nice-generator")
@validate_arguments
def nice_generator(
    data_dim: Count = 784,
    latent_dim: Count = 100,
    hidden: Sizes = (500, 500, 500),
    sigma: Positive | None = None,
    sigma_min: Positive = 0.01,
    sigma_max: Positive = 0.3,
) -> Generator:
    """The generator for the NICE flow (100 -> 3 x 500 -> 784, Softplus: 945,784 weights and σ).

    The paper's text says two hidden layers, its code has three. `hidden=(500, 500)` gives two (694,784
    weights).
    """
    return mlp_generator(data_dim, latent_dim, hidden, "softplus", "identity", sigma, sigma_min, sigma_max)


@models.register("statistics")
class StatisticsNetwork(nn.Module):
    """MEG's T(x, z), which classifies whether z belongs to x.

    884 -> 3 x 500 -> 1, LeakyReLU .2: 944,001 weights for D = 784 and d = 100.
    """

    @validate_arguments
    def __init__(self, data_dim: Count, latent_dim: Count, hidden: Sizes = (500, 500, 500)) -> None:
        super().__init__()
        self.net = build_dense((data_dim + latent_dim, *hidden, 1), "leaky_relu")

    def forward(self, x: Tensor, z: Tensor) -> Tensor:
        return self.net(torch.cat([x.flatten(1), z], dim=1)).squeeze(-1)
