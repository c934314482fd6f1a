"""`vera show`: everything that is stored of one trial."""

import argparse
import json
from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING

from bench.cli.flags import add_store_verb, repeat_results_dir
from bench.cli.parser import Subparsers
from bench.cli.selection.models import list_model_stores, suggest_uses
from bench.cli.selection.stores import CommandStore
from bench.cli.selection.trials import ID_HELP, describe_origin, find_stored_trial
from vera.wording import format_bytes

if TYPE_CHECKING:
    from sweeps.store.row import Row

JSON_COLUMNS = ("metrics", "restarts", "spec", "versions")


def add_parser(verbs: Subparsers) -> None:
    parser = add_store_verb(verbs, "show", "print everything that is stored of one trial", "show 79ecd95e")
    parser.add_argument("id", metavar="ID", help=ID_HELP)
    parser.set_defaults(run=show_trial)


def show_trial(arguments: argparse.Namespace) -> int:
    own = CommandStore(arguments.results_dir)
    row, store = find_stored_trial(arguments.id, arguments, own)
    if origin := describe_origin(store):
        print(f"{row.trial_id}{origin}")
    for name, value in asdict(row).items():
        text = json.dumps(json.loads(value), indent=2, ensure_ascii=False) if name in JSON_COLUMNS else value
        print(f"{name:18} {text}")
    curves = Counter((point.kind, point.metric) for point in store.read_curves(row.trial_id))
    for (kind, metric), points in sorted(curves.items()):
        print(f"curve              {metric}, {kind}, {points} points")
    for name, array in sorted(store.read_arrays(row.trial_id).items()):
        print(f"array              {name}, {array.dtype} {list(array.shape)}")
    print("\n".join(describe_model(row, arguments)))
    own.print_problems()
    return 0


def describe_model(row: "Row", arguments: argparse.Namespace) -> list[str]:
    """Where the trial's model is and the commands that use it, or how to train it again."""
    for store in list_model_stores(arguments):
        if size := store.models.list_sizes().get(row.trial_id):
            place = f"{store.location}/models/{row.trial_id}.safetensors"
            uses = [f"                   {command}" for command in suggest_uses(row.trial_id, arguments)]
            return [f"model              {place}, {format_bytes(size)}", *uses]
    if row.outcome != "ok" or not row.energy:
        return ["model              none"]
    again = f"vera replay {row.trial_id[:8]} --keep-model{repeat_results_dir(arguments)}"
    return [f"model              none; to train it again: {again}"]
