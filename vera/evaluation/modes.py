"""Counting modes: how many of the 10³ triples of digits a generator of StackedMNIST produces (Sec. 5.2, B.5).

Each channel is classified separately. A triple is the number Σ_j digit_j · 10^j, with channel 0 as the least
significant digit, like the labels of the data set. KL(q‖p) compares the shares q of the triples among samples
with their true shares p.

Traps:
- The published counting reads the digits in the opposite order to its data. It also counts with an indexed
  `+= 1`, which counts a triple once if it occurs twice in a batch.
- Errors of the classifier create modes. Classify data as well, to see how many.
- With n samples and K modes the KL is about (K − 1) / 2n even for a perfect generator: .05 for 10,000 samples
  and 1,000 modes.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from vera.errors import SettingError
from vera.spec.settings import Count, validate_arguments


@dataclass(frozen=True)
class ModeCount:
    """Number of modes of n samples, KL(q‖p), and the share of samples in modes that do not exist (p = 0).

    The KL is infinite if there are such samples. All values are NaN if a sample is not finite.
    """

    modes: float
    divergence: float
    outside: float
    n: int

    def metrics(self) -> dict[str, float]:
        """Return the values by name, without an infinite divergence, which `mass_outside_modes` explains."""
        divergence = {} if math.isinf(self.divergence) else {"mode_divergence": self.divergence}
        return {
            "modes": self.modes,
            "mass_outside_modes": self.outside,
            "mode_samples": float(self.n),
        } | divergence


def mode_numbers(labels: Tensor, classes: int = 10) -> Tensor:
    """Map digits (n, channels) to n mode numbers, Σ_j digit_j · classes^j."""
    return (labels.long() * classes ** torch.arange(labels.shape[1])).sum(1)


@validate_arguments
def mode_shares(labels: Tensor, classes: Count = 10) -> Tensor:
    """Return the share of each mode among digits (n, channels), in the order of the mode numbers."""
    if labels.ndim != 2 or not len(labels):
        raise SettingError(f"mode_shares: labels must be (n, channels), got {tuple(labels.shape)}.")
    if int(labels.min()) < 0 or int(labels.max()) >= classes:
        raise SettingError(
            f"mode_shares: labels must be 0 to {classes - 1}, got {int(labels.min())} to {int(labels.max())}."
        )
    return mode_numbers(labels, classes).bincount(minlength=classes ** labels.shape[1]).double() / len(labels)


def count_modes(labels: Tensor, true_shares: Tensor, classes: int = 10) -> ModeCount:
    """Count the modes of samples with digits (n, channels); −1 marks a non-finite sample.

    `true_shares` is p, in the order of the mode numbers.
    """
    if len(true_shares) != classes ** labels.shape[1]:
        raise SettingError(
            f"count_modes: needs one true share per mode, got {len(true_shares)} for "
            f"{classes ** labels.shape[1]} modes."
        )
    if int(labels.min()) < 0:
        return ModeCount(math.nan, math.nan, math.nan, len(labels))
    q, p = mode_shares(labels, classes), true_shares.double()
    divergence = torch.xlogy(q, q) - torch.xlogy(q, p)
    return ModeCount(float((q > 0).sum()), float(divergence.sum()), float(q[p == 0].sum()), len(labels))
