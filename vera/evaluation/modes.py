"""Counting modes: how many of the 10³ triples of digits a generator of StackedMNIST makes, and how unevenly
(Table 3, B.5).

Each channel is classified on its own; the triple is one number, Σ_j digit_j · 10^j, channel 0 counting least,
as the data set labels its images. KL(q‖p) compares the shares of the triples among samples, q, with their
true shares, p.

Traps: the published counting reads the digits in the opposite order to its data, and adds up with an indexed
`+= 1`, which counts a triple that comes twice in a batch once. A classifier that errs invents modes: classify
data too, to see how many. And q of n samples over K modes has a KL of about (K − 1) / 2n even if the
generator is perfect, .05 for 10,000 samples and 1,000 modes.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from vera.errors import SettingError
from vera.spec.settings import Count, validated


@dataclass(frozen=True)
class ModeCount:
    """Of n samples: how many modes they have, KL(q‖p), and the share of samples in modes that do not exist (p
    = 0).

    If there are such samples the KL is infinite. All are NaN if a sample was not finite and has no digit.
    """

    modes: float
    divergence: float
    outside: float
    n: int

    def metrics(self) -> dict[str, float]:
        """By name; an infinite divergence is no number and is left out, `mass_outside_modes` saying why."""
        infinite = {} if math.isinf(self.divergence) else {"mode_divergence": self.divergence}
        return {
            "modes": self.modes,
            "mass_outside_modes": self.outside,
            "mode_samples": float(self.n),
        } | infinite


def mode_numbers(labels: Tensor, classes: int = 10) -> Tensor:
    """(n, channels) digits to n numbers, Σ_j digit_j · classes^j."""
    return (labels.long() * classes ** torch.arange(labels.shape[1])).sum(1)


@validated
def mode_shares(labels: Tensor, classes: Count = 10) -> Tensor:
    """The share of each mode among (n, channels) digits, in the order of the modes' numbers."""
    if labels.ndim != 2 or not len(labels):
        raise SettingError(f"mode_shares: labels must be (n, channels), got {tuple(labels.shape)}.")
    if int(labels.min()) < 0 or int(labels.max()) >= classes:
        raise SettingError(
            f"mode_shares: labels must be 0 to {classes - 1}, got {int(labels.min())} to {int(labels.max())}."
        )
    return mode_numbers(labels, classes).bincount(minlength=classes ** labels.shape[1]).double() / len(labels)


def count_modes(labels: Tensor, true_shares: Tensor, classes: int = 10) -> ModeCount:
    """Of samples with these digits, (n, channels); −1 marks a sample that is not finite. p is in the order of
    the modes."""
    if len(true_shares) != classes ** labels.shape[1]:
        raise SettingError(
            f"count_modes: {classes ** labels.shape[1]} modes, but {len(true_shares)} true shares."
        )
    if int(labels.min()) < 0:
        return ModeCount(math.nan, math.nan, math.nan, len(labels))
    q, p = mode_shares(labels, classes), true_shares.double()
    divergence = torch.xlogy(q, q) - torch.xlogy(q, p)
    return ModeCount(float((q > 0).sum()), float(divergence.sum()), float(q[p == 0].sum()), len(labels))
