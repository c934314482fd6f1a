"""Energy distance, refinement in batches, chains step by step, samples sorted by class."""

import math

import pytest
import torch
from facts import raises_with
from torch import nn

from vera.errors import SettingError
from vera.evaluation import energy_distance, refine_samples, sort_by_class, trace_chains
from vera.models import WideResNet, sngan_generator
from vera.models.classifier import Classifier
from vera.samplers import LatentRefiner

SHAPE = (3, 8, 8)


class ShadeEnergy(nn.Module):
    """f is high for images close to one shade."""

    def __init__(self, shade=0.5):
        super().__init__()
        self.shade = nn.Parameter(torch.tensor(shade))

    def forward(self, x):
        return -5 * (x - self.shade).flatten(1).square().sum(1)


class ChannelClassifier(Classifier):
    """The logit of a class is the mean of its channel."""

    def __init__(self):
        super().__init__()
        self.classes = 3
        self.scale = nn.Parameter(torch.tensor(10.0))

    def logits(self, x):
        return self.scale * x.mean((2, 3))


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


@pytest.fixture
def refiner():
    generator = sngan_generator(latent_dim=4, side=8, width=8, sigma=0.1)
    return LatentRefiner(ShadeEnergy(), generator)


def test_tuning_brings_the_acceptance_to_its_target(refiner):
    samples = refine_samples(refiner, 60, steps=20, batch=60, tuning_steps=400)
    assert samples.tuned_acceptance == pytest.approx(0.57, abs=0.05)
    assert samples.acceptance == pytest.approx(0.57, abs=0.2)
    assert samples.metrics() == {
        "tuned_acceptance": samples.tuned_acceptance,
        "refinement_acceptance": samples.acceptance,
    }


def test_refinement_raises_f_and_batches_cover_all_samples(refiner):
    samples = refine_samples(refiner, 25, steps=40, batch=10, tuning_steps=200)
    assert samples.generated.shape == samples.refined.shape == (25, *SHAPE)
    with torch.no_grad():
        before, after = (refiner.energy(images) for images in (samples.generated, samples.refined))
    assert (after > before).double().mean() > 0.9
    assert len(samples.refined.unique(dim=0)) == 25


def test_a_wide_resnet_and_an_sngan_generator_can_be_refined():
    generator = sngan_generator(latent_dim=4, side=8, width=4, sigma=0.1)
    samples = refine_samples(
        LatentRefiner(WideResNet(3, depth=10, width=1), generator), 5, steps=2, batch=4, tuning_steps=3
    )
    assert samples.refined.shape == (5, *SHAPE)
    assert samples.refined.isfinite().all()
    assert 0 <= samples.acceptance <= 1


def test_chains_keep_every_step(refiner):
    refiner.tune(16, 200)
    images = trace_chains(refiner, chains=3, steps=12)
    assert images.shape == (3, 13, *SHAPE)
    moved = (images[:, 1:] != images[:, :-1]).flatten(2).any(2).double().mean()
    assert 0.3 < float(moved) < 0.85  # a rejected step leaves the image bit-identical


def test_single_steps_equal_one_chain(refiner):
    refiner.step.value.fill_(1e-3)
    torch.manual_seed(3)
    start = refiner.start(2)
    end, _ = refiner.refine(start, steps=6)
    torch.manual_seed(3)
    images = trace_chains(refiner, chains=2, steps=6)
    torch.testing.assert_close(images[:, 0], refiner.decode(start))
    torch.testing.assert_close(images[:, -1], refiner.decode(end), rtol=1e-4, atol=1e-4)


def test_sort_by_class_orders_by_probability_and_counts_missing_images():
    images = torch.zeros(6, *SHAPE)
    levels = [
        (0, 0.1),
        (2, 0.3),
        (0, 0.5),
        (0, 0.3),
        (2, 0.2),
        (0, 0.05),
    ]  # class and level; class 1 is missing
    for image, (channel, level) in zip(images, levels, strict=True):
        image[channel] = level
    chosen = sort_by_class(ChannelClassifier(), images, per_class=3)
    assert chosen.labels.tolist() == [0, 0, 0, 2, 2]
    assert torch.equal(chosen.images, images[[2, 3, 0, 1, 4]])
    assert chosen.missing.tolist() == [0, 3, 1]
    expected = [math.exp(10 * level) / (math.exp(10 * level) + 2) for level in (0.5, 0.3, 0.1, 0.3, 0.2)]
    assert chosen.probabilities.tolist() == pytest.approx(expected, rel=1e-5)


def test_a_non_finite_image_has_no_class():
    images = torch.zeros(2, *SHAPE)
    images[0, 1] = 0.5
    images[1, 2, 0, 0] = math.nan
    chosen = sort_by_class(ChannelClassifier(), images, per_class=1)
    assert chosen.labels.tolist() == [1]
    assert chosen.missing.tolist() == [1, 0, 1]


def test_counts_of_zero_are_rejected(refiner):
    with raises_with(SettingError, "per_class", "at least 1", "got 0"):
        sort_by_class(ChannelClassifier(), torch.zeros(1, *SHAPE), 0)
    with raises_with(SettingError, "steps", "at least 1", "got 0"):
        trace_chains(refiner, steps=0)


def test_the_energy_distance_of_two_points_is_known():
    """Points at 0 and 1 against a point mass at 0: E|X − Y| = ½, E|X − X'| = 1 between different points."""
    x, y = torch.tensor([[0.0], [1.0]]), torch.tensor([[0.0], [0.0]])
    assert energy_distance(x, y) == pytest.approx(2 * 0.5 - 1.0 - 0.0)


def test_the_energy_distance_of_shifted_normals_has_a_closed_form():
    """In one dimension, of N(0, 1) and N(m, 1): 2 (E|N(m, 2)| − E|N(0, 2)|)."""
    torch.manual_seed(0)
    x, y = torch.randn(3_000, 1), torch.randn(3_000, 1) + 1.0
    mean = 2 / math.sqrt(math.pi)  # E|N(0, 2)|
    shifted = mean * math.exp(-1 / 4) + math.erf(1 / 2)  # E|N(1, 2)|
    assert energy_distance(x, y) == pytest.approx(2 * (shifted - mean), abs=0.05)
    assert energy_distance(x, torch.randn(3_000, 1)) == pytest.approx(0, abs=0.01)
