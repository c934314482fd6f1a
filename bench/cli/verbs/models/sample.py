"""`vera sample`: draw samples from a stored model."""

import argparse
from typing import TYPE_CHECKING, Any

from bench.cli.output_files import ARRAYS, PLOTS, check_ending, write_columns, write_figure
from bench.cli.parser import Subparsers, at_least
from bench.cli.selection.models import add_model_verb, load_selected_model
from vera.errors import SettingError
from vera.wording import plural

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vera.saved.model import SavedModel

EXAMPLES = (
    "sample 91778e72 -n 64 -o samples.png",
    "sample 91778e72 -n 1000 -o samples.csv --refine 100",
    "sample model.safetensors --class 3 -o threes.npz",
)


def add_parser(verbs: Subparsers) -> None:
    parser = add_model_verb(verbs, "sample", "draw samples from a stored model", *EXAMPLES)
    parser.add_argument(
        "-n", type=at_least(1), default=64, metavar="N", help="number of samples (default: 64)"
    )
    parser.add_argument(
        "-o",
        "--output",
        default="samples.png",
        metavar="FILE",
        help="a plot (.png, .pdf, .svg) or numbers (.csv, .npy, .npz) (default: samples.png)",
    )
    parser.add_argument(
        "--class", dest="label", metavar="CLASS", help="only samples of this class, a number or a name"
    )
    parser.add_argument(
        "--refine",
        type=at_least(0),
        default=0,
        metavar="STEPS",
        help="steps of MALA that move samples towards high f (default: 0)",
    )
    parser.add_argument("--seed", type=at_least(0), default=0, metavar="N", help="seed (default: 0)")
    parser.set_defaults(run=sample_model)


def sample_model(arguments: argparse.Namespace) -> int:
    check_ending(arguments.output, (*PLOTS, *ARRAYS))
    model = load_selected_model(arguments)
    if not arguments.refine and not model.has_direct_samples:
        raise SettingError(
            f"This model has no generator and is not normalised, so it is sampled by MALA: add --refine 1000 "
            f"(the method is {model.facts.method['name']})."
        )
    label = None if arguments.label is None else read_class(model, arguments.label)
    samples = model.sample(arguments.n, refine=arguments.refine, label=label, seed=arguments.seed)
    write_samples(model, samples.cpu().numpy(), arguments.output)
    print(f"Wrote {plural(arguments.n, 'sample')} to {arguments.output}")
    return 0


def read_class(model: "SavedModel", text: str) -> int | str:
    """The class that the text means: its name, else its number."""
    is_name = text in model.facts.data.get("class_names", ())
    return int(text) if text.isdecimal() and not is_name else text


def write_samples(model: "SavedModel", samples: "NDArray[Any]", file: str) -> None:
    """Write samples as a plot, as columns of numbers, or as the array `x`."""
    ending = check_ending(file, (*PLOTS, *ARRAYS))
    if ending in PLOTS:
        from vera.plot import plot_model_samples

        write_figure(file, plot_model_samples(model, samples))
    elif ending == ".csv":
        write_columns(file, name_columns(model, samples))
    else:
        write_columns(file, {"x": samples})


def name_columns(model: "SavedModel", samples: "NDArray[Any]") -> "dict[str, NDArray[Any]]":
    """The coordinates of points, flattened, with their names where they are known."""
    points = samples.reshape(len(samples), -1)
    names = model.facts.data.get("feature_names") or [f"x{i}" for i in range(points.shape[1])]
    return {name: points[:, i] for i, name in enumerate(names)}
