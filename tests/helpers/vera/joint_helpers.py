"""Helpers for tests of joint methods: small classifiers, labelled batches and data, plain forms of losses."""

import hashlib

import torch
from torch import Tensor, nn

from vera.data.labelled import LabelledBatch, LabelledData, Split, choose_labelled_rows
from vera.models import Classifier, MLPClassifier

DIM, CLASSES = 3, 4


class LinearClassifier(Classifier):
    """logits = W x + b, with the dtype of the weight."""

    def __init__(self, weight: Tensor, bias: Tensor | None = None) -> None:
        super().__init__()
        self.classes, self.data_dim = weight.shape
        self.weight = nn.Parameter(weight.clone())
        self.bias = nn.Parameter(
            torch.zeros(self.classes, dtype=weight.dtype) if bias is None else bias.clone()
        )

    def logits(self, x: Tensor) -> Tensor:
        return x @ self.weight.T + self.bias


def make_classifier(activation: str = "softplus", seed: int = 0) -> MLPClassifier:
    """Return a float64 classifier with weights so large that predictions are neither flat nor certain."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        classifier = MLPClassifier(DIM, CLASSES, hidden=(7, 6), activation=activation).double()
    with torch.no_grad():
        for weight in classifier.parameters():
            weight.mul_(2.0)
    return classifier


def make_labelled_batch(shared: bool, n: int = 9, seed: int = 1) -> LabelledBatch:
    """Return n points that all have labels (`shared`), or n unlabelled and five other labelled points."""
    rng = torch.Generator().manual_seed(seed)
    x = torch.randn(n, DIM, dtype=torch.float64, generator=rng)
    labelled = x if shared else torch.randn(5, DIM, dtype=torch.float64, generator=rng)
    return LabelledBatch(x, labelled, torch.randint(CLASSES, (len(labelled),), generator=rng))


def plain_energy(classifier: Classifier, x: Tensor) -> Tensor:
    return classifier.logits(x).exp().sum(1).log()


def plain_cross_entropy(classifier: Classifier, x: Tensor, labels: Tensor) -> Tensor:
    """Return the mean of −log p(label), one point at a time."""
    losses = []
    for point, label in zip(x, labels.tolist(), strict=True):
        scores = classifier.logits(point.unsqueeze(0))[0].exp()
        losses.append(-(scores[label] / scores.sum()).log())
    return sum(losses) / len(losses)


def plain_class_entropy(classifier: Classifier, x: Tensor) -> Tensor:
    scores = classifier.logits(x).exp()
    p = scores / scores.sum(1, keepdim=True)
    return -(p * p.log()).sum() / len(x)


def plain_squared_slope(classifier: Classifier, x: Tensor) -> Tensor:
    """Return the mean of ‖∇f‖² with a graph, one point at a time."""
    squares = []
    for point in x:
        leaf = point.unsqueeze(0).clone().requires_grad_(True)
        (slope,) = torch.autograd.grad(plain_energy(classifier, leaf).sum(), leaf, create_graph=True)
        squares.append((slope**2).sum())
    return sum(squares) / len(squares)


def plain_joint_loss(classifier, batch, samples, *, alpha, beta, gamma, penalty):
    """Return Eq. 18 with corrected signs, term by term."""
    loss = plain_energy(classifier, samples).mean() - plain_energy(classifier, batch.x).mean()
    loss = loss + alpha * plain_cross_entropy(classifier, batch.labelled, batch.labels)
    loss = loss + beta * plain_class_entropy(classifier, batch.x)
    return loss + gamma * {"half": 0.5, "full": 1.0}[penalty] * plain_squared_slope(classifier, batch.x)


def weight_gradients(loss: Tensor, classifier: nn.Module) -> Tensor:
    """Return the gradient of all weights as one vector; 0 where the loss does not depend on a weight."""
    weights = list(classifier.parameters())
    found = torch.autograd.grad(loss, weights, allow_unused=True)
    return torch.cat(
        [(torch.zeros_like(w) if g is None else g).flatten() for w, g in zip(weights, found, strict=True)]
    )


def stored_gradients(classifier: nn.Module) -> Tensor:
    """Return the `.grad` of all weights as one vector."""
    return torch.cat([w.grad.flatten() for w in classifier.parameters()])


class Blobs(LabelledData):
    """Gaussian blobs of deviation .3 around given centres; the seed draws points and labels."""

    side = None

    def __init__(self, per_class: int | None = 10, n: int = 300) -> None:
        self.per_class, self.n = per_class, n
        self.centres = self.make_centres()
        self.classes, self.data_dim = self.centres.shape
        self.name = type(self).__name__.lower()

    def make_centres(self) -> Tensor:
        return torch.tensor([[-1.0, 0.0], [1.0, 0.0]])

    @property
    def fingerprint(self) -> str:
        return hashlib.sha256(f"{self.name} {self.per_class} {self.n}".encode()).hexdigest()[:16]

    def split(self, seed: int) -> Split:
        rng = torch.Generator().manual_seed(seed)
        labels = torch.randint(self.classes, (self.n,), generator=rng)
        x = self.centres[labels] + 0.3 * torch.randn(self.n, self.data_dim, generator=rng)
        cut = self.n * 2 // 3
        train, held_out = (x[:cut], labels[:cut]), (x[cut:], labels[cut:])
        return Split(self, train, held_out, choose_labelled_rows(train[1], self.per_class, seed))


class Tiles(Blobs):
    """Images of 4 × 4 pixels: bright above, or bright on the left."""

    side = 4

    def make_centres(self) -> Tensor:
        bright = torch.tensor([[1.0, 1.0, -1.0, -1.0]]).expand(4, 4) * 0.7
        return torch.stack([bright.T.reshape(-1), bright.reshape(-1)])
