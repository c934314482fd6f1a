"""The search problems: for each problem and method the settings to search and their ranges. Imports neither
torch nor ray.

The problems are the experiments of the paper: `moons`, `circles` and `rings` are the mixture of Table 10,
`flow` is the NICE flow of Table 2, `images` is Table 3, `image-weights` its α and λ alone, `modes` is mode
counting; `hepmass`, `crop`, `human` and `mnist` are the tables of Table 6 with ten labels for each class, and
`labels` is its digits. `hepmass`, `crop` and `human` need their files at every profile; below `paper` they
are small trainings on the same data. An axis covers what the paper or its appendix tried, and
one or two decades more if that is cheap. Its grid is the paper's own if there is one: for the flow the paper
gives a grid (B.3), for images α and λ (B.7, B.1.1); for the mixtures it gives λ and one learning rate, so the
grid has these λ and three rates a decade apart, as for the flow, with the paper's in the middle. Seeds start
at 100; no table uses them.

Trap: a diverged trial counts as the declared worst value. It must lie below every value that a working trial
reaches, but only by a few times their spread: with a much lower value a sampler could not see the differences
between working trials.
"""

from collections.abc import Mapping
from dataclasses import replace

from bench.experiment import DataSetting
from bench.paper.experiments.image_arms import WEIGHTS
from bench.paper.experiments.images import IMAGES
from bench.paper.experiments.modes import MODES
from bench.paper.experiments.nice import NICE
from bench.paper.experiments.tabular import RATES as TABULAR_RATES
from bench.paper.experiments.tabular import TABULAR
from bench.paper.experiments.tabular_data import PAPER_TABLES, TableSetting, make_other_table
from bench.paper.experiments.toys import LAMBDAS, MIXTURE, TOYS
from bench.searches.search_problem import SearchedLines, SearchProblem
from sweeps.search.declaration import Search
from sweeps.search.objective import Objective
from sweeps.search.space import choice, integer, log_uniform, uniform
from sweeps.trial.identity import Profile
from sweeps.trial.matching import TUNING_SEED
from vera.errors import SettingError, UnknownName
from vera.spec.settings import suggest_or_list

SEEDS = (TUNING_SEED, TUNING_SEED + 1)
SECONDS = Objective("seconds", worst=36_000.0, direction="small")
NOISE = log_uniform("method.noise", low=1e-2, high=1.0, grid=(0.1, 1.0))
SAMPLER_STEPS = integer("method.sampler_steps", low=10, high=80, log=True, grid=(20, 40))

TOY_LIKELIHOOD = Objective("test_log_likelihood", worst=-20.0, tolerance=0.05)
TOY_RATES = (1e-4, 1e-3, 1e-2)
TOY_LR = log_uniform("method.lr", low=1e-5, high=1e-1, grid=TOY_RATES)
TOY_GENERATOR_LR = log_uniform(
    "method.generator_lr", "method.posterior_lr", low=1e-5, high=1e-1, grid=TOY_RATES
)
TOY_ENTROPY = uniform("method.entropy_weight", low=0.0, high=2.0, grid=LAMBDAS)
TOY_LINES: SearchedLines = {
    "ml": ("ML", (TOY_LR,)),
    "vera": ("VERA λ=1", (TOY_LR, TOY_GENERATOR_LR, TOY_ENTROPY)),
    "pcd": ("PCD σ=0.1", (TOY_LR, NOISE, SAMPLER_STEPS)),
}

FLOW_LIKELIHOOD = Objective("test_log_likelihood", worst=-10_000.0, tolerance=1.0)
RATES = (3e-6, 3e-5, 3e-4)
LR = log_uniform("method.lr", low=3e-6, high=3e-2, grid=RATES)
GENERATOR_LR = log_uniform("method.generator_lr", "method.posterior_lr", low=3e-6, high=3e-2, grid=RATES)
ENTROPY = uniform("method.entropy_weight", low=0.0, high=2.0, grid=(0.0, 1.0))
PLAIN_GENERATOR_LR = log_uniform("method.generator_lr", low=3e-6, high=3e-2, grid=RATES)
FLOW_LINES: SearchedLines = {
    "ml": ("ML", (LR,)),
    "vera": ("VERA λ=1", (LR, GENERATOR_LR, ENTROPY)),
    "vera-hmc": ("VERA-HMC λ=1, full force", (LR, PLAIN_GENERATOR_LR)),
    "meg": ("MEG", (LR, PLAIN_GENERATOR_LR)),
    "pcd": ("PCD", (LR, NOISE, SAMPLER_STEPS)),
    "coopnet": (
        "CoopNet",
        (LR, PLAIN_GENERATOR_LR, log_uniform("method.noise", low=2e-3, high=0.3, grid=(0.002, 0.02, 0.1))),
    ),
    "ssm": ("SSM", (LR, choice("method.variance_reduced", values=(True, False)))),
    "dsm": ("DSM", (LR, log_uniform("method.noise", low=0.03, high=0.5, grid=(0.05, 0.1, 0.16, 0.3)))),
    "cp-sm": ("CP-SM", (LR,)),
}

ACCURACY = Objective("test_accuracy", worst=0.0, tolerance=0.005)
LABELS_LR = log_uniform("method.lr", low=1e-5, high=1e-2, grid=TABULAR_RATES[::-1])
BOTH_LR = log_uniform("method.lr", "method.generator_lr", low=1e-5, high=1e-2, grid=TABULAR_RATES[::-1])
ALPHA, BETA = (
    log_uniform("method.alpha", low=0.3, high=100.0, grid=(1.0, 10.0, 30.0, 100.0)),
    log_uniform("method.beta", low=0.03, high=3.0, grid=(0.1, 1.0)),
)
SMALL_ENTROPY = log_uniform("method.entropy_weight", low=1e-5, high=1.0, grid=(1e-4, 1e-3, 0.01, 0.1, 1.0))
LABELS_LINES: SearchedLines = {
    "supervised": ("Supervised", (LABELS_LR,)),
    "vat": (
        "VAT",
        (LABELS_LR, log_uniform("method.epsilon", low=0.01, high=10.0, grid=(0.01, 0.1, 1.0, 3.0, 10.0))),
    ),
    "meg": ("MEG", (BOTH_LR, SMALL_ENTROPY, ALPHA, BETA)),
    "jem": (
        "JEM",
        (LABELS_LR, integer("method.sampler_steps", low=10, high=80, log=True, grid=(20, 40, 80))),
    ),
    "vera": ("VERA", (BOTH_LR, SMALL_ENTROPY, ALPHA, BETA)),
}

IMAGE_RATES = (1e-4, 1e-3, 1e-2)
IMAGE_LR = log_uniform("method.lr", low=1e-5, high=1e-1, grid=IMAGE_RATES)
IMAGE_GENERATOR_LR = log_uniform(
    "method.generator_lr", "method.posterior_lr", low=1e-5, high=1e-1, grid=IMAGE_RATES
)
IMAGE_ALPHA = log_uniform("method.alpha", low=1.0, high=100.0, grid=(1.0, 10.0, 30.0, 100.0))
IMAGE_ENTROPY = log_uniform("method.entropy_weight", low=1e-5, high=1.0, grid=WEIGHTS[::-1])
IMAGE_STEPS = integer("method.sampler_steps", low=5, high=80, log=True, grid=(10, 20, 80))
IMAGE_LINES: SearchedLines = {
    "supervised": ("Classifier", (IMAGE_LR,)),
    "jem": ("JEM", (IMAGE_LR, IMAGE_STEPS)),
    "hdge": ("HDGE", (IMAGE_LR,)),
    "vera": ("VERA α=100", (IMAGE_LR, IMAGE_GENERATOR_LR, IMAGE_ALPHA, IMAGE_ENTROPY)),
}
WEIGHT_LINES: SearchedLines = {"vera": ("VERA α=100", (IMAGE_ALPHA, IMAGE_ENTROPY))}

MODE_COUNT = Objective("modes", worst=0.0, tolerance=10.0)
MODES_LR = log_uniform("method.lr", "method.generator_lr", low=1e-5, high=1e-1, grid=IMAGE_RATES)
MODES_LINES: SearchedLines = {
    "vera": ("VERA", (MODES_LR, IMAGE_ENTROPY)),
    "vera-hmc": ("VERA-HMC, prior-only force", (MODES_LR, IMAGE_ENTROPY)),
}


def _make_toy_problem(toy: DataSetting) -> SearchProblem:
    return SearchProblem(
        name=toy.name,
        about=f"a mixture of 100 Gaussians on {toy.name} (Table 10), by its likelihood",
        subject=f"for a mixture on {toy.name}",
        experiment=MIXTURE,
        select_data=lambda profile: toy,
        lines=TOY_LINES,
        objective=TOY_LIKELIHOOD,
        seeds=SEEDS,
        evaluations=20,
    )


def _select_labels_table(profile: Profile) -> TableSetting:
    """The first table of images, else the last table."""
    tables = TABULAR.data(profile)
    return next((table for table in tables if table.image), tables[-1])


def _make_table_problem(table: TableSetting) -> SearchProblem:
    """One of the paper's tables. Below `paper` it has the settings at which the search of `laptop` starts;
    in the place of MNIST are the embedded digits then."""

    def select_table(profile: Profile) -> TableSetting:
        if profile == "paper":
            return table
        return TABULAR.data(profile)[-1] if table.image else make_other_table(table.dataset, profile)

    return SearchProblem(
        name=table.name.lower(),
        about=f"{table.name} with ten labels a class (Table 6), by held-out accuracy",
        subject=f"on {table.name} with ten labels a class",
        experiment=TABULAR,
        select_data=select_table,
        lines=LABELS_LINES,
        objective=ACCURACY,
        seeds=SEEDS,
    )


FLOW_PROBLEM = SearchProblem(
    name="flow",
    about="a NICE flow on digits (Table 2), by its likelihood",
    subject="for the flow of Table 2",
    experiment=NICE,
    select_data=lambda profile: NICE.data(profile)[0],
    lines=FLOW_LINES,
    objective=FLOW_LIKELIHOOD,
    seeds=SEEDS[:1],
)
LABELS_PROBLEM = SearchProblem(
    name="labels",
    about="digits with ten labels a class (Table 6), by held-out accuracy",
    subject="with ten labels a class",
    experiment=TABULAR,
    select_data=_select_labels_table,
    lines=LABELS_LINES,
    objective=ACCURACY,
    seeds=SEEDS,
)
IMAGES_PROBLEM = SearchProblem(
    name="images",
    about="a classifier of images that is an energy model too (Table 3), by its accuracy",
    subject="for the images of Table 3",
    experiment=IMAGES,
    select_data=lambda profile: IMAGES.data(profile)[0],
    lines=IMAGE_LINES,
    objective=ACCURACY,
    seeds=SEEDS,
)
WEIGHTS_PROBLEM = replace(
    IMAGES_PROBLEM,
    name="image-weights",
    about="α and λ of VERA on images (B.7, B.1.1), by accuracy",
    subject="with its α and λ on the images of Table 3",
    lines=WEIGHT_LINES,
)
MODES_PROBLEM = SearchProblem(
    name="modes",
    about="mode counting on StackedMNIST (B.5), by the number of modes",
    subject="for mode counting",
    experiment=MODES,
    select_data=lambda profile: MODES.data(profile)[0],
    lines=MODES_LINES,
    objective=MODE_COUNT,
    seeds=SEEDS,
)
PROBLEMS: Mapping[str, SearchProblem] = {
    problem.name: problem
    for problem in (
        *map(_make_toy_problem, TOYS),
        FLOW_PROBLEM,
        IMAGES_PROBLEM,
        WEIGHTS_PROBLEM,
        MODES_PROBLEM,
        LABELS_PROBLEM,
        *map(_make_table_problem, PAPER_TABLES),
    )
}


def find_search(problem: str, method: str) -> Search:
    """The search of a method on a problem; an error names the problems or methods there are."""
    if problem not in PROBLEMS:
        raise UnknownName(
            f"There is no search problem '{problem}'.{suggest_or_list(problem, list(PROBLEMS))} "
            "To list them: vera search"
        )
    searches = PROBLEMS[problem].searches
    if method not in searches:
        suggestion = suggest_or_list(method, list(searches))
        raise UnknownName(f"The search problem '{problem}' has no method '{method}'.{suggestion}")
    if not searches[method].space.axes:
        raise SettingError(
            f"The method '{method}' has no setting to search: none is a positive real number by default."
        )
    return searches[method]
