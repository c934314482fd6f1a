"""The files that a training run leaves behind: the exported model and its plots."""

from importlib.util import find_spec
from pathlib import Path

from vera.plot import save_plots
from vera.saved.export import export_model
from vera.saved.model import SavedModel


def write_outputs(model: SavedModel, directory: str | Path) -> list[Path]:
    """Export the model into a directory and, if matplotlib is installed, write its plots there.

    Returns the paths, that of the model first.
    """
    files = export_model(model, directory)
    return [*files, *save_plots(model, directory)] if find_spec("matplotlib") else files
