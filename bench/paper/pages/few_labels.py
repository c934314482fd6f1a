"""Accuracies of Table 6 with one column per data set, for docs/methods/README.md and results/README.md."""

from collections.abc import Mapping

from bench.publishing.markdown import render_grid
from bench.publishing.quotes import QuotedTable, describe_mean
from bench.render.numbers import format_exact

METRIC = "test_accuracy"
LAPTOP = QuotedTable("table6", "Table 6", METRIC)
PAPER = QuotedTable("table6", "Table 6", METRIC, profile="paper")


def render_few_labels() -> str:
    """A line per method, a column per data set with trials: at `laptop`, then at `paper` beside the paper's
    value."""
    here, at_paper = (
        {(line["dataset"], line["method"]): line for line in table.lines} for table in (LAPTOP, PAPER)
    )
    methods = list(dict.fromkeys(method for _, method in (*here, *at_paper)))
    small, full = (list(dict.fromkeys(dataset for dataset, _ in found)) for found in (here, at_paper))
    head = ["", *small, *(f"{dataset}, {what}" for dataset in full for what in ("`paper`", "the paper's"))]
    return render_grid(
        head,
        (
            [
                method,
                *(_describe(here.get((dataset, method))) for dataset in small),
                *(
                    text
                    for dataset in full
                    for line in [at_paper.get((dataset, method))]
                    for text in (_describe(line), _describe_paper(line))
                ),
            ]
            for method in methods
        ),
    )


def _describe(line: Mapping[str, str] | None) -> str:
    return "not run" if line is None else describe_mean(line, METRIC, 1)


def _describe_paper(line: Mapping[str, str] | None) -> str:
    paper = "" if line is None else line[f"{METRIC}_paper"]
    return format_exact(float(paper)) if paper else ""
