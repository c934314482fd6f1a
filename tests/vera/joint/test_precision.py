"""Precision of a classifier's forward passes: rejected on a CPU, and the effect of float16 and bfloat16."""

import os
import signal
import subprocess
import sys

import pytest
import torch
from conformance import find_differences
from facts import raises_with
from joint_helpers import Blobs
from locations import HELPER_FOLDERS, ROOT
from passes_helpers import SMALL, make_images, make_joint_method, run_two_steps

from sweeps.trial.identity import Trial
from vera.errors import SettingError
from vera.joint import Supervised
from vera.joint.forward_passes import EXECUTION_SETTINGS, LOSS_SCALE, scale_gradient
from vera.spec.registry import datasets
from vera.spec.settings import settings_of
from vera.spec.trial_spec import TrialSpec


@pytest.mark.parametrize(
    ("precision", "reason"), [("bfloat16", "illegal instruction"), ("float16", "slower")]
)
def test_lower_precision_is_rejected_on_a_cpu(precision, reason):
    method = make_joint_method("supervised", precision=precision)
    with raises_with(SettingError, "supervised", f"precision='{precision}'", "GPU", reason):
        method.begin(make_images())


def test_an_unknown_precision_is_rejected():
    with raises_with(SettingError, "precision", "'float32'", "'float64'"):
        make_joint_method("supervised", precision="float64")


def test_execution_settings_are_part_of_the_trial_identity():
    datasets.register("blobs")(Blobs)
    spec = {
        "dataset": {"name": "blobs"},
        "networks": {"energy": {"name": "mlp-classifier"}},
        "steps": 1,
        "task": "joint",
    }
    options = (
        {},
        {"precision": "bfloat16"},
        {"precision": "float16"},
        {"channels_last": True},
        {"compiled": True},
    )
    ids = {Trial(TrialSpec(**spec, method={"name": "supervised", **option})).id for option in options}
    assert len(ids) == len(options)
    assert set(EXECUTION_SETTINGS) <= settings_of(Supervised).keys()


def make_low_precision(monkeypatch, name, precision, **settings):
    """Return a method with lower precision on a CPU; the networks are small enough for it."""
    monkeypatch.setattr("vera.joint.forward_passes.ON_CPU", {})
    return make_joint_method(name, precision=precision, **settings)


@pytest.mark.parametrize(
    ("name", "settings"),
    [(name, {}) for name in SMALL]
    + [("jem", {"gamma": 0.1}), ("hdge", {"gamma": 0.1}), ("vera", {"gamma": 0.0})],
)
def test_float16_is_close_to_float32(name, settings, monkeypatch):
    default, low = (
        run_two_steps(make_joint_method(name, **settings)),
        run_two_steps(make_low_precision(monkeypatch, name, "float16", **settings)),
    )
    for metric in default.metrics:
        torch.testing.assert_close(default.metrics[metric], low.metrics[metric], rtol=0.02, atol=0.02)
    assert find_differences(default, low), "the results are those of float32"


def compute_gradients(method, x):
    """Return ∇f(x), and the gradient of the cross-entropy in the weights as the optimiser step gets it."""
    batch = make_images()
    method.begin(batch)
    with method.passes.install():
        leaf = x.clone().requires_grad_(True)
        (in_x,) = torch.autograd.grad(method.energy(leaf).sum(), leaf)
    method.step(batch)
    return in_x, torch.cat([w.grad.flatten() for w in method.energy_weights])


def test_float16_gradients_are_scaled_inside_the_network_only(monkeypatch):
    inside = []
    default, low = make_joint_method("supervised"), make_low_precision(monkeypatch, "supervised", "float16")
    low.energy.output.register_full_backward_hook(
        lambda _, __, outwards: inside.append(outwards[0].abs().max())
    )
    x = make_images().x
    for true, found in zip(compute_gradients(default, x), compute_gradients(low, x), strict=True):
        assert (true - found).norm() < 0.02 * true.norm()
    assert max(inside) > LOSS_SCALE / 10
    assert all(w.dtype == torch.float32 for w in low.energy_weights)


def test_differentiating_float16_twice_raises(monkeypatch):
    """A custom method may try it; its gradient would be wrong by the scale."""
    method = make_low_precision(monkeypatch, "supervised", "float16")
    x = make_images().x.requires_grad_(True)
    with method.passes.install():
        (slope,) = torch.autograd.grad(method.energy(x).sum(), x, create_graph=True)
    with raises_with(RuntimeError, "once_differentiable"):
        slope.square().sum().backward()


BFLOAT16 = """
import vera.joint.forward_passes as forward_passes
from conformance import find_differences
from passes_helpers import make_joint_method, run_two_steps

forward_passes.ON_CPU = {}
default, low = (
    run_two_steps(make_joint_method("vera", precision=p, gamma=1.0)) for p in ("float32", "bfloat16")
)
assert find_differences(default, low)
for name, value in default.metrics.items():
    assert abs(float(value - low.metrics[name])) < 0.05 * (1 + abs(float(value))), name
for name, slope in default.gradients.items():
    if name.startswith("energy."):
        assert float((slope - low.gradients[name]).norm()) < 0.1 * float(slope.norm()) + 1e-3, name
"""


def test_bfloat16_is_close_to_float32_with_second_derivatives():
    """Runs in a subprocess, because bfloat16 can be an illegal instruction on a CPU."""
    path = os.pathsep.join((*HELPER_FOLDERS, str(ROOT)))
    ended = subprocess.run(
        [sys.executable, "-c", BFLOAT16],
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    if ended.returncode == -signal.SIGILL:
        pytest.skip("bfloat16 is an illegal instruction on this CPU")
    assert ended.returncode == 0, ended.stderr


def test_scale_gradient_multiplies_the_gradient():
    x = torch.ones(3, requires_grad=True)
    scale_gradient(x, 4.0).square().sum().backward()
    assert x.grad.tolist() == [8, 8, 8]
    assert scale_gradient(x, 1.0) is x


def test_losses_and_generated_points_stay_float32(monkeypatch):
    method = make_low_precision(monkeypatch, "vera", "float16", gamma=0.0)
    inner = []
    method.energy.output.register_forward_hook(lambda _, __, result: inner.append(result.dtype))
    report = run_two_steps(method)
    assert torch.float16 in inner
    assert all(value.dtype == torch.float32 for values in report for value in values.values())
    assert method.energy(make_images().x).dtype == torch.float32
    assert inner[-1] == torch.float32, "lower precision must end with the step"
