"""Training with sensible choices: networks, settings and evaluation that follow from the data."""

from vera.recipes.outputs import write_outputs
from vera.recipes.train import train

__all__ = ["train", "write_outputs"]
