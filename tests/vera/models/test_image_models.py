"""Image networks: shapes, plain forms of the architectures, gradients of gradients, invalid settings."""

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
    DCGANClassifier,
    DCGANEnergy,
    DigitClassifier,
    WideResNet,
    dcgan_generator,
    has_hessian,
    sngan_generator,
)
from vera.models.wrn import average_cells


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


def make_wrn(dropout_rate: float = 0.0) -> WideResNet:
    return WideResNet(3, depth=10, width=1, dropout=dropout_rate)


def make_images(n: int = 3, height: int = 8, width: int = 8, channels: int = 3) -> torch.Tensor:
    return torch.rand(n, channels, height, width) * 2 - 1


# Shapes


@pytest.mark.parametrize(
    ("height", "width"), [(32, 32), (39, 32), (32, 39), (64, 64), (28, 28), (8, 8), (1, 1)]
)
def test_a_wide_resnet_takes_images_of_any_size(height, width):
    model, x = make_wrn(), make_images(2, height, width)
    assert model.logits(x).shape == (2, 3)
    assert model(x).shape == (2,)


@pytest.mark.parametrize(("depth", "width"), [(10, 3), (16, 1), (28, 2)])
def test_depth_counts_all_convolutions_and_width_the_maps(depth, width):
    with torch.device("meta"):
        model = WideResNet(10, depth, width)
    convolutions = [m for m in model.modules() if isinstance(m, nn.Conv2d)]
    # At width 1 the first group has as many maps as its input, so it has no shortcut.
    assert len(convolutions) == depth - (width == 1)
    assert model.output.in_features == 64 * width


@pytest.mark.parametrize("side", [8, 16, 32, 64])
def test_the_dcgan_energy_maps_an_image_to_one_number(side):
    energy = DCGANEnergy(side=side, width=2)
    assert energy(make_images(2, side, side)).shape == (2,)
    assert energy(make_images(1, side, side)).shape == (1,)
    assert len([m for m in energy.modules() if isinstance(m, nn.Conv2d)]) == math.log2(side / 4) + 1


@pytest.mark.parametrize("side", [8, 16, 32])
def test_the_dcgan_classifier_is_the_energy_with_an_output_for_each_class(side):
    classifier = DCGANClassifier(5, 1, side, width=2)
    energies = [DCGANEnergy(1, side, width=2) for _ in range(5)]
    *shared, (name, outputs) = classifier.net.state_dict().items()
    for energy, output in zip(energies, outputs, strict=True):
        energy.net.load_state_dict({**dict(shared), name: output.unsqueeze(0)})
    x = make_images(3, side, side, channels=1)
    expected = torch.stack([energy(x) for energy in energies], dim=1)
    torch.testing.assert_close(classifier.logits(x), expected)


@pytest.mark.parametrize("side", [6, 28, 32, 64])
def test_the_digit_classifier_takes_grey_images(side):
    assert DigitClassifier(side=side).logits(make_images(2, side, side, channels=1)).shape == (2, 10)


@pytest.mark.parametrize(
    "model", [make_wrn, lambda: DigitClassifier(side=8), lambda: DCGANClassifier(3, side=8)]
)
def test_f_is_the_logsumexp_of_the_logits(model):
    model = model().eval()
    x = make_images(channels=1 if isinstance(model, DigitClassifier) else 3)
    assert torch.allclose(model(x), model.logits(x).exp().sum(1).log())


@pytest.mark.parametrize("energy", [make_wrn, lambda: DCGANEnergy(side=8, width=4)])
def test_f_of_one_image_does_not_depend_on_the_others(energy):
    energy, x = energy(), make_images(5)
    assert not [m for m in energy.modules() if isinstance(m, _BatchNorm)]
    assert torch.allclose(energy(x)[:1], energy(x[:1]), atol=1e-6)


# Plain forms of the architectures


def plain_wrn_logits(model, x):
    """Return the logits of WRN-10-1 as in the published code, computed from the weights."""
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
def test_the_wide_resnet_equals_its_plain_form(dropout_rate, height):
    model, x = make_wrn(dropout_rate).double(), make_images(2, height, 32).double()
    torch.manual_seed(1)
    found = model.logits(x)
    torch.manual_seed(1)
    assert torch.allclose(found, plain_wrn_logits(model, x), atol=1e-12)


def test_surplus_rows_and_columns_of_the_last_map_are_ignored():
    x = torch.randn(2, 4, 10, 9)
    assert torch.allclose(average_cells(x), avg_pool2d(x, 8)[:, :, 0, 0], atol=1e-6)
    assert torch.equal(average_cells(x), average_cells(x[:, :, :8, :8]))


@pytest.mark.parametrize("shape", [(8, 8), (2, 2), (7, 5), (2, 8), (16, 16), (16, 8)])
def test_maps_of_whole_cells_or_smaller_are_averaged_completely(shape):
    x = torch.randn(2, 4, *shape)
    assert torch.allclose(average_cells(x), x.mean((2, 3)), atol=1e-6)


def test_the_digit_classifier_clamps_and_normalises_pixels():
    model, seen = DigitClassifier(side=8).eval(), []
    model.net.register_forward_pre_hook(lambda module, inputs: seen.append(inputs[0]))
    for value in (-1.0, 1.0, 5.0):
        model.logits(torch.full((1, 1, 8, 8), value))
    expected = [-0.1307 / 0.3081, (1 - 0.1307) / 0.3081, (1 - 0.1307) / 0.3081]
    assert [x.unique().item() for x in seen] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("model", "channels"), [(lambda: make_wrn(0.3), 3), (lambda: DigitClassifier(side=8), 1)]
)
def test_dropout_is_active_in_training_only(model, channels):
    model, x = model(), make_images(channels=channels)
    assert not torch.equal(model(x), model(x))
    model.eval()
    assert torch.equal(model(x), model(x))


# Gradients of gradients

ENERGIES = {
    "wrn": (make_wrn, 3),
    "wrn with dropout": (lambda: make_wrn(0.3), 3),
    "dcgan": (lambda: DCGANEnergy(side=8, width=4), 3),
    "dcgan classifier": (lambda: DCGANClassifier(3, side=8, width=4), 3),
    "digit classifier": (lambda: DigitClassifier(classes=3, side=8), 1),
}


def penalised_loss(energy, x):
    """Return a loss of f and ∇f as in a step with a gradient penalty, with the same dropout in each call."""
    torch.manual_seed(1)
    _, f, slope = differentiable_gradient(energy, x)
    return 0.1 * squared_norm(slope).mean() - f.mean()


@pytest.mark.parametrize("name", ENERGIES)
def test_the_gradient_of_a_penalised_loss_matches_finite_differences(name):
    build, channels = ENERGIES[name]
    energy, x, h = build().double(), make_images(channels=channels).double(), 1e-6
    weights = list(energy.parameters())
    for weight, slope in zip(weights, torch.autograd.grad(penalised_loss(energy, x), weights), strict=True):
        direction, values = torch.randn_like(weight), []
        for sign in (1, -1):
            with torch.no_grad():
                weight.add_(direction, alpha=sign * h)
            values.append(penalised_loss(energy, x).item())
            with torch.no_grad():
                weight.sub_(direction, alpha=sign * h)
        expected = (values[0] - values[1]) / (2 * h)
        assert (slope * direction).sum().item() == pytest.approx(expected, rel=1e-5, abs=1e-8)


@pytest.mark.parametrize("name", ["wrn", "dcgan"])
def test_the_gradient_in_x_matches_finite_differences(name):
    energy, x = ENERGIES[name][0]().double(), make_images(1).double().requires_grad_(True)
    assert torch.autograd.gradcheck(energy, x)


def test_networks_declare_whether_f_is_piecewise_linear():
    x = make_images(1).double()
    for energy in (
        make_wrn().double(),
        DCGANEnergy(side=8, width=4).double(),
        DCGANClassifier(3, side=8, width=4).double(),
    ):
        leaf, _, slope = differentiable_gradient(energy, x)
        curvature = (
            torch.autograd.grad(slope.sum(), leaf, allow_unused=True)[0] if slope.requires_grad else None
        )
        assert has_hessian(energy) == bool(curvature is not None and curvature.any())


# Initialisation, seeds, settings


@pytest.mark.parametrize(
    "build", [lambda: WideResNet(10, 10, 4), lambda: DCGANEnergy(side=32), lambda: DigitClassifier(side=28)]
)
def test_energies_use_the_default_initialisation(build):
    for layer in build().modules():
        if isinstance(layer, nn.Conv2d | nn.Linear):
            bound = 1 / math.sqrt(layer.weight[0].numel())
            assert layer.weight.abs().max() <= bound
            assert layer.weight.std().item() == pytest.approx(bound / math.sqrt(3), rel=0.1)
            assert layer.bias is None or layer.bias.any()


@pytest.mark.parametrize(
    "build",
    [
        make_wrn,
        lambda: DCGANEnergy(side=8),
        lambda: sngan_generator(side=8, width=8),
        lambda: dcgan_generator(side=8),
    ],
)
def test_the_seed_determines_all_weights(build):
    states = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        states.append(dict(build().state_dict()))
    assert find_differences(states[0], states[1]) == []
    assert find_differences(states[0], states[2])


@pytest.mark.parametrize("depth", [4, 9, 11, 27])
def test_an_invalid_depth_is_rejected(depth):
    with raises_with(SettingError, "WideResNet", "depth", "22, 28", f"got {depth}"):
        WideResNet(10, depth=depth)


@pytest.mark.parametrize("build", [sngan_generator, dcgan_generator, DCGANEnergy])
@pytest.mark.parametrize("side", [4, 28, 48])
def test_an_invalid_side_is_rejected(build, side):
    with raises_with(SettingError, "side", "8, 16, 32, 64", f"got {side}"):
        build(side=side)


@pytest.mark.parametrize(
    ("build", "facts"),
    [
        (lambda: DigitClassifier(side=5), ["DigitClassifier", "side", "at least 6", "got 5"]),
        (lambda: WideResNet(10, dropout=1.0), ["WideResNet", "dropout", "below 1", "got 1.0"]),
        (lambda: sngan_generator(shortcut="none"), ["shortcut", "'plain', 'learned'", "'none'"]),
        (lambda: sngan_generator(sigma=0.5), ["sigma_min <= sigma <= sigma_max", "0.01, 0.5, 0.3"]),
    ],
)
def test_other_invalid_settings_are_rejected(build, facts):
    with raises_with(SettingError, *facts):
        build()
