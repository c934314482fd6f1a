"""The values that a paper prints, read from a CSV file with one value in each line.

Its columns are artifact, dataset, method, variant, metric and value. A second paper uses the same class with
its own file.
"""

import csv
from functools import cached_property
from pathlib import Path
from typing import Any

from bench.experiment import DataSetting, Line
from vera.errors import VeraError

NOT_AVAILABLE = "N/A"
"""Printed by a paper where a method has no value."""


class PrintedValue(float):
    """A value of a paper that knows its line in the file."""

    number: int
    """The position of its line in `PaperValues.entries`."""

    def __new__(cls, text: str, number: int) -> "PrintedValue":
        value = super().__new__(cls, text)
        value.number = number
        return value

    def __deepcopy__(self, memo: dict[int, Any]) -> "PrintedValue":
        """Itself, which never changes; `dataclasses.asdict` copies values that it does not know."""
        return self


class PaperValues:
    """The values of one paper, found by any of their fields. A field that is not given may have any value."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @cached_property
    def entries(self) -> tuple[dict[str, str], ...]:
        """Every line of the file."""
        with self.path.open(newline="", encoding="utf-8") as file:
            return tuple(csv.DictReader(file))

    def read_text(self, artifact: str, **fields: str) -> str:
        """The one value with these fields, as it is printed; `VeraError` if there is none or several."""
        return self.entries[self.find_number(artifact, **fields)]["value"]

    def find_number(self, artifact: str, **fields: str) -> int:
        """The position of the one value with these fields; `VeraError` if there is none or several."""
        found = self._select(artifact, **fields)
        if len(found) != 1:
            raise VeraError(
                f"{self.path.name} has {len(found)} values for {artifact}, {fields}; one is needed."
            )
        return found[0]

    def read_value(self, artifact: str, **fields: str) -> PrintedValue:
        """The one value with these fields; `VeraError` if there is none or several."""
        number = self.find_number(artifact, **fields)
        return PrintedValue(self.entries[number]["value"], number)

    def find(self, artifact: str, **fields: str) -> PrintedValue | None:
        """The value with these fields; None if the paper has none or prints N/A."""
        found = self._select(artifact, **fields)
        if not found or self.read_text(artifact, **fields) == NOT_AVAILABLE:
            return None
        return self.read_value(artifact, **fields)

    def find_for(
        self, artifact: str, line: Line | None, data: DataSetting, **fields: str
    ) -> PrintedValue | None:
        """The value of a line on a data set. None if the paper has none, and for a method of a plug-in."""
        if line is None or line.reference is None or data.reference is None:
            return None
        return self.find(artifact, dataset=data.reference, **{**line.reference, **fields})

    def _select(self, artifact: str, **fields: str) -> list[int]:
        """The positions of the values with these fields."""
        wanted = {"artifact": artifact, **fields}
        if unknown := sorted({*wanted} - {*self.entries[0]}):
            raise VeraError(f"{self.path.name} has no column {', '.join(unknown)}.")
        return [number for number, entry in enumerate(self.entries) if wanted.items() <= entry.items()]
