"""One NICE flow on logit-MNIST, trained by every method that the paper compares (Table 2, Figure 2).

`paper` is the paper's protocol: 400 epochs of 468 batches of 128 on all of MNIST, a flow of 15 million
weights, a generator with a 100-dimensional latent. `laptop` is a small version: 4,000 real digits at 14 × 14
that install with the package, couplings with two hidden layers of 128, 3,000 batches of 64. The paper's
learning rates do not carry over (3e-6 moves nothing in 3,000 steps), so at `laptop` every line is tuned with
the same effort: eight settings each (PCD nine), on a seed that the table does not use (the sweep
`table2-grid`).

Three settings of the generator were chosen by hand before that sweep. σ starts at .3, its upper bound: from
.01 Adam needs 3.4 / learning rate steps to reach .3, a third of a `laptop` run or all of it, and generators
that started there stayed at one image. η learns at 1e-2. The latent has 10 dimensions, which 20 importance
samples cover better than 100.

The paper copied SSM, DSM and CP-SM from another paper (54,000 digits, 100 epochs, selected on validation);
here they are trained.
"""

from collections.abc import Mapping

from bench.experiment import DataSetting, Experiment, Line, Scale
from sweeps.trial.identity import Profile
from vera.spec.trial_spec import Component

EPOCH = 468
"""Batches of 128 in the 60,000 training digits."""
RATES = (3e-4, 3e-5, 3e-6)
LAPTOP_RATES = (3e-4, 2e-4, 1e-4, 3e-5)
SCORE_RATES = (3e-3, 1e-3, 3e-4, 1e-4)
PAIR, TRIO = ("energy", "generator"), ("energy", "generator", "statistics")


def _make_small_networks(hidden: int) -> dict[str, Component]:
    dense = [hidden] * 3
    return {
        "energy": {"name": "nice", "hidden": hidden, "hidden_layers": 2},
        "generator": {"name": "nice-generator", "hidden": dense, "latent_dim": 10, "sigma": 0.3},
        "statistics": {"name": "statistics", "hidden": dense},
    }


REFERENCE = "MNIST (logit space, 784-d)"
MNIST = DataSetting("MNIST", {"name": "mnist-logit"}, REFERENCE)
MNIST_5K = DataSetting("MNIST 5k, 14 × 14", {"name": "mnist5k-logit", "side": 14}, REFERENCE)

SCALES: Mapping[Profile, Scale[DataSetting]] = {
    "smoke": Scale(
        about="20 steps of a tiny flow: shows that everything runs, and nothing else",
        data=(MNIST_5K,),
        networks=_make_small_networks(16),
        steps=20,
        batch_size=64,
        evaluations=2,
        seeds=(0,),
    ),
    "laptop": Scale(
        about="4,000 digits at 14 × 14, couplings of 2 × 128, 3,000 steps of 64",
        data=(MNIST_5K,),
        networks=_make_small_networks(128),
        steps=3_000,
        batch_size=64,
        evaluations=10,
        seeds=(0, 1),
    ),
    "paper": Scale(
        about="MNIST at 28 × 28, couplings of 4 × 1000, 400 epochs",
        data=(MNIST,),
        networks={
            "energy": {"name": "nice"},
            "generator": {"name": "nice-generator"},
            "statistics": {"name": "statistics"},
        },
        steps=400 * EPOCH,
        batch_size=128,
        evaluations=400,
        seeds=(0, 1, 2),
    ),
}

TWO_RATES = {"lr": RATES, "generator_lr": RATES}
TWO_LAPTOP_RATES = {"lr": LAPTOP_RATES, "generator_lr": (3e-3, 1e-3)}
EIGHT_RATES = {"lr": (1e-2, 3e-3, 2e-3, 1e-3, 5e-4, 3e-4, 1e-4, 3e-5)}
VERA = {"lr": 3e-6, "generator_lr": 3e-4}

LINES = (
    Line(
        "ML",
        method={"name": "ml", "lr": 1e-4},
        laptop={"lr": 1e-3},
        laptop_grid=EIGHT_RATES,
        reference={"method": "ML"},
        gflop=11.5,
    ),
    Line(
        "VERA λ=1",
        method={"name": "vera", "entropy_weight": 1.0, **VERA},
        laptop={"lr": 2e-4, "generator_lr": 3e-3, "posterior_lr": 1e-2},
        roles=PAIR,
        grid=TWO_RATES,
        laptop_grid=TWO_LAPTOP_RATES,
        reference={"method": "VERA", "variant": "lambda=1.0"},
        gflop=48.4,
    ),
    Line(
        "VERA λ=0",
        method={"name": "vera", "entropy_weight": 0.0, **VERA},
        laptop={"lr": 2e-4, "generator_lr": 1e-3},
        roles=PAIR,
        grid=TWO_RATES,
        laptop_grid=TWO_LAPTOP_RATES,
        reference={"method": "VERA", "variant": "lambda=0.0"},
        gflop=43.0,
    ),
    Line(
        "VERA-HMC λ=1, prior-only force",
        method={"name": "vera-hmc", "force": "prior_only", **VERA},
        laptop={"lr": 2e-4, "generator_lr": 3e-3},
        roles=PAIR,
        grid=TWO_RATES,
        laptop_grid=TWO_LAPTOP_RATES,
        reference={"method": "VERA-HMC"},
        gflop=54.0,
    ),
    Line(
        "VERA-HMC λ=1, full force",
        method={"name": "vera-hmc", "force": "full", **VERA},
        laptop={"lr": 2e-4, "generator_lr": 3e-3},
        roles=PAIR,
        grid=TWO_RATES,
        laptop_grid=TWO_LAPTOP_RATES,
        gflop=54.0,
    ),
    Line(
        "MEG",
        method={"name": "meg", **VERA},
        laptop={"lr": 2e-4, "generator_lr": 1e-3},
        roles=TRIO,
        grid=TWO_RATES,
        laptop_grid=TWO_LAPTOP_RATES,
        reference={"method": "MEG"},
        gflop=44.6,
    ),
    Line(
        "PCD",
        method={"name": "pcd", "lr": 3e-6, "noise": 0.1, "sampler_steps": 40},
        laptop={"lr": 3e-5, "noise": 0.3, "sampler_steps": 20},
        grid={"lr": RATES, "sampler_steps": (20, 40), "noise": (1.0, 0.1)},
        laptop_grid={"lr": (3e-4, 1e-4, 3e-5), "noise": (0.1, 0.3, 1.0)},
        reference={"method": "PCD"},
        gflop=333.0,
    ),
    Line(
        "CoopNet",
        method={"name": "coopnet", "noise": 0.1, **VERA},
        laptop={"lr": 1e-4, "generator_lr": 1e-3, "noise": 0.1},
        roles=PAIR,
        grid={**TWO_RATES, "noise": (0.002, 0.02, 0.1)},
        laptop_grid=TWO_LAPTOP_RATES,
        reference={"method": "CoopNet"},
        gflop=101.3,
    ),
    Line(
        "SSM",
        method={"name": "ssm", "lr": 1e-4, "variance_reduced": True, "probe": "rademacher"},
        laptop={"lr": 3e-3, "variance_reduced": False},
        grid={"variance_reduced": (True, False), "probe": ("rademacher", "gaussian")},
        laptop_grid={"lr": SCORE_RATES, "variance_reduced": (True, False)},
        reference={"method": "SSM"},
        copied=True,
        gflop=46.3,
    ),
    Line(
        "DSM",
        method={"name": "dsm", "lr": 1e-3, "noise": 0.1},
        laptop={"lr": 3e-3, "noise": 0.1},
        grid={"noise": (0.05, 0.1, 0.16, 0.3)},
        laptop_grid={"lr": SCORE_RATES, "noise": (0.1, 0.3)},
        reference={"method": "DSM"},
        copied=True,
        gflop=23.1,
    ),
    Line(
        "CP-SM",
        method={"name": "cp-sm", "lr": 1e-3},
        laptop={"lr": 3e-3},
        laptop_grid=EIGHT_RATES,
        reference={"method": "CP-SM"},
        copied=True,
        gflop=46.4,
    ),
)

NICE = Experiment("nice", LINES, SCALES)

table2_grid = NICE.grid_sweep(
    "table2-grid", "what was tried for each line of Table 2: the paper's grids, eight settings each at laptop"
)
