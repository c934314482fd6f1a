"""The files that a training run leaves behind: the model, its card and its plots."""

from importlib.util import find_spec
from pathlib import Path

from vera.atomic_write import write_atomically
from vera.plot import save_plots
from vera.saved.model import SavedModel

MODEL_FILE, CARD_FILE = "model.safetensors", "README.md"


def write_outputs(model: SavedModel, directory: str | Path) -> list[Path]:
    """Write model.safetensors, its card README.md and, if matplotlib is installed, plots into a directory.

    Returns the paths.
    """
    directory = Path(directory)
    model.save(directory / MODEL_FILE)
    with write_atomically(directory / CARD_FILE) as file:
        file.write(model.card().encode())
    plots = save_plots(model, directory) if find_spec("matplotlib") else []
    return [directory / MODEL_FILE, directory / CARD_FILE, *plots]
