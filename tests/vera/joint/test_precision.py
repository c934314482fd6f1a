"""The precision of a classifier's passes: what is refused on a CPU, and what float16 and bfloat16 do where
they are let."""

import os
import signal
import subprocess
import sys

import pytest
import torch
from conformance import find_differences
from facts import raises_with
from joint_helpers import Blobs
from locations import HELPERS
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
def test_less_than_float32_is_refused_on_a_cpu_and_why(precision, reason):
    method = make_joint_method("supervised", precision=precision)
    with raises_with(SettingError, "supervised", f"precision='{precision}' needs a GPU", reason):
        method.begin(make_images())


def test_a_precision_that_there_is_not_is_refused():
    with raises_with(SettingError, "precision must be one of", "'float32'", "'float64'"):
        make_joint_method("supervised", precision="float64")


def test_how_it_is_computed_is_part_of_a_trials_identity(registries):
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


def lowered(monkeypatch, name, precision, **settings):
    """On this CPU after all: it is small enough."""
    monkeypatch.setattr("vera.joint.forward_passes.ON_CPU", {})
    return make_joint_method(name, precision=precision, **settings)


@pytest.mark.parametrize(
    ("name", "settings"),
    [(name, {}) for name in SMALL]
    + [("jem", {"gamma": 0.1}), ("hdge", {"gamma": 0.1}), ("vera", {"gamma": 0.0})],
)
def test_float16_is_close_to_float32(name, settings, monkeypatch):
    """With and without a gradient penalty."""
    usual, low = (
        run_two_steps(make_joint_method(name, **settings)),
        run_two_steps(lowered(monkeypatch, name, "float16", **settings)),
    )
    for metric in usual.metrics:
        torch.testing.assert_close(usual.metrics[metric], low.metrics[metric], rtol=0.02, atol=0.02)
    assert find_differences(usual, low), "and it is not float32"


def slopes(method, x):
    """The gradient of a cross-entropy in the weights, as an optimiser's step finds it, and that of f in x."""
    batch = make_images()
    method.begin(batch)
    with method.passes.install():
        leaf = x.clone().requires_grad_(True)
        (in_x,) = torch.autograd.grad(method.energy(leaf).sum(), leaf)
    method.step(batch)
    return in_x, torch.cat([w.grad.flatten() for w in method.energy_weights])


def test_gradients_in_float16_are_scaled_inside_and_true_outside(monkeypatch):
    inside = []
    usual, low = make_joint_method("supervised"), lowered(monkeypatch, "supervised", "float16")
    low.energy.output.register_full_backward_hook(
        lambda _, __, outwards: inside.append(outwards[0].abs().max())
    )
    x = make_images().x
    for true, found in zip(slopes(usual, x), slopes(low, x), strict=True):
        assert (true - found).norm() < 0.02 * true.norm()
    assert max(inside) > LOSS_SCALE / 10
    assert all(w.dtype == torch.float32 for w in low.energy_weights)


def test_float16_cannot_be_differentiated_twice_unnoticed(monkeypatch):
    """A method of a user's own may try; its gradient would be wrong by the scale."""
    method = lowered(monkeypatch, "supervised", "float16")
    x = make_images().x.requires_grad_(True)
    with method.passes.install():
        (slope,) = torch.autograd.grad(method.energy(x).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        slope.square().sum().backward()


BFLOAT16 = """
import vera.joint.forward_passes as precision
from conformance import differences
from passes_helpers import made, stepped

precision.ON_CPU = {}
usual, low = (stepped(made("vera", precision=p, gamma=1.0)) for p in ("float32", "bfloat16"))
assert differences(usual, low)
for name, value in usual.metrics.items():
    assert abs(float(value - low.metrics[name])) < 0.05 * (1 + abs(float(value))), name
for name, slope in usual.gradients.items():
    if name.startswith("energy."):
        assert float((slope - low.gradients[name]).norm()) < 0.1 * float(slope.norm()) + 1e-3, name
"""


def test_bfloat16_is_close_to_float32_and_is_differentiated_twice():
    """In a process of its own, because of what can happen on a CPU."""
    here = HELPERS
    path = os.pathsep.join(map(str, (here, here.parent, here.parents[1])))
    ended = subprocess.run(
        [sys.executable, "-c", BFLOAT16],
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    if ended.returncode == -signal.SIGILL:
        pytest.skip("bfloat16 is an illegal instruction on this CPU")
    assert ended.returncode == 0, ended.stderr


def test_a_scaled_gradient():
    x = torch.ones(3, requires_grad=True)
    scale_gradient(x, 4.0).square().sum().backward()
    assert x.grad.tolist() == [8, 8, 8]
    assert scale_gradient(x, 1.0) is x


def test_losses_and_generated_points_stay_float32(monkeypatch):
    method = lowered(monkeypatch, "vera", "float16", gamma=0.0)
    inner = []
    method.energy.output.register_forward_hook(lambda _, __, result: inner.append(result.dtype))
    report = run_two_steps(method)
    assert torch.float16 in inner
    assert all(value.dtype == torch.float32 for part in report for value in part.values())
    assert method.energy(make_images().x).dtype == torch.float32
    assert inner[-1] == torch.float32, "after the step all is as it was"
