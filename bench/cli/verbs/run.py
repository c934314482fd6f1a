"""The verbs that ask for trials: plan, run, retry. Each is one function, told apart by its parser."""

import argparse
import shlex
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, get_args

from bench.cli.costs import own_cores, plan_cost, published_seconds, trial_cost
from bench.cli.flags import (
    DATA_DIR,
    DATASET,
    PLUGIN,
    PROFILE,
    RESULTS_DIR,
    Verbs,
    execution,
    kept,
    selection,
    verb,
)
from bench.cli.plugin_changes import name_edits
from bench.cli.trial_selection import asked_trials, flop_of, needs_none
from bench.cli.verbs.inspect import name_problems, opened
from sweeps.errors import Interrupted
from sweeps.store.row import FAILURES
from vera.errors import DataMissing
from vera.wording import plural

if TYPE_CHECKING:
    from sweeps.cluster.execute import Engine
    from sweeps.trial.plan import Plan

SAME_TRIALS = (PROFILE, "--only", "--seeds", DATASET, DATA_DIR, RESULTS_DIR, PLUGIN)
"""Flags that decide which trials are meant, and where they lie."""
PLANS = ("plan table2", "plan table2 --profile paper --only method=vera --seeds 3")
RUNS = ("run table2 --profile smoke", "run table6 --dataset csv:docs/examples/iris.csv,label=species")


def add_plan(verbs: Verbs) -> None:
    parser = verb(verbs, "plan", "trials to run, trials cached, expected cost; runs nothing", *PLANS)
    selection(parser)
    parser.set_defaults(run=plan_sweep)


def add_run(verbs: Verbs) -> None:
    parser = verb(verbs, "run", "run what is missing of a sweep", *RUNS)
    selection(parser)
    execution(parser)
    parser.add_argument(
        "--retry",
        metavar="OUTCOMES",
        default="",
        help="run these outcomes again, e.g. error,out_of_memory (default: none)",
    )
    parser.set_defaults(run=run_sweep)


def add_retry(verbs: Verbs) -> None:
    parser = verb(
        verbs, "retry", f"run a sweep, and again what failed of it ({', '.join(FAILURES)})", "retry table2"
    )
    selection(parser)
    execution(parser)
    parser.set_defaults(run=run_sweep, retry=",".join(FAILURES))


def plan_sweep(arguments: argparse.Namespace) -> int:
    if needs_none(arguments):
        return _nothing_to_run(arguments)
    _tell(arguments, _plan(arguments))
    return 0


def _tell(arguments: argparse.Namespace, plan: "Plan") -> None:
    """What would be run, and what it lacks."""
    from sweeps.run.progress import widths_of

    print(_summary(arguments, plan))
    label, data = widths_of(plan.missing)
    for trial in plan.missing:
        cost = trial_cost(flop_of(arguments.sweep), trial, plan.seconds.get(trial.id))
        about = f"{trial.name:{label}} {trial.data:{data}} seed {trial.spec.seed:<4}"
        print(f"  {trial.id[:8]}  {about} {plural(trial.spec.steps, 'step')}   {cost}")
    for lacking in _lacking(plan, arguments.data_dir):
        print(f"vera: It cannot be run yet: {lacking}", file=sys.stderr)


def _lacking(plan: "Plan", data_dir: str | None) -> list[str]:
    """Of each data set whose files are not here, what to do."""
    from sweeps.trial.identity import data_parts
    from vera.tasks.build import locate_files

    texts = []
    for part in data_parts(plan.missing):
        try:
            locate_files(part, data_dir)
        except DataMissing as error:
            texts.append(str(error))
    return list(dict.fromkeys(texts))


def run_sweep(arguments: argparse.Namespace) -> int:
    from bench.cli.reuse_published import take

    if needs_none(arguments):
        return _nothing_to_run(arguments)
    if arguments.dry_run:
        return plan_sweep(arguments)
    plan = _plan(arguments)
    print(_summary(arguments, plan), flush=True)
    if plan.elsewhere:
        taking = opened(arguments)
        take(plan, taking)
        name_problems(taking)
    if plan.missing:
        _execute(arguments, plan)
    store = opened(arguments)
    outcomes = store.outcomes()
    name_problems(store)
    asked = [*plan.missing, *plan.elsewhere, *plan.cached]
    bad = [trial for trial in asked if outcomes.get(trial.id) in (None, *FAILURES)]
    for trial in bad:
        see = shlex.join(["vera", "show", trial.id[:8], *kept(arguments, RESULTS_DIR)])
        print(
            f"vera: {trial.name} seed {trial.spec.seed} ended as {outcomes.get(trial.id)}; see: {see}",
            file=sys.stderr,
        )
    way_on = f"{_once_more(arguments) if bad else ''}{_way_on(arguments)}"
    print(f"{len(asked) - len(bad)} of {len(asked)} trials are done and in {arguments.results_dir}{way_on}")
    return int(bool(bad))


def _nothing_to_run(arguments: argparse.Namespace) -> int:
    print(f"{arguments.sweep} needs no trials{_way_on(arguments)}")
    return 0


def _way_on(arguments: argparse.Namespace) -> str:
    """How to look at it: as a table or a figure where it is one, else on the page of all trials."""
    from bench.catalogue import catalogue

    command = ["report", *kept(arguments, RESULTS_DIR, PLUGIN)]
    if arguments.sweep in catalogue:
        command = ["render", arguments.sweep, *kept(arguments, PROFILE, DATASET, RESULTS_DIR, PLUGIN)]
    return f"; to see it: {shlex.join(['vera', *command])}"


def _once_more(arguments: argparse.Namespace) -> str:
    return f"; to run again what failed: {shlex.join(['vera', 'retry', arguments.sweep, *kept(arguments, *SAME_TRIALS)])}"


def engine_of(arguments: argparse.Namespace) -> "Engine":
    """Where and with what the trials run, as the flags say."""
    from sweeps.cluster.execute import Engine
    from sweeps.cluster.exports import Exports
    from sweeps.run.conditions import Conditions
    from sweeps.store.address import within

    packed = arguments.gpus_per_trial == "auto"
    conditions = Conditions(
        data_dir=arguments.data_dir, device="auto", cpus=arguments.cpus_per_trial, gpus=1.0 if packed else arguments.gpus_per_trial,
        time_limit=arguments.time_limit, checkpoint_every=arguments.checkpoint_every,
    )  # fmt: skip
    trials, checkpoints = (
        within(arguments.results_dir, "trials"),
        within(arguments.results_dir, "checkpoints"),
    )
    return Engine(
        trials, checkpoints, conditions, arguments.address, arguments.max_concurrent, arguments.verbose,
        tuple(arguments.plugin), Exports(arguments.tensorboard, arguments.mlflow, arguments.wandb), packed,
    )  # fmt: skip


def _execute(arguments: argparse.Namespace, plan: "Plan") -> None:
    from sweeps.cluster.execute import execute
    from sweeps.run.progress import Progress, widths_of

    steps = {trial.id: trial.spec.steps for trial in plan.missing}
    progress = Progress(len(plan.missing), steps, widths=widths_of(plan.missing))
    try:
        execute(plan.missing, engine_of(arguments), progress, plan.attempts)
    except KeyboardInterrupt as asked:
        raise Interrupted(
            "Interrupted. What is finished is stored, what was running can go on: the same command runs the rest.",
            asked,
        ) from None
    finally:
        progress.close()


def _plan(arguments: argparse.Namespace) -> "Plan":
    from bench.cli.reuse_published import shipped
    from sweeps.store.row import Outcome
    from sweeps.trial.plan import make_plan
    from vera.errors import SettingError
    from vera.spec.settings import suggest_or_list

    store = opened(arguments)
    retry = [outcome.strip() for outcome in getattr(arguments, "retry", "").split(",") if outcome.strip()]
    for outcome in retry:
        if outcome not in get_args(Outcome):
            raise SettingError(
                f"--retry knows no outcome '{outcome}'.{suggest_or_list(outcome, list(get_args(Outcome)))}"
            )
    trials, rows = asked_trials(arguments, store), store.rows()
    if not getattr(arguments, "dry_run", True):
        opened(arguments, create=True)  # a place that cannot be written is refused before anything is trained
    plan = make_plan(
        trials, store.outcomes(), rows, retry, shipped(retry) if arguments.reuse_published else ()
    )
    name_problems(store)
    name_edits(plan.cached, rows, ["vera", "run", arguments.sweep, *kept(arguments, *SAME_TRIALS)])
    elsewhere = published_seconds([trial for trial in plan.missing if trial.id not in plan.seconds])
    return replace(plan, seconds=plan.seconds | elsewhere, borrowed=bool(elsewhere))


def _summary(arguments: argparse.Namespace, plan: "Plan") -> str:
    cores = None if getattr(arguments, "address", None) else own_cores()
    about = plan_cost(flop_of(arguments.sweep), plan, cores) if plan.missing else ""
    total = len(plan.missing) + len(plan.elsewhere) + len(plan.cached)
    others = {"published": len(plan.elsewhere), "failed before": len(plan.failed)}
    done = "".join(
        [
            f"{len(plan.cached) - len(plan.failed)} already done",
            *(f" · {n} {how}" for how, n in others.items() if n),
        ]
    )
    return f"{arguments.sweep} · {arguments.profile} profile · {plural(total, 'trial')} · {done}{about}"
