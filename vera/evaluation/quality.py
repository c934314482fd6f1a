"""Image quality of samples: Fréchet and kernel distance from a reference set, and the Inception Score.

All three use one feature network, whose key is part of the metric names (`fid_inception`, `fid_digits`), and
report the number of samples and of reference images. The paper uses 12,800 samples and does not name its
reference; others use the training images. The statistics of a reference set are cached under the fingerprints
of the network and of the images.
"""

import hashlib
import math
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
import torch
from torch import Tensor

from vera.data.files.locations import DataDir
from vera.errors import SettingError
from vera.evaluation.cache import find_cache_folder, load_or_compute, write_cache_file
from vera.evaluation.features import FeatureNetwork, as_bytes
from vera.evaluation.frechet import Moments, frechet_distance, kernel_distance, shuffle_rows
from vera.evaluation.likelihood import Estimate

KERNEL_POINTS = 5_000
"""Number of randomly chosen reference features stored for the kernel distance; the moments use all images."""


@dataclass(frozen=True)
class InceptionScore:
    """Mean and sample deviation over the splits (ddof 1; the published scripts use ddof 0)."""

    mean: float
    deviation: float
    splits: int


def inception_score(probabilities: Tensor, splits: int = 10) -> InceptionScore:
    """Return exp of the mean of KL(p(y|x) ‖ p(y)) in splits of the shuffled images.

    p(y) is the mean over the split. The score ranges from 1 (all predictions are equal) to the number of
    classes (certain predictions, balanced over the classes).
    """
    if not 0 < splits <= len(probabilities):
        raise SettingError(
            f"inception_score: {len(probabilities)} images cannot be divided into {splits} splits."
        )
    scores = [_score(split) for split in shuffle_rows(probabilities.double()).tensor_split(splits)]
    values = torch.stack(scores)
    return InceptionScore(float(values.mean()), float(values.std()) if splits > 1 else math.nan, splits)


def _score(p: Tensor) -> Tensor:
    divergence = torch.xlogy(p, p) - torch.xlogy(p, p.mean(0))
    return divergence.sum(1).mean().exp()


@dataclass(frozen=True)
class Reference:
    """Statistics of a reference set: the moments of the features of all images, and a sample of features."""

    moments: Moments
    sample: Tensor


def compute_reference(network: FeatureNetwork, images: Tensor, data_dir: DataDir = None) -> Reference:
    """Return the statistics of these images, from the cache if they are there."""
    name = f"reference-{network.fingerprint}-{_hash_images(images)}-{len(images)}.npz"
    file = find_cache_folder(data_dir) / name

    def compute() -> Reference:
        reference = _compute_reference(network, images)
        write_cache_file(file, lambda target: _write(target, reference))
        return reference

    return load_or_compute(file, lambda: _read(file, len(images), network.dim), compute)


def _compute_reference(network: FeatureNetwork, images: Tensor) -> Reference:
    """Compute the statistics in chunks; the features of 50,000 images would take 400 MB."""
    chosen = torch.zeros(len(images), dtype=torch.bool)
    chosen[shuffle_rows(torch.arange(len(images)))[:KERNEL_POINTS]] = True
    moments, sample = None, []
    for described, wanted in zip(network.describe_chunks(images), chosen.split(network.chunk), strict=True):
        chunk = Moments.from_features(described.features)
        moments = chunk if moments is None else moments + chunk
        sample.append(described.features[wanted])
    assert moments is not None
    return Reference(moments, torch.cat(sample))


@dataclass(frozen=True)
class ImageQuality:
    """Quality of n samples by one network. `no_score` is the reason if there is no Inception Score."""

    network: str
    key: str
    n: int
    reference_n: int
    fid: float
    kid: Estimate
    score: InceptionScore | None
    no_score: str
    accuracy: float | None

    def metrics(self) -> dict[str, float]:
        """Return the values by name, without the standard error of a KID from a single block."""
        found = {"fid": self.fid, "kid": self.kid.mean}
        if self.kid.n > 1:
            found["kid_se"] = self.kid.standard_error
        if self.score is not None:
            found |= {"score": self.score.mean, "score_deviation": self.score.deviation}
        if self.accuracy is not None:
            found["network_accuracy"] = self.accuracy
        found |= {"quality_samples": float(self.n), "quality_reference": float(self.reference_n)}
        return {f"{name}_{self.key}": value for name, value in found.items()}


def image_quality(network: FeatureNetwork, samples: Tensor, reference: Reference) -> ImageQuality:
    """Return all quality measures of these samples by one network, from one pass."""
    features, probabilities = network.describe(samples)
    return ImageQuality(
        network=network.name,
        key=network.key,
        n=len(samples),
        reference_n=reference.moments.n,
        fid=frechet_distance(Moments.from_features(features), reference.moments),
        kid=kernel_distance(features, reference.sample),
        score=None if probabilities is None else inception_score(probabilities),
        no_score="" if probabilities is not None else network.no_probabilities,
        accuracy=network.accuracy,
    )


def _hash_images(images: Tensor) -> str:
    """Return a hash of the bytes that a network gets, which identifies the images."""
    digest = hashlib.sha256(str(tuple(images.shape)).encode())
    for chunk in images.split(1_000):
        digest.update(as_bytes(chunk).cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()[:16]


def _write(target: BinaryIO, reference: Reference) -> None:
    moments = reference.moments
    np.savez(
        target, mean=moments.mean.numpy(), scatter=moments.scatter.numpy(), sample=reference.sample.numpy()
    )


def _read(file: Path, n: int, dim: int) -> Reference | None:
    """Return None if the file is missing or damaged."""
    try:
        with file.open("rb") as source, np.load(source, allow_pickle=False) as arrays:
            mean, scatter, sample = (torch.from_numpy(arrays[name]) for name in ("mean", "scatter", "sample"))
    except (OSError, EOFError, KeyError, ValueError, zipfile.BadZipFile):
        return None
    fits = (
        mean.shape == (dim,) and scatter.shape == (dim, dim) and sample.shape == (min(n, KERNEL_POINTS), dim)
    )
    return Reference(Moments(n, mean, scatter), sample) if fits else None
