"""The sweep toy-demo: VERA, maximum likelihood and PCD on moons, a minute on two cores."""

from collections.abc import Iterator, Sequence

from sweeps.trial.identity import Profile, Trial
from sweeps.trial.sweep import sweep
from vera.spec.trial_spec import TrialSpec

STEPS: dict[Profile, int] = {"smoke": 60, "laptop": 1_500, "paper": 100_000}
RATES = {"lr": 1e-3, "generator_lr": 1e-3}


@sweep("toy-demo", "a 100-component mixture on moons by VERA, maximum likelihood and PCD")
def toy_demo(profile: Profile, seeds: Sequence[int]) -> Iterator[Trial]:
    energy = {"energy": {"name": "mixture"}}
    with_generator = energy | {"generator": {"name": "mlp-generator"}}
    lines = {
        "ML": (energy, {"name": "ml", "lr": 1e-3}),
        "VERA": (with_generator, {"name": "vera", "entropy_weight": 1.0, **RATES}),
        "PCD": (energy, {"name": "pcd", "lr": 1e-3, "noise": 0.1}),
    }
    for label, (networks, method) in lines.items():
        for seed in seeds:
            spec = TrialSpec({"name": "moons"}, networks, method, STEPS[profile], batch_size=200, seed=seed)
            yield Trial(spec, profile, label=label)
