"""Every method × task of the registry: trained, saved and loaded in one fresh process, bit for bit.

A task or method that is registered later is covered by its registration, or a test here names what is
missing.
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from conformance import MODELS, PAIRS, network_components, pick_one_energy_each
from facts import raises_with
from locations import ROOT
from saved_helpers import draw_live, score_live, train_model
from setting_values import small_settings

from vera.errors import IncompatibleModel, VeraError
from vera.saved import SavedModel
from vera.spec.registry import tasks
from vera.spec.trial_spec import TrialSpec
from vera.tasks.build import build_task
from vera.training.trainer import Trainer

N, REFINE, SEED = 5, 3, 7
IMAGES = {
    "dataset": {"name": "digits32", "side": 16},
    "energy": {"name": "wrn", "depth": 10, "width": 1},
    "generator": {"name": "sngan-generator", "width": 4, "latent_dim": 4},
}
SETTINGS: dict[str, dict[str, Any]] = {
    "density": {"dataset": {"name": "moons"}},
    "joint": {
        "dataset": {"name": "wine"},
        "energy": {"name": "mlp-classifier", "hidden": [8]},
        "generator": {"name": "mlp-generator", "hidden": [8], "latent_dim": 3},
    },
    "images": {**IMAGES, "task": {"features": "none", "unseen": []}},
    "step-time": IMAGES,
    "step-cost": {
        "dataset": {"name": "moons"},
        "energy": {"name": "nice", "hidden": 8, "hidden_layers": 1},
        "generator": {"name": "mlp-generator", "hidden": [8], "latent_dim": 3},
    },
    "modes": {
        "dataset": {"name": "stacked-mnist", "source": "mnist5k", "side": 32},
        "energy": {"name": "dcgan", "width": 2},
        "generator": {"name": "dcgan-generator", "width": 2, "latent_dim": 4},
        "task": {"epochs": 1},
    },
}
"""Data and networks of each task that trains a model."""
STUDIES = {
    "score-error": {
        "dataset": {"name": "mnist5k-pixels", "side": 14},
        "networks": {"generator": {"name": "pca-generator", "latent_dim": 5, "noise": "deviation"}},
        "batch_size": 20,
    },
    "ess-offset": {"dataset": {"name": "gaussian", "dim": 128}, "networks": {}, "batch_size": 40},
    "gradient-count": {"dataset": {"name": "moons"}},
}
"""Tasks that examine estimators and train no model."""
CASES = [(task, method) for task in SETTINGS for method in tasks.get(task).methods]

LOAD = """
import sys
import numpy as np
import torch
import vera
from vera.samplers import Refiner

tune = Refiner.tune
Refiner.tune = lambda self, length: tune(self, n=4, steps=10, length=length)
for path in sys.argv[1:]:
    model = vera.load_model(path)
    x = torch.from_numpy(np.load(path + ".npy"))
    refine = 0 if model.has_direct_samples else 3
    np.savez(path + ".npz", score=model.score(x), sample=model.sample(5, refine=refine, seed=7))
    model.save(path + ".again")
"""


def make_spec(task: str, method: str) -> TrialSpec:
    """A spec of two steps with small networks."""
    known, registry = SETTINGS[task], tasks.get(task).methods
    if task == "density":
        energy = next(e for m, e in pick_one_energy_each() if m == method and MODELS[e].registry is registry)
        networks = network_components(method, energy)
    else:
        given = {**known, "statistics": {"name": "statistics", "hidden": [8]}}
        networks = {role: given[role] for role in registry.get(method).network_names()}
    settings = {"name": method, **small_settings(method, registry)}
    component = {"name": task, **known.get("task", {})}
    return TrialSpec(known["dataset"], networks, settings, steps=2, batch_size=8, seed=3, task=component)


def train(task: str, method: str) -> Trainer:
    spec = make_spec(task, method)
    trainer = build_task(spec).build(spec, progress=False)
    assert trainer.run().outcome == "ok"
    return trainer


def draw_points(trainer: Trainer, n: int = 9) -> torch.Tensor:
    """Noise of the shape of the data."""
    return torch.randn(n, *trainer.point_shape, generator=torch.Generator().manual_seed(5))


def is_impossible(task: str, method: str) -> bool:
    """Whether the task has no trial with this method."""
    lacks_generator = "generator" not in tasks.get(task).methods.get(method).network_names()
    return (task == "modes" and lacks_generator) or (task, method) == ("step-time", "jem")


def test_every_task_is_covered():
    assert {*SETTINGS, *STUDIES} == set(tasks)


@pytest.mark.parametrize(("task", "method"), [case for case in CASES if is_impossible(*case)])
def test_impossible_trials_are_refused_before_training(task, method):
    with pytest.raises(VeraError, match=method):
        train(task, method)


@pytest.mark.parametrize(
    ("task", "method"),
    [("score-error", "importance"), ("score-error", "hmc"), ("score-error", "latent"),
     ("ess-offset", "shifted-proposal")],
)  # fmt: skip
def test_studies_have_no_model_to_save(task, method):
    spec = TrialSpec(method={"name": method}, steps=2, task=task, **STUDIES[task])
    trainer = build_task(spec).build(spec, progress=False)
    with raises_with(IncompatibleModel, method, "no model to save"):
        SavedModel.from_trainer(trainer)


def make_models() -> list[tuple[Trainer, SavedModel]]:
    """A trained model of every possible method × task, and of every method × energy of the conformance
    suite."""
    trainers = [train(*case) for case in CASES if not is_impossible(*case)]
    return [(trainer, SavedModel.from_trainer(trainer)) for trainer in trainers] + [
        train_model(*pair) for pair in PAIRS
    ]


@pytest.mark.long
@pytest.mark.usefixtures("short_tuning")
def test_a_fresh_process_agrees_with_the_live_networks_bit_for_bit(tmp_path):
    trained = make_models()
    paths = [tmp_path / f"{i}.safetensors" for i in range(len(trained))]
    for path, (trainer, model) in zip(paths, trained, strict=True):
        model.save(path)
        np.save(f"{path}.npy", model._to_data(draw_points(trainer)).numpy())
    run_fresh_process(paths)
    for path, (trainer, model) in zip(paths, trained, strict=True):
        found, label = np.load(f"{path}.npz"), f"{trainer.method.label()} of {path.name}"
        x = model._to_model(torch.from_numpy(np.load(f"{path}.npy")), trainer.method.energy_weights[0])
        assert np.array_equal(found["score"], score_live(trainer, x).numpy()), label
        live = draw_live(trainer, N, SEED, model._sampler.block)
        refine = 0 if model.has_direct_samples else REFINE
        samples = model.sample(N, refine=refine, seed=SEED)
        assert live is None or torch.equal(model._to_data(live), samples), label
        assert np.array_equal(found["sample"], samples.numpy()), label
        assert path.read_bytes() == path.with_name(f"{path.name}.again").read_bytes(), label


def run_fresh_process(paths: list[Path]) -> None:
    """Load all files in one process with as many threads as this one has; warnings are errors."""
    command = [sys.executable, "-W", "error", "-c", LOAD, *map(str, paths)]
    environment = {**os.environ, "OMP_NUM_THREADS": str(torch.get_num_threads())}
    subprocess.run(command, cwd=ROOT, env=environment, check=True, timeout=600)
