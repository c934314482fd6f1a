"""`vera plan`: which trials of a command are missing, which are stored, and the expected cost. Runs nothing.

`vera run` makes the same plan. With `--reuse-published`, published trials are copied into the user's store
instead of being trained. Without it they are trained, so that `make reproduce-table2` in a fresh clone really
reproduces. Two trials are the same if they have the same id: the same data, settings, seed, profile and
protocol. A copied row still says who trained it, and when.
"""

import argparse
import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, get_args

from bench.cli.flags import (
    DATA_DIR,
    DATASET,
    PLUGIN,
    PROFILE,
    RESULTS_DIR,
    SET,
    add_selection,
    add_store_verb,
    repeat_flags,
)
from bench.cli.parser import Subparsers
from bench.cli.plugins import print_plugin_edits
from bench.cli.selection.stores import CommandStore, has_published, require_published
from bench.cli.selection.trials import find_flop, has_nothing_to_run, select_trials
from bench.costs import count_cores, count_operations, describe_plan_cost, describe_trial_cost
from bench.locations import PUBLISHED
from sweeps.trial.canonical_json import canonical_json
from vera.errors import DataMissing, SettingError, VeraError
from vera.wording import format_bytes, plural

if TYPE_CHECKING:
    from sweeps.trial.identity import Trial
    from sweeps.trial.plan import Plan
    from vera.spec.trial_spec import TrialSpec

EXAMPLES = ("plan table2", "plan table2 --profile paper --only method=vera --seeds 3", "plan all")
SELECTION = (PROFILE, "--only", "--seeds", DATASET, SET, DATA_DIR, RESULTS_DIR, PLUGIN)
"""Flags that decide which trials are meant, and where they are stored."""


def add_parser(verbs: Subparsers) -> None:
    text = "print the trials to run, those already stored and the expected cost; runs nothing"
    parser = add_store_verb(verbs, "plan", text, *EXAMPLES)
    add_selection(parser)
    parser.set_defaults(run=plan_sweep)


def plan_sweep(arguments: argparse.Namespace) -> int:
    if has_nothing_to_run(arguments):
        return print_nothing_to_run(arguments)
    print_plan(arguments, build_plan(arguments, CommandStore(arguments.results_dir)))
    return 0


def print_nothing_to_run(arguments: argparse.Namespace) -> int:
    print(f"{arguments.sweep} needs no trials; to see it: {find_render_command(arguments)}")
    return 0


def find_render_command(arguments: argparse.Namespace) -> str:
    """`vera render` for a table or figure, `vera report` for another sweep."""
    from bench.catalogue import EVERYTHING, catalogue

    words = ["report", *repeat_flags(arguments, RESULTS_DIR, PLUGIN)]
    if arguments.sweep in catalogue or arguments.sweep == EVERYTHING:
        flags = repeat_flags(arguments, PROFILE, DATASET, SET, RESULTS_DIR, PLUGIN)
        words = ["render", arguments.sweep, *flags]
    return shlex.join(["vera", *words])


def build_plan(arguments: argparse.Namespace, own: CommandStore) -> "Plan":
    """Subtract the stored trials from those of the command. Notes on damaged files and edited plug-ins go to
    stderr."""
    from sweeps.trial.plan import estimate_seconds, make_plan

    retry = parse_outcomes(getattr(arguments, "retry", ""))
    trials = select_trials(arguments, own)
    published = CommandStore(PUBLISHED)
    reusable = set()
    if arguments.reuse_published:
        require_published("--reuse-published")
        reusable = {trial_id for trial_id, outcome in published.outcomes.items() if outcome not in retry}
        published.print_problems()
    plan = make_plan(trials, own.outcomes, own.rows, retry, reusable)
    own.print_problems()
    command = ["vera", "run", arguments.sweep, *repeat_flags(arguments, *SELECTION)]
    print_plugin_edits(plan.cached, own.rows, command)
    untimed = [trial for trial in plan.missing if trial.id not in plan.seconds]
    borrowed = estimate_seconds(untimed, published.rows) if untimed and has_published() else {}
    return replace(plan, seconds=plan.seconds | borrowed, borrowed=bool(borrowed))


def parse_outcomes(text: str) -> list[str]:
    """The outcomes of --retry."""
    from sweeps.store.row import Outcome
    from vera.spec.settings import suggest_or_list

    known = list(get_args(Outcome))
    outcomes = [outcome.strip() for outcome in text.split(",") if outcome.strip()]
    for outcome in outcomes:
        if outcome not in known:
            raise SettingError(f"--retry knows no outcome '{outcome}'.{suggest_or_list(outcome, known)}")
    return outcomes


def print_plan(arguments: argparse.Namespace, plan: "Plan") -> None:
    """The summary, a line for each missing trial, the size of their models, and on stderr the data files that
    are missing."""
    from sweeps.run.progress import measure_widths

    print(summarise_plan(arguments, plan))
    label, data = measure_widths(plan.missing)
    flop = find_flop(arguments.sweep)
    seconds = {} if count_operations(flop, plan) else plan.seconds  # one unit for the sum and its parts
    for trial in plan.missing:
        cost = describe_trial_cost(flop, trial, seconds.get(trial.id))
        about = f"{trial.name:{label}} {trial.data:{data}} seed {trial.spec.seed:<4}"
        print(f"  {trial.id[:8]}  {about} {plural(trial.spec.steps, 'step')}   {cost}")
    sizes = describe_model_sizes(plan.missing, arguments.data_dir)
    if sizes and getattr(arguments, "models", "all") == "all":
        print(f"  {sizes}; to store none: --models none")
    for problem in find_missing_data(plan, arguments.data_dir):
        print(f"vera: Not ready to run: {problem}", file=sys.stderr)


def find_missing_data(plan: "Plan", data_dir: str | None) -> list[str]:
    """For each data set of the plan without its files, what to do."""
    from sweeps.trial.identity import collect_datasets
    from sweeps.trial.spec_cache import spec_cache

    problems = []
    reading = (trial for trial in plan.missing if not spec_cache.has("facts", trial.spec))
    for dataset in collect_datasets(reading):
        from vera.tasks.build import locate_files

        try:
            locate_files(dataset, data_dir)
        except DataMissing as error:
            problems.append(str(error))
    return list(dict.fromkeys(problems))


def summarise_plan(arguments: argparse.Namespace, plan: "Plan") -> str:
    """One line: sweep, profile, number of trials, how many are done, cost of the rest."""
    cores = None if getattr(arguments, "address", None) else count_cores()
    cost = describe_plan_cost(find_flop(arguments.sweep), plan, cores) if plan.missing else ""
    total = len(plan.missing) + len(plan.elsewhere) + len(plan.cached)
    others = {"published": len(plan.elsewhere), "failed before": len(plan.failed)}
    done = f"{len(plan.cached) - len(plan.failed)} already done"
    done += "".join(f" · {count} {how}" for how, count in others.items() if count)
    return f"{arguments.sweep} · {arguments.profile} profile · {plural(total, 'trial')} · {done}{cost}"


def describe_model_sizes(trials: "Sequence[Trial]", data_dir: str | None = None) -> str:
    """The expected size of the models of these trials; empty if they leave none, or if the size depends on a
    data file that is missing."""
    from sweeps.trial.spec_cache import spec_cache

    def derive_size(spec: "TrialSpec") -> int:
        from vera.saved.expected_size import estimate_model_size

        return estimate_model_size(spec, data_dir)

    specs = {_make_network_key(trial): trial.spec for trial in trials}
    try:
        sizes = {
            key: spec_cache.find("size", spec, partial(derive_size, spec)) for key, spec in specs.items()
        }
    except VeraError:
        return ""
    total = sum(sizes[_make_network_key(trial)] for trial in trials)
    count = sum(sizes[_make_network_key(trial)] > 0 for trial in trials)
    return f"{plural(count, 'model')}, about {format_bytes(total)} in all" if count else ""


def _make_network_key(trial: "Trial") -> str:
    """Equal for trials with the same data and networks."""
    spec = trial.spec
    return canonical_json([spec.task_component, spec.method["name"], spec.dataset, dict(spec.networks)])
