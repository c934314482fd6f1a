"""Image generators: shapes, shortcuts, initialisation, and the statistics of batch norm."""

import math

import pytest
import torch
from conformance import find_differences
from torch import nn

from vera.models import dcgan_generator, sngan_generator
from vera.models.network_modes import evaluation_mode, freeze_batch_statistics, use_batch_statistics
from vera.models.sngan import UpBlock

GENERATORS = {
    "sngan plain": lambda side: sngan_generator(latent_dim=5, side=side, width=4),
    "sngan learned": lambda side: sngan_generator(latent_dim=5, side=side, width=4, shortcut="learned"),
    "dcgan": lambda side: dcgan_generator(latent_dim=5, side=side, width=4),
}


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


@pytest.mark.parametrize("side", [8, 16, 32, 64])
@pytest.mark.parametrize("kind", GENERATORS)
def test_generators_return_images_of_their_side_in_the_data_range(kind, side):
    generator = GENERATORS[kind](side)
    mean = generator(generator.sample_latent(4))
    assert mean.shape == (4, 3, side, side)
    assert mean.abs().max() <= 1
    assert generator.sample(2).shape == (2, 3, side, side)


def test_a_learned_shortcut_is_a_convolution_of_the_doubled_map():
    block, x, double = (
        UpBlock(4, "learned").double(),
        torch.randn(3, 4, 5, 5, dtype=torch.float64),
        nn.Upsample(scale_factor=2),
    )
    with use_batch_statistics(block):
        found, residual = block(x), block.after(double(block.before(x)))
    assert torch.allclose(found, residual + block.shortcut(double(x)))


def test_a_plain_shortcut_adds_the_doubled_input():
    block, x = UpBlock(4, "plain"), torch.randn(3, 4, 5, 5)
    nn.init.zeros_(block.after[-1].weight)
    nn.init.zeros_(block.after[-1].bias)
    assert torch.equal(block(x), x.repeat_interleave(2, 2).repeat_interleave(2, 3))


@pytest.mark.parametrize("shortcut", ["plain", "learned"])
def test_the_sngan_generator_starts_xavier_uniform_with_gain_root_two(shortcut):
    net = sngan_generator(width=64, shortcut=shortcut).net
    layers = [m for m in net.modules() if isinstance(m, nn.Conv2d | nn.Linear)]
    for layer in layers:
        out, fan_in = layer.weight.shape[0], layer.weight[0].numel()
        area = fan_in // layer.weight.shape[1]
        gain = math.sqrt(2) if area == 9 else 1.0
        bound = gain * math.sqrt(6 / (fan_in + out * area))
        assert bound * 0.98 < layer.weight.abs().max() <= bound
        assert layer.weight.std().item() == pytest.approx(bound / math.sqrt(3), rel=0.05)
        assert layer.bias.eq(0).all()
    assert len(layers) == (11 if shortcut == "learned" else 8)


def copy_buffers(net):
    return {name: value.clone() for name, value in net.named_buffers()}


@pytest.mark.parametrize("kind", GENERATORS)
def test_batch_statistics_do_not_update_the_running_averages(kind):
    generator = GENERATORS[kind](8)
    z, before = generator.sample_latent(6), copy_buffers(generator.net)
    mean = generator.mean(z)
    assert find_differences(before, copy_buffers(generator.net)) == []
    assert torch.equal(generator(z), mean)
    assert find_differences(before, copy_buffers(generator.net))
    with evaluation_mode(generator.net):
        assert not torch.allclose(generator(z), mean, atol=1e-3)


@pytest.mark.parametrize("kind", GENERATORS)
def test_frozen_statistics_process_each_image_independently(kind):
    generator = GENERATORS[kind](8).double()
    z0, before = generator.sample_latent(6), copy_buffers(generator.net)
    expected = generator.mean(z0)
    with freeze_batch_statistics(generator.net, z0):
        assert torch.allclose(generator(z0), expected)
        assert torch.allclose(generator(z0[2:4]), expected[2:4])
    assert find_differences(before, copy_buffers(generator.net)) == []
