"""The science: models, data, training methods, estimators, samplers and evaluation, behind one Trainer.

Names are imported when they are first used, so that what needs no torch (`vera.errors`, reading results) does
not load it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vera import data, entropy, errors, evaluation, methods, models, samplers
    from vera.errors import VeraError
    from vera.models.generator import Generator
    from vera.spec.registry import load_plugin
    from vera.spec.trial_spec import TrialSpec
    from vera.tasks.build import build_dataset, build_method, build_trainer, load_trainer
    from vera.training.trainer import Trainer, TrainingResult

_HOME = {
    "Generator": "vera.models.generator",
    "TrainingResult": "vera.training.trainer",
    "Trainer": "vera.training.trainer",
    "TrialSpec": "vera.spec.trial_spec",
    "VeraError": "vera.errors",
    "build_dataset": "vera.tasks.build",
    "build_method": "vera.tasks.build",
    "build_trainer": "vera.tasks.build",
    "load_plugin": "vera.spec.registry",
    "load_trainer": "vera.tasks.build",
}

__version__ = "0.1.0"
__all__ = [
    "Generator",
    "TrainingResult",
    "Trainer",
    "TrialSpec",
    "VeraError",
    "build_dataset",
    "build_method",
    "build_trainer",
    "data",
    "entropy",
    "errors",
    "evaluation",
    "load_plugin",
    "load_trainer",
    "methods",
    "models",
    "samplers",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    if name in __all__:
        return import_module(f"vera.{name}")
    raise AttributeError(f"module 'vera' has no attribute '{name}'")


def __dir__() -> list[str]:
    return __all__
