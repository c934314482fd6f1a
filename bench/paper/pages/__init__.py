"""The generated parts of the documentation that speak about the VERA paper."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from bench.judging.results import Results
from bench.paper.pages.coverage import Coverage
from bench.paper.pages.few_labels import render_few_labels
from bench.paper.pages.method_numbers import LINES, QUOTED_TABLES
from bench.paper.pages.overview import ENTRIES
from bench.paper.pages.reproduction import (
    render_agreement,
    render_cost,
    render_not_run,
    render_paper_claims,
)
from bench.paper.pages.results_numbers import list_number_blocks
from bench.publishing.method_pages import render_command, render_numbers
from bench.publishing.overview import render_overview
from bench.publishing.pages import METHODS, README, RESULTS_README, Page

REPRODUCTION, COVERAGE = Path("docs/reproduction.md"), Path("docs/coverage.md")
METHODS_README = METHODS / "README.md"


def list_pages(laptop: Results, paper: Results) -> Iterator[Page]:
    """The pages with the blocks of this paper."""
    yield README, {"overview": partial(render_overview, ENTRIES, laptop, paper)}
    yield METHODS_README, {"few-labels": render_few_labels}
    for blocks in list_number_blocks(laptop, paper):
        yield RESULTS_README, blocks
    yield (
        REPRODUCTION,
        {
            "claims": partial(render_paper_claims, paper, laptop),
            "agreement": render_agreement,
            "cost": partial(render_cost, paper.stored_rows),
            "not-run": partial(render_not_run, paper),
        },
    )
    coverage = Coverage(laptop, paper)
    yield (
        COVERAGE,
        {
            "coverage-totals": coverage.render_totals,
            "coverage-artifacts": coverage.render_artifacts,
            "coverage-numbers": coverage.render_values,
            "coverage-grids": coverage.render_grids,
            "coverage-arms": coverage.render_arms,
            "coverage-claims": coverage.render_claims,
        },
    )
    for name, labels in LINES.items():
        yield (
            METHODS / f"{name}.md",
            {
                "numbers": partial(render_numbers, QUOTED_TABLES, labels),
                "command": partial(render_command, name, list(labels)),
            },
        )
