"""The science: models, data, training methods, estimators, samplers and evaluation, behind one Trainer.

Names are imported when they are first used, so that what needs no torch (`vera.errors`, reading results) does not load it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vera import data, entropy, errors, evaluation, methods, models, samplers
    from vera.build import build_dataset, build_method, build_trainer, load_trainer
    from vera.errors import VeraError
    from vera.generator import Generator
    from vera.registry import load_plugin
    from vera.spec import TrialSpec
    from vera.trainer import Result, Trainer

_HOME = {
    "Generator": "vera.generator",
    "Result": "vera.trainer",
    "Trainer": "vera.trainer",
    "TrialSpec": "vera.spec",
    "VeraError": "vera.errors",
    "build_dataset": "vera.build",
    "build_method": "vera.build",
    "build_trainer": "vera.build",
    "load_plugin": "vera.registry",
    "load_trainer": "vera.build",
}

__version__ = "0.1.0"
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
