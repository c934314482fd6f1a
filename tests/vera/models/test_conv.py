"""Convolutional networks for images of any size."""

import pytest
import torch
from facts import raises_with

from vera.errors import SettingError
from vera.models import ConvEnergy, DCGANEnergy, conv_generator
from vera.models.conv import find_margins


@pytest.mark.parametrize("size", [(8, 8), (28, 28), (5, 17), (1, 1), (128, 3)])
def test_networks_take_and_make_images_of_any_size(size):
    x = torch.randn(3, 2, *size)
    assert ConvEnergy(2, *size, maps=2)(x).shape == (3,)
    generator = conv_generator(2, *size, latent_dim=4, maps=2)
    assert generator.sample(3).shape == x.shape
    assert generator(torch.randn(3, 4)).abs().max() <= 1


def test_an_image_lies_in_the_middle_of_the_smallest_square():
    assert find_margins(28, 28) == (32, (2, 2, 2, 2))
    assert find_margins(5, 8) == (8, (0, 0, 1, 2))
    assert find_margins(9, 3) == (16, (6, 7, 3, 4))


def test_an_image_of_the_full_square_gives_the_energy_of_dcgan():
    energy = ConvEnergy(1, 16, 16, maps=4)
    plain = DCGANEnergy(1, 16, 4)
    plain.load_state_dict(energy.net.state_dict())
    x = torch.randn(5, 1, 16, 16)
    assert torch.equal(energy(x), plain(x))


def test_every_pixel_counts():
    x = torch.randn(1, 1, 5, 9, requires_grad=True)
    ConvEnergy(1, 5, 9, maps=8)(x).sum().backward()
    assert (x.grad != 0).all()


def test_larger_images_are_refused():
    with raises_with(SettingError, "ConvEnergy", "height", "128", "129"):
        ConvEnergy(1, 129, 8)
