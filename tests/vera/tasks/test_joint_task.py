"""The task "joint" on two small data sets: training, measurement, resuming and errors."""

import json
import math
from dataclasses import replace

import pytest
import torch
from conformance import find_differences, get_state
from facts import raises_with
from joint_helpers import Blobs, LinearClassifier, Tiles
from setting_values import other_settings

from sweeps.run.attempt import run_trial
from sweeps.trial.identity import Trial
from vera.errors import IncompatibleModel, PluginError, VeraError
from vera.models import MLP
from vera.spec.registry import datasets, joint_methods, models
from vera.spec.settings import settings_of
from vera.spec.trial_spec import TrialSpec
from vera.tasks.build import build_task

pytestmark = pytest.mark.usefixtures("sources")

NETWORKS = {
    "energy": {"name": "mlp-classifier", "hidden": [16, 16]},
    "generator": {"name": "mlp-generator", "hidden": [16, 16], "latent_dim": 4},
    "statistics": {"name": "statistics", "hidden": [16]},
}


class ConstantClassifier(LinearClassifier):
    """Predicts class 1 for every point and does not learn."""

    def __init__(self, data_dim: int, classes: int) -> None:
        super().__init__(
            torch.zeros(classes, data_dim), torch.nn.functional.one_hot(torch.tensor(1), classes).float()
        )

    def logits(self, x):
        return super().logits(x).detach() + 0 * self.bias


@pytest.fixture
def sources():
    datasets.register("blobs")(Blobs)
    datasets.register("tiles")(Tiles)
    models.register("constant")(ConstantClassifier)


def spec_for(
    method,
    dataset="blobs",
    steps=20,
    networks=None,
    seed=0,
    batch_size=32,
    evaluate_every=None,
    per_class=10,
    **settings,
):
    roles = {role: NETWORKS[role] for role in joint_methods.get(method).network_names()} | (networks or {})
    if "capacity" in settings_of(joint_methods.get(method)):
        settings = {"capacity": 64, "sampler_steps": 2} | settings
    source = {"name": dataset, "per_class": per_class}
    method = {"name": method, **settings}
    return TrialSpec(
        source, roles, method, steps, batch_size, seed, evaluate_every=evaluate_every, task="joint"
    )


def train_and_measure(spec):
    task = build_task(spec)
    trainer = task.build(spec, progress=False, log_every=10)
    assert trainer.run().outcome == "ok"
    return trainer, task.measure(trainer)


every_method = pytest.mark.parametrize("method", list(joint_methods))


@every_method
@pytest.mark.parametrize("per_class", [10, None], ids=["few", "all"])
def test_every_method_trains_and_is_measured(method, per_class):
    trainer, measurement = train_and_measure(spec_for(method, per_class=per_class, evaluate_every=8))
    assert [row["step"] for row in trainer.evaluations] == [8, 16, 20]
    assert all(math.isfinite(value) for value in measurement.metrics.values())
    assert measurement.metrics["best_test_accuracy"] == max(
        row["test_accuracy"] for row in trainer.evaluations
    )
    assert {"test_accuracy", "brier", "calibration_error", "auroc"} <= trainer.result.metrics.keys()
    counts, confidence, accuracy = measurement.arrays["reliability"]
    assert float(counts.sum()) == len(trainer.data.held_out)
    assert float((counts * accuracy)[counts > 0].sum()) == pytest.approx(
        trainer.result.metrics["test_accuracy"] * len(trainer.data.held_out)
    )
    assert confidence[counts > 0].isfinite().all()
    assert not {"generated_samples", "refined_samples"} & measurement.arrays.keys()


@every_method
def test_samples_of_a_generator_are_stored_before_and_after_refinement(method):
    trainer, measurement = train_and_measure(spec_for(method, "tiles"))
    images = {"generated_samples", "refined_samples"}
    if "generator" not in trainer.method.networks():
        assert not images & measurement.arrays.keys()
        return
    generated, refined = (measurement.arrays[name] for name in sorted(images))
    assert generated.shape == refined.shape == (100, 16)
    assert generated.isfinite().all()
    assert refined.isfinite().all()
    assert not torch.equal(generated, refined)
    with torch.no_grad():
        before, after = trainer.method.energy(generated).mean(), trainer.method.energy(refined).mean()
    assert after > before, "refinement raises f"
    assert 0 < measurement.metrics["refinement_acceptance"] <= 1
    assert 0 < measurement.metrics["tuned_acceptance"] <= 1


@every_method
def test_equal_specs_give_equal_numbers_and_another_seed_gives_others(method):
    runs = [train_and_measure(spec_for(method, "tiles", seed=seed)) for seed in (1, 1, 2)]
    (one, measured), (same, measured_again), (other, _) = runs
    assert find_differences(get_state(one), get_state(same)) == []
    assert find_differences(measured.arrays, measured_again.arrays) == []
    assert measured.metrics == measured_again.metrics
    assert not torch.equal(one.data.train, other.data.train), "the seed determines the split"
    assert one.history[0]["loss"] != other.history[0]["loss"]


def test_the_best_accuracy_is_stored_besides_the_last():
    spec = spec_for("supervised", evaluate_every=8)
    trainer, _ = train_and_measure(spec)
    trainer.evaluations[0]["test_accuracy"] = 1.5  # no classifier reaches it
    assert build_task(spec).measure(trainer).metrics["best_test_accuracy"] == 1.5
    assert trainer.result.metrics["test_accuracy"] <= 1


def test_measuring_and_evaluating_more_often_do_not_change_training():
    torch.manual_seed(3)
    state = torch.get_rng_state()
    (seldom, _), (often, _) = (
        train_and_measure(spec_for("vera", "tiles", evaluate_every=n)) for n in (None, 3)
    )
    assert torch.equal(state, torch.get_rng_state())
    assert find_differences(seldom.method.state_dict(), often.method.state_dict()) == []


def test_a_classifier_that_predicts_one_class_counts_as_collapsed():
    trainer, measurement = train_and_measure(
        spec_for("supervised", networks={"energy": {"name": "constant"}}, steps=2)
    )
    labels = trainer.data.held_out_labels
    share = float((labels == 1).double().mean())
    assert measurement.metrics["collapsed"] == 1
    assert measurement.metrics["majority_share"] == pytest.approx(max(share, 1 - share))
    assert trainer.result.metrics["largest_predicted_share"] == 1
    assert trainer.result.metrics["test_accuracy"] == pytest.approx(share)
    assert trainer.result.metrics["auroc"] == 0.5


@pytest.mark.parametrize(
    ("method", "settings"),
    [
        ("supervised", {"lr": 3e-3}),
        ("vat", {"lr": 3e-3, "epsilon": 0.3, "xi": 0.1}),
        ("vera", {"lr": 3e-3, "generator_lr": 3e-3, "entropy_weight": 1e-2, "beta": 0.1, "k": 5}),
    ],
)
def test_ten_labels_per_class_suffice_for_two_blobs(method, settings):
    trainer, measurement = train_and_measure(spec_for(method, steps=200, **settings))
    assert trainer.result.metrics["test_accuracy"] > 0.9
    assert trainer.result.metrics["auroc"] > 0.95
    assert measurement.metrics["collapsed"] == 0


@every_method
def test_an_interrupted_run_resumes_bit_identically(method, tmp_path):
    spec = spec_for(method, "tiles", evaluate_every=6, warmup=15, decay_at=[5, 12])
    straight, measured = train_and_measure(spec)
    task = build_task(spec)
    first, second = (task.build(spec, progress=False, log_every=10) for _ in range(2))
    first.run(until=9)
    first.save(tmp_path / "run.pt")
    second.restore(tmp_path / "run.pt")
    second.run()
    assert find_differences(get_state(straight), get_state(second)) == []
    assert task.measure(second).metrics == measured.metrics


def test_data_without_labels_is_refused():
    spec = TrialSpec(
        {"name": "moons"}, {"energy": NETWORKS["energy"]}, {"name": "supervised"}, 2, task="joint"
    )
    with raises_with(PluginError, "moons", "LabelledData", "Moons"):
        build_task(spec).build(spec)


def test_labelled_data_is_refused_by_the_density_task():
    spec = TrialSpec({"name": "blobs"}, {"energy": {"name": "mlp"}}, {"name": "pcd"}, 2)
    with raises_with(PluginError, "blobs", "DataSet", "Blobs"):
        build_task(spec).build(spec)


def test_a_classifier_with_too_few_classes_is_refused_whatever_the_first_batch_contains():
    spec = spec_for("supervised", networks={"energy": {**NETWORKS["energy"], "classes": 1}}, batch_size=1)
    for seed in range(6):
        with raises_with(
            IncompatibleModel, "supervised", "MLPClassifier", "classes=1", "'blobs'", "2 classes"
        ):
            build_task(spec).build(spec_for("supervised", networks=spec.networks, batch_size=1, seed=seed))


def test_an_energy_that_is_not_a_classifier_is_refused():
    spec = spec_for("vera", networks={"energy": {"name": "mlp"}})
    with raises_with(VeraError, "energy", "Classifier", MLP.__name__):
        build_task(spec).build(spec)


@every_method
def test_every_setting_is_part_of_the_trial_identity(method):
    usual = Trial(spec_for(method)).id
    given = spec_for(method).method
    for name, value in other_settings(method, joint_methods):
        if given.get(name) != value:
            assert Trial(spec_for(method, **{name: value})).id != usual, name


@pytest.mark.parametrize("method", ["vera", "supervised"])
def test_a_trial_produces_a_row_with_arrays(method):
    record = run_trial(Trial(spec_for(method, "tiles", evaluate_every=10)))
    metrics = json.loads(record.row.metrics)
    assert (record.row.outcome, record.row.task, record.row.method) == ("ok", "joint", method)
    assert {"test_accuracy", "best_test_accuracy", "collapsed", "majority_share"} <= metrics.keys()
    assert record.arrays["reliability"].shape == (3, 10)
    assert ("refined_samples" in record.arrays) == (method == "vera")


def test_a_diverged_trial_restarts_with_another_seed():
    """The seeds of restarts have 63 bits, more than some generators accept; splits must accept them."""
    record = run_trial(Trial(replace(spec_for("jem", lr=1e12), restarts=1)))
    assert record.row.outcome == "diverged"
    (restart,) = json.loads(record.row.restarts)
    assert restart["seed"] == 0
