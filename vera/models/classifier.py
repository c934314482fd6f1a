"""Classifiers that are energy models too: f(x) = logsumexp over the class logits (JEM, Grathwohl et al.,
2020).

The same network gives p(y|x) = softmax of the logits and an unnormalised log-density of x. Trap: adding a
constant to all logits changes f and not p(y|x), so nothing in a cross-entropy pins down the level of f.
"""

from abc import abstractmethod
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn.utils.parametrizations import weight_norm

from vera.models.mlp import Activation, build_dense
from vera.spec.registry import models
from vera.spec.settings import Count, Sizes, validated


class Classifier(nn.Module):
    """A network with one logit a class; as an energy model it is f(x) = logsumexp_y logits(x)."""

    classes: int

    @abstractmethod
    def logits(self, x: Tensor) -> Tensor:
        """(B, ...) to (B, classes)."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.logsumexp(self.logits(x), dim=1)


@models.register("mlp-classifier")
class MLPClassifier(Classifier):
    """The tabular energy: D -> 1000 -> 500 -> 500 -> 250 -> 250 -> 250 -> classes, LeakyReLU .2 (MNIST:
    1,789,260 weights).

    `weight_normalised` puts weight norm on the hidden layers, not on the output, as for MNIST (1,792,010).
    """

    @validated
    def __init__(
        self,
        data_dim: Count,
        classes: Count,
        hidden: Sizes = (1000, 500, 500, 250, 250, 250),
        activation: Activation = "leaky_relu",
        weight_normalised: bool = False,
    ) -> None:
        super().__init__()
        self.data_dim, self.classes = data_dim, classes
        self.net = build_dense((data_dim, *hidden, classes), activation)
        if weight_normalised:
            for layer, following in pairwise(self.net):
                if isinstance(layer, nn.Linear) and not isinstance(following, nn.Linear):
                    weight_norm(layer)

    def logits(self, x: Tensor) -> Tensor:
        return self.net(x)
