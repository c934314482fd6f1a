"""Estimators of the entropy gradient of a generator."""

from vera.entropy.contract import EntropyGradient
from vera.entropy.hmc import HMCEntropy
from vera.entropy.importance import ImportanceEntropy

__all__ = ["EntropyGradient", "HMCEntropy", "ImportanceEntropy"]
