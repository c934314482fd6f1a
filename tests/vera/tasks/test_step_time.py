"""The task "step-time" on tiny networks: two methods take turns on one classifier; medians are reported."""

import json
import math

import pytest
import torch
from conformance import find_differences
from facts import raises_with
from torch import Tensor

from sweeps.run.attempt import run_trial
from sweeps.trial.identity import Trial
from vera.data.labelled import LabelledData, Split
from vera.errors import SettingError, VeraError
from vera.joint import JEM, JointVERA
from vera.spec.registry import datasets
from vera.spec.trial_spec import TrialSpec
from vera.tasks.build import build_task
from vera.tasks.studies.step_time import WARM_UP

pytestmark = pytest.mark.usefixtures("noise_images")

NETWORKS = {
    "energy": {"name": "wrn", "depth": 10, "width": 1},
    "generator": {"name": "sngan-generator", "latent_dim": 4, "side": 8, "width": 4},
}


class NoiseImages(LabelledData):
    """Twenty random images of 8 × 8."""

    name, classes, data_dim, channels, side, fingerprint = "noise-images", 3, 192, 3, 8, "0002"

    def split(self, seed: int) -> Split:
        x: Tensor = torch.rand(20, 3, 8, 8, generator=torch.Generator().manual_seed(seed)) * 2 - 1
        labels = torch.arange(20) % 3
        return Split(self, (x, labels), (x[:5], labels[:5]), None)


@pytest.fixture
def noise_images():
    datasets.register("noise-images")(NoiseImages)


def spec_for(steps=4, name="vera", networks=NETWORKS, task="step-time", **settings):
    settings = {"k": 2} | settings if name == "vera" else settings
    return TrialSpec(
        {"name": "noise-images"}, networks, {"name": name, **settings}, steps, batch_size=4, task=task
    )


def build(spec):
    return build_task(spec).build(spec, progress=False)


def test_a_trial_measures_both_times_and_their_ratio():
    record = run_trial(Trial(spec_for(), "smoke"))
    metrics = json.loads(record.row.metrics)
    assert (record.row.outcome, record.row.task, record.row.method) == ("ok", "step-time", "vera")
    assert {"vera_seconds", "jem_seconds", "ratio", "spread"} <= metrics.keys()
    assert all(math.isfinite(value) for value in metrics.values())
    assert metrics["vera_seconds"] > 0
    assert metrics["ratio"] == pytest.approx(metrics["jem_seconds"] / metrics["vera_seconds"])
    assert metrics["spread"] >= 0
    assert record.arrays["seconds"].shape == (4 - WARM_UP, 2)


def test_the_result_is_the_median_of_the_counted_rounds():
    trainer = build(spec_for(steps=6))
    trainer.run()
    trainer.method.seconds = torch.tensor(
        [[9, 9], [1, 4], [2, 5], [3, 90], [2, 7], [2, 8]], dtype=torch.float64
    )
    metrics = build_task(spec_for()).measure(trainer).metrics
    assert metrics == {"vera_seconds": 2, "jem_seconds": 7, "ratio": 3.5, "spread": 0.5}


def test_both_methods_train_one_classifier_on_one_batch_in_alternating_order():
    study = build(spec_for()).method
    assert isinstance(study.pair["vera"], JointVERA)
    assert isinstance(study.pair["jem"], JEM)
    assert study.pair["vera"].energy is study.pair["jem"].energy is study.energy
    turns = []
    for name, method in study.pair.items():
        method.step = lambda batch, name=name, plain=method.step: (
            turns.append((name, id(batch))) or plain(batch)
        )
    batches = [NoiseImages().split(0).stream(4, seed).next_batch() for seed in range(2)]
    for batch in batches:
        study.step(batch)
    first, second = map(id, batches)
    assert turns == [("vera", first), ("jem", first), ("jem", second), ("vera", second)]


def test_the_seconds_are_read_from_the_clock(monkeypatch):
    """The clock advances by two seconds per reading and is read before and after each step."""
    study = build(spec_for(steps=2)).method
    ticks = iter(range(0, 100, 2))
    monkeypatch.setattr("vera.tasks.studies.step_time.time.perf_counter", lambda: next(ticks))
    metrics = study.step(NoiseImages().split(0).stream(4, 0).next_batch())
    assert study.seconds[0].tolist() == [2, 2]
    assert float(metrics["vera_seconds"]) == 2


def test_jem_has_the_settings_of_its_paper_and_is_computed_like_the_other_method():
    jem = build(spec_for(channels_last=True)).method.pair["jem"]
    assert (jem.sampler_steps, jem.step_size, jem.noise, jem.capacity, jem.restart) == (
        20,
        1.0,
        0.01,
        10_000,
        0.05,
    )
    assert (jem.data_noise, jem.lr, jem.gamma) == (0.03, 1e-4, 0.0)
    assert jem.channels_last
    assert not build(spec_for()).method.pair["jem"].channels_last


def test_another_joint_method_can_be_compared():
    networks = {"energy": NETWORKS["energy"]}
    trainer = build(spec_for(name="supervised", networks=networks))
    trainer.run()
    metrics = build_task(spec_for()).measure(trainer).metrics
    assert metrics["ratio"] == pytest.approx(metrics["jem_seconds"] / metrics["supervised_seconds"])


def test_a_run_can_be_saved_and_resumed(tmp_path):
    one, other = build(spec_for()), build(spec_for())
    one.run(until=2)
    one.save(tmp_path / "run.pt")
    other.restore(tmp_path / "run.pt")
    assert torch.equal(one.method.seconds, other.method.seconds)
    weights = [
        trainer.method.energy.state_dict() for trainer in (one, other) if trainer.run().outcome == "ok"
    ]
    assert find_differences(*weights) == []


def test_the_number_of_langevin_steps_is_a_setting_of_the_task():
    task = {"name": "step-time", "sampler_steps": 7}
    assert build(spec_for(task=task)).method.pair["jem"].sampler_steps == 7


def test_all_settings_are_part_of_the_trial_identity():
    changes = ({}, {"k": 3}, {"compiled": True}, {"task": {"name": "step-time", "sampler_steps": 7}})
    assert len({Trial(spec_for(**change)).id for change in changes}) == len(changes)


def test_jem_itself_and_a_single_round_are_refused():
    with raises_with(VeraError, "step-time", "jem"):
        build(spec_for(name="jem", networks={"energy": NETWORKS["energy"]}))
    with raises_with(SettingError, "steps", "at least 2", "got 1"):
        build(spec_for(steps=1))
