"""Published tables as Markdown, next to the paper's values, and metrics of trials by label and profile. Loads
neither torch nor ray."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bench.catalogue import catalogue
from bench.judging.cell import make_cell
from bench.judging.results import Results, read_metrics
from bench.publishing.markdown import render_grid, render_template
from bench.publishing.quotes import QuotedTable, describe_mean
from bench.render.numbers import format_exact, format_interval
from sweeps.store.row import Row

KEYS = ("dataset", "unseen", "measure", "classifier", "method")
"""Columns that say what a line is."""


def render_tables(tables: Iterable[QuotedTable]) -> str:
    """All lines of these tables. A table of `paper` without trials is left out."""
    described = [
        describe_table(quoted, quoted.lines) for quoted in tables if quoted.lines or quoted.profile != "paper"
    ]
    return render_template("numbers", tables=described, note="")


def describe_table(quoted: QuotedTable, lines: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    """What the template `numbers` needs to print these lines of a table."""
    keys = [key for key in KEYS if lines and key in lines[0]]
    compared = [quoted.compared_heading] if quoted.compared else []
    return {
        "title": quoted.title,
        "command": quoted.command,
        "head": [*keys, "here", "n", *compared, "paper"],
        "lines": [[*(line[key] for key in keys), *_describe_values(line, quoted)] for line in lines],
    }


def _describe_values(line: Mapping[str, str], quoted: QuotedTable) -> list[str]:
    """Mean and interval or why there is none, seeds, the value to compare, the paper's value."""
    paper = line[f"{quoted.compared or quoted.metric}_paper"]
    return [
        describe_mean(line, quoted.metric, quoted.digits),
        f"{line[f'{quoted.metric}_n']} of {line[f'{quoted.metric}_trials']}",
        *([describe_mean(line, quoted.compared, quoted.digits)] if quoted.compared else []),
        format_exact(float(paper)) if paper else "",
    ]


def render_trials(
    rows: Mapping[str, Sequence[Row]], labels: Iterable[str], metrics: Mapping[str, tuple[str, int]]
) -> str:
    """A line per label, and for each metric a column per profile. `rows` are given by profile, `metrics` are
    headings with name and digits."""
    head = ["", *(f"{heading}, `{profile}`" for heading in metrics for profile in rows), "n"]
    lines = []
    for label in labels:
        own = {profile: [row for row in found if row.label == label] for profile, found in rows.items()}
        values = [
            _describe_metric(found, metric, digits)
            for metric, digits in metrics.values()
            for found in own.values()
        ]
        lines.append([label, *values, ", ".join(str(len(found)) for found in own.values())])
    return render_grid(head, lines)


def _describe_metric(rows: Sequence[Row], metric: str, digits: int) -> str:
    cell = make_cell((row.outcome, read_metrics(row).get(metric)) for row in rows)
    return "" if cell.mean is None else format_interval(cell.mean, cell.half_width, digits)


def find_own_rows(artifact_name: str, results: Results) -> list[Row]:
    """The rows of an artifact's trials with its own seeds."""
    artifact = catalogue.artifact(artifact_name)
    found = results.find_all_rows(artifact.trials(results.profile))
    return [row for row in found if row.seed in artifact.seeds.get(results.profile, ())]
