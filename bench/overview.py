"""The README's table of tables and figures: how many trials, how long, what came out, what the paper has.

    python -m bench.overview            write it, between the marks
    python -m bench.overview --check    write nothing; exit code 1 if it is not what it would be

Minutes are those of the published rows, numbers those of the published tables. Loads neither torch nor ray.
"""

import csv
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from bench.flags import PUBLISHED
from bench.ledger import run_of
from bench.written import written_block
from sweeps.store import Store

HEAD = (
    "| | trials at `laptop` | CPU-minutes | what it shows | of which, here | paper |",
    "|---|---|---|---|---|---|",
)


class Quote(NamedTuple):
    """A value of a published table, and its line there."""

    about: str
    line: Mapping[str, str]
    metric: str
    digits: int


class Entry(NamedTuple):
    """One line: an artifact, or several that share their trials."""

    name: str
    trials: str
    shows: str
    others: str = ""
    quote: Quote | None = None


ENTRIES = (
    Entry("table2", "22", "the flow's likelihood under eleven ways to train it",
          quote=Quote("VERA λ = 1, nats", {"method": "VERA λ=1"}, "test_log_likelihood", 1)),
    Entry("table3", "10", "accuracy and calibration of a Wide ResNet that is an energy model too: VERA, JEM, HDGE, a classifier",
          quote=Quote("VERA α = 100, %", {"method": "VERA α=100"}, "test_accuracy", 1)),
    Entry("table4", "6 of Table 3's, 2 more", "Fréchet distance and Inception Score of samples, refined by MALA and not",
          ", `table-fid`"),
    Entry("table5", "8 of Table 3's", "telling held-out images from unseen ones by three scores, and histograms of f",
          ", `outliers`"),
    Entry("table6", "72", "accuracy with ten labels a class on tables of numbers: VERA against VAT, MEG, JEM, labels alone",
          quote=Quote("VERA on 8 × 8 digits, %", {"method": "VERA", "dataset": "digits 8 × 8"}, "test_accuracy", 1)),
    Entry("table8", "4", "what those tables hold"),
    Entry("table9", "none", "the settings of those trials, read off their specifications"),
    Entry("table10", "60", "a mixture on moons, circles and rings; on 100,000 points, by the paper's best of ten batches, and the "
          "ceiling",
          quote=Quote("VERA λ = 1 on moons, best of ten", {"method": "VERA λ=1", "dataset": "moons"}, "best_of_ten_batches", 2)),
    Entry("figure1", "16", "an MLP's density and samples on moons: VERA against PCD"),
    Entry("figure2", "6 of Table 2's", "samples of the flows, and those they were trained with"),
    Entry("figure3", "52", "bias and deviation of the score estimators on the PCA of digits"),
    Entry("figure5", "2 of Figure 3's", "samples of that linear generator"),
    Entry("figure6", "4, 2 of them Figure 3's", "effective sample size against the proposal's offset"),
    Entry("figure8", "1 of Table 6's", "digits from the semi-supervised model, and after MALA"),
    Entry("figure4", "1 of Table 3's", "samples: unconditional, chain by chain, before and after MALA, by class",
          ", `7`, `9` … `27`, `classes`"),
    Entry("modes", "6", "how many of 1,000 triples of digits a generator finds: VERA, VERA-HMC, λ = 0",
          quote=Quote("VERA", {"method": "VERA"}, "modes", 0)),
    Entry("speed", "4", "a training step of VERA against one of JEM on the same Wide ResNet, in turns",
          quote=Quote("JEM / VERA, WRN-28-2", {"classifier": "WRN-28-2"}, "ratio", 2)),
    Entry("stability", "Table 3's", "trials that diverged or began again"),
    Entry("reliability", "Table 6's", "how far the probabilities of its classifiers can be trusted"),
)  # fmt: skip


def lines() -> Iterator[str]:
    """The lines of the table, its head first."""
    yield from HEAD
    seconds: Counter[str] = Counter()
    for row in Store(f"{PUBLISHED}/trials", create=False).rows():
        if row.profile == "laptop":
            seconds[run_of(row)] += round(row.seconds * row.cpus)
    for entry in ENTRIES:
        minutes = f"{seconds[entry.name] / 60:.0f}" if seconds[entry.name] >= 30 else ""
        cells = f"`make reproduce-{entry.name}`{entry.others}", entry.trials, minutes, entry.shows, *quoted(entry)
        yield f"| {' | '.join(cells)} |"


def quoted(entry: Entry) -> tuple[str, str]:
    """Our value and the paper's."""
    if entry.quote is None:
        return "", ""
    with Path(PUBLISHED, "tables", f"{entry.name}.csv").open(encoding="utf-8", newline="") as file:
        found = [line for line in csv.DictReader(file) if all(line[name] == value for name, value in entry.quote.line.items())]
    (line,) = found
    own, half_width, paper = (line[f"{entry.quote.metric}{suffix}"] for suffix in ("", "_half_width", "_paper"))
    text = f"{entry.quote.about}: {_number(own, entry.quote.digits)} ± {_number(half_width, entry.quote.digits)}"
    return text, f"{float(paper):g}".replace("-", "−") if paper else ""


def _number(text: str, digits: int) -> str:
    return f"{float(text):.{digits}f}".replace("-", "−")


def main(argv: Sequence[str] | None = None) -> int:
    return written_block(argv, "bench.overview", "overview", Path("README.md"), lines)


if __name__ == "__main__":
    sys.exit(main())
