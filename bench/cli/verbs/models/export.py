"""`vera export`: a stored model as a directory, ready for a model hub."""

import argparse

from bench.cli.parser import Subparsers
from bench.cli.selection.models import add_model_verb, check_new_directory, load_selected_model, suggest_load

EXAMPLES = ("export 91778e72 my-model",)


def add_parser(verbs: Subparsers) -> None:
    text = "write a stored model as a directory: model.safetensors, spec.json and a model card (README.md)"
    parser = add_model_verb(verbs, "export", text, *EXAMPLES)
    parser.add_argument("directory", metavar="DIR", help="a new or empty directory")
    parser.add_argument("--force", action="store_true", help="replace files in a directory that is not empty")
    parser.set_defaults(run=write_export)


def write_export(arguments: argparse.Namespace) -> int:
    directory = check_new_directory(arguments.directory, arguments.force)
    from vera.saved.export import export_model

    files = export_model(load_selected_model(arguments), directory)
    print(
        f"Wrote {', '.join(file.name for file in files)} to {directory}; in Python: {suggest_load(files[0])}"
    )
    return 0
