"""Image quality: closed forms of the Inception Score, cached reference statistics, metrics of samples."""

import math
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from facts import raises_with

from vera.errors import SettingError
from vera.evaluation import (
    Description,
    FeatureNetwork,
    Moments,
    compute_reference,
    frechet_distance,
    image_quality,
    inception_score,
)
from vera.evaluation.frechet import shuffle_rows

CLASSES = 10


class PixelFeatures(FeatureNetwork):
    """Uses pixels as features and their softmax as probabilities; counts the images that it describes."""

    name, key, dim, chunk, fingerprint = "pixels", "pixels", 12, 30, "0123456789abcdef"

    def __init__(self, certain=True):
        self.certain, self.described = certain, 0
        self.no_probabilities = "" if certain else "no probabilities in this test"

    def describe_batch(self, pixels):
        self.described += len(pixels)
        features = pixels.flatten(1).float() / 255
        return Description(features, features.softmax(1) if self.certain else None)


@pytest.fixture(autouse=True)
def seeded(tmp_path, monkeypatch):
    torch.manual_seed(0)
    monkeypatch.setenv("VERA_CACHE", str(tmp_path / "cache"))


def images(n):
    return torch.rand(n, 3, 2, 2) * 2 - 1


def published(p, splits):
    """Return mean and deviation as in the usual script, in numpy."""
    scores = []
    for split in np.array_split(p, splits):
        divergence = split * (np.log(split) - np.log(split.mean(0, keepdims=True)))
        scores.append(np.exp(divergence.sum(1).mean()))
    return np.mean(scores), np.std(scores, ddof=1)


def test_the_score_of_uniform_predictions_is_one():
    score = inception_score(torch.full((200, CLASSES), 1 / CLASSES))
    assert score.mean == pytest.approx(1)
    assert score.deviation == pytest.approx(0, abs=1e-12)


def test_the_score_of_certain_and_balanced_predictions_is_the_number_of_classes():
    assert inception_score(torch.eye(CLASSES).repeat(20, 1), splits=1).mean == pytest.approx(CLASSES)
    assert inception_score(torch.eye(CLASSES)[torch.zeros(50, dtype=torch.long)]).mean == pytest.approx(1)


def test_the_score_is_the_exponential_of_the_mutual_information():
    """Half the images are certainly class 0, half are undecided between two others: ln 2 for each half."""
    p = torch.tensor([[1.0, 0, 0], [0, 0.5, 0.5]]).repeat(30, 1)
    q = torch.tensor([0.5, 0.25, 0.25])
    information = 0.5 * math.log(1 / q[0]) + 0.5 * math.log(0.5 / q[1])
    assert inception_score(p, splits=1).mean == pytest.approx(math.exp(information))


@pytest.mark.parametrize("splits", [2, 10])
def test_the_score_agrees_with_the_published_script(splits):
    p = torch.randn(503, CLASSES).mul(2).double().softmax(1)
    mean, deviation = published(shuffle_rows(p).numpy(), splits)
    score = inception_score(p, splits)
    assert (score.mean, score.deviation) == pytest.approx((mean, deviation), rel=1e-9)


def test_the_score_is_independent_of_sorting_by_class():
    """Without shuffling, each split would contain one class and score 1."""
    p = torch.eye(CLASSES).repeat_interleave(100, 0)
    assert inception_score(p).mean > 8.5


def test_a_nan_probability_gives_a_nan_score():
    p = torch.full((40, CLASSES), 0.1)
    p[3] = math.nan
    assert math.isnan(inception_score(p).mean)
    with raises_with(SettingError, "inception_score", "5 images", "10 splits"):
        inception_score(p[:5])


def test_a_reference_has_the_moments_of_all_images():
    x = images(101)
    reference = compute_reference(PixelFeatures(), x)
    expected = Moments.from_features(PixelFeatures().features(x))
    assert reference.moments.n == 101
    torch.testing.assert_close(reference.moments.mean, expected.mean)
    torch.testing.assert_close(reference.moments.scatter, expected.scatter)
    assert torch.equal(reference.sample, PixelFeatures().features(x))


def test_a_reference_stores_features_sampled_from_the_whole_set(monkeypatch):
    monkeypatch.setattr("vera.evaluation.quality.KERNEL_POINTS", 40)
    x = torch.linspace(-1, 1, 400).view(-1, 1, 1, 1).expand(-1, 3, 2, 2)
    sample = compute_reference(PixelFeatures(), x).sample
    assert sample.shape == (40, 12)
    assert 0.3 < float(sample.mean()) < 0.7


def test_a_reference_is_computed_once(tmp_path):
    x, network = images(100), PixelFeatures()
    first, second = compute_reference(network, x), compute_reference(network, x)
    assert network.described == 100
    assert torch.equal(first.moments.scatter, second.moments.scatter)
    assert torch.equal(first.sample, second.sample)
    (file,) = (tmp_path / "cache").iterdir()
    assert file.name.startswith("reference-0123456789abcdef-")
    assert file.name.endswith("-100.npz")
    assert str(tmp_path).encode() not in file.read_bytes()


def test_concurrent_callers_compute_a_reference_once(tmp_path):
    class SlowFeatures(PixelFeatures):
        def describe_batch(self, pixels):
            time.sleep(0.3)
            return super().describe_batch(pixels)

    x, network = images(100), SlowFeatures()
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda _: compute_reference(network, x), range(2))
    assert network.described == 100
    assert torch.equal(first.moments.scatter, second.moments.scatter)
    assert [file.suffix for file in (tmp_path / "cache").iterdir()] == [".npz"]


def test_other_images_or_another_network_have_another_reference(tmp_path):
    x, network = images(100), PixelFeatures()
    other = x.clone()
    other[50, 0, 0, 0] = -other[50, 0, 0, 0]
    compute_reference(network, x)
    assert not torch.equal(
        compute_reference(network, other).moments.mean, compute_reference(network, x).moments.mean
    )
    network.fingerprint = "fedcba9876543210"
    compute_reference(network, x)
    assert network.described == 300
    assert len(list((tmp_path / "cache").iterdir())) == 3


@pytest.mark.parametrize("damage", ["cut", "changed", "empty", "another"])
def test_a_damaged_file_is_computed_again(tmp_path, damage):
    x, network = images(60), PixelFeatures()
    whole = compute_reference(network, x)
    (file,) = (tmp_path / "cache").iterdir()
    content, half = file.read_bytes(), file.stat().st_size // 2
    changed = content[:half] + bytes([content[half] ^ 0xFF]) + content[half + 1 :]
    file.write_bytes({"cut": content[:-50], "changed": changed, "empty": b"", "another": b"nothing"}[damage])
    assert torch.equal(compute_reference(network, x).moments.scatter, whole.moments.scatter)
    assert network.described == 120
    compute_reference(network, x)
    assert network.described == 120


def test_an_unwritable_folder_disables_the_cache(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("VERA_CACHE", str(tmp_path / "file" / "cache"))
    x, network = images(20), PixelFeatures()
    assert compute_reference(network, x).moments.n == 20
    assert compute_reference(network, x).moments.n == 20
    assert network.described == 40


def test_quality_of_the_reference_itself():
    x, network = images(2_500), PixelFeatures()
    network.accuracy = 0.75
    quality = image_quality(network, x, compute_reference(network, x))
    assert quality.fid < 1e-10
    assert quality.kid.n == 2
    metrics = quality.metrics()
    assert metrics["score_pixels"] == inception_score(network.probabilities(x)).mean
    assert metrics["quality_samples_pixels"] == metrics["quality_reference_pixels"] == 2_500
    assert metrics["network_accuracy_pixels"] == 0.75
    names = [
        "fid",
        "kid",
        "kid_se",
        "score",
        "score_deviation",
        "network_accuracy",
        "quality_samples",
        "quality_reference",
    ]
    assert set(metrics) == {f"{name}_pixels" for name in names}


def test_quality_without_probabilities_gives_the_reason():
    network = PixelFeatures(certain=False)
    quality = image_quality(network, images(50), compute_reference(network, images(80)))
    assert quality.score is None
    assert quality.no_score == "no probabilities in this test"
    assert {"fid_pixels", "kid_pixels"} < set(quality.metrics())
    assert not {"score_pixels", "kid_se_pixels", "network_accuracy_pixels"} & set(quality.metrics())


def test_quality_of_shifted_images_is_the_distance_of_moments():
    x, y, network = images(300), images(200) * 0.5, PixelFeatures()
    quality = image_quality(network, y, compute_reference(network, x))
    expected = frechet_distance(
        Moments.from_features(network.features(y)), Moments.from_features(network.features(x))
    )
    assert quality.fid == pytest.approx(expected, rel=1e-10)
    assert quality.fid > 0.1


def test_a_nan_sample_gives_nan_metrics():
    network, samples = PixelFeatures(), images(50)
    samples[7, 0, 0, 0] = math.nan
    metrics = image_quality(network, samples, compute_reference(network, images(50))).metrics()
    assert all(math.isnan(metrics[f"{name}_pixels"]) for name in ("fid", "kid", "score"))
