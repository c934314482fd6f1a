"""The science: models, data, training methods, estimators, samplers and evaluation, behind one Trainer."""

from vera import data, entropy, evaluation, methods, models, samplers
from vera.errors import VeraError
from vera.generator import Generator
from vera.registry import load_plugin
from vera.spec import TrialSpec, build_dataset, build_method, build_trainer, load_trainer
from vera.trainer import Result, Trainer

__all__ = [
    "Generator",
    "Result",
    "Trainer",
    "TrialSpec",
    "VeraError",
    "build_dataset",
    "build_method",
    "build_trainer",
    "data",
    "entropy",
    "evaluation",
    "load_plugin",
    "load_trainer",
    "methods",
    "models",
    "samplers",
]
