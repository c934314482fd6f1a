"""The idx format of MNIST: a big-endian header (0, 0, type, rank, one uint32 for each axis), then the values.

Only unsigned bytes (type 8) occur. The checksum of the content has already been verified, so an invalid
header means that the table of checksums is wrong or that the file was never idx. Both raise `DataCorrupt`.
"""

import math
import struct

import numpy as np
import torch
from torch import Tensor

from vera.errors import DataCorrupt

UNSIGNED_BYTE = 8


def parse_idx(content: bytes, where: str) -> Tensor:
    """Return the array of an idx file; `where` names the file in an error."""
    if len(content) < 4 or content[:3] != bytes((0, 0, UNSIGNED_BYTE)):
        raise DataCorrupt(
            f"{where} is not an idx file of unsigned bytes: it starts with {content[:4].hex() or 'nothing'}."
        )
    rank = content[3]
    start = 4 + 4 * rank
    if len(content) < start:
        raise DataCorrupt(f"{where} ends inside its header.")
    shape = struct.unpack(f">{rank}I", content[4:start])
    if len(content) - start != math.prod(shape):
        raise DataCorrupt(
            f"{where} announces {' × '.join(map(str, shape))} values and contains {len(content) - start}."
        )
    return torch.from_numpy(np.frombuffer(content, np.uint8, offset=start).copy()).view(shape)


def encode_idx(values: Tensor) -> bytes:
    """Return an array of unsigned bytes as the content of an idx file."""
    header = struct.pack(f">BBBB{values.ndim}I", 0, 0, UNSIGNED_BYTE, values.ndim, *values.shape)
    return header + values.contiguous().numpy().tobytes()
