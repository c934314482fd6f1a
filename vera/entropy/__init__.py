"""Estimators of the entropy gradient of a generator."""

from vera.entropy.contract import EntropyGradient
from vera.entropy.denoising import DenoisingEntropy
from vera.entropy.hmc import HMCEntropy
from vera.entropy.importance import ImportanceEntropy

__all__ = ["DenoisingEntropy", "EntropyGradient", "HMCEntropy", "ImportanceEntropy"]
