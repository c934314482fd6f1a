"""A small search space for the tests of spaces and samplers, and the specification that it varies."""

from sweeps.search.space import Space, choice, integer, log_uniform
from vera.spec.trial_spec import TrialSpec

SPEC = TrialSpec(
    {"name": "moons"},
    {"energy": {"name": "mlp"}, "generator": {"name": "mlp-generator", "latent_dim": 2}},
    {"name": "vera", "lr": 1e-3},
    100,
)
SPACE = Space(
    (
        log_uniform("method.lr", "method.generator_lr", low=1e-4, high=1e-2, grid=(1e-4, 1e-3)),
        integer("networks.generator.latent_dim", low=1, high=8, grid=(2, 4)),
        choice("method.penalty", values=("half", "full")),
    )
)
