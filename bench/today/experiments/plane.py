"""Six densities in the plane, learned with one kind of energy by every method that can train it.

The toys have known densities, so both the model and the samples that it was trained with are judged exactly:
the model by its likelihood (of the network by quadrature), the samples by their true log-density. All methods
have the same energy, data, number of steps and batch size; methods with a generator have the same generator.
What differs between them besides the objective is the time that a step takes, which the table shows.

Four configurations are tried for every method (plane_tuning.py), chosen once for all toys. The energies are a
small network, which every method but maximum likelihood can train, and a mixture of 100 Gaussians, which
maximum likelihood can train too. The network is smooth (softplus), because score matching needs second
derivatives.

Trap: nothing holds a network where there are neither data nor samples. If mass lies beyond the grid of the
quadrature the likelihood is only an upper bound; such a trial counts as not measured.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from bench.experiment import DataSetting, Experiment, Line, Points, Scale
from bench.today.experiments.plane_tuning import CHOSEN_MIXTURE, CHOSEN_NETWORK, MIXTURE, NETWORK
from sweeps.trial.identity import Profile
from vera.spec.trial_spec import Component

BATCH_SIZE, STEPS, EVALUATIONS, EMA = 200, 3_000, 10, 0.999
SEEDS = (0, 1, 2)
TOYS = tuple(
    DataSetting(name, {"name": name})
    for name in ("moons", "rings", "8gaussians", "checkerboard", "pinwheel", "two-spirals")
)
TUNING_TOYS = tuple(toy for toy in TOYS if toy.name in ("rings", "8gaussians", "pinwheel"))
ALONE, PAIR, TRIO = ("energy",), ("energy", "generator"), ("energy", "generator", "statistics")

METHODS: Mapping[str, tuple[Component, tuple[str, ...]]] = {
    "ML": ({"name": "ml"}, ALONE),
    "NCE": ({"name": "nce"}, ALONE),
    "SNL": ({"name": "snl"}, ALONE),
    "ED": ({"name": "ed", "samples": 16, "w": 1.0}, ALONE),
    "CD": ({"name": "cd", "sampler_steps": 10}, ALONE),
    "Short-run": ({"name": "short-run", "sampler_steps": 40}, ALONE),
    "PCD": ({"name": "pcd", "sampler_steps": 20}, ALONE),
    "CoopNet": ({"name": "coopnet", "sampler_steps": 10}, PAIR),
    "MEG": ({"name": "meg", "gamma": 0.1}, TRIO),
    "VERA": ({"name": "vera", "gamma": 0.1, "k": 20}, PAIR),
    "VERA-HMC": ({"name": "vera-hmc", "gamma": 0.1, "force": "full"}, PAIR),
    "VERA-AR-DAE": ({"name": "vera-ar-dae", "gamma": 0.1}, PAIR),
    "SSM": ({"name": "ssm"}, ALONE),
    "DSM": ({"name": "dsm"}, ALONE),
}
"""By label: the method and the networks it uses."""


def list_lines(tried: Mapping[str, Points], chosen: Mapping[str, int]) -> Iterator[Line]:
    """A line for every method that has configurations, with the chosen one."""
    for label, points in tried.items():
        method, roles = METHODS[label]
        yield Line(label, method, points[chosen.get(label, 0)], roles, laptop_points=points)


def make_scales(energy: Component) -> dict[Profile, Scale[DataSetting]]:
    networks = {
        "energy": energy,
        "generator": {"name": "mlp-generator"},
        "statistics": {"name": "statistics", "hidden": [100, 100]},
    }
    laptop = Scale(
        f"{STEPS:,} steps of {BATCH_SIZE} points",
        TOYS,
        networks,
        STEPS,
        BATCH_SIZE,
        EVALUATIONS,
        seeds=SEEDS,
        ema=EMA,
    )
    smoke = replace(
        laptop,
        about="10 steps on one toy: shows that everything runs, and nothing else",
        data=TOYS[:1],
        steps=10,
        evaluations=2,
        seeds=(0,),
    )
    return {"smoke": smoke, "laptop": laptop}


def choose_tuning_toys(experiment: Experiment[DataSetting]) -> Experiment[DataSetting]:
    """The experiment on the toys that choose settings."""
    scales = {
        profile: replace(scale, data=TUNING_TOYS if profile == "laptop" else scale.data)
        for profile, scale in experiment.scales.items()
    }
    return replace(experiment, scales=scales)


PLANE_NETWORK = Experiment(
    "plane-network",
    tuple(list_lines(NETWORK, CHOSEN_NETWORK)),
    make_scales({"name": "mlp", "hidden": [100, 100], "activation": "softplus"}),
    registry=None,
)
PLANE_MIXTURE = Experiment(
    "plane-mixture",
    tuple(list_lines(MIXTURE, CHOSEN_MIXTURE)),
    make_scales({"name": "mixture", "components": 100}),
    registry=None,
)
NETWORK_TUNING = choose_tuning_toys(PLANE_NETWORK)
MIXTURE_TUNING = choose_tuning_toys(PLANE_MIXTURE)

density_grid = NETWORK_TUNING.grid_sweep(
    "density-grid", "four configurations of every method that trains a network on three toys"
)
mixture_grid = MIXTURE_TUNING.grid_sweep(
    "mixture-grid", "four configurations of every method that trains a mixture on three toys"
)
