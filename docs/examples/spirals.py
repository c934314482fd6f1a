"""Two spirals in the plane, and a sweep that trains a mixture on them by maximum likelihood and by VERA."""

import numpy as np

from sweeps.trial.identity import Trial
from sweeps.trial.sweep import sweep
from vera.data import TensorData
from vera.spec.registry import datasets
from vera.spec.settings import Count, validate_arguments
from vera.spec.trial_spec import TrialSpec


@datasets.register("spirals")
class Spirals(TensorData):
    """Points on two spirals, a tenth of them for the test."""

    @validate_arguments
    def __init__(self, points: Count = 5_000):
        rng = np.random.default_rng(0)
        turn = 3 * np.pi * np.sqrt(rng.uniform(size=(points, 1)))
        arm = np.hstack([np.cos(turn), np.sin(turn)]) * turn / 3
        x = arm * rng.choice([-1, 1], size=(points, 1)) + rng.normal(scale=0.1, size=(points, 2))
        super().__init__(x[: points * 9 // 10], test=x[points * 9 // 10 :], name="spirals")


@sweep("spirals", "a mixture of 100 Gaussians on two spirals, by maximum likelihood and by VERA")
def spirals(profile, seeds):
    steps = {"smoke": 60, "laptop": 5_000, "paper": 100_000}[profile]
    energy = {"energy": {"name": "mixture"}}
    both = energy | {"generator": {"name": "mlp-generator"}}
    for seed in seeds:
        for networks, method in (
            (energy, {"name": "ml"}),
            (both, {"name": "vera", "lr": 1e-3, "generator_lr": 1e-3}),
        ):
            yield Trial(
                TrialSpec({"name": "spirals"}, networks, method, steps, batch_size=200, seed=seed), profile
            )
