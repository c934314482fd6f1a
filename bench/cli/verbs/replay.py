"""`vera replay`: run a stored trial again in this process and compare the result with its row."""

import argparse
import json
from typing import TYPE_CHECKING

from bench.cli.flags import add_data_dir, add_store_verb, repeat_results_dir
from bench.cli.parser import Subparsers
from bench.cli.selection.stores import CommandStore
from bench.cli.selection.trials import ID_HELP, describe_origin, find_stored_trial
from vera.errors import UnknownName
from vera.wording import format_bytes

if TYPE_CHECKING:
    from sweeps.store.row import Row


def add_parser(verbs: Subparsers) -> None:
    text = "run a stored trial again in this process and compare it with its row"
    parser = add_store_verb(verbs, "replay", text, "replay 79ecd95e", "replay 79ecd95e --keep-model")
    parser.add_argument("id", metavar="ID", help=ID_HELP)
    parser.add_argument(
        "--keep-model", action="store_true", help="store the trained model if the result is identical"
    )
    add_data_dir(parser)
    parser.set_defaults(run=replay_trial)


def replay_trial(arguments: argparse.Namespace) -> int:
    """Exit code 0 if the result is identical, 1 if it differs."""
    from sweeps.run.conditions import Conditions
    from sweeps.run.replay import replay_row

    own = CommandStore(arguments.results_dir)
    row, store = find_stored_trial(arguments.id, arguments, own)
    own.print_problems()
    _check_known(row)
    conditions = Conditions(
        data_dir=arguments.data_dir, cpus=row.cpus, device=row.device, keep_model=arguments.keep_model
    )
    replayed = replay_row(row, conditions)
    title = f"replayed {row.label} seed {row.seed}{describe_origin(store)} in {replayed.seconds:.0f} s"
    if not replayed.differences:
        print(f"{title}: identical to the stored row")
        if arguments.keep_model:
            _store_model(row, replayed.model, arguments)
        return 0
    print(f"{title}: it differs")
    for line in replayed.differences:
        print(f"  {line}")
    return 1


def _store_model(row: "Row", content: bytes | None, arguments: argparse.Namespace) -> None:
    """Store the model in the user's own results, also that of a published trial."""
    if content is None:
        print(f"{row.label} leaves no model to store (outcome {row.outcome})")
        return
    store = CommandStore(arguments.results_dir, create=True).store
    store.models.write(row.trial_id, content)
    sample = f"vera sample {row.trial_id[:8]}{repeat_results_dir(arguments)}"
    print(
        f"stored its model ({format_bytes(len(content))}) in {arguments.results_dir}; to sample it: {sample}"
    )


def _check_known(row: "Row") -> None:
    """Raise UnknownName if the trial needs a plug-in that is not loaded."""
    from sweeps.trial.identity import Trial

    try:
        _ = Trial.from_facts(json.loads(row.spec)).facts
    except UnknownName as error:
        raise UnknownName(f"{error} If a plug-in registers it: --plugin FILE") from error
