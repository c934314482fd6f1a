"""The numbers of results/README.md: tables that are quoted whole, and metrics of the trials of figures."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

from bench.judging.results import Results
from bench.paper.experiments.toys import label_vera
from bench.paper.pages.few_labels import render_few_labels
from bench.paper.pages.method_numbers import QUOTED_TABLES
from bench.paper.pages.table10_summary import render_table10
from bench.paper.tables.table10_lines import BEST_PCD
from bench.publishing.markdown import render_grid
from bench.publishing.pages import Blocks
from bench.publishing.quoted_tables import find_own_rows, render_tables, render_trials
from bench.publishing.quotes import QuotedTable, describe_mean, read_published_table
from bench.render.numbers import format_exact, format_interval
from sweeps.store.row import Row

WHOLE_TABLES = ("table1", "table2", "table3", "table4", "table5", "modes", "speed")
SPEED = QuotedTable(
    "speed", "Speed, laptop: time of a step of JEM divided by that of VERA", "ratio", digits=2
)
FORCES = ("full force", "prior-only force")
ESTIMATORS = (
    "z = z0",
    *(f"HMC ({force}), burn-in {steps}" for force in FORCES for steps in (2, 500)),
    "IS, k = 20",
)
BIASES = {
    "RMS bias": ("rms_bias", 2),
    "signed bias": ("signed_bias", 3),
    "standard deviation": ("deviation", 2),
}
SIZES = {"of the learned proposal": ("posterior_ess", 3), "of N(0, I)": ("prior_ess", 3)}


def list_number_blocks(laptop: Results, paper: Results) -> Iterator[Blocks]:
    """Blocks by name, each with the function that builds its text."""
    for name in WHOLE_TABLES:
        yield {name: partial(_render_whole, name)}
    yield {
        "table6": render_few_labels,
        "table10": partial(render_table10, paper),
        "best-of-batches": render_best_of_batches,
        "best-of-evaluations": render_best_of_evaluations,
        "figure3": partial(_render_figure, "figure3", ESTIMATORS, BIASES, laptop, paper),
        "figure6": partial(_render_figure, "figure6", ESTIMATORS[-1:], SIZES, laptop, paper),
    }


def _render_whole(name: str) -> str:
    return render_tables(quoted for quoted in (*QUOTED_TABLES, SPEED) if quoted.table == name)


def _render_figure(
    name: str,
    labels: tuple[str, ...],
    metrics: dict[str, tuple[str, int]],
    laptop: Results,
    paper: Results,
) -> str:
    rows: dict[str, Sequence[Row]] = {
        results.profile: find_own_rows(name, results) for results in (laptop, paper)
    }
    return render_trials(rows, labels, metrics)


def render_best_of_batches() -> str:
    """Maximum likelihood in Table 10 at `laptop` next to the true density, where the paper's value exceeds
    what any model can reach."""
    lines = {line["dataset"]: line for line in read_published_table("table10") if line["method"] == "ML"}
    paper = {name: float(line["best_of_either_paper"]) for name, line in lines.items()}
    shown = [name for name, line in lines.items() if paper[name] > float(line["ceiling"])]
    return render_grid(
        ["maximum likelihood", *shown],
        [
            ["the paper", *(format_exact(paper[name]) for name in shown)],
            ["best of ten batches of 200 points", *_describe_all(lines, shown, "best_of_ten_batches")],
            ["100,000 points", *_describe_all(lines, shown, "test_log_likelihood")],
            ["true density", *(format_interval(float(lines[name]["ceiling"]), None, 3) for name in shown)],
        ],
    )


def _describe_all(lines: Mapping[str, Mapping[str, str]], shown: Iterable[str], metric: str) -> list[str]:
    return [describe_mean(lines[name], metric, 3) for name in shown]


def render_best_of_evaluations() -> str:
    """PCD and VERA with a small λ in Table 10 at `paper`: at the end, and at the best evaluation."""
    lines = {(line["dataset"], line["method"]): line for line in read_published_table("table10-paper")}
    described = []
    for (dataset, method), line in lines.items():
        if method in ("PCD σ=0.1", label_vera(0), label_vera(0.01)):
            paper = lines[dataset, BEST_PCD if method.startswith("PCD") else method]["best_of_either_paper"]
            values = [
                describe_mean(line, metric, 2) for metric in ("test_log_likelihood", "best_of_ten_looks")
            ]
            described.append([method, dataset, *values, format_exact(float(paper))])
    return render_grid(["", "", "at the end", "best of ten evaluations", "the paper"], described)
