"""Values that generated pages quote from the published tables and rows. Each paper declares its own."""

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from bench.judging.cell import make_cell
from bench.judging.results import read_metrics
from bench.locations import DEFAULT_PROFILE, PUBLISHED
from bench.render.numbers import format_exact, format_interval
from sweeps.store.row import Row
from sweeps.trial.identity import Profile

FOLDER = Path(PUBLISHED) / "tables"


def read_published_table(name: str) -> list[dict[str, str]]:
    """The lines of results/published/tables/NAME.csv; none if there is no such file."""
    file = FOLDER / f"{name}.csv"
    if not file.is_file():
        return []
    with file.open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


@dataclass(frozen=True)
class QuotedTable:
    """A published table at one profile and the column that the pages of methods quote."""

    table: str
    title: str
    metric: str
    digits: int = 1
    profile: Profile = DEFAULT_PROFILE
    dataset: str = ""
    """The value of --dataset, for a table on other data."""
    compared: str = ""
    """The column to compare with the paper's values, if it is not that of `metric`."""
    compared_heading: str = ""

    @property
    def lines(self) -> list[dict[str, str]]:
        """The lines with trials."""
        slug = re.sub("[^a-z0-9]+", "-", self.dataset)
        profile = "" if self.profile == DEFAULT_PROFILE else self.profile
        lines = read_published_table("-".join(filter(None, (self.table, slug, profile))))
        return [line for line in lines if int(line[f"{self.metric}_trials"] or 0)]

    @property
    def command(self) -> str:
        """Runs its trials."""
        dataset = f" --dataset {self.dataset}" if self.dataset else ""
        profile = "" if self.profile == DEFAULT_PROFILE else f" --profile {self.profile}"
        return f"vera run {self.table}{dataset}{profile}"


def describe_mean(line: Mapping[str, str], metric: str, digits: int) -> str:
    """The mean of a line with its interval, or why it has none."""
    mean, half_width = line[metric], line[f"{metric}_half_width"]
    if not mean:
        return line[f"{metric}_reason"]
    return format_interval(float(mean), float(half_width) if half_width else None, digits)


class Quote(Protocol):
    """One value of an artifact."""

    def read(self, table: str, rows: Sequence[Row]) -> tuple[str, str]:
        """(value measured here, value of the paper), from the artifact's published table or its rows. An
        empty text if there is no value."""


@dataclass(frozen=True)
class TableQuote:
    """A value of a published table: the line, given by some of its cells, and the metric. `table` names the
    file if it is not that of the artifact, such as a table on other data. A table that is not published has
    no value to quote; a published table without the line is an error."""

    about: str
    line: Mapping[str, str]
    metric: str
    digits: int
    table: str = ""

    def read(self, table: str, rows: Sequence[Row]) -> tuple[str, str]:
        lines = read_published_table(self.table or table)
        if not lines:
            return "", ""
        (line,) = (line for line in lines if self.line.items() <= line.items())
        mean, half_width, paper = (
            float(text) if (text := line[f"{self.metric}{suffix}"]) else None
            for suffix in ("", "_half_width", "_paper")
        )
        return _format_quote(self.about, mean, half_width, self.digits, paper)


@dataclass(frozen=True)
class TrialQuote:
    """A metric of published trials, averaged over seeds, and the paper's value if there is one."""

    about: str
    label: str
    metric: str
    digits: int
    paper: float | None = None

    def read(self, table: str, rows: Sequence[Row]) -> tuple[str, str]:
        found = [row for row in rows if row.label == self.label]
        cell = make_cell((row.outcome, read_metrics(row).get(self.metric)) for row in found)
        return _format_quote(self.about, cell.mean, cell.half_width, self.digits, self.paper)


def _format_quote(
    about: str, mean: float | None, half_width: float | None, digits: int, paper: float | None
) -> tuple[str, str]:
    here = "" if mean is None else f"{about}: {format_interval(mean, half_width, digits)}"
    return here, "" if paper is None else format_exact(paper)
