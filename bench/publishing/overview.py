"""The README's tables of tables and figures: how many trials, how long, what came out, what the paper has; at
`laptop`, at `paper`.

    python -m bench.publishing.overview            write it, between the marks
    python -m bench.publishing.overview --check    write nothing; exit code 1 if it is not what it would be

Minutes are those of the published rows, numbers those of the published tables. Loads neither torch nor ray.
"""

import csv
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

from bench.catalogue import catalogue
from bench.cli.costs import gpu_time
from bench.judging.cell import cell_of
from bench.judging.results import Results, read_metrics
from bench.locations import PUBLISHED
from bench.paper.figures import figure6
from bench.paper.values import paper_value
from bench.publishing.ledger import run_of
from bench.publishing.marked_block import written_block
from sweeps.store.row import Row
from sweeps.trial.canonical_json import canonical_json

HEAD = (
    "| | trials at `laptop` | CPU-minutes | what it shows | one value of it, measured here | the paper's, in its own setting "
    "| at `paper` |",
    "|---|---|---|---|---|---|---|",
)

PAPER_HEAD = (
    "",
    "At `paper`, the trials that were run, on two cores without a GPU:",
    "",
    "| | trials | of | CPU-hours | one value of it, measured here | paper |",
    "|---|---|---|---|---|---|",
)


CIFAR10 = "cifar10-batches-1"
"""In the names of tables that were made on the first of its files."""
PHOTOS = "VERA α = 100, 300 steps with `--dataset cifar10,batches=1`"


class Quote(NamedTuple):
    """A value of a published table, and its line there; of another table than the artifact's own, such as one
    on other data."""

    about: str
    line: Mapping[str, str]
    metric: str
    digits: int
    table: str = ""


class Entry(NamedTuple):
    """One line: an artifact, or several that share their trials."""

    name: str
    trials: str
    shows: str
    others: str = ""
    quote: Quote | None = None
    also: Sequence[str] = ()
    """Artifacts of the same line."""


class Measured(NamedTuple):
    """A metric of published trials, as a mean over their seeds, and the paper's value of it, if any."""

    about: str
    label: str
    metric: str
    digits: int
    paper: float | None = None


MOONS = Quote(
    "VERA λ = 1 on moons, by nearly the paper's rule",
    {"method": "VERA λ=1", "dataset": "moons"},
    "best_of_either",
    2,
)
ENTRIES = (
    Entry("table2", "22", "the flow's likelihood under eleven ways to train it",
          quote=Quote("VERA λ = 1, nats", {"method": "VERA λ=1"}, "test_log_likelihood", 1)),
    Entry("table3", "10", "accuracy and calibration of a Wide ResNet that is an energy model too: VERA, JEM, HDGE, a classifier",
          quote=Quote(f"{PHOTOS}, %", {"method": "VERA α=100"}, "test_accuracy", 1, f"table3-{CIFAR10}")),
    Entry("table4", "6 of Table 3's, 2 more", "Fréchet distance and Inception Score of samples, refined by MALA and not",
          ", `table-fid`",
          Quote(f"{PHOTOS}, FID", {"method": "VERA α=100"}, "fid", 0, f"table4-{CIFAR10}"),
          ["table-fid"]),
    Entry("table5", "8 of Table 3's", "telling held-out images from unseen ones by three scores, and histograms of f",
          ", `outliers`",
          Quote(f"{PHOTOS}, against CIFAR100",
                {"method": "VERA α=100", "unseen": "CIFAR100"}, "f", 2, f"table5-{CIFAR10}"),
          ["outliers"]),
    Entry("table6", "72", "accuracy with ten labels a class on tables of numbers: VERA against VAT, MEG, JEM, labels alone",
          quote=Quote("VERA on 8 × 8 digits, %", {"method": "VERA", "dataset": "digits 8 × 8"}, "test_accuracy", 1)),
    Entry("table8", "4", "what those tables hold"),
    Entry("table9", "none", "the settings of those trials, read off their specifications"),
    Entry("table10", "60", "likelihood of a 100-component mixture on three toys: on 100,000 points, as the best of ten batches "
          "of 200, and beside it that of the true density",
          quote=MOONS),
    Entry("drift", "36", "the same mixture's likelihood while it trains, by maximum likelihood and by PCD"),
    Entry("figure1", "16", "an MLP's density and samples on moons: VERA against PCD"),
    Entry("figure2", "6 of Table 2's", "samples of the flows, and those they were trained with"),
    Entry("figure3", "52", "bias and deviation of the score estimators on the PCA of digits"),
    Entry("figure5", "2 of Figure 3's", "samples of that linear generator"),
    Entry("figure6", "4, 2 of them Figure 3's", "effective sample size against the proposal's offset"),
    Entry("figure8", "1 of Table 6's", "digits from the semi-supervised model, and after MALA"),
    Entry("figure4", "1 of Table 3's", "samples: unconditional, chain by chain, before and after MALA, by class",
          ", `7`, `9` … `27`, `classes`", also=["figure7", *(f"figure{n}" for n in range(9, 28)), "classes"]),
    Entry("modes", "8", "how many of 1,000 triples of digits a generator finds: VERA, VERA-HMC with two forces, λ = 0",
          quote=Quote("VERA", {"method": "VERA"}, "modes", 1)),
    Entry("speed", "4", "a training step of VERA against one of JEM on the same Wide ResNet, in turns",
          quote=Quote("JEM / VERA, WRN-28-2 and a small generator", {"classifier": "WRN-28-2"}, "ratio", 2)),
    Entry("stability", "Table 3's", "trials that diverged or began again"),
    Entry("reliability", "Table 6's", "how far the probabilities of its classifiers can be trusted"),
)  # fmt: skip


PAPER_QUOTES: Mapping[str, Quote | Measured | None] = {
    "table6": Quote(
        "VERA on HUMAN (columns 266–561 recomputed), %",
        {"method": "VERA", "dataset": "HUMAN"},
        "test_accuracy",
        1,
    ),
    "table8": None,
    "table10": MOONS,
    "drift": None,
    "figure1": Measured("VERA λ = 1, nats", "VERA λ=1", "grid_log_likelihood", 2),
    "figure3": Measured("root-mean-square bias of importance sampling", "IS, k = 20", "rms_bias", 2),
    "figure6": Measured(
        "effective sample size of 20 draws",
        "IS, k = 20",
        "posterior_ess",
        2,
        paper_value(figure6.TEXT, dataset=figure6.MODELS[0], method=figure6.OWN),
    ),
}
"""What is run at `paper` on CPUs, and a number of it."""


def lines() -> Iterator[str]:
    """The lines of both tables, their heads first."""
    laptop, paper = (Results.open(PUBLISHED, profile, "published") for profile in ("laptop", "paper"))
    yield from HEAD
    yield from map(_line, laptop_lines(laptop.rows))
    yield from PAPER_HEAD
    yield from map(_line, paper_lines(paper))


def laptop_lines(rows: Iterable[Row]) -> Iterator[Sequence[str]]:
    """Of every artifact. Minutes are those of the sweep of its name."""
    seconds: Counter[str] = Counter()
    for row in rows:
        seconds[run_of(row)] += round(row.seconds * row.cpus)
    for entry in ENTRIES:
        minutes = f"{seconds[entry.name] / 60:.0f}" if seconds[entry.name] >= 30 else ""
        command = f"`make reproduce-{entry.name}`{entry.others}"
        yield command, entry.trials, minutes, entry.shows, *quoted(entry.name, entry.quote), gpu_hours(entry)


def gpu_hours(entry: Entry) -> str:
    """Of its trials at `paper`, from counted operations; nothing where they were not counted, as for what
    CPUs can do."""
    works: dict[tuple[str, int], tuple[float | None, int]] = {}
    for artifact in (catalogue.artifact(name) for name in (entry.name, *entry.also)):
        for trial, seed in product(artifact.trials("paper"), artifact.seeds["paper"]):
            works[canonical_json(trial.spec.to_dict()), seed] = artifact.flop(trial), trial.spec.steps
    known = [(work, steps) for work, steps in works.values() if work is not None]
    return gpu_time(known) if known and len(known) == len(works) else ""


def paper_lines(results: Results) -> Iterator[Sequence[str]]:
    """Of each artifact some of whose trials were run at `paper`: how many of how many, how long they took, a
    number."""
    for name, quote in PAPER_QUOTES.items():
        artifact = catalogue.artifact(name)
        declared = list(artifact.trials("paper"))
        rows = [row for row in results.find_all_rows(declared) if row.seed in artifact.seeds["paper"]]
        if rows:
            hours = sum(row.seconds * row.cpus for row in rows) / 3600
            numbers = measured(rows, quote) if isinstance(quote, Measured) else quoted(f"{name}-paper", quote)
            counts = f"{len(rows)}", f"{len(declared) * len(artifact.seeds['paper'])}"
            yield (
                f"`make reproduce-{name} PROFILE=paper`",
                *counts,
                f"{hours:.1f}" if hours >= 0.05 else "",
                *numbers,
            )


def quoted(file: str, quote: Quote | None) -> tuple[str, str]:
    """Our value and the paper's, of a published table."""
    if quote is None:
        return "", ""
    with Path(PUBLISHED, "tables", f"{quote.table or file}.csv").open(encoding="utf-8", newline="") as table:
        found = [
            line
            for line in csv.DictReader(table)
            if all(line[name] == value for name, value in quote.line.items())
        ]
    (line,) = found
    own, half_width, paper = (line[f"{quote.metric}{suffix}"] for suffix in ("", "_half_width", "_paper"))
    return _own(quote, own, half_width), _papers(float(paper) if paper else None)


def measured(rows: Iterable[Row], quote: Measured) -> tuple[str, str]:
    """The mean of our values and the paper's."""
    cell = cell_of(
        [(row.outcome, read_metrics(row).get(quote.metric)) for row in rows if row.label == quote.label]
    )
    return _own(quote, cell.mean, cell.half_width), _papers(quote.paper)


def _own(quote: Quote | Measured, mean: str | float | None, half_width: str | float | None) -> str:
    """Mean and interval as far as there are such."""
    numbers = [
        f"{float(number):.{quote.digits}f}".replace("-", "−")
        for number in (mean, half_width)
        if number not in (None, "")
    ]
    return f"{quote.about}: {' ± '.join(numbers)}" if numbers else ""


def _papers(value: float | None) -> str:
    return "" if value is None else f"{value:g}".replace("-", "−")


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def main(argv: Sequence[str] | None = None) -> int:
    return written_block(argv, "bench.publishing.overview", "overview", Path("README.md"), lines)


if __name__ == "__main__":
    sys.exit(main())
