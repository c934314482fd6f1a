"""The search problems: for each problem and method the settings to search and their ranges. Imports neither
torch nor ray.

The problems are experiments of the paper's tables: `moons`, `circles` and `rings` are the mixture of Table
10, `flow` is the NICE flow of Table 2, `labels` is the digits of Table 6 with ten labels for each class. An
axis covers what the paper or its appendix tried, and one or two decades more if that is cheap. Its grid is
the paper's own if there is one: for the flow the paper gives a grid (B.3); for the mixtures it gives λ and
one learning rate, so the grid has these λ and three rates a decade apart, as for the flow, with the paper's
in the middle. Seeds start at 100; no table uses them.

Trap: a diverged trial counts as the declared worst value. It must lie below every value that a working trial
reaches, but only by a few times their spread: with a much lower value a sampler could not see the differences
between working trials.
"""

from collections.abc import Mapping

from bench.experiment import DataSetting
from bench.paper.experiments.nice import NICE
from bench.paper.experiments.tabular import RATES as TABULAR_RATES
from bench.paper.experiments.tabular import TABULAR
from bench.paper.experiments.tabular_data import TableSetting
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
PROBLEMS: Mapping[str, SearchProblem] = {
    problem.name: problem for problem in (*map(_make_toy_problem, TOYS), FLOW_PROBLEM, LABELS_PROBLEM)
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
