"""`vera list`: every sweep, and how much of it is stored."""

import argparse
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from bench.cli.flags import add_store_verb
from bench.cli.parser import Subparsers
from bench.cli.selection.stores import CommandStore
from bench.locations import PROFILES

if TYPE_CHECKING:
    from sweeps.trial.identity import Trial


def add_parser(verbs: Subparsers) -> None:
    parser = add_store_verb(verbs, "list", "list every sweep and how much of it is stored", "list")
    parser.set_defaults(run=list_sweeps)


def list_sweeps(arguments: argparse.Namespace) -> int:
    from bench.catalogue import catalogue
    from vera.spec.settings import by_number

    own = CommandStore(arguments.results_dir)
    stored = own.store.read_outcomes()
    names = sorted(catalogue.sweep_names(), key=by_number)
    width = max(map(len, names))
    for name in names:
        sweep = catalogue.sweep(name)
        trials = {profile: sweep.trials(profile) for profile in PROFILES}
        counts = [
            f"{profile} {f'{count_stored(found, stored)}/{len(found)}':<7}"
            for profile, found in trials.items()
        ]
        text = "  ".join(counts) if any(trials.values()) else "needs no trials"
        print(f"{name:{width}}  {text:43}  {sweep.about}")
    own.print_problems()
    return 0


def count_stored(trials: "Sequence[Trial]", stored: Collection[str]) -> int:
    """The number of these trials that are stored. An empty store needs no ids, which take time to compute."""
    return sum(trial.id in stored for trial in trials) if stored else 0
