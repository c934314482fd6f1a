"""Samplers: Langevin dynamics with a replay buffer, HMC, and MALA in data or latent space."""

from vera.samplers.hmc import Chain, ExactForce, PriorForce, hmc, hmc_transition
from vera.samplers.mala import LatentRefiner, mala
from vera.samplers.metropolis import StepSize
from vera.samplers.replay import ReplayBuffer
from vera.samplers.sgld import sgld

__all__ = [
    "Chain",
    "ExactForce",
    "LatentRefiner",
    "PriorForce",
    "ReplayBuffer",
    "StepSize",
    "hmc",
    "hmc_transition",
    "mala",
    "sgld",
]
