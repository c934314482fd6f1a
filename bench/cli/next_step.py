"""The command that a verb offers at its end."""

import argparse
import shlex

from bench.cli.flags import DATASET, PLUGIN, PROFILE, RESULTS_DIR, repeat_flags


def find_render_command(arguments: argparse.Namespace) -> str:
    """`vera render` for a table or figure, `vera report` for another sweep."""
    from bench.catalogue import catalogue

    words = ["report", *repeat_flags(arguments, RESULTS_DIR, PLUGIN)]
    if arguments.sweep in catalogue:
        words = ["render", arguments.sweep, *repeat_flags(arguments, PROFILE, DATASET, RESULTS_DIR, PLUGIN)]
    return shlex.join(["vera", *words])


def print_nothing_to_run(arguments: argparse.Namespace) -> int:
    print(f"{arguments.sweep} needs no trials; to see it: {find_render_command(arguments)}")
    return 0
