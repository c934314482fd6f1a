"""Features and class probabilities of digits, from a locally trained classifier; no download is needed.

It is the classifier for counting modes (B.5), trained on the 4,000 embedded digits, or on MNIST's 60,000 if
its files are present: Adadelta with learning rate 1, multiplied by .7 each epoch, batches of 64. The features
are its 128 last hidden units. A distance in these features is not an FID and cannot be compared with one; it
ranks methods on one machine without Inception.

Traps: digits must be framed like those of the training: padded, as in the data set digits32, or resized, as
in StackedMNIST. Training is reproducible on one machine, but not to the last bit on another, so the
fingerprint is a hash of the weights and not of the recipe.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor
from torch.nn.functional import adaptive_avg_pool2d, cross_entropy, interpolate, pad
from torch.optim import Adadelta
from torch.optim.lr_scheduler import ExponentialLR

from vera.data.contract import compute_fingerprint
from vera.data.digits.tables import EmbeddedMNISTTable, MNISTTable
from vera.data.files.locations import DataDir
from vera.data.labelled import Split
from vera.errors import IncompatibleModel, SettingError
from vera.evaluation.cache import find_cache_folder, load_or_compute, write_cache_file
from vera.evaluation.classification import predict
from vera.evaluation.features import Description, FeatureNetwork, hash_weights
from vera.models.classifier import DigitClassifier
from vera.spec.settings import Count, check_fields
from vera.training.state.random_state import derive_seed, use_seed

BATCH, DECAY, SEED = 64, 0.7, 1
DIGIT, PADDED = 28, 32


@dataclass(frozen=True)
class DigitRecipe:
    """How the classifier is trained: side and framing of the digits, their source, and the number of epochs.

    Padded digits are 32 × 32, or are averaged down to a side that divides 32. The paper counts the modes of
    StackedMNIST with DigitRecipe(64, "resize", "mnist", 14).
    """

    side: Count = PADDED
    frame: Literal["pad", "resize"] = "pad"
    source: Literal["mnist5k", "mnist"] = "mnist5k"
    epochs: Count = 5

    def __post_init__(self) -> None:
        check_fields(self)
        if self.frame == "pad" and PADDED % self.side:
            raise SettingError(
                f"DigitRecipe: digits cannot be padded to side {self.side}; use frame='resize'."
            )

    def apply_frame(self, images: Tensor) -> Tensor:
        """Return digits (n, 1, 28, 28) in [−1, 1], padded or resized to the side of this recipe."""
        if self.frame == "pad":
            border = (PADDED - DIGIT) // 2
            return adaptive_avg_pool2d(pad(images, [border] * 4, value=-1.0), self.side)
        return interpolate(
            images, (self.side, self.side), mode="bilinear", align_corners=False, antialias=True
        )


class DigitFeatures(FeatureNetwork):
    """128 features and 10 class probabilities of an image of a digit; colour channels are averaged.

    Images have the side of the recipe, or 28; the latter are framed like the digits of the training.
    `accuracy` is measured on held-out digits.
    """

    key, dim, chunk = "digits", 128, 500

    def __init__(
        self,
        recipe: DigitRecipe | None = None,
        *,
        data_dir: DataDir = None,
        device: str | torch.device = "cpu",
    ) -> None:
        self.recipe = recipe or DigitRecipe()
        self.device = torch.device(device)
        self.classifier, self.accuracy = load_or_train_classifier(self.recipe, data_dir, self.device)
        settings = (
            f"{self.recipe.source}, {self.recipe.frame} {self.recipe.side}, {self.recipe.epochs} epochs"
        )
        self.name = f"digit classifier ({settings})"
        weights = hash_weights(self.classifier)
        self.fingerprint = compute_fingerprint(
            form="digits", version=1, frame=self.recipe.frame, weights=weights
        )

    def describe_batch(self, pixels: Tensor) -> Description:
        grey, side = pixels.float().mean(1, keepdim=True), self.recipe.side
        if grey.shape[2:] not in ((side, side), (DIGIT, DIGIT)):
            shape = " × ".join(map(str, grey.shape[2:]))
            raise IncompatibleModel(f"{self.name} takes images of side {side} or {DIGIT}, got {shape}.")
        images = grey / 127.5 - 1
        return _hidden_and_probabilities(
            self.classifier, images if grey.shape[2] == side else self.recipe.apply_frame(images)
        )

    def classify_channels(self, images: Tensor) -> Tensor:
        """Return the digit in each channel of n images, (n, channels); −1 where the channel is not finite."""
        flat = images.flatten(0, 1).unsqueeze(1)
        probabilities = self.describe(flat).probabilities
        assert probabilities is not None
        labels = probabilities.argmax(1).masked_fill(probabilities.isnan().any(1), -1)
        return labels.view(images.shape[:2])


def _hidden_and_probabilities(classifier: DigitClassifier, images: Tensor) -> Description:
    """Return the input of the last layer, captured by a hook, and the class probabilities."""
    hidden: list[Tensor] = []
    hook = classifier.net[-1].register_forward_pre_hook(lambda _, inputs: hidden.append(inputs[0]))
    try:
        probabilities = classifier.logits(images).double().softmax(1)
    finally:
        hook.remove()
    return Description(hidden[0], probabilities)


def load_or_train_classifier(
    recipe: DigitRecipe, data_dir: DataDir, device: torch.device
) -> tuple[DigitClassifier, float]:
    """Return the classifier in evaluation mode and its accuracy on held-out digits.

    It is read from the cache, or trained and stored there.
    """
    digits = MNISTTable(data_dir, None) if recipe.source == "mnist" else EmbeddedMNISTTable(None)
    facts = compute_fingerprint(
        form="digit classifier",
        version=1,
        data=digits.fingerprint,
        side=recipe.side,
        frame=recipe.frame,
        epochs=recipe.epochs,
    )
    file = find_cache_folder(data_dir) / f"digit-classifier-{facts}.pt"

    def train() -> tuple[DigitClassifier, float]:
        classifier, accuracy = _train(recipe, digits.split(SEED), device)
        state = {
            "weights": classifier.state_dict(),
            "accuracy": accuracy,
            "digest": hash_weights(classifier),
        }
        write_cache_file(file, lambda target: torch.save(state, target))
        return classifier, accuracy

    classifier, accuracy = load_or_compute(file, lambda: _read(file, recipe), train)
    return classifier.to(device).eval().requires_grad_(False), accuracy


def _train(recipe: DigitRecipe, split: Split, device: torch.device) -> tuple[DigitClassifier, float]:
    images, held_out = (rows.view(-1, 1, DIGIT, DIGIT) for rows in (split.train, split.held_out))
    with use_seed(derive_seed(SEED, "digit classifier")):
        classifier = DigitClassifier(split.classes, recipe.side).to(device)
        optimiser = Adadelta(classifier.parameters(), lr=1.0)
        schedule = ExponentialLR(optimiser, DECAY)
        for _ in range(recipe.epochs):
            for rows in torch.randperm(len(images)).split(BATCH):
                logits = classifier.logits(recipe.apply_frame(images[rows].to(device)))
                loss = cross_entropy(logits, split.train_labels[rows].to(device))
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
            schedule.step()
    predicted = predict(classifier, recipe.apply_frame(held_out), chunk=500).argmax(1)
    return classifier, float((predicted == split.held_out_labels).double().mean())


def _read(file: Path, recipe: DigitRecipe) -> tuple[DigitClassifier, float] | None:
    """Return None if the file is missing or does not hold the weights that were written."""
    try:
        state: dict[str, Any] = torch.load(file, map_location="cpu", weights_only=True)
        with use_seed(SEED):
            classifier = DigitClassifier(side=recipe.side)
        classifier.load_state_dict(state["weights"])
        return (classifier, float(state["accuracy"])) if hash_weights(classifier) == state["digest"] else None
    except Exception:  # torch can raise anything on damaged bytes
        return None
