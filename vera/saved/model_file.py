"""Model files: safetensors, written atomically, the same bytes for the same model.

A safetensors file is a JSON header (names, dtypes, shapes, and strings as metadata) and the bytes of all
tensors. It cannot contain code. Trap: the library writes the metadata in random order, so the header is
written again with sorted keys.
"""

import io
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import safetensors.torch
import torch
from safetensors import SafetensorError
from torch import Tensor

from vera.atomic_write import write_atomically
from vera.errors import ModelFileError
from vera.saved.facts import write_json

MAX_HEADER = 2**24
"""Maximum size of a header in bytes."""
ALIGNMENT = 8


@contextmanager
def report_file(path: str | Path) -> Iterator[None]:
    """Turn every error inside the block into a `ModelFileError` that names the file and the reason."""
    try:
        yield
    except ModelFileError:
        raise
    except (MemoryError, torch.OutOfMemoryError):
        raise  # says nothing about the file
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read: {error.strerror or error}.") from error
    except Exception as error:  # a damaged file can make any parser raise anything
        reason = (str(error) or type(error).__name__).splitlines()[0].rstrip(".")
        raise ModelFileError(f"{path} cannot be loaded: {reason}.") from error


def encode_model(tensors: Mapping[str, Tensor], metadata: Mapping[str, str]) -> bytes:
    """The content of a model file."""
    plain = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()}
    encoded = safetensors.torch.save(plain)
    start = ALIGNMENT + int.from_bytes(encoded[:ALIGNMENT], "little")
    described = json.loads(encoded[ALIGNMENT:start])
    header = write_json({**described, "__metadata__": dict(metadata)}).encode()
    header += b" " * (-len(header) % ALIGNMENT)
    if len(header) > MAX_HEADER:
        raise ModelFileError(f"The description of the model takes {len(header):,} bytes, which is too much.")
    return len(header).to_bytes(ALIGNMENT, "little") + header + encoded[start:]


def write_file(path: Path, content: bytes) -> None:
    """Write a model file or a file beside it. If that fails, an earlier file at this path is unchanged."""
    if not path.name:
        raise ModelFileError(f"A model needs a file name, got '{path}'.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with write_atomically(path) as file:
            file.write(content)
    except OSError as error:
        reason = error.strerror or str(error)
        raise ModelFileError(f"{path} cannot be written ({reason}); an earlier file is unchanged.") from error


def read_model_file(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """The tensors, on the CPU, and the metadata of a file. Only its header is read if that is not ours."""
    if not path.is_file():
        raise ModelFileError(f"There is no model file {path}.")
    with report_file(path), path.open("rb") as file:
        return _read(file, os.fstat(file.fileno()).st_size)


def decode_model_file(content: bytes, name: str) -> tuple[dict[str, Tensor], dict[str, str]]:
    """The tensors, on the CPU, and the metadata of a file with this content; errors call it by this name."""
    with report_file(name):
        return _read(io.BytesIO(content), len(content))


def _read(file: BinaryIO, size: int) -> tuple[dict[str, Tensor], dict[str, str]]:
    metadata = _get_metadata(_read_header(file.read(ALIGNMENT), file, size))
    file.seek(0)
    try:
        return dict(sorted(safetensors.torch.load(file.read()).items())), metadata
    except (SafetensorError, KeyError, RuntimeError) as error:
        raise ValueError(f"it is truncated or damaged ({error})") from error


def _read_header(prefix: bytes, file: Any, size: int) -> Any:
    length = int.from_bytes(prefix, "little")
    if len(prefix) < ALIGNMENT or not 2 <= length <= min(size - ALIGNMENT, MAX_HEADER):
        raise ValueError("it is not a safetensors file, or it is truncated")
    try:
        return json.loads(file.read(length))
    except (ValueError, RecursionError) as error:
        raise ValueError("it is not a safetensors file: its header is not valid JSON") from error


def _get_metadata(header: Any) -> dict[str, str]:
    metadata = header.get("__metadata__", {}) if isinstance(header, dict) else None
    if not isinstance(metadata, dict) or not all(isinstance(text, str) for text in metadata.values()):
        raise ValueError("its metadata are not strings")
    return metadata
