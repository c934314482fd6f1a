"""The paper's numbers, as printed there: `bench/values.csv`, one value a line. Nothing else in the code
repeats them."""

import csv
from functools import cache
from pathlib import Path

from vera.errors import VeraError

FILE = Path(__file__).with_name("values.csv")
FIELDS = ("artifact", "dataset", "method", "variant", "metric")


@cache
def paper_values() -> tuple[dict[str, str], ...]:
    with FILE.open(newline="", encoding="utf-8") as file:
        return tuple(csv.DictReader(file))


def paper_value(
    artifact: str, *, dataset: str = "", method: str = "", variant: str = "", metric: str = ""
) -> float:
    """The one value for which all given fields hold; none or several is an error."""
    asked = dict(zip(FIELDS, (artifact, dataset, method, variant, metric), strict=True))
    given = {field: value for field, value in asked.items() if value}
    found = [line for line in paper_values() if all(line[field] == value for field, value in given.items())]
    if len(found) != 1:
        raise VeraError(f"{len(found)} of the paper's values fit {given}; it must be one.")
    return float(found[0]["value"])
