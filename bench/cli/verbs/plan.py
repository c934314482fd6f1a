"""`vera plan`: the trials that are missing, those that are stored, and the expected cost. Runs nothing."""

import argparse

from bench.cli.command_store import CommandStore
from bench.cli.flags import add_selection, add_store_verb
from bench.cli.next_step import print_nothing_to_run
from bench.cli.parser import Subparsers
from bench.cli.planning import build_plan, print_plan
from bench.cli.selection.trials import has_nothing_to_run

EXAMPLES = ("plan table2", "plan table2 --profile paper --only method=vera --seeds 3")


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
