"""`vera run` and `vera retry`: run the missing trials of a sweep. To resume, run the same command again."""

import argparse
import shlex
import sys
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from bench.cli.directories import check_results_writable
from bench.cli.flags import (
    RESULTS_DIR,
    add_execution,
    add_selection,
    add_store_verb,
    build_engine,
    repeat_flags,
)
from bench.cli.parser import Subparsers
from bench.cli.selection.stores import CommandStore
from bench.cli.selection.trials import has_nothing_to_run
from bench.cli.terminal_output import unfiltered
from bench.cli.verbs.plan import (
    SELECTION,
    build_plan,
    find_render_command,
    print_nothing_to_run,
    print_plan,
    summarise_plan,
)
from bench.locations import PUBLISHED
from sweeps.errors import Interrupted
from sweeps.store.row import FAILURES
from vera.wording import plural

if TYPE_CHECKING:
    from sweeps.trial.plan import Plan

EXAMPLES = (
    "run table2 --profile smoke",
    "run table6 --dataset csv:docs/examples/iris.csv,label=species",
    "run all",
)


def add_parser(verbs: Subparsers) -> None:
    parser = add_store_verb(verbs, "run", "run the missing trials of a sweep", *EXAMPLES)
    add_selection(parser)
    add_execution(parser)
    parser.add_argument(
        "--retry",
        metavar="OUTCOMES",
        default="",
        help="also run stored trials with these outcomes again, e.g. error,out_of_memory (default: none)",
    )
    parser.set_defaults(run=run_sweep)


def add_retry_parser(verbs: Subparsers) -> None:
    text = f"run the missing trials of a sweep and those that failed ({', '.join(FAILURES)})"
    parser = add_store_verb(verbs, "retry", text, "retry table2")
    add_selection(parser)
    add_execution(parser)
    parser.set_defaults(run=run_sweep, retry=",".join(FAILURES))


def run_sweep(arguments: argparse.Namespace) -> int:
    """Exit code 1 if a trial failed, or was not started because the budget was spent."""
    if has_nothing_to_run(arguments):
        return print_nothing_to_run(arguments)
    own = CommandStore(arguments.results_dir, create=not arguments.dry_run)
    plan = build_plan(arguments, own)
    if arguments.dry_run:
        print_plan(arguments, plan)
        if plan.missing or plan.elsewhere:
            check_results_writable(arguments.results_dir)
        return 0
    print(summarise_plan(arguments, plan), flush=True)
    if plan.elsewhere:
        wanted = {trial.id for trial in plan.elsewhere}
        own.store.merge(Path(PUBLISHED, "trials"), only=wanted, models=arguments.models == "all")
    not_started = _execute(arguments, plan) if plan.missing else []
    return _print_end(arguments, plan, own, not_started)


def _execute(arguments: argparse.Namespace, plan: "Plan") -> list[str]:
    """Run the missing trials. Returns the ids of those for which there was no budget."""
    from sweeps.cluster.execute import execute
    from sweeps.run.progress import Progress, measure_widths

    steps = {trial.id: trial.spec.steps for trial in plan.missing}
    widths = measure_widths(plan.missing)
    progress = Progress(len(plan.missing), steps, unfiltered(), widths, plan.seconds)
    try:
        engine = build_engine(arguments)
        execute(plan.missing, engine, progress, plan.attempts)
        return [] if engine.budget is None else engine.budget.not_started
    except KeyboardInterrupt as interrupt:
        raise Interrupted(
            "Interrupted. Finished trials are stored, running ones are checkpointed. To resume, run the same "
            "command again.",
            interrupt,
        ) from None
    finally:
        progress.close()


def _print_end(
    arguments: argparse.Namespace, plan: "Plan", own: CommandStore, not_started: Collection[str]
) -> int:
    """Name the failed trials and the next command."""
    outcomes = own.store.read_outcomes()
    own.print_problems()
    trials = [*plan.missing, *plan.elsewhere, *plan.cached]
    waiting = [trial for trial in plan.missing if trial.id in not_started]
    ended = [trial for trial in trials if trial not in waiting]
    failed = [trial for trial in ended if outcomes.get(trial.id) in (None, *FAILURES)]
    if waiting:
        print(f"vera: {describe_spent_budget(arguments, len(waiting))}", file=sys.stderr)
    for trial in failed:
        show = shlex.join(["vera", "show", trial.id[:8], *repeat_flags(arguments, RESULTS_DIR)])
        outcome = outcomes.get(trial.id) or "not run"
        print(f"vera: {trial.name} seed {trial.spec.seed}: {outcome}. See: {show}", file=sys.stderr)
    retry = ["vera", "retry", arguments.sweep, *repeat_flags(arguments, *SELECTION)]
    again = f"; to run the failed ones again: {shlex.join(retry)}" if failed else ""
    print(
        f"{len(ended) - len(failed)} of {len(trials)} trials are done and in "
        f"{arguments.results_dir}{again}; to see it: {find_render_command(arguments)}"
    )
    return int(bool(failed or waiting))


def describe_spent_budget(arguments: argparse.Namespace, count: int) -> str:
    """That the budget is spent, and what to do about the trials that were not started."""
    left = f"{plural(count, 'trial')} {'was' if count == 1 else 'were'} not started"
    return (
        f"The budget of {arguments.budget_hours:g} hours is spent: {left}. To start more, run the same "
        "command again."
    )
