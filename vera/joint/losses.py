"""Losses of the joint methods (Eqs. 11, 18).

They are the entropy of p(y|x), and the contrastive energy loss plus cross-entropy and entropy.

Trap: Eq. 18 of the paper adds the class entropy to a maximised objective. Predictions on unlabelled points
should become confident, so the entropy must be minimised: the loss contains + β H. One forward pass on the
data gives f, its penalty and the entropy, and also the cross-entropy if all points are labelled.
"""

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from vera.data.labelled import LabelledBatch
from vera.gradients import squared_norm
from vera.methods.contrastive_loss import Penalty, penalty_weight
from vera.models.classifier import Classifier


def class_entropy(logits: Tensor) -> Tensor:
    """Return the mean entropy of softmax(logits), in nats."""
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
    """Return the loss to minimise and its terms as metrics.

    The loss is −mean f(x) + mean f(samples) + penalty + α CE + β H. `samples` are treated as constants.
    """
    f_samples = classifier(samples.detach()).mean()
    x = batch.x.detach().requires_grad_(gamma > 0)
    logits = classifier.logits(x)
    f_x = torch.logsumexp(logits, dim=1)
    on_labelled = cross_entropy(
        logits if batch.is_shared else classifier.logits(batch.labelled), batch.labels
    )
    f_data = f_x.mean()
    loss = f_samples - f_data + alpha * on_labelled
    terms = {"f_data": f_data, "f_samples": f_samples, "cross_entropy": on_labelled}
    if beta:
        terms["class_entropy"] = class_entropy(logits)
        loss = loss + beta * terms["class_entropy"]
    if gamma:
        (slope,) = torch.autograd.grad(f_x.sum(), x, create_graph=True)
        terms["penalty"] = penalty_weight(gamma, penalty) * squared_norm(slope).mean()
        loss = loss + terms["penalty"]
    return loss, {name: torch.detach(term) for name, term in {"loss": loss, **terms}.items()}
