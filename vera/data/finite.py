"""Points that are not finite are refused once, before anything is trained; else the method would seem to have
diverged."""

import math

from torch import Tensor

from vera.errors import DataCorrupt
from vera.wording import plural


def refuse_unfinite(x: Tensor, name: str, part: str) -> None:
    """Name the data set, how many points, and the first of them. One pass and no copy where all is well."""
    if (
        not x.is_floating_point() or not x.numel() or all(math.isfinite(end) for end in x.aminmax())
    ):  # a NaN is either end
        return
    wrong = x.flatten(1).isfinite().logical_not()
    rows = wrong.any(1).nonzero().flatten()
    first = int(rows[0])
    value, count = (
        float(x.flatten(1)[first][wrong[first]][0]),
        plural(len(rows), f"{part} point"),
    )
    raise DataCorrupt(
        f"The data set '{name}' has {count} not finite in single precision, the first in row {first} ({value:g}): "
        "fill in such values, or leave their rows out."
    )
