"""`vera train`: train a model of the data in a file, with networks and settings that suit them."""

import argparse
from pathlib import Path

from bench.cli.flags import add_plugin
from bench.cli.parser import Subparsers, add_command, at_least
from bench.cli.selection.models import check_new_directory, suggest_load
from bench.cli.verbs.models.sample import write_samples
from bench.locations import LOCAL

EXAMPLES = ("train mine.csv --steps 5000", "train docs/examples/iris.csv --label species -o iris-model")
SAMPLES = 1_000


def add_parser(verbs: Subparsers) -> None:
    text = "train a model of the data in a file; writes the model, samples and plots"
    parser = add_command(verbs, "train", text, *EXAMPLES)
    parser.add_argument("data", metavar="DATA", help="a .csv file with a header, or a .npy or .npz file")
    parser.add_argument("--label", metavar="COLUMN", help="column or array that holds classes")
    parser.add_argument(
        "--steps", type=at_least(1), metavar="N", help="training steps (default: by the data)"
    )
    parser.add_argument("--method", metavar="NAME", help="training method (default: vera)")
    parser.add_argument("--seed", type=at_least(0), default=0, metavar="N", help="seed (default: 0)")
    parser.add_argument(
        "-o", "--output", metavar="DIR", help=f"directory to write (default: {LOCAL}/models/NAME OF THE FILE)"
    )
    parser.add_argument("--force", action="store_true", help="replace files in a directory that is not empty")
    add_plugin(parser)
    parser.set_defaults(run=train_model)


def train_model(arguments: argparse.Namespace) -> int:
    output = arguments.output or f"{LOCAL}/models/{Path(arguments.data).stem}"
    directory = check_new_directory(output, arguments.force)
    from vera.recipes import train, write_outputs

    options = {"steps": arguments.steps, "method": arguments.method, "seed": arguments.seed}
    model = train(arguments.data, label=arguments.label, **options)
    files = write_outputs(model, directory)
    if len(model.facts.given_shape) == 1:
        steps = 0 if model.has_direct_samples else 100
        write_samples(
            model, model.sample(SAMPLES, refine=steps, seed=0).numpy(), str(directory / "samples.csv")
        )
        files = [*files, directory / "samples.csv"]
    for name, value in sorted(model.metrics.items()):
        print(f"{name:28} {value:.4g}")
    print(f"Wrote {', '.join(file.name for file in files)} to {directory}")
    print(f"In Python: {suggest_load(files[0])}; at the prompt: vera sample {files[0]}")
    return 0
