"""Energy-based models trained without MCMC: data, models, training methods, samplers and evaluation.

A run is built from a spec (`build_trainer(TrialSpec(...)).run()`) or from objects: pass a method of
`vera.methods`, built from networks of `vera.models`, to a `Trainer`. `load_trainer` continues a run from its
checkpoint. `SavedModel.from_trainer(trainer).save(path)` keeps a trained model; `load_model(path)` loads it,
to score and sample. `load_plugin` registers your own methods, models and data sets.

Names are imported on first use: `vera.errors` and `TrialSpec` do not load torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vera import data, entropy, errors, evaluation, loggers, methods, models, plot, samplers
    from vera.errors import VeraError
    from vera.models.generator import Generator
    from vera.recipes.train import train
    from vera.samplers.sgld import sample_langevin
    from vera.saved.load import load_model
    from vera.saved.model import SavedModel
    from vera.spec.registry import load_plugin
    from vera.spec.trial_spec import TrialSpec
    from vera.tasks.build import build_dataset, build_method, build_trainer, load_trainer
    from vera.training.state.run_state import TrainingResult
    from vera.training.trainer import Trainer

_MODULES = {
    "Generator": "vera.models.generator",
    "SavedModel": "vera.saved.model",
    "Trainer": "vera.training.trainer",
    "TrainingResult": "vera.training.state.run_state",
    "TrialSpec": "vera.spec.trial_spec",
    "VeraError": "vera.errors",
    "build_dataset": "vera.tasks.build",
    "build_method": "vera.tasks.build",
    "build_trainer": "vera.tasks.build",
    "load_model": "vera.saved.load",
    "load_plugin": "vera.spec.registry",
    "load_trainer": "vera.tasks.build",
    "sample_langevin": "vera.samplers.sgld",
    "train": "vera.recipes.train",
}

__version__ = "0.1.0"
__all__ = [
    "Generator",
    "SavedModel",
    "Trainer",
    "TrainingResult",
    "TrialSpec",
    "VeraError",
    "build_dataset",
    "build_method",
    "build_trainer",
    "data",
    "entropy",
    "errors",
    "evaluation",
    "load_model",
    "load_plugin",
    "load_trainer",
    "loggers",
    "methods",
    "models",
    "plot",
    "sample_langevin",
    "samplers",
    "train",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(import_module(_MODULES[name]), name)
    if name in __all__:
        return import_module(f"vera.{name}")
    raise AttributeError(f"module 'vera' has no attribute '{name}'")


def __dir__() -> list[str]:
    return __all__
