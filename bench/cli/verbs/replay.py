"""`vera replay`: run a stored trial again in this process and compare the result with its row."""

import argparse
import json
from typing import TYPE_CHECKING

from bench.cli.flags import add_data_dir, add_store_verb
from bench.cli.parser import Subparsers
from bench.cli.selection.stores import CommandStore
from bench.cli.selection.trials import ID_HELP, describe_origin, find_stored_trial
from vera.errors import UnknownName

if TYPE_CHECKING:
    from sweeps.store.row import Row


def add_parser(verbs: Subparsers) -> None:
    text = "run a stored trial again in this process and compare it with its row"
    parser = add_store_verb(verbs, "replay", text, "replay 79ecd95e")
    parser.add_argument("id", metavar="ID", help=ID_HELP)
    add_data_dir(parser)
    parser.set_defaults(run=replay_trial)


def replay_trial(arguments: argparse.Namespace) -> int:
    """Exit code 0 if the result is identical, 1 if it differs."""
    from sweeps.run.conditions import Conditions
    from sweeps.run.replay import compare_with_replay

    own = CommandStore(arguments.results_dir)
    row, store = find_stored_trial(arguments.id, arguments, own)
    own.print_problems()
    _check_known(row)
    differences, seconds = compare_with_replay(
        row, Conditions(data_dir=arguments.data_dir, cpus=row.cpus, device=row.device)
    )
    title = f"replayed {row.label} seed {row.seed}{describe_origin(store)} in {seconds:.0f} s"
    if not differences:
        print(f"{title}: identical to the stored row")
        return 0
    print(f"{title}: it differs")
    for line in differences:
        print(f"  {line}")
    return 1


def _check_known(row: "Row") -> None:
    """Raise UnknownName if the trial needs a plug-in that is not loaded."""
    from sweeps.trial.identity import Trial

    try:
        _ = Trial.from_facts(json.loads(row.spec)).facts
    except UnknownName as error:
        raise UnknownName(f"{error} If a plug-in registers it: --plugin FILE") from error
