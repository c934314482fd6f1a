"""Classifiers as energy models: f(x) is the logsumexp of the class logits (JEM, Grathwohl et al., 2020).

One network gives p(y|x), the softmax of the logits, and an unnormalised log-density of x. Trap: a constant
added to all logits changes f but not p(y|x), so a cross-entropy does not determine the level of f.
"""

from abc import abstractmethod
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn.utils.parametrizations import weight_norm

from vera.models.mlp import Activation, build_dense
from vera.spec.registry import models
from vera.spec.settings import Count, Sizes, validate_arguments


class Classifier(nn.Module):
    """A network with one logit per class; as an energy model, f(x) = logsumexp_y logits(x)."""

    classes: int

    @abstractmethod
    def logits(self, x: Tensor) -> Tensor:
        """Map (B, ...) to (B, classes)."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.logsumexp(self.logits(x), dim=1)


@models.register("mlp-classifier")
class MLPClassifier(Classifier):
    """The energy for tables: D -> 1000 -> 500 -> 500 -> 250 -> 250 -> 250 -> classes, LeakyReLU .2.

    It has 1,789,260 weights for MNIST. `weight_normalised` applies weight norm to the hidden layers but not
    to the output, as the paper does for MNIST (1,792,010 weights).
    """

    @validate_arguments
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
