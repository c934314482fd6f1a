"""Trained models: kept in a safetensors file, loaded without their data, and used to score and sample."""

from vera.saved.load import load_model
from vera.saved.model import SavedModel

__all__ = ["SavedModel", "load_model"]
