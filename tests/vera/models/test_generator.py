"""The generator: its σ, and the statistics of batch norm in each pass."""

import copy
import math

import pytest
import torch
from conformance import find_differences
from facts import raises_with
from torch import nn

from vera.errors import SettingError
from vera.models import MLPGenerator
from vera.models.generator import Generator
from vera.models.network_modes import evaluation_mode, use_batch_statistics


@pytest.fixture
def generator() -> Generator:
    torch.manual_seed(0)
    return Generator(MLPGenerator(2, 3, hidden=(8,)), sigma=0.1)


def copy_averages(generator: Generator) -> dict[str, torch.Tensor]:
    return {name: value.clone() for name, value in generator.named_buffers()}


@pytest.mark.parametrize(("log_sigma", "clamped"), [(-20.0, 0.01), (5.0, 0.3), (math.log(0.05), 0.05)])
def test_sigma_is_clamped_to_its_range(generator, log_sigma, clamped):
    with torch.no_grad():
        generator.log_sigma.fill_(log_sigma)
    generator.clamp_sigma()
    assert generator.sigma.item() == pytest.approx(clamped, rel=1e-6)


def test_sigma_starts_at_its_lower_bound():
    assert Generator(nn.Linear(2, 2), 2).sigma.item() == pytest.approx(0.01)


@pytest.mark.parametrize(
    "sigmas",
    [
        {"sigma_min": 0.5, "sigma_max": 0.2},
        {"sigma": 0.001},
        {"sigma": 0.4},
        {"sigma": 0.0},
        {"sigma_max": math.inf},
    ],
)
def test_a_sigma_outside_its_range_is_rejected(sigmas):
    with raises_with(SettingError, "Generator", "sigma"):
        Generator(nn.Linear(2, 2), 2, **sigmas)


def test_the_latent_dimension_comes_from_the_network_or_must_be_given():
    assert Generator(MLPGenerator(5, 2)).latent_dim == 5
    with raises_with(SettingError, "Linear", "latent_dim"):
        Generator(nn.Linear(2, 2))


def test_the_mean_uses_batch_statistics_without_updating_the_averages(generator):
    z, before = generator.sample_latent(16), copy_averages(generator)
    assert torch.equal(generator.mean(z), copy.deepcopy(generator).net(z))
    assert find_differences(before, copy_averages(generator)) == []


def test_the_mean_uses_batch_statistics_in_evaluation_mode(generator):
    z = generator.sample_latent(16)
    expected = generator.mean(z)
    generator.eval()
    assert torch.equal(generator.mean(z), expected)
    assert not generator.net.training


def test_sampling_for_the_energy_updates_the_averages(generator):
    before = copy_averages(generator)
    generator.sample_with_latent(16)
    after = copy_averages(generator)
    tracked = [name for name in before if name.endswith("num_batches_tracked")]
    assert tracked
    assert all(after[name] == before[name] + 1 for name in tracked)


@pytest.mark.parametrize("running_averages", [False, True])
def test_sampling_changes_neither_state_nor_mode(generator, running_averages):
    generator.sample_with_latent(16)
    before = copy.deepcopy(generator.state_dict())
    x = generator.sample(7, running_averages=running_averages)
    assert x.shape == (7, 3)
    assert not x.requires_grad
    assert all(module.training for module in generator.modules())
    assert find_differences(dict(before), dict(generator.state_dict())) == []


def test_a_sample_with_running_averages_is_the_evaluation_mode_mean_plus_noise(generator):
    for _ in range(5):
        generator.sample_with_latent(64)
    torch.manual_seed(1)
    x = generator.sample(4, running_averages=True)
    torch.manual_seed(1)
    frozen = copy.deepcopy(generator).eval()
    mean = frozen.net(torch.randn(4, 2))
    assert torch.allclose(x, (mean + frozen.sigma * torch.randn_like(mean)).detach())
    torch.manual_seed(1)
    assert not torch.allclose(generator.sample(4), x, atol=1e-3)


def test_a_sample_is_differentiable_in_the_weights_and_in_log_sigma(generator):
    z0, x = generator.sample_with_latent(16)
    x.sum().backward()
    noise = (x - generator.mean(z0)).detach()
    assert torch.allclose(generator.log_sigma.grad, noise.sum(), atol=1e-4)
    assert all(p.grad is not None for p in generator.net.parameters())
    assert not z0.requires_grad


def test_the_noise_has_deviation_sigma(generator):
    z0, x = generator.sample_with_latent(20_000)
    spread = (x - generator.mean(z0)).std().item()
    assert spread == pytest.approx(0.1, rel=4 / math.sqrt(2 * 60_000))


def test_a_double_generator_computes_in_double(generator):
    generator.double()
    z0, x = generator.sample_with_latent(4)
    assert {
        z0.dtype,
        x.dtype,
        generator.sample_latent(2).dtype,
        generator.sample(2).dtype,
        generator.sigma.dtype,
    } == {torch.float64}


def test_statistics_and_modes_are_restored_after_an_error(generator):
    with (
        pytest.raises(ZeroDivisionError),
        use_batch_statistics(generator.net),
        evaluation_mode(generator.net),
    ):
        raise ZeroDivisionError
    assert all(module.training for module in generator.modules())
    before = copy_averages(generator)
    generator.sample_with_latent(8)
    assert find_differences(before, copy_averages(generator))


def test_evaluation_mode_restores_the_mode_of_each_module():
    net = nn.Sequential(nn.Linear(2, 2), nn.Dropout())
    net[1].eval()
    with evaluation_mode(net):
        assert not net.training
    assert [net.training, net[0].training, net[1].training] == [True, True, False]


def test_batch_norm_without_running_averages_is_unchanged():
    net = nn.Sequential(nn.BatchNorm1d(2, track_running_stats=False))
    with use_batch_statistics(net):
        pass
    assert not net[0].track_running_stats
