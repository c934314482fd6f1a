"""JEM's own sampler, and its noise on the data.

On f = w·x + log C a Langevin run of κ steps is a sum: start + κ · step · w + √κ · noise · ε.
"""

import math

import pytest
import torch
from joint_helpers import CLASSES, DIM, LinearClassifier, make_labelled_batch
from oracles import SIGMAS, assert_mean

from vera.data.labelled import LabelledBatch
from vera.joint import JEM
from vera.spec.registry import methods

SLOPE = torch.tensor([0.3, -0.2, 0.1], dtype=torch.float64)
CHAINS, KAPPA = 3_000, 20


def batch_of(n, shared=True):
    x = torch.zeros(n, DIM, dtype=torch.float64)
    return LabelledBatch(x, x if shared else x + 5, torch.arange(n) % CLASSES)


def jem(**settings):
    return JEM(
        LinearClassifier(SLOPE.expand(CLASSES, DIM)), **{"capacity": CHAINS, "restart": 0.0} | settings
    )


def movement(method, n=CHAINS):
    """How far each chain of the buffer went in one step."""
    torch.manual_seed(0)
    batch = batch_of(n)
    method.begin(batch)
    before = method.buffer.chains.clone()
    method.step(batch)
    return method.buffer.chains - before


def test_by_default_its_chains_take_20_steps_of_size_1_with_a_noise_of_a_hundredth():
    moved = movement(jem())
    assert_mean(moved, KAPPA * 1.0 * SLOPE)
    deviation = moved.std(0) / (0.01 * math.sqrt(KAPPA))
    assert (deviation - 1).abs().max() < SIGMAS / math.sqrt(2 * CHAINS)


@pytest.mark.parametrize("kappa", [1, 40])
def test_the_number_of_steps_is_a_setting(kappa):
    assert_mean(movement(jem(sampler_steps=kappa)), kappa * SLOPE)


def test_without_a_step_size_it_is_the_diffusion_that_pcd_runs():
    noise = methods.get("pcd")(LinearClassifier(SLOPE.expand(CLASSES, DIM))).noise
    moved = movement(jem(step_size=None, noise=noise))
    assert_mean(moved, KAPPA * noise**2 / 2 * SLOPE)


def test_only_as_many_chains_move_as_there_are_points_in_a_batch():
    moved = movement(jem(), n=100)
    assert int((moved.abs().sum(1) > 0).sum()) == 100


def seen_by(method, batch):
    """The batch that the energy's loss is taken on."""
    plain = method.energy_loss
    seen = []
    method.energy_loss = lambda batch, samples: seen.append(batch) or plain(batch, samples)
    method.begin(batch)
    method.step(batch)
    return seen[0]


def test_without_noise_the_data_stay_as_they_are():
    batch = make_labelled_batch(shared=False)
    assert seen_by(jem(), batch) is batch


@pytest.mark.parametrize("shared", [False, True], ids=["apart", "shared"])
def test_noise_moves_all_points_and_no_label(shared):
    torch.manual_seed(1)
    batch = batch_of(2_000, shared)
    labels = batch.labels.clone()
    seen = seen_by(jem(data_noise=0.03), batch)
    assert seen.shared == batch.shared == shared
    assert torch.equal(seen.labels, labels)
    for moved, still in ((seen.x, batch.x), (seen.labelled, batch.labelled)):
        noise = (moved - still) / 0.03
        assert_mean(noise, 0.0)
        assert_mean(noise.square(), 1.0)
    assert batch.x.abs().max() == 0, "the data themselves are not to be moved"


def test_points_and_labelled_points_apart_get_noise_of_their_own():
    torch.manual_seed(2)
    batch = batch_of(2_000, shared=False)
    seen = seen_by(jem(data_noise=0.03), batch)
    assert_mean((seen.x * (seen.labelled - batch.labelled)).flatten() / 0.03**2, 0.0)


def test_each_step_draws_new_noise():
    method, batch = jem(data_noise=0.03), batch_of(50)
    assert not torch.equal(method.add_noise(batch).x, method.add_noise(batch).x)
