"""The trained models that a command is about: of a stored trial by its id, or in a file."""

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from bench.cli.flags import add_store_verb, repeat_results_dir
from bench.cli.parser import Subparsers
from bench.cli.selection.stores import CommandStore, has_published
from bench.cli.selection.trials import find_stored_trial
from bench.locations import PUBLISHED
from sweeps.errors import AmbiguousTrial, UnknownTrial
from vera.errors import SettingError

if TYPE_CHECKING:
    from sweeps.store.store import Store
    from vera.saved.model import SavedModel

MODEL_HELP = "id of a trial with a model (see: vera models), its beginning, a model file or exported folder"
ENDING = ".safetensors"


def add_model_verb(verbs: Subparsers, name: str, text: str, *examples: str) -> argparse.ArgumentParser:
    """The parser of a verb that uses one model."""
    parser = add_store_verb(verbs, name, text, *examples)
    parser.add_argument("id", metavar="ID", help=MODEL_HELP)
    parser.add_argument("--averaged", action="store_true", help="use the averaged weights of the model")
    return parser


def is_model_file(text: str) -> bool:
    """Whether the text is the path of a model file or of an exported directory, and no id."""
    return text.endswith(ENDING) or Path(text).exists()


def load_selected_model(arguments: argparse.Namespace) -> "SavedModel":
    """The model of the file, or of the trial in the user's own store, else in the published one; with its
    averaged weights if the command asks for them."""
    model = _read_selected_model(arguments)
    return model.averaged() if arguments.averaged else model


def _read_selected_model(arguments: argparse.Namespace) -> "SavedModel":
    from vera.saved.load import decode_model, load_model

    if is_model_file(arguments.id):
        return load_model(arguments.id)
    trial_id, store = find_stored_model(arguments.id, arguments)
    return decode_model(store.models.read(trial_id), f"{store.location}/models/{trial_id}{ENDING}")


def find_stored_model(text: str, arguments: argparse.Namespace) -> "tuple[str, Store]":
    """The id of the only model whose id begins with the text, and the store that holds it."""
    for store in list_model_stores(arguments):
        try:
            return store.models.find(text.lower()), store
        except AmbiguousTrial:
            raise
        except UnknownTrial:
            continue
    row, _ = find_stored_trial(text, arguments, CommandStore(arguments.results_dir))
    again = f"vera replay {row.trial_id[:8]} --keep-model{repeat_results_dir(arguments)}"
    raise UnknownTrial(
        f"The trial {row.trial_id[:8]} ({row.label}, {row.outcome}) has no stored model. To train it: {again}"
    )


def list_model_stores(arguments: argparse.Namespace) -> "list[Store]":
    """The user's own store, then the published one if it is here."""
    published = [CommandStore(PUBLISHED).store] if has_published() else []
    return [CommandStore(arguments.results_dir).store, *published]


def check_new_directory(directory: str, force: bool) -> Path:
    """The directory, which must be empty or not exist unless `force` is set."""
    path = Path(directory)
    if path.is_file():
        raise SettingError(f"{directory} is a file, not a directory. Choose a directory.")
    if not force and path.is_dir() and any(path.iterdir()):
        raise SettingError(
            f"{directory} is not empty. Choose another directory, or replace its files with --force."
        )
    return path


def suggest_load(path: Path) -> str:
    """The Python expression that loads a model file."""
    return f'vera.load_model("{path.as_posix()}")'


def suggest_uses(trial_id: str, arguments: argparse.Namespace) -> list[str]:
    """Commands that use the stored model of a trial."""
    flags = repeat_results_dir(arguments)
    directory = shlex.quote(f"model-{trial_id[:8]}")
    ends = ("sample {} -o samples.png", "score {} DATA.csv", f"export {{}} {directory}")
    return [f"vera {end.format(trial_id[:8])}{flags}" for end in ends]
