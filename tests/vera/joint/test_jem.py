"""JEM's sampler and its noise on the data.

For f = w·x + log C a Langevin run of κ steps is start + κ · step · w + √κ · noise · ε.
"""

import math

import pytest
import torch
from joint_helpers import CLASSES, DIM, LinearClassifier, make_labelled_batch
from oracles import SIGMAS, assert_mean

from vera.data.labelled import LabelledBatch
from vera.joint import JEM
from vera.joint.contract import add_noise
from vera.spec.registry import methods

SLOPE = torch.tensor([0.3, -0.2, 0.1], dtype=torch.float64)
CHAINS, KAPPA = 3_000, 20


def make_batch(n, shared=True):
    x = torch.zeros(n, DIM, dtype=torch.float64)
    return LabelledBatch(x, x if shared else x + 5, torch.arange(n) % CLASSES)


def jem(**settings):
    return JEM(
        LinearClassifier(SLOPE.expand(CLASSES, DIM)), **{"capacity": CHAINS, "restart": 0.0} | settings
    )


def measure_movement(method, n=CHAINS):
    """Return the change of each chain of the buffer in one training step."""
    torch.manual_seed(0)
    batch = make_batch(n)
    method.begin(batch)
    before = method.buffer.chains.clone()
    method.step(batch)
    return method.buffer.chains - before


def test_default_chains_take_20_steps_of_size_1_with_noise_001():
    moved = measure_movement(jem())
    assert_mean(moved, KAPPA * 1.0 * SLOPE)
    deviation = moved.std(0) / (0.01 * math.sqrt(KAPPA))
    assert (deviation - 1).abs().max() < SIGMAS / math.sqrt(2 * CHAINS)


@pytest.mark.parametrize("kappa", [1, 40])
def test_the_number_of_steps_is_a_setting(kappa):
    assert_mean(measure_movement(jem(sampler_steps=kappa)), kappa * SLOPE)


def test_without_a_step_size_the_sampler_is_that_of_pcd():
    noise = methods.get("pcd")(LinearClassifier(SLOPE.expand(CLASSES, DIM))).noise
    moved = measure_movement(jem(step_size=None, noise=noise))
    assert_mean(moved, KAPPA * noise**2 / 2 * SLOPE)


def test_the_number_of_moved_chains_is_the_batch_size():
    moved = measure_movement(jem(), n=100)
    assert int((moved.abs().sum(1) > 0).sum()) == 100


def capture_loss_batch(method, batch):
    """Return the batch on which the energy loss is computed."""
    plain = method.energy_loss
    seen = []
    method.energy_loss = lambda batch, samples: seen.append(batch) or plain(batch, samples)
    method.begin(batch)
    method.step(batch)
    return seen[0]


def test_without_noise_the_data_are_unchanged():
    batch = make_labelled_batch(shared=False)
    assert capture_loss_batch(jem(), batch) is batch


@pytest.mark.parametrize("shared", [False, True], ids=["apart", "shared"])
def test_noise_changes_all_points_and_no_label(shared):
    torch.manual_seed(1)
    batch = make_batch(2_000, shared)
    labels = batch.labels.clone()
    seen = capture_loss_batch(jem(data_noise=0.03), batch)
    assert seen.is_shared == batch.is_shared == shared
    assert torch.equal(seen.labels, labels)
    for moved, still in ((seen.x, batch.x), (seen.labelled, batch.labelled)):
        noise = (moved - still) / 0.03
        assert_mean(noise, 0.0)
        assert_mean(noise.square(), 1.0)
    assert batch.x.abs().max() == 0, "the data themselves must not change"


def test_separate_labelled_points_get_independent_noise():
    torch.manual_seed(2)
    batch = make_batch(2_000, shared=False)
    seen = capture_loss_batch(jem(data_noise=0.03), batch)
    assert_mean((seen.x * (seen.labelled - batch.labelled)).flatten() / 0.03**2, 0.0)


def test_each_step_draws_new_noise():
    batch = make_batch(50)
    assert not torch.equal(add_noise(batch, 0.1).x, add_noise(batch, 0.1).x)
