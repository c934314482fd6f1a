"""The image networks: the paper's counts, f against plain restatements of the architectures, and gradients of
gradients."""

import math

import pytest
import torch
from conformance import find_differences
from facts import raises_with
from torch import nn
from torch.nn.functional import avg_pool2d, conv2d, dropout, leaky_relu, linear
from torch.nn.modules.batchnorm import _BatchNorm

from vera.errors import SettingError
from vera.gradients import differentiable_gradient, squared_norm
from vera.models import (
    DCGANEnergy,
    DigitClassifier,
    WideResNet,
    dcgan_generator,
    has_hessian,
    sngan_generator,
)
from vera.models.wrn import average_cells
from vera.spec.registry import models

COUNTS = [
    ("wrn", {"classes": 10}, 36_471_338),
    ("wrn", {"classes": 100}, 36_529_028),
    ("wrn", {"classes": 10, "width": 2}, 1_466_026),
    ("sngan-generator", {}, 4_079_363),
    ("sngan-generator", {"shortcut": "learned"}, 4_276_739),
    ("sngan-generator", {"width": 128}, 1_154_947),
    ("dcgan", {}, 2_764_736),
    ("dcgan-generator", {}, 3_576_707),
    ("digit-classifier", {}, 7_393_034),
    ("digit-classifier", {"side": 28}, 1_199_882),
]
"""Counts of the paper's networks; a generator's σ comes on top."""


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


def tiny(dropout_rate: float = 0.0) -> WideResNet:
    return WideResNet(3, depth=10, width=1, dropout=dropout_rate)


def images(n: int = 3, height: int = 8, width: int = 8, channels: int = 3) -> torch.Tensor:
    return torch.rand(n, channels, height, width) * 2 - 1


@pytest.mark.parametrize(("name", "settings", "expected"), COUNTS)
def test_parameter_counts_are_the_papers(name, settings, expected):
    with torch.device("meta"):
        model = models.create(name, **settings)
    net = model.net if hasattr(model, "log_sigma") else model
    assert sum(p.numel() for p in net.parameters()) == expected
    assert sum(p.numel() for p in model.parameters()) == expected + hasattr(model, "log_sigma")


# Shapes


@pytest.mark.parametrize(
    ("height", "width"), [(32, 32), (39, 32), (32, 39), (64, 64), (28, 28), (8, 8), (1, 1)]
)
def test_a_wide_resnet_takes_images_of_any_size(height, width):
    model, x = tiny(), images(2, height, width)
    assert model.logits(x).shape == (2, 3)
    assert model(x).shape == (2,)


@pytest.mark.parametrize(("depth", "width"), [(10, 3), (16, 1), (28, 2)])
def test_depth_counts_all_convolutions_and_width_the_maps(depth, width):
    with torch.device("meta"):
        model = WideResNet(10, depth, width)
    convolutions = [m for m in model.modules() if isinstance(m, nn.Conv2d)]
    assert len(convolutions) == depth - (
        width == 1
    )  # at width 1 the first group has as many maps as its input: no shortcut
    assert model.output.in_features == 64 * width


@pytest.mark.parametrize("side", [8, 16, 32, 64])
def test_the_dcgan_energy_halves_its_side_down_to_one_number(side):
    energy = DCGANEnergy(side=side, width=2)
    assert energy(images(2, side, side)).shape == (2,)
    assert energy(images(1, side, side)).shape == (1,)
    assert len([m for m in energy.modules() if isinstance(m, nn.Conv2d)]) == math.log2(side / 4) + 1


@pytest.mark.parametrize("side", [6, 28, 32, 64])
def test_the_digit_classifier_takes_grey_images(side):
    assert DigitClassifier(side=side).logits(images(2, side, side, channels=1)).shape == (2, 10)


@pytest.mark.parametrize("model", [tiny, lambda: DigitClassifier(side=8)])
def test_f_is_the_logsumexp_of_the_logits(model):
    model = model().eval()
    x = images(channels=1 if isinstance(model, DigitClassifier) else 3)
    assert torch.allclose(model(x), model.logits(x).exp().sum(1).log())


@pytest.mark.parametrize("energy", [tiny, lambda: DCGANEnergy(side=8, width=4)])
def test_f_of_one_image_does_not_depend_on_the_others(energy):
    energy, x = energy(), images(5)
    assert not [m for m in energy.modules() if isinstance(m, _BatchNorm)]
    assert torch.allclose(energy(x)[:1], energy(x[:1]), atol=1e-6)


# The architectures, restated


def restated_wrn(model, x):
    """WRN-10-1 as the paper's code has it, from the weights alone; dropout with the random numbers at
    hand."""
    w = dict(model.named_parameters())
    x = conv2d(x, w["stem.weight"], w["stem.bias"], padding=1)
    for i, stride in enumerate((1, 2, 2)):
        block = {
            name.removeprefix(f"blocks.{i}."): p for name, p in w.items() if name.startswith(f"blocks.{i}.")
        }
        h = conv2d(leaky_relu(x, 0.2), block["first.weight"], block["first.bias"], padding=1)
        h = dropout(h, model.blocks[i].dropout.p, model.training)
        h = conv2d(leaky_relu(h, 0.2), block["second.weight"], block["second.bias"], stride, padding=1)
        raw = (
            conv2d(x, block["shortcut.weight"], block["shortcut.bias"], stride)
            if "shortcut.weight" in block
            else x
        )
        x = raw + h
    x = avg_pool2d(leaky_relu(x, 0.2), 8)[:, :, 0, 0]
    return linear(x, w["output.weight"], w["output.bias"])


@pytest.mark.parametrize("dropout_rate", [0.0, 0.3])
@pytest.mark.parametrize("height", [32, 39])
def test_the_wide_resnet_is_the_papers(dropout_rate, height):
    model, x = tiny(dropout_rate).double(), images(2, height, 32).double()
    torch.manual_seed(1)
    found = model.logits(x)
    torch.manual_seed(1)
    assert torch.allclose(found, restated_wrn(model, x), atol=1e-12)


def test_surplus_rows_and_columns_of_the_last_map_are_ignored():
    x = torch.randn(2, 4, 10, 9)
    assert torch.allclose(average_cells(x), avg_pool2d(x, 8)[:, :, 0, 0], atol=1e-6)
    assert torch.equal(average_cells(x), average_cells(x[:, :, :8, :8]))


@pytest.mark.parametrize("shape", [(8, 8), (2, 2), (7, 5), (2, 8), (16, 16), (16, 8)])
def test_a_map_of_whole_cells_or_smaller_than_one_is_averaged_whole(shape):
    x = torch.randn(2, 4, *shape)
    assert torch.allclose(average_cells(x), x.mean((2, 3)), atol=1e-6)


def test_the_digit_classifier_normalises_pixels_itself_and_clamps_them():
    model, seen = DigitClassifier(side=8).eval(), []
    model.net.register_forward_pre_hook(lambda module, inputs: seen.append(inputs[0]))
    for value in (-1.0, 1.0, 5.0):
        model.logits(torch.full((1, 1, 8, 8), value))
    expected = [-0.1307 / 0.3081, (1 - 0.1307) / 0.3081, (1 - 0.1307) / 0.3081]
    assert [x.unique().item() for x in seen] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("model", "channels"), [(lambda: tiny(0.3), 3), (lambda: DigitClassifier(side=8), 1)]
)
def test_dropout_works_in_training_and_not_in_evaluation(model, channels):
    model, x = model(), images(channels=channels)
    assert not torch.equal(model(x), model(x))
    model.eval()
    assert torch.equal(model(x), model(x))


# Gradients of gradients

ENERGIES = {
    "wrn": (tiny, 3),
    "wrn with dropout": (lambda: tiny(0.3), 3),
    "dcgan": (lambda: DCGANEnergy(side=8, width=4), 3),
    "digit classifier": (lambda: DigitClassifier(classes=3, side=8), 1),
}


def penalised(energy, x):
    """A loss of f and of ∇f, as a step with a gradient penalty has it; the same dropout each time."""
    torch.manual_seed(1)
    _, f, slope = differentiable_gradient(energy, x)
    return 0.1 * squared_norm(slope).mean() - f.mean()


@pytest.mark.parametrize("name", ENERGIES)
def test_a_gradient_penalty_has_the_slope_of_finite_differences_in_every_weight(name):
    build, channels = ENERGIES[name]
    energy, x, h = build().double(), images(channels=channels).double(), 1e-6
    weights = list(energy.parameters())
    for weight, slope in zip(weights, torch.autograd.grad(penalised(energy, x), weights), strict=True):
        direction, values = torch.randn_like(weight), []
        for sign in (1, -1):
            with torch.no_grad():
                weight.add_(direction, alpha=sign * h)
            values.append(penalised(energy, x).item())
            with torch.no_grad():
                weight.sub_(direction, alpha=sign * h)
        expected = (values[0] - values[1]) / (2 * h)
        assert (slope * direction).sum().item() == pytest.approx(expected, rel=1e-5, abs=1e-8)


@pytest.mark.parametrize("name", ["wrn", "dcgan"])
def test_the_gradient_in_x_is_that_of_finite_differences(name):
    energy, x = ENERGIES[name][0]().double(), images(1).double().requires_grad_(True)
    assert torch.autograd.gradcheck(energy, x)


def test_a_network_says_whether_its_f_is_piecewise_linear():
    x = images(1).double()
    for energy in (tiny().double(), DCGANEnergy(side=8, width=4).double()):
        leaf, _, slope = differentiable_gradient(energy, x)
        curvature = (
            torch.autograd.grad(slope.sum(), leaf, allow_unused=True)[0] if slope.requires_grad else None
        )
        assert has_hessian(energy) == bool(curvature is not None and curvature.any())


# Initialisation, seeds, settings


@pytest.mark.parametrize(
    "build", [lambda: WideResNet(10, 10, 4), lambda: DCGANEnergy(side=32), lambda: DigitClassifier(side=28)]
)
def test_the_energies_start_as_pytorch_does(build):
    for layer in build().modules():
        if isinstance(layer, nn.Conv2d | nn.Linear):
            bound = 1 / math.sqrt(layer.weight[0].numel())
            assert layer.weight.abs().max() <= bound
            assert layer.weight.std().item() == pytest.approx(bound / math.sqrt(3), rel=0.1)
            assert layer.bias is None or layer.bias.any()


@pytest.mark.parametrize(
    "build",
    [
        tiny,
        lambda: DCGANEnergy(side=8),
        lambda: sngan_generator(side=8, width=8),
        lambda: dcgan_generator(side=8),
    ],
)
def test_a_seed_decides_all_weights(build):
    states = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        states.append(dict(build().state_dict()))
    assert find_differences(states[0], states[1]) == []
    assert find_differences(states[0], states[2])


@pytest.mark.parametrize("depth", [4, 9, 11, 27])
def test_a_depth_that_does_not_split_into_three_groups_is_refused(depth):
    with raises_with(SettingError, "WideResNet", "depth must be 6n + 4", "28", str(depth)):
        WideResNet(10, depth=depth)


@pytest.mark.parametrize("build", [sngan_generator, dcgan_generator, DCGANEnergy])
@pytest.mark.parametrize("side", [4, 28, 48])
def test_a_side_that_is_no_doubling_of_four_is_refused(build, side):
    with raises_with(SettingError, "side must be one of 8, 16, 32, 64", str(side)):
        build(side=side)


@pytest.mark.parametrize(
    ("build", "parts"),
    [
        (lambda: DigitClassifier(side=5), ["DigitClassifier", "side must be at least 6", "5"]),
        (lambda: WideResNet(10, dropout=1.0), ["WideResNet", "dropout", "below 1"]),
        (lambda: sngan_generator(shortcut="none"), ["shortcut must be one of 'plain', 'learned'", "'none'"]),
        (lambda: sngan_generator(sigma=0.5), ["sigma_min <= sigma <= sigma_max"]),
    ],
)
def test_other_settings_that_make_no_sense_are_refused(build, parts):
    with raises_with(SettingError, *parts):
        build()
