"""How good samples are as images: Fréchet distance and kernel distance from a reference set, and the
Inception Score.

All three are of one feature network, whose key stands in the names of the metrics (`fid_inception`,
`fid_digits`), and of a stated number of samples and reference images. The paper has 12,800 samples and does
not name its reference; the training images are what others take. The statistics of a reference set are kept,
under the fingerprints of the network and of the images themselves.
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
"""Features of a reference set that are kept for the kernel distance, chosen at random; the moments are those
of all images."""


@dataclass(frozen=True)
class InceptionScore:
    """Mean and sample deviation (ddof 1; the published scripts divide by the number of splits) over the
    splits."""

    mean: float
    deviation: float
    splits: int


def inception_score(probabilities: Tensor, splits: int = 10) -> InceptionScore:
    """exp of the mean of KL(p(y|x) ‖ p(y)), in each of the splits of the shuffled images, whose own mean is
    their p(y).

    Between 1 (every image gets the same answer) and the number of classes (certain answers, equally many of
    each).
    """
    if not 0 < splits <= len(probabilities):
        raise SettingError(
            f"inception_score: {len(probabilities)} images cannot be cut into {splits} splits."
        )
    scores = [_score(part) for part in shuffle_rows(probabilities.double()).tensor_split(splits)]
    values = torch.stack(scores)
    return InceptionScore(float(values.mean()), float(values.std()) if splits > 1 else math.nan, splits)


def _score(p: Tensor) -> Tensor:
    divergence = torch.xlogy(p, p) - torch.xlogy(p, p.mean(0))
    return divergence.sum(1).mean().exp()


@dataclass(frozen=True)
class Reference:
    """What samples are compared with: the moments of all reference images' features, and some of the features
    themselves."""

    moments: Moments
    sample: Tensor


def compute_reference(network: FeatureNetwork, images: Tensor, data_dir: DataDir = None) -> Reference:
    """The statistics of these images: as they were kept, or worked out now and kept."""
    file = (
        find_cache_folder(data_dir) / f"reference-{network.fingerprint}-{_digest(images)}-{len(images)}.npz"
    )

    def make() -> Reference:
        reference = _work_out(network, images)
        write_cache_file(file, lambda target: _write(target, reference))
        return reference

    return load_or_compute(file, lambda: _read(file, len(images), network.dim), make)


def _work_out(network: FeatureNetwork, images: Tensor) -> Reference:
    """Chunk after chunk: the features of 50,000 images would take 400 MB."""
    chosen = torch.zeros(len(images), dtype=torch.bool)
    chosen[shuffle_rows(torch.arange(len(images)))[:KERNEL_POINTS]] = True
    moments, sample = None, []
    for part, wanted in zip(network.describe_chunks(images), chosen.split(network.chunk), strict=True):
        some = Moments.from_features(part.features)
        moments = some if moments is None else moments + some
        sample.append(part.features[wanted])
    assert moments is not None
    return Reference(moments, torch.cat(sample))


@dataclass(frozen=True)
class ImageQuality:
    """Of n samples, by one network. `blank` says why there is no score where there is none."""

    network: str
    key: str
    n: int
    reference_n: int
    fid: float
    kid: Estimate
    score: InceptionScore | None
    blank: str
    accuracy: float | None

    def metrics(self) -> dict[str, float]:
        """By name. The standard error of a kernel distance of a single block does not exist and is left
        out."""
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
    """Everything that one network says of these samples, from one pass."""
    features, probabilities = network.describe(samples)
    return ImageQuality(
        network=network.name,
        key=network.key,
        n=len(samples),
        reference_n=reference.moments.n,
        fid=frechet_distance(Moments.from_features(features), reference.moments),
        kid=kernel_distance(features, reference.sample),
        score=None if probabilities is None else inception_score(probabilities),
        blank="" if probabilities is not None else network.no_probabilities,
        accuracy=network.accuracy,
    )


def _digest(images: Tensor) -> str:
    """Of the bytes that a network sees, so that no name can stand for other images than it did."""
    digest = hashlib.sha256(str(tuple(images.shape)).encode())
    for part in images.split(1_000):
        digest.update(as_bytes(part).cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()[:16]


def _write(target: BinaryIO, reference: Reference) -> None:
    moments = reference.moments
    np.savez(
        target, mean=moments.mean.numpy(), scatter=moments.scatter.numpy(), sample=reference.sample.numpy()
    )


def _read(file: Path, n: int, dim: int) -> Reference | None:
    """None unless the file is there and whole."""
    try:
        with file.open("rb") as source, np.load(source, allow_pickle=False) as arrays:
            mean, scatter, sample = (torch.from_numpy(arrays[name]) for name in ("mean", "scatter", "sample"))
    except (OSError, EOFError, KeyError, ValueError, zipfile.BadZipFile):
        return None
    fits = (
        mean.shape == (dim,) and scatter.shape == (dim, dim) and sample.shape == (min(n, KERNEL_POINTS), dim)
    )
    return Reference(Moments(n, mean, scatter), sample) if fits else None
