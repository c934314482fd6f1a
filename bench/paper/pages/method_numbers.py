"""The numbers on the pages in docs/methods: which tables they quote, and which lines belong to a method."""

from typing import Any

from bench.paper.tables.table10_lines import BEST_OF_EITHER
from bench.publishing.quotes import QuotedTable


def _quote_profiles(table: str, title: str, metric: str, **more: Any) -> tuple[QuotedTable, ...]:
    """The table at `laptop` and at `paper`."""
    return (
        QuotedTable(table, title.format("laptop"), metric, **more),
        QuotedTable(table, title.format("paper"), metric, profile="paper", **more),
    )


QUOTED_TABLES = (
    *_quote_profiles("table2", "Table 2, {}: test log-likelihood", "test_log_likelihood"),
    *_quote_profiles("table3", "Table 3, {}: accuracy, %", "test_accuracy"),
    *_quote_profiles("table4", "Table 4, {}: Fréchet distance of samples", "fid"),
    *_quote_profiles("table5", "Table 5, {}: AUROC of f against unseen images", "f", digits=2),
    QuotedTable("table6", "Table 6, laptop: accuracy with ten labels a class, %", "test_accuracy"),
    QuotedTable(
        "table6",
        "Table 6, paper: accuracy with ten labels a class, %; HUMAN with columns 266–561 recomputed",
        "test_accuracy",
        profile="paper",
    ),
    *_quote_profiles(
        "table10",
        "Table 10, {}: test log-likelihood; the paper's values are the best of several means over 200 points",
        "test_log_likelihood",
        digits=2,
        compared=BEST_OF_EITHER,
        compared_heading="by nearly the paper's rule",
    ),
    *_quote_profiles(
        "table1", "Table 1, {}: cost of a step, and nats to maximum likelihood", "value", digits=2
    ),
    *_quote_profiles("modes", "Modes of 1,000, {}", "modes"),
)
VERA_JOINT = ("VERA α=1", "VERA α=30", "VERA α=100")
JEM = ("JEM", "JEM without data noise")
LINES: dict[str, dict[str, tuple[str, ...]]] = {
    "ml": {"table2": ("ML",), "table10": ("ML",)},
    "vera": {
        "table2": ("VERA λ=1", "VERA λ=0", "VERA λ=0, σ held"),
        "table3": VERA_JOINT,
        "table4": VERA_JOINT,
        "table5": VERA_JOINT,
        "table6": ("VERA",),
        "table10": ("VERA λ=1", "VERA λ=0.1", "VERA λ=0.01", "VERA λ=0"),
        "modes": ("VERA", "VERA λ=0"),
    },
    "vera-hmc": {
        "table2": ("VERA-HMC λ=1, prior-only force", "VERA-HMC λ=1, full force"),
        "modes": ("VERA-HMC, prior-only force", "VERA-HMC, full force"),
    },
    "meg": {"table2": ("MEG",), "table6": ("MEG",)},
    "pcd": {"table2": ("PCD",), "table10": ("PCD (best σ)",)},
    "coopnet": {"table2": ("CoopNet",)},
    "ssm": {"table2": ("SSM",)},
    "dsm": {"table2": ("DSM",)},
    "cp-sm": {"table2": ("CP-SM",)},
    "nce": {"table1": ("NCE",)},
    "supervised": {"table3": ("Classifier",), "table6": ("Supervised", "Full-label")},
    "vat": {"table6": ("VAT",)},
    "jem": {"table3": JEM, "table4": JEM, "table5": JEM, "table6": ("JEM",)},
    "hdge": {"table3": ("HDGE",), "table4": ("HDGE + log p(x)",), "table5": ("HDGE",)},
}
"""Method → table → labels of the method's lines in that table."""
