"""The contract of joint methods: they train a classifier that is also an energy model (Sec. 6).

The energy is f = logsumexp of the logits. A joint method receives a `LabelledBatch`: points to model, and
labelled points to classify. It implements `update` instead of `step`; the base class applies the schedule of
the learning rates. `JointMethod` is mixed into an energy method (VERA, MEG, PCD) and adds α · cross-entropy
and β · entropy of p(y|x) to its energy loss. Precision, memory layout and compilation are settings too, see
forward_passes.py.
"""

from abc import abstractmethod
from contextlib import AbstractContextManager, nullcontext
from dataclasses import KW_ONLY, dataclass, replace
from typing import Annotated, Any, ClassVar

import torch
from torch import Tensor

from vera.data.labelled import LabelledBatch
from vera.errors import IncompatibleModel
from vera.joint.forward_passes import ForwardPasses, Precision, unscale_before_steps
from vera.joint.losses import joint_contrastive_loss
from vera.methods.contract import Batch, Method, Metrics
from vera.methods.contrastive_loss import Penalty
from vera.models.classifier import Classifier
from vera.models.network_modes import evaluation_mode
from vera.spec.registry import Registry, joint_methods
from vera.spec.settings import Count, NonNegative, NonNegativeCount, Positive
from vera.training.schedule import Schedule


@dataclass(eq=False)
class ClassifierMethod(Method):
    """Trains a classifier on labelled batches, with a schedule for its learning rates."""

    energy: Classifier
    _: KW_ONLY
    warmup: Annotated[NonNegativeCount, "steps over which the learning rates rise from 0"] = 0
    decay_at: Annotated[tuple[Count, ...], "steps at which the learning rates are multiplied by `decay`"] = ()
    decay: Annotated[Positive, "factor of the learning rates at each step of `decay_at`"] = 0.3
    precision: Annotated[
        Precision, "precision of the classifier's passes; lower than float32 needs a GPU"
    ] = "float32"
    channels_last: Annotated[bool, "keep images and their weights channels last in memory"] = False
    compiled: Annotated[bool, "compile classifier and generator, where torch.compile works"] = False

    registry: ClassVar[Registry[Any]] = joint_methods

    def __post_init__(self) -> None:
        super().__post_init__()
        # Optimisers of the method itself only: an entropy estimator keeps the learning rate of its η.
        optimisers = [held for held in vars(self).values() if isinstance(held, torch.optim.Optimizer)]
        self.schedule = Schedule(optimisers, warmup=self.warmup, milestones=self.decay_at, factor=self.decay)
        self.passes = ForwardPasses(
            self.networks(), self.precision, channels_last=self.channels_last, compiled=self.compiled
        )
        if self.precision == "float16" and not self.has_gradient_penalty():
            unscale_before_steps(optimisers, self.energy_weights)

    @abstractmethod
    def update(self, batch: LabelledBatch) -> Metrics:
        """Take one training step. The learning rates have been set before."""

    def has_gradient_penalty(self) -> bool:
        """Whether the classifier's loss contains ∇f(x), so that its passes are differentiated twice."""
        return False

    def loss_context(self) -> AbstractContextManager[None]:
        """Return the context in which the classifier's loss is computed.

        It makes the forward passes differentiable twice if the loss needs that.
        """
        return self.passes.allow_second_derivatives() if self.has_gradient_penalty() else nullcontext()

    def step(self, batch: Batch) -> Metrics:
        self.schedule.advance()
        with self.passes.install():
            return self.update(batch)

    def begin(self, batch: Batch) -> None:
        if not isinstance(batch, LabelledBatch):
            raise IncompatibleModel(
                f"{self.label()} needs labelled data, such as human or digits-table; "
                "these data have no labels."
            )
        self.passes.check_device(self.label(), self.energy_weights[0].device)
        super().begin(batch.x)
        with evaluation_mode(self.energy), torch.no_grad():
            shape = tuple(self.energy.logits(batch.labelled[:2]).shape)
        if len(shape) != 2 or shape[1] <= int(batch.labels.max()):
            raise IncompatibleModel(
                f"{self.label()}: logits of shape {shape} do not cover class {int(batch.labels.max())}."
            )
        self.passes.compile_for(self.networks(), batch.labelled)


def add_noise(batch: LabelledBatch, deviation: float) -> LabelledBatch:
    """The batch with Gaussian noise on all points."""
    x = torch.add(batch.x, torch.randn_like(batch.x), alpha=deviation)
    if batch.is_shared:
        return replace(batch, x=x, labelled=x)
    labelled = torch.add(batch.labelled, torch.randn_like(batch.labelled), alpha=deviation)
    return replace(batch, x=x, labelled=labelled)


@dataclass(eq=False, kw_only=True)
class JointMethod(ClassifierMethod):
    """Mixin for an energy method with a contrastive loss; adds the two classification terms to that loss."""

    alpha: Annotated[NonNegative, "α, the weight of the cross-entropy on labelled points"] = 1.0
    beta: Annotated[NonNegative, "β, the weight of the class entropy on unlabelled points"] = 0.0
    gamma: Annotated[NonNegative, "γ, the weight of the gradient penalty on unlabelled points"] = 0.1
    penalty: Annotated[Penalty, "half: (γ/2)‖∇f‖² as in the published code; full: γ‖∇f‖² as in the paper"] = (
        "half"
    )

    def has_gradient_penalty(self) -> bool:
        return self.gamma > 0

    def energy_loss(self, batch: LabelledBatch, samples: Tensor) -> tuple[Tensor, Metrics]:
        """Return the joint loss of the classifier and its metrics."""
        with self.loss_context():
            return joint_contrastive_loss(
                self.energy, batch, samples, self.gamma, self.penalty, alpha=self.alpha, beta=self.beta
            )
