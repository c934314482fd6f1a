"""HDGE: cross-entropy plus a contrastive estimate of log q(x|y) (Liu and Abbeel, 2020).

f̂ denotes the logits of a point, scaled to length 1. The score for label y is
s_y = logsumexp_c(1[c = y] f̂_c), and
    log q(x|y) ≈ s_y(x)/τ − log(e^{s_y(x)/τ} + Σ_k e^{s_y(x_k)/τ}),
where the x_k are earlier points of any label, whose f̂ are stored in a queue. This is a softmax with the
positive at index 0. Trap: the zeros of the other classes are part of s_y, so s_y = log(e^{f̂_y} + C − 1), not
f̂_y. The sum over the queue depends on x_k and y only, so it is computed once per class, not per point.

Choices where the source is silent:
- A point enters the queue after its loss, with the f̂ of that loss, so it is never its own negative. No
  gradient flows into the queue.
- Only labelled points have a y, so only they are contrasted and stored. Unlabelled points contribute to the
  class entropy and to log p(x).
- `density_weight` adds JEM's log p(x) with JEM's sampler, as in the model behind the FID of that paper. At 0
  there are no chains.
- Adam has JEM's learning rates. Dropout and batch norm are left to the network.
"""

from dataclasses import dataclass
from typing import Annotated

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, normalize

from vera.data.labelled import LabelledBatch
from vera.joint.contract import add_noise
from vera.joint.jem import JEM
from vera.joint.losses import class_entropy
from vera.methods.contract import Metrics
from vera.methods.contrastive_loss import contrastive_loss
from vera.spec.registry import joint_methods
from vera.spec.settings import Count, Decay, NonNegative, Positive
from vera.training.adam_betas import ADAM_BETAS
from vera.training.optimisers import descend
from vera.training.state.stateful import Stateful


class LogitQueue(Stateful):
    """A first-in, first-out queue of `capacity` logits of length 1; it starts with random directions."""

    def __init__(self, capacity: int, classes: int, like: Tensor) -> None:
        self.rows = normalize(torch.randn(capacity, classes, device=like.device, dtype=like.dtype))
        self.oldest = 0

    def push(self, rows: Tensor) -> None:
        """Replace the oldest rows by these."""
        capacity = len(self.rows)
        rows = rows.detach()[-capacity:]
        indices = torch.arange(self.oldest, self.oldest + len(rows), device=self.rows.device) % capacity
        self.rows[indices] = rows.to(self.rows.dtype)
        self.oldest = (self.oldest + len(rows)) % capacity


def class_score(entry: Tensor, classes: int) -> Tensor:
    """Return s_y for f̂_y: the logsumexp over f̂_y and the zeros of the other classes.

    The exponential cannot overflow, because an entry of a unit vector is at most 1.
    """
    return (entry.exp() + (classes - 1)).log()


def class_contrastive_loss(directions: Tensor, labels: Tensor, queue: Tensor, temperature: float) -> Tensor:
    """Return −log q(x|y) of each point.

    `directions` are the f̂ of the points (B, C), `queue` those of the negatives (K, C).
    """
    classes = directions.shape[1]
    positive = class_score(directions.gather(1, labels.unsqueeze(1)).squeeze(1), classes) / temperature
    negatives = torch.logsumexp(class_score(queue, classes) / temperature, dim=0)
    return torch.logaddexp(positive, negatives[labels]) - positive


@joint_methods.register("hdge")
@dataclass(eq=False, kw_only=True)
class HDGE(JEM):
    """A classifier with a contrastive loss; γ and the sampler are used only if `density_weight` > 0."""

    lr: Annotated[Positive, "learning rate"] = 1e-4
    betas: Annotated[tuple[Decay, Decay], "Adam's betas"] = ADAM_BETAS
    queue: Annotated[Count, "K, the stored logits that serve as negatives"] = 65_536
    temperature: Annotated[Positive, "τ, by which all scores are divided"] = 0.1
    density_weight: Annotated[NonNegative, "weight of JEM's log p(x); 0 disables it and its sampler"] = 0.0

    def setup(self) -> None:
        super().setup()
        self.negatives = LogitQueue(self.queue, self.energy.classes, like=self.energy_weights[0])

    def setup_for(self, x: Tensor) -> None:
        if self.density_weight:
            super().setup_for(x)

    def update(self, batch: LabelledBatch) -> Metrics:
        if self.density_weight:
            return super().update(batch)
        loss, metrics = self.energy_loss(
            add_noise(batch, self.data_noise) if self.data_noise else batch, batch.x
        )
        descend(loss, self.energy_weights, self.optimiser)
        return metrics

    def energy_loss(self, batch: LabelledBatch, samples: Tensor) -> tuple[Tensor, Metrics]:
        """Return the loss α CE − log q(x|y) + β H − density_weight · log p(x) and its metrics.

        Only the last term uses `samples`.
        """
        with self.loss_context():
            loss, terms = self._label_loss(batch)
            if self.density_weight:
                density, more = contrastive_loss(self.energy, batch.x, samples, self.gamma, self.penalty)
                loss = loss + self.density_weight * density
                terms |= {name: term for name, term in more.items() if name != "loss"}
        return loss, {name: torch.detach(term) for name, term in {"loss": loss, **terms}.items()}

    def has_gradient_penalty(self) -> bool:
        return self.density_weight > 0 and super().has_gradient_penalty()

    def training_samples(self, n: int) -> Tensor | None:  # type: ignore[override]  # PCD never returns None
        return super().training_samples(n) if self.density_weight else None

    def _label_loss(self, batch: LabelledBatch) -> tuple[Tensor, dict[str, Tensor]]:
        logits = self.energy.logits(batch.labelled)
        directions = normalize(logits)
        terms = {
            "cross_entropy": cross_entropy(logits, batch.labels),
            "contrast": class_contrastive_loss(
                directions, batch.labels, self.negatives.rows, self.temperature
            ).mean(),
        }
        loss = self.alpha * terms["cross_entropy"] + terms["contrast"]
        if self.beta:
            terms["class_entropy"] = class_entropy(logits if batch.is_shared else self.energy.logits(batch.x))
            loss = loss + self.beta * terms["class_entropy"]
        self.negatives.push(directions)  # after the loss, so that no point is its own negative
        return loss, terms
