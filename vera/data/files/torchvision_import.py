"""The one place that imports torchvision.

Its wheel is linked against CUDA. Beside a CPU build of torch its compiled part does not load, two operators
are never defined, and the import dies on `operator torchvision::nms does not exist` while it registers their
shapes. Declaring the two is enough: data sets, transforms, models and image grids then work. `ops.nms` and
`io.read_image` still do not (read images with PIL).

Trap: the library object that declares an operator takes it away again when it is collected, so it is kept in
this module.
"""

import importlib
from functools import lru_cache
from typing import Any

import torch

_declared: list[torch.library.Library] = []


@lru_cache(maxsize=1)
def load_torchvision() -> Any:
    """The torchvision module with its data sets, on a CPU build of torch too."""
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
