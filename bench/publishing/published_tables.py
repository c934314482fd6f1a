"""The published tables as CSV."""

import csv
from pathlib import Path

from bench.locations import PUBLISHED

FOLDER = Path(PUBLISHED) / "tables"


def read_published_table(name: str) -> list[dict[str, str]]:
    """The lines of results/published/tables/NAME.csv; none if there is no such file."""
    file = FOLDER / f"{name}.csv"
    if not file.is_file():
        return []
    with file.open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))
