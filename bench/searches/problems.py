"""What can be searched: for each task and method the settings that are looked for, and where. Loads neither
torch nor ray.

The tasks are those of the tables: `moons`, `circles` and `rings` are Table 10's mixture, `flow` is Table 2's
NICE flow, `labels` is digits of Table 6 with ten labels a class. An axis reaches over what the paper or its
appendix tried, and a decade or two beyond where that is cheap; its grid is the paper's own where it has one.
Of the flow it states one (B.3). Of the mixtures it states λ and one learning rate: their grid is those λ, and
three rates a decade apart, as the flow's are, with the paper's in the middle. Seeds are those from 100 on,
which no table uses.

Trap: a trial that diverges counts as the declared worst value. It must lie below everything that a working
trial reaches, but not so far below that the differences between working ones are lost on a sampler: a few
times their spread, not a million.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

from sweeps.trial.matching import TUNING_SEED
from bench.paper.experiments import tabular
from bench.paper.experiments.mixtures import LAMBDAS
from bench.paper.experiments.mixtures import setting as toy_setting
from bench.paper.experiments.nice import NICE
from bench.searches.plugin_problems import check_axes, plugged_searches
from sweeps.search.declaration import Search
from sweeps.search.objective import Objective
from sweeps.search.space import Axis, Space, choice, log_uniform, uniform, whole
from sweeps.trial.identity import Profile, Trial
from vera.errors import UnknownName
from vera.spec.registry import joint_methods, methods
from vera.spec.settings import suggest_or_list

SEEDS = (TUNING_SEED, TUNING_SEED + 1)
SECONDS = Objective("seconds", worst=36_000.0, direction="small")
NOISE = log_uniform("method.noise", low=1e-2, high=1.0, grid=(0.1, 1.0))
SAMPLER_STEPS = whole("method.sampler_steps", low=10, high=80, log=True, grid=(20, 40))

TOYS = ("moons", "circles", "rings")
TOY_LIKELIHOOD = Objective("test_log_likelihood", worst=-20.0, tolerance=0.05)
TOY_RATES = (1e-4, 1e-3, 1e-2)
TOY_LR = log_uniform("method.lr", low=1e-5, high=1e-1, grid=TOY_RATES)
TOY_GENERATOR_LR = log_uniform(
    "method.generator_lr", "method.posterior_lr", low=1e-5, high=1e-1, grid=TOY_RATES
)
TOY_ENTROPY = uniform("method.entropy_weight", low=0.0, high=2.0, grid=LAMBDAS)
TOY_AXES: Mapping[str, tuple[Axis, ...]] = {
    "ml": (TOY_LR,), "vera": (TOY_LR, TOY_GENERATOR_LR, TOY_ENTROPY), "pcd": (TOY_LR, NOISE, SAMPLER_STEPS),
}  # fmt: skip

FLOW_LIKELIHOOD = Objective("test_log_likelihood", worst=-10_000.0, tolerance=1.0)
RATES = (3e-6, 3e-5, 3e-4)
LR = log_uniform("method.lr", low=3e-6, high=3e-2, grid=RATES)
GENERATOR_LR = log_uniform("method.generator_lr", "method.posterior_lr", low=3e-6, high=3e-2, grid=RATES)
ENTROPY = uniform("method.entropy_weight", low=0.0, high=2.0, grid=(0.0, 1.0))
PLAIN_GENERATOR_LR = log_uniform("method.generator_lr", low=3e-6, high=3e-2, grid=RATES)
FLOW: Mapping[str, tuple[str, tuple[Axis, ...]]] = {
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
"""By method: the line of Table 2 that is varied, and its axes."""

ACCURACY = Objective("test_accuracy", worst=0.0, tolerance=0.005)
LABELS_LR = log_uniform("method.lr", low=1e-5, high=1e-2, grid=tabular.RATES[::-1])
BOTH_LR = log_uniform("method.lr", "method.generator_lr", low=1e-5, high=1e-2, grid=tabular.RATES[::-1])
ALPHA, BETA = (
    log_uniform("method.alpha", low=0.3, high=100.0, grid=(1.0, 10.0, 30.0, 100.0)),
    log_uniform("method.beta", low=0.03, high=3.0, grid=(0.1, 1.0)),
)
SMALL_ENTROPY = log_uniform("method.entropy_weight", low=1e-5, high=1.0, grid=(1e-4, 1e-3, 0.01, 0.1, 1.0))
LABELS: Mapping[str, tuple[str, tuple[Axis, ...]]] = {
    "supervised": ("Supervised", (LABELS_LR,)),
    "vat": (
        "VAT",
        (LABELS_LR, log_uniform("method.epsilon", low=0.01, high=10.0, grid=(0.01, 0.1, 1.0, 3.0, 10.0))),
    ),
    "meg": ("MEG", (BOTH_LR, SMALL_ENTROPY, ALPHA, BETA)),
    "jem": ("JEM", (LABELS_LR, whole("method.sampler_steps", low=10, high=80, log=True, grid=(20, 40, 80)))),
    "vera": ("VERA", (BOTH_LR, SMALL_ENTROPY, ALPHA, BETA)),
}


@dataclass(frozen=True)
class SearchTask:
    """A task of `vera search`, and a search for each of its methods."""

    name: str
    about: str
    declared: Mapping[str, Search]
    plugged: Callable[[], Mapping[str, Search]]
    """Of the methods that plug-ins have brought by now."""

    @property
    def searches(self) -> Mapping[str, Search]:
        return {**self.declared, **self.plugged()}


def toy_base(dataset: str, method: str) -> Callable[[Profile], Trial]:
    def base(profile: Profile) -> Trial:
        way = toy_setting(profile, dataset)
        trial = way.ml() if method == "ml" else way.vera(1.0) if method == "vera" else way.pcd(0.1)
        return evaluated(trial, 20)

    return base


def evaluated(trial: Trial, times: int) -> Trial:
    """So often on the way, for a scheduler to look at; that alone makes it another trial than the table's."""
    return replace(trial, spec=replace(trial.spec, evaluate_every=max(1, trial.spec.steps // times)))


def toy_task(dataset: str) -> SearchTask:
    def search(method: str, axes: tuple[Axis, ...]) -> Search:
        about = f"{method} for a mixture on {dataset}"
        return Search(
            f"{dataset}-{method}", about, toy_base(dataset, method), Space(axes), (TOY_LIKELIHOOD,), SEEDS
        )

    def plugged_trials(profile: Profile) -> Iterator[Trial]:
        return (evaluated(trial, 20) for trial in toy_setting(profile, dataset).plugged())

    searches = {method: search(method, axes) for method, axes in TOY_AXES.items()}
    plugged = partial(plugged_searches, dataset, methods, plugged_trials, TOY_LIKELIHOOD, SEEDS)
    return SearchTask(
        dataset, f"a mixture of 100 Gaussians on {dataset} (Table 10), by its likelihood", searches, plugged
    )


def flow_task() -> SearchTask:
    def search(method: str, label: str, axes: tuple[Axis, ...]) -> Search:
        def base(profile: Profile) -> Trial:
            return NICE.trial(label, profile)

        return Search(
            f"flow-{method}",
            f"{method} for the flow of Table 2",
            base,
            Space(axes),
            (FLOW_LIKELIHOOD,),
            SEEDS[:1],
        )

    searches = {method: search(method, *entry) for method, entry in FLOW.items()}
    plugged = partial(plugged_searches, "flow", methods, NICE.plugin_trials, FLOW_LIKELIHOOD, SEEDS[:1])
    return SearchTask("flow", "a NICE flow on digits (Table 2), by its likelihood", searches, plugged)


def labels_table(profile: Profile) -> tabular.Table:
    return next((table for table in tabular.TABLES[profile] if table.image), tabular.TABLES[profile][-1])


def labels_task() -> SearchTask:
    def search(method: str, label: str, axes: tuple[Axis, ...]) -> Search:
        def base(profile: Profile) -> Trial:
            return tabular.line(label).trial(labels_table(profile), profile)

        return Search(
            f"labels-{method}", f"{method} with ten labels a class", base, Space(axes), (ACCURACY,), SEEDS
        )

    def plugged_trials(profile: Profile) -> Iterator[Trial]:
        return tabular.plugged(labels_table(profile), profile)

    searches = {method: search(method, *entry) for method, entry in LABELS.items()}
    plugged = partial(plugged_searches, "labels", joint_methods, plugged_trials, ACCURACY, SEEDS)
    return SearchTask(
        "labels", "digits with ten labels a class (Table 6), by held-out accuracy", searches, plugged
    )


TASKS: Mapping[str, SearchTask] = {
    task.name: task for task in (*map(toy_task, TOYS), flow_task(), labels_task())
}


def find_search(task: str, method: str) -> Search:
    if task not in TASKS:
        raise UnknownName(
            f"There is no task '{task}' to search.{suggest_or_list(task, list(TASKS))} To see them: vera search"
        )
    searches = TASKS[task].searches
    if method not in searches:
        raise UnknownName(
            f"The task '{task}' has no search for '{method}'.{suggest_or_list(method, list(searches))}"
        )
    check_axes(searches[method], method)
    return searches[method]
