"""`vera score`: f(x) of a stored model at the points of a file."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.cli.output_files import ARRAYS, check_ending, format_csv, write_columns
from bench.cli.parser import Subparsers
from bench.cli.selection.models import add_model_verb, load_selected_model
from vera.errors import SettingError
from vera.wording import plural

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vera.data.user_data import UserData
    from vera.saved.model import SavedModel

EXAMPLES = ("score 91778e72 new_points.csv", "score model.safetensors digits.npz --label y -o scores.csv")


def add_parser(verbs: Subparsers) -> None:
    text = "evaluate f(x), and the class where there are classes, of a stored model at the points of a file"
    parser = add_model_verb(verbs, "score", text, *EXAMPLES)
    parser.add_argument("data", metavar="DATA", help="a .csv file with a header, or a .npy or .npz file")
    parser.add_argument(
        "--label", metavar="COLUMN", help="column or array that holds classes; it is not scored"
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="a .csv, .npy or .npz file (default: csv to the terminal)"
    )
    parser.set_defaults(run=score_points)


def score_points(arguments: argparse.Namespace) -> int:
    if arguments.output is not None:
        check_ending(arguments.output, ARRAYS)
    model = load_selected_model(arguments)
    columns = compute_columns(model, read_points(model, arguments))
    if arguments.output is None:
        sys.stdout.write(format_csv(columns))
        return 0
    write_columns(arguments.output, columns)
    print(f"Wrote the scores of {plural(len(columns['score']), 'point')} to {arguments.output}")
    return 0


def compute_columns(model: "SavedModel", points: "UserData | NDArray[Any]") -> "dict[str, NDArray[Any]]":
    """f(x), and for a classifier the most probable class, by its name where names are known."""
    import numpy as np

    from vera.models.classifier import Classifier

    columns = {"score": model.score(points)}
    if isinstance(model.energy, Classifier):
        names = model.facts.data.get("class_names")
        found = model.predict(points)
        columns["class"] = found if names is None else np.array(names)[found]
    return columns


def read_points(model: "SavedModel", arguments: argparse.Namespace) -> "UserData | NDArray[Any]":
    """The points of the file. The model matches columns that have names; one that it does not know is an
    error."""
    from vera.data.user_file import load

    data = load(arguments.data, arguments.label)
    wanted = model.facts.data.get("feature_names")
    if wanted is None or data.feature_names is None:
        return _match_shape(model, data)
    if extra := [name for name in data.feature_names if name not in wanted]:
        raise SettingError(
            f"{Path(arguments.data).name} has the column '{extra[0]}', which the model does not know. "
            f"If it holds classes: --label {extra[0]}"
        )
    return data


def _match_shape(model: "SavedModel", data: "UserData") -> "NDArray[Any]":
    """The points; rows of numbers become images if the model's points are images of that size."""
    shape = model.facts.given_shape
    is_flat_image = data.x.ndim == 2 and len(shape) > 1 and data.x.shape[1] == model.facts.data["data_dim"]
    return data.x.reshape(-1, *shape) if is_flat_image else data.x
