"""`vera status`: the number of stored trials by sweep, profile and outcome."""

import argparse

from bench.cli.flags import add_store_verb, repeat_results_dir
from bench.cli.parser import Subparsers
from bench.cli.selection.stores import CommandStore


def add_parser(verbs: Subparsers) -> None:
    text = "count the stored trials by sweep and outcome"
    parser = add_store_verb(verbs, "status", text, "status", "status --results-dir results/published")
    parser.set_defaults(run=print_status)


def print_status(arguments: argparse.Namespace) -> int:
    """One line per sweep, profile and outcome: the number of trials and their data sets."""
    own = CommandStore(arguments.results_dir)
    groups: dict[tuple[str, str, str], list[str]] = {}
    for row in own.rows:
        groups.setdefault((row.sweep or "-", row.profile, row.outcome), []).append(row.data)
    width = max([16, *(len(name) for name, *_ in groups)])
    for (name, profile, outcome), data in sorted(groups.items()):
        print(f"{name:{width}} {profile:8} {outcome:14} {len(data):<5} {', '.join(sorted(set(data)))}")
    if not groups:
        start = f"vera run toy-demo{repeat_results_dir(arguments)}"
        print(f"No trials in {arguments.results_dir} yet. To start: {start}")
    own.print_problems()
    return 0
