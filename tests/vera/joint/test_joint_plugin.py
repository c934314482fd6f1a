"""A plug-in with a joint method, a classifier and labelled data; data of the wrong kind."""

import pytest
import torch
from conformance import BATCH, CLASSIFIERS, PAIRS, check_resume, make_method, make_points, make_trainer
from facts import raises_with
from setting_values import other_settings

from sweeps.trial.identity import Trial
from vera.errors import IncompatibleModel, PluginError, SettingError, UnknownName, VeraError
from vera.spec.registry import joint_methods, load_plugin
from vera.spec.trial_spec import TrialSpec
from vera.tasks.build import build_task
from vera.training.trainer import Trainer

PLUGIN = '''
"""Pseudo-labels: predictions on unlabelled points serve as labels."""

from dataclasses import dataclass
from typing import Annotated

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from vera.data import LabelledBatch, LabelledData, Split
from vera.joint import ClassifierMethod
from vera.methods import Metrics
from vera.models import Classifier
from vera.training.optimisers import adam, descend
from vera.spec.registry import datasets, joint_methods, models
from vera.spec.settings import NonNegative, Positive


@joint_methods.register("pseudo-label")
@dataclass(eq=False, kw_only=True)
class PseudoLabel(ClassifierMethod):
    """Cross-entropy on labels, and on predictions as if they were labels."""

    lr: Annotated[Positive, "learning rate"] = 1e-3
    weight: Annotated[NonNegative, "of the pseudo-labels"] = 0.5

    def setup(self) -> None:
        self.optimiser = adam(self.energy_weights, self.lr)

    def update(self, batch: LabelledBatch) -> Metrics:
        logits = self.energy.logits(batch.x)
        loss = cross_entropy(self.energy.logits(batch.labelled), batch.labels)
        loss = loss + self.weight * cross_entropy(logits, logits.argmax(1))
        descend(loss, self.energy_weights, self.optimiser)
        return {"loss": loss.detach()}


@models.register("quadratic-classifier")
class Quadratic(Classifier):
    """Logits that are linear in x and in its squares."""

    def __init__(self, data_dim: int, classes: int) -> None:
        super().__init__()
        self.classes = classes
        self.linear = nn.Linear(2 * data_dim, classes)

    def logits(self, x: Tensor) -> Tensor:
        return self.linear(torch.cat([x, x.square()], dim=1))


@datasets.register("rings-of-two")
class DiscAndRing(LabelledData):
    """A disc and a ring around it."""

    name, data_dim, classes, fingerprint = "rings-of-two", 2, 2, "0001"

    def split(self, seed: int) -> Split:
        rng = torch.Generator().manual_seed(seed)
        labels = torch.arange(200) % 2
        x = torch.nn.functional.normalize(torch.randn(200, 2, generator=rng)) * (0.5 + labels).unsqueeze(1)
        return Split(self, (x[:150], labels[:150]), (x[150:], labels[150:]), labelled_rows=torch.arange(40))
'''


@pytest.fixture
def plugin(tmp_path):
    path = tmp_path / "pseudo_label.py"
    path.write_text(PLUGIN)
    return path


def spec(**settings) -> TrialSpec:
    networks = {"energy": {"name": "quadratic-classifier"}}
    return TrialSpec(
        {"name": "rings-of-two"}, networks, {"name": "pseudo-label", **settings}, 150, 32, task="joint"
    )


def test_a_plugin_trains_its_own_method_classifier_and_data(plugin):
    with raises_with(UnknownName, "data set 'rings-of-two'"):
        build_task(spec()).build(spec())
    load_plugin(plugin)
    task = build_task(spec())
    trainer = task.build(spec(lr=0.03), progress=False)
    assert trainer.run().outcome == "ok"
    assert trainer.method.label() == "pseudo-label"
    assert trainer.result.metrics["test_accuracy"] > 0.95
    assert task.measure(trainer).metrics["collapsed"] == 0


def test_its_settings_are_checked_and_are_part_of_the_trial_identity(plugin):
    load_plugin(plugin)
    with raises_with(SettingError, "PseudoLabel", "weight", "got -1"):
        build_task(spec()).build(spec(weight=-1))
    with raises_with(UnknownName, "'wait'", "weight"):
        build_task(spec()).build(spec(wait=1))
    changed = list(other_settings("pseudo-label", joint_methods))
    assert {name for name, _ in changed} == {"warmup", "decay_at", "decay", "lr", "weight"}
    assert (
        len({Trial(spec(**{name: value})).id for name, value in changed} | {Trial(spec()).id})
        == len(changed) + 1
    )


@pytest.mark.parametrize("energy", list(CLASSIFIERS))
def test_it_resumes_bit_identically(plugin, energy, tmp_path):
    load_plugin(plugin)
    check_resume("pseudo-label", energy, tmp_path, warmup=10, decay_at=(3, 9))


def test_it_is_not_a_method_of_the_density_task(plugin):
    load_plugin(plugin)
    density = TrialSpec({"name": "moons"}, {"energy": {"name": "mlp"}}, {"name": "pseudo-label"}, 2)
    with raises_with(UnknownName, "method 'pseudo-label'"):
        build_task(density).build(density)


def test_it_cannot_use_a_built_in_name(plugin):
    plugin.write_text(PLUGIN.replace('"pseudo-label"', '"vat"'))
    with raises_with(VeraError, "joint method", "'vat'", "vera.joint.vat.VAT"):
        load_plugin(plugin)


def test_a_plugin_without_the_dataclass_decorator_is_rejected(plugin):
    plugin.write_text(PLUGIN.replace("@dataclass(eq=False, kw_only=True)\n", ""))
    with raises_with(PluginError, "PseudoLabel", "@dataclass(eq=False)"):
        load_plugin(plugin)


@pytest.mark.parametrize("method", list(joint_methods))
def test_points_without_labels_are_rejected(method):
    built = make_method(method, "few_labels")
    with raises_with(IncompatibleModel, method, "labels"):
        Trainer(built, make_points(2), steps=2, batch_size=BATCH, progress=False)


@pytest.mark.parametrize(("method", "energy"), [pair for pair in PAIRS if pair[1] in CLASSIFIERS])
def test_points_of_another_dimension_are_rejected(method, energy):
    with raises_with(IncompatibleModel, method, "MLPClassifier takes 2 dimensions", "(16, 3)"):
        make_trainer(method, energy, data=torch.zeros(40, 3))
