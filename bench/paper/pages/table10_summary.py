"""Table 10 in short, for results/README.md: the likelihood at the end of training, and by nearly the paper's
rule next to the paper's value."""

import re
from collections.abc import Mapping

from bench.artifact import Value
from bench.judging.cell import Cell
from bench.judging.results import Results
from bench.paper.experiments.toys import LAMBDAS, TOYS, label_vera
from bench.paper.tables.table10 import Table10
from bench.paper.tables.table10_lines import BEST_OF_EITHER, BEST_PCD, LIKELIHOOD
from bench.publishing.markdown import render_grid
from bench.render.numbers import format_exact, format_interval

LABELS = ("ML", *map(label_vera, reversed(LAMBDAS)), BEST_PCD)


def render_table10(results: Results) -> str:
    """One line per method. A cell holds the final value, the one by nearly the paper's rule, the paper's
    value and the number of seeds."""
    sheet = Table10().render(results.copy_without_notes())
    found = {(line["method"], line["dataset"]): line for line in sheet.lines}
    toys = [toy.name for toy in TOYS]
    lines = ([label, *(_describe_cell(found[label, toy]) for toy in toys)] for label in LABELS)
    return render_grid(["", *toys], lines)


def _describe_cell(line: Mapping[str, Value]) -> str:
    end, either = line[LIKELIHOOD], line[BEST_OF_EITHER]
    assert isinstance(end, Cell)
    assert isinstance(either, Cell)
    if end.mean is None or either.mean is None:
        return end.reason
    chosen = ", then ".join(re.findall(r"σ=[\d.]+", str(line["remark"])))
    paper = "" if either.paper is None else f" (paper {format_exact(either.paper)})"
    texts = [
        f"{format_interval(end.mean, end.half_width, 2)}; "
        f"{format_interval(either.mean, either.half_width, 2)}{paper}",
        f"n = {end.n}",
        f"{end.diverged} diverged" if end.diverged else "",
        chosen,
    ]
    return ", ".join(filter(None, texts))
