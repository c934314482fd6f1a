"""The losses that joint methods share: cross-entropy, entropy of p(y|x), and the contrastive energy loss with
both (Eqs. 11, 18).

Trap: the paper's Eq. 18 adds the class entropy to a maximised objective. Confident predictions on unlabelled
points are what is wanted, so the entropy is minimised: the loss gets + β H. One forward pass on the data
serves f, its penalty and the entropy, and the cross-entropy too where every point shows its label.
"""

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from vera.data.labelled import LabelledBatch
from vera.gradients import squared_norm
from vera.methods.contrastive_loss import Penalty, penalty_weight
from vera.models.classifier import Classifier


def class_entropy(logits: Tensor) -> Tensor:
    """Mean entropy of softmax(logits), in nats."""
    log_p = torch.log_softmax(logits, dim=1)
    return -(log_p.exp() * log_p).sum(1).mean()


def joint_contrastive_loss(
    classifier: Classifier,
    batch: LabelledBatch,
    samples: Tensor,
    gamma: float,
    penalty: Penalty,
    *,
    alpha: float,
    beta: float,
) -> tuple[Tensor, dict[str, Tensor]]:
    """(the loss to descend, its parts as metrics): −mean f(x) + mean f(samples) + penalty + α CE + β H.
    `samples` are constants."""
    f_samples = classifier(samples.detach()).mean()
    x = batch.x.detach().requires_grad_(gamma > 0)
    logits = classifier.logits(x)
    f_x = torch.logsumexp(logits, dim=1)
    on_labelled = cross_entropy(logits if batch.shared else classifier.logits(batch.labelled), batch.labels)
    f_data = f_x.mean()
    loss = f_samples - f_data + alpha * on_labelled
    parts = {"f_data": f_data, "f_samples": f_samples, "cross_entropy": on_labelled}
    if beta:
        parts["class_entropy"] = class_entropy(logits)
        loss = loss + beta * parts["class_entropy"]
    if gamma:
        (slope,) = torch.autograd.grad(f_x.sum(), x, create_graph=True)
        parts["penalty"] = penalty_weight(gamma, penalty) * squared_norm(slope).mean()
        loss = loss + parts["penalty"]
    return loss, {name: torch.detach(part) for name, part in {"loss": loss, **parts}.items()}
