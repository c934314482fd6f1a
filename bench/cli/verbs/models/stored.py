"""`vera models`: list the trained models of a store, and remove those that are not needed."""

import argparse
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench.cli.columns import format_columns
from bench.cli.flags import add_store_verb, repeat_results_dir
from bench.cli.parser import Subparsers
from bench.cli.selection.stores import CommandStore, has_published
from bench.locations import LOCAL, PUBLISHED
from vera.errors import SettingError
from vera.wording import format_bytes, plural

if TYPE_CHECKING:
    from sweeps.store.row import Row

EXAMPLES = (
    "models",
    "models --only sweep=table2 --only method=vera",
    "models prune --only outcome=stopped_early",
    "models prune --without-rows --yes",
)
HEADER = ("id", "sweep", "label", "data", "seed", "main metric", "size")


@dataclass(frozen=True)
class StoredModel:
    """A model in a store, with the row of its trial if there is one."""

    trial_id: str
    size: int
    row: "Row | None"


def add_parser(verbs: Subparsers) -> None:
    text = "list the stored models, or remove some of them with prune; rows are never removed"
    parser = add_store_verb(verbs, "models", text, *EXAMPLES)
    parser.add_argument(
        "action",
        metavar="ACTION",
        nargs="?",
        choices=("list", "prune"),
        default="list",
        help="list (default), or prune: remove the selected models of your own results",
    )
    parser.add_argument(
        "--only",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="only matching models, e.g. method=vera; repeatable, all must match. Keys: sweep, profile, "
        "outcome, method, method.SETTING, dataset, label, seed, task, energy and other networks",
    )
    parser.add_argument(
        "--without-rows", action="store_true", help="only models whose trial has no row, such as leftovers"
    )
    parser.add_argument("--yes", action="store_true", help="prune: do not ask")
    parser.set_defaults(run=run_models)


def run_models(arguments: argparse.Namespace) -> int:
    if arguments.without_rows and arguments.only:
        raise SettingError(
            "--only selects by the row of a trial, so it cannot be combined with --without-rows."
        )
    return prune_models(arguments) if arguments.action == "prune" else list_models(arguments)


def list_models(arguments: argparse.Namespace) -> int:
    """Print the models of the user's store, then those of the published one."""
    results = [arguments.results_dir]
    if arguments.results_dir == LOCAL and has_published():
        results.append(PUBLISHED)
    models = {results_dir: read_models(results_dir) for results_dir in results}
    every = [model for found in models.values() for model in found]
    if not every:
        start = f"vera run toy-demo{repeat_results_dir(arguments)}"
        print(f"No models in {' or '.join(results)} yet. To train some: {start}")
        return 0
    selected = {model.trial_id for model in select_models(every, arguments)}
    for results_dir, found in models.items():
        print_models(results_dir, [model for model in found if model.trial_id in selected])
    return 0


def read_models(results_dir: str) -> list[StoredModel]:
    """All models, ordered by sweep, label, data and seed; those without a row last."""
    own = CommandStore(results_dir)
    rows = {row.trial_id: row for row in own.rows}
    own.print_problems()
    sizes = own.store.models.list_sizes()
    models = [StoredModel(trial_id, size, rows.get(trial_id)) for trial_id, size in sizes.items()]
    return sorted(models, key=_make_sort_key)


def select_models(models: list[StoredModel], arguments: argparse.Namespace) -> list[StoredModel]:
    """The models that the flags select; SettingError if there are none."""
    from sweeps.trial.filter import explain_no_match, filter_trials

    if arguments.without_rows:
        return [model for model in models if model.row is None]
    rows = [model.row for model in models if model.row is not None]
    if not arguments.only or not rows:
        return [model for model in models if not arguments.only]
    chosen = {row.trial_id for row in filter_trials(rows, arguments.only)}
    if not chosen:
        raise SettingError(
            f"No model matches --only {' '.join(arguments.only)}.{explain_no_match(rows, arguments.only)} "
            f"To list all: vera models{repeat_results_dir(arguments)}"
        )
    return [model for model in models if model.trial_id in chosen]


def print_models(results_dir: str, models: list[StoredModel]) -> None:
    """A table, and a line with the total."""
    if models:
        print("\n".join(format_columns([HEADER, *map(_describe_model, models)])))
        total = format_bytes(sum(model.size for model in models))
        print(f"{plural(len(models), 'model')}, {total}, in {results_dir}")


def prune_models(arguments: argparse.Namespace) -> int:
    """Remove the selected models of the user's own results. Exit code 1 if the user says no."""
    every = read_models(arguments.results_dir)
    selected = select_models(every, arguments)
    if not selected:
        print(f"No models to remove in {arguments.results_dir}.")
        return 0
    freed = format_bytes(sum(model.size for model in selected))
    what = f"{len(selected)} of {plural(len(every), 'model')} in {arguments.results_dir} ({freed})"
    if not arguments.yes and not _ask(f"Remove {what}? Their rows stay."):
        print("Nothing was removed.")
        return 1
    CommandStore(arguments.results_dir).store.models.remove(model.trial_id for model in selected)
    print(f"Removed {what}. To train one again: vera replay ID --keep-model{repeat_results_dir(arguments)}")
    return 0


def _ask(question: str) -> bool:
    if not sys.stdin.isatty():
        raise SettingError(f"{question} Nobody can answer here: add --yes.")
    try:
        return input(f"{question} [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        return False


def _describe_model(model: StoredModel) -> tuple[str, ...]:
    from sweeps.run.progress import format_headline

    row = model.row
    about = ("-", "no row", "-", "-", "-")
    if row is not None:
        about = (row.sweep or "-", row.label, row.data, str(row.seed), format_headline(row) or row.outcome)
    return (model.trial_id[:8], *about, format_bytes(model.size))


def _make_sort_key(model: StoredModel) -> tuple[bool, str, str, str, int, str]:
    row = model.row
    if row is None:
        return True, "", "", "", 0, model.trial_id
    return False, row.sweep, row.label, row.data, row.seed, row.trial_id
