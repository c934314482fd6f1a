"""The only module that imports torchvision.

The wheel of torchvision is linked against CUDA. With a CPU build of torch its compiled extension does not
load, two operators are not defined, and the import fails with `operator torchvision::nms does not exist`
while it registers their shapes. Declaring the two operators is enough: data sets, transforms, models and
image grids then work. `ops.nms` and `io.read_image` still do not (read images with PIL).

Trap: an operator is removed when the library object that declares it is garbage-collected, so this module
keeps a reference.
"""

import importlib
from functools import lru_cache
from typing import Any

import torch

_declared: list[torch.library.Library] = []


@lru_cache(maxsize=1)
def load_torchvision() -> Any:
    """Return the torchvision module with its data sets, also on a CPU build of torch."""
    try:
        torchvision = importlib.import_module("torchvision")
    except RuntimeError as error:
        if "torchvision::nms" not in str(error):
            raise
        _declare_missing_operators()
        torchvision = importlib.import_module("torchvision")
    importlib.import_module("torchvision.datasets")
    return torchvision


def _declare_missing_operators() -> None:
    library = torch.library.Library("torchvision", "DEF")
    for name in ("nms", "qnms"):
        library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    _declared.append(library)
