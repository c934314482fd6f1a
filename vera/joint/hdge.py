"""HDGE: cross-entropy plus a contrastive estimate of log q(x|y) (Liu and Abbeel, 2020).

The logits of a point are scaled to length 1, f̂. Its score for label y is s_y = logsumexp_c(1[c = y] f̂_c),
and
    log q(x|y) ≈ s_y(x)/τ − log(e^{s_y(x)/τ} + Σ_k e^{s_y(x_k)/τ}),
where the x_k are earlier points, of whatever label, whose f̂ lie in a queue: a softmax with the positive at
index 0. Trap: the zeros of the other classes stay inside, so s_y = log(e^{f̂_y} + C − 1), not f̂_y. As it
depends on x_k and y alone, the sum over the queue is one for each class, not one for each point.

Where the source is silent: a point enters the queue with the f̂ it had when its loss was taken, after that,
so it is never its own negative; the queue learns nothing. Only labelled points have a y, so they alone are
contrasted and stored; points without labels count in the class entropy and in log p(x). `density_weight` adds
that log p(x), JEM's, with JEM's sampler, as the model of that paper's FID does; at 0 no chains are kept. Adam
has JEM's own rates; dropout and batch norm are the network's business.
"""

from dataclasses import dataclass
from typing import Annotated

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, normalize

from vera.data.labelled import LabelledBatch
from vera.joint.jem import JEM
from vera.joint.losses import class_entropy
from vera.methods.contract import Metrics
from vera.methods.contrastive_loss import contrastive_loss
from vera.spec.registry import joint_methods
from vera.spec.settings import Count, Decay, NonNegative, Positive
from vera.training.optimisers import ADAM_BETAS, descend
from vera.training.state import Stateful


class LogitQueue(Stateful):
    """The last `capacity` logits of length 1, first in, first out; random directions until there are that
    many."""

    def __init__(self, capacity: int, classes: int, like: Tensor) -> None:
        self.rows = normalize(torch.randn(capacity, classes, device=like.device, dtype=like.dtype))
        self.oldest = 0

    def push(self, rows: Tensor) -> None:
        """Put these in the place of the oldest."""
        capacity = len(self.rows)
        rows = rows.detach()[-capacity:]
        places = torch.arange(self.oldest, self.oldest + len(rows), device=self.rows.device) % capacity
        self.rows[places] = rows.to(self.rows.dtype)
        self.oldest = (self.oldest + len(rows)) % capacity


def class_score(entry: Tensor, classes: int) -> Tensor:
    """s_y of f̂_y: logsumexp over f̂_y and the zeros of the other classes. No entry of a unit vector can
    overflow."""
    return (entry.exp() + (classes - 1)).log()


def class_contrastive_loss(directions: Tensor, labels: Tensor, queue: Tensor, temperature: float) -> Tensor:
    """−log q(x|y) of each point: `directions` are their f̂ (B, C), `queue` those of the negatives (K, C)."""
    classes = directions.shape[1]
    positive = class_score(directions.gather(1, labels.unsqueeze(1)).squeeze(1), classes) / temperature
    negatives = torch.logsumexp(class_score(queue, classes) / temperature, dim=0)
    return torch.logaddexp(positive, negatives[labels]) - positive


@joint_methods.register("hdge")
@dataclass(eq=False, kw_only=True)
class HDGE(JEM):
    """A classifier contrasted with itself; the settings of the sampler and γ matter only with a density
    weight."""

    lr: Annotated[Positive, "learning rate"] = 1e-4
    betas: Annotated[tuple[Decay, Decay], "Adam's betas"] = ADAM_BETAS
    queue: Annotated[Count, "K, the stored logits that serve as negatives"] = 65_536
    temperature: Annotated[Positive, "τ, by which all scores are divided"] = 0.1
    density_weight: Annotated[NonNegative, "weight of JEM's log p(x); 0 leaves it and its sampler out"] = 0.0

    def setup(self) -> None:
        super().setup()
        self.negatives = LogitQueue(self.queue, self.energy.classes, like=self.energy_weights[0])

    def setup_for(self, x: Tensor) -> None:
        if self.density_weight:
            super().setup_for(x)

    def update(self, batch: LabelledBatch) -> Metrics:
        if self.density_weight:
            return super().update(batch)
        loss, metrics = self.energy_loss(self.add_noise(batch) if self.data_noise else batch, batch.x)
        descend(loss, self.energy_weights, self.optimiser)
        return metrics

    def energy_loss(self, batch: LabelledBatch, samples: Tensor) -> tuple[Tensor, Metrics]:
        """α CE − log q(x|y) + β H, and −log p(x) with its weight; `samples` serve that last term alone."""
        with self.loss_context():
            loss, parts = self._of_labels(batch)
            if self.density_weight:
                density, more = contrastive_loss(self.energy, batch.x, samples, self.gamma, self.penalty)
                loss = loss + self.density_weight * density
                parts |= {name: part for name, part in more.items() if name != "loss"}
        return loss, {name: torch.detach(part) for name, part in {"loss": loss, **parts}.items()}

    def has_gradient_penalty(self) -> bool:
        return self.density_weight > 0 and super().has_gradient_penalty()

    def training_samples(self, n: int) -> Tensor | None:  # type: ignore[override]  # PCD always has some
        return super().training_samples(n) if self.density_weight else None

    def _of_labels(self, batch: LabelledBatch) -> tuple[Tensor, dict[str, Tensor]]:
        logits = self.energy.logits(batch.labelled)
        directions = normalize(logits)
        parts = {
            "cross_entropy": cross_entropy(logits, batch.labels),
            "contrast": class_contrastive_loss(
                directions, batch.labels, self.negatives.rows, self.temperature
            ).mean(),
        }
        loss = self.alpha * parts["cross_entropy"] + parts["contrast"]
        if self.beta:
            parts["class_entropy"] = class_entropy(logits if batch.shared else self.energy.logits(batch.x))
            loss = loss + self.beta * parts["class_entropy"]
        self.negatives.push(directions)  # its own loss is taken already
        return loss, parts
