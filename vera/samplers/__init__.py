"""Samplers: Langevin dynamics with a replay buffer, HMC, and MALA in data or latent space."""

from vera.samplers.hmc import Chain, ExactForce, PriorForce, hmc, hmc_transition
from vera.samplers.mala import DataRefiner, LatentRefiner, Refiner, mala
from vera.samplers.metropolis import StepSize
from vera.samplers.replay import ReplayBuffer
from vera.samplers.sgld import sample_langevin, sgld

__all__ = [
    "Chain",
    "DataRefiner",
    "ExactForce",
    "LatentRefiner",
    "PriorForce",
    "Refiner",
    "ReplayBuffer",
    "StepSize",
    "hmc",
    "hmc_transition",
    "mala",
    "sample_langevin",
    "sgld",
]
