"""Virtual adversarial training: smooths predictions where they change most (Miyato et al., 2018).

loss = α CE(labelled) + β H(p(y|x)) + LDS,   LDS = mean KL(p(·|x) ‖ p(·|x + ε d))
The unit vector d is found by power iteration on the Hessian of that KL at x: d ← direction of
∇_d KL(p ‖ p(·|x + ξ d)). p(·|x) is treated as a constant. Trap: the published code starts from a uniform d
and uses ξ = 10. The original uses ξ = 1e-6, for which the float32 gradient is noise if the logits are nearly
flat.
"""

from dataclasses import dataclass
from typing import Annotated

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from vera.data.labelled import LabelledBatch
from vera.gradients import squared_norm
from vera.joint.contract import ClassifierMethod
from vera.joint.losses import class_entropy
from vera.methods.contract import Metrics
from vera.models.classifier import Classifier
from vera.spec.registry import joint_methods
from vera.spec.settings import Count, NonNegative, Positive
from vera.training.optimisers import adam, descend


@joint_methods.register("vat")
@dataclass(eq=False, kw_only=True)
class VAT(ClassifierMethod):
    """Minimises cross-entropy, class entropy and the local change of the predictions."""

    lr: Annotated[Positive, "learning rate"] = 1e-4
    alpha: Annotated[NonNegative, "α, the weight of the cross-entropy on labelled points"] = 1.0
    beta: Annotated[NonNegative, "β, the weight of the class entropy on unlabelled points"] = 1.0
    epsilon: Annotated[Positive, "ε, the length of the adversarial step"] = 1.0
    xi: Annotated[Positive, "ξ, the length of the probing step in the power iteration"] = 10.0
    power_iterations: Annotated[Count, "power iterations for the adversarial direction"] = 1

    def setup(self) -> None:
        self.optimiser = adam(self.energy_weights, self.lr)

    def update(self, batch: LabelledBatch) -> Metrics:
        logits = self.energy.logits(batch.x)
        direction = adversarial_direction(
            self.energy, batch.x, logits.detach(), xi=self.xi, iterations=self.power_iterations
        )
        moved = self.energy.logits(batch.x + self.epsilon * direction)
        smoothness = kl_divergence(logits.detach(), moved).mean()
        on_labelled = cross_entropy(
            logits if batch.is_shared else self.energy.logits(batch.labelled), batch.labels
        )
        entropy = class_entropy(logits)
        loss = self.alpha * on_labelled + self.beta * entropy + smoothness
        descend(loss, self.energy_weights, self.optimiser)
        terms = {
            "loss": loss,
            "cross_entropy": on_labelled,
            "class_entropy": entropy,
            "smoothness": smoothness,
        }
        return {name: term.detach() for name, term in terms.items()}


def kl_divergence(logits: Tensor, others: Tensor) -> Tensor:
    """Return KL(softmax(logits) ‖ softmax(others)) for each point."""
    log_p, log_q = torch.log_softmax(logits, dim=1), torch.log_softmax(others, dim=1)
    return (log_p.exp() * (log_p - log_q)).sum(1)


def adversarial_direction(
    classifier: Classifier, x: Tensor, logits: Tensor, *, xi: float, iterations: int
) -> Tensor:
    """Return unit vectors along which p(y|x) changes most, by power iteration from a random start."""
    direction = normalise(torch.rand_like(x) - 0.5)
    for _ in range(iterations):
        direction.requires_grad_(True)
        change = kl_divergence(logits, classifier.logits(x + xi * direction)).sum()
        (slope,) = torch.autograd.grad(change, direction)
        direction = normalise(slope)
    return direction


def normalise(x: Tensor) -> Tensor:
    """Return each point scaled to length 1; a point that is exactly 0 stays 0.

    The largest entry is divided out first: if predictions are certain, the gradient is so short that its
    squares underflow in float32.
    """
    tiny, column = torch.finfo(x.dtype).tiny, (-1, *[1] * (x.ndim - 1))
    x = x.detach()
    scaled = x / x.abs().flatten(1).amax(1).clamp_min(tiny).view(column)
    return scaled / squared_norm(scaled).sqrt().clamp_min(tiny).view(column)
