"""The pages of methods (docs/methods): their tables of knobs and of numbers and their commands are written
here, the rest by hand.

    python -m bench.publishing.method_pages            write them into every page, between the marks
    python -m bench.publishing.method_pages --check    write nothing; exit code 1 if a page is not what it would be, or a method has none

Knobs come from the settings of the class itself, numbers from the CSV files in results/published/tables, so
that a page can neither go stale nor say a number that no trial produced. This loads torch, because it asks
the classes.
"""

import argparse
import csv
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bench.locations import PUBLISHED
from vera.spec.registry import Registry, joint_methods, methods
from vera.spec.settings import Setting, settings_of

FOLDER = Path("docs/methods")
TABLES = Path(PUBLISHED) / "tables"
MARK = "<!-- {name}: written by python -m bench.publishing.method_pages -->\n{text}<!-- end -->"
PATTERN = r"<!-- {name}: written by python -m bench\.pages -->\n.*?<!-- end -->"


class Source(NamedTuple):
    """A published table, and the column that a page quotes."""

    file: str
    title: str
    metric: str
    run: str
    """The command that makes its trials."""
    digits: int = 1
    beside: str = ""
    """The column that the paper's values stand beside, where it is another one."""

    @property
    def table(self) -> str:
        return self.file.removesuffix("-paper").removesuffix(CIFAR10)


TOYS = "test log-likelihood; the paper's values are the best of several means over 200 points"
CIFAR10 = "-cifar10-batches-1"
PHOTOS = "the sizes of laptop on the first file of CIFAR10"


def _both(table: str, about: str, metric: str, **more: Any) -> tuple[Source, ...]:
    """At `laptop` and, where such trials ship, at `paper`."""
    run = f"vera run {table}"
    return (
        Source(table, about.format("laptop"), metric, run, **more),
        Source(f"{table}-paper", about.format("paper"), metric, f"{run} --profile paper", **more),
    )


def _photos(table: str, about: str, metric: str, **more: Any) -> Source:
    return Source(
        f"{table}{CIFAR10}",
        f"{about}, {PHOTOS}",
        metric,
        f"vera run {table} --dataset cifar10,batches=1",
        **more,
    )


SOURCES = (
    *_both("table2", "Table 2, {}: test log-likelihood", "test_log_likelihood"),
    *_both("table3", "Table 3, {}: accuracy, %", "test_accuracy"),
    _photos("table3", "Table 3: accuracy after 300 steps, %", "test_accuracy"),
    *_both("table4", "Table 4, {}: Fréchet distance of samples", "fid"),
    _photos("table4", "Table 4: FID of samples after 300 steps", "fid"),
    *_both("table5", "Table 5, {}: AUROC of f against unseen images", "f", digits=2),
    _photos("table5", "Table 5: AUROC of f after 300 steps", "f", digits=2),
    Source(
        "table6", "Table 6, laptop: accuracy with ten labels a class, %", "test_accuracy", "vera run table6"
    ),
    Source(
        "table6-paper",
        "Table 6, paper: accuracy with ten labels a class, %; HUMAN with columns 266–561 recomputed",
        "test_accuracy",
        "vera run table6 --profile paper",
    ),
    *_both("table10", f"Table 10, {{}}: {TOYS}", "test_log_likelihood", digits=2, beside="best_of_either"),
    *_both("modes", "Modes of 1,000, {}", "modes"),
)
LINES: dict[str, dict[str, tuple[str, ...]]] = {
    "ml": {"table2": ("ML",), "table10": ("ML",)},
    "vera": {
        "table2": ("VERA λ=1", "VERA λ=0"),
        "table3": ("VERA α=1", "VERA α=100"),
        "table4": ("VERA α=1", "VERA α=100"),
        "table5": ("VERA α=1", "VERA α=100"),
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
    "supervised": {"table3": ("Classifier",), "table6": ("Supervised", "Full-label")},
    "vat": {"table6": ("VAT",)},
    "jem": {"table3": ("JEM",), "table4": ("JEM",), "table5": ("JEM",), "table6": ("JEM",)},
    "hdge": {"table3": ("HDGE",), "table4": ("HDGE + log p(x)",), "table5": ("HDGE",)},
}
"""Page → table → the lines of that table which are this method."""


def knobs(name: str) -> str:
    """Every setting of the method; of a joint method that shares the page, what it has beside or
    otherwise."""
    own = _settings(methods, name) or _settings(joint_methods, name)
    text = _grid(("knob", "default", "what it is"), [_knob(setting) for setting in own])
    if name in methods and name in joint_methods:
        known = {setting.name: setting.default for setting in own}
        more = [
            setting
            for setting in _settings(joint_methods, name)
            if known.get(setting.name, ...) != setting.default
        ]
        text += f"\nAs a joint method also:\n\n{_grid(('knob', 'default', 'what it is'), [_knob(setting) for setting in more])}"
    return text


def _settings(registry: Registry[Any], name: str) -> list[Setting]:
    if name not in registry:
        return []
    factory = registry.get(name)
    return [
        setting for setting in settings_of(factory).values() if setting.name not in factory.network_names()
    ]


def _knob(setting: Setting) -> tuple[str, str, str]:
    return f"`{setting.name}`", _spelled(setting.default), setting.help


def _spelled(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    if isinstance(value, tuple):
        return f"({', '.join(map(_spelled, value))})"
    return (
        f"{value:g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)
    )


def numbers(name: str) -> str:
    """The method's lines in the published tables, beside the paper's values."""
    parts = [_block(source, LINES[name][key]) for source in SOURCES if (key := source.table) in LINES[name]]
    note = (
        "At `laptop` the experiment is another than the paper's: its values are not to be compared with the paper's column "
        "(see README.md).\n"
    )
    return "\n".join([part for part in parts if part] + [note])


def _block(source: Source, labels: Sequence[str]) -> str:
    """Nothing for a table of the paper profile that has no trials; for one of laptop, how to make them."""
    file = TABLES / f"{source.file}.csv"
    lines = [
        line for line in _read(file) if line["method"] in labels and int(line[f"{source.metric}_trials"] or 0)
    ]
    if not lines:
        return (
            ""
            if "-paper" in source.file
            else f"{source.title}: no trial of it ships yet; to make them: `{source.run}`\n"
        )
    keys = tuple(key for key in ("dataset", "unseen", "method") if key in lines[0])
    cells = [(*(line[key] for key in keys), *_values(line, source)) for line in lines]
    beside = ("by nearly the paper's rule",) if source.beside else ()
    return f"{source.title}\n\n{_grid((*keys, 'here', 'n', *beside, 'paper'), cells)}"


def _read(file: Path) -> list[dict[str, str]]:
    if not file.is_file():
        return []
    with file.open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def _values(line: dict[str, str], source: Source) -> tuple[str, ...]:
    """Mean and interval or the reason for none, seeds, what the paper's value stands beside, the paper's
    value."""
    count = f"{line[f'{source.metric}_n']} of {line[f'{source.metric}_trials']}"
    paper = line[f"{source.beside or source.metric}_paper"]
    beside = (_told(line, source.beside, source.digits),) if source.beside else ()
    return (
        _told(line, source.metric, source.digits),
        count,
        *beside,
        f"{float(paper):g}".replace("-", "−") if paper else "",
    )


def _told(line: dict[str, str], metric: str, digits: int) -> str:
    here = f"{float(line[metric]):.{digits}f}" if line[metric] else line[f"{metric}_reason"]
    half = line[f"{metric}_half_width"]
    return (f"{here} ± {float(half):.{digits}f}" if half else here).replace("-", "−")


def command(name: str) -> str:
    """What trains the method and shows it, in every table that has it."""
    lines = [f"vera run {table} --only method={name}\nvera render {table}\n" for table in LINES[name]]
    others = f"The other lines of a table, without training: `vera run {next(iter(LINES[name]))} --reuse-published`. "
    paper = "With `--profile paper`\non both: the paper's own setting ([what it takes](../../README.md#every-table-and-figure)).\n"
    return f"```\n{''.join(lines)}```\n\n{others}{paper}"


def _grid(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    rows = [header, ["---"] * len(header), *lines]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |\n" for row in rows)


def written(name: str, text: str) -> str:
    """The page with its tables and commands as they are now."""
    for part, make in (("knobs", knobs), ("numbers", numbers), ("command", command)):
        places = list(re.finditer(PATTERN.format(name=part), text, re.DOTALL))
        if len(places) != 1:
            raise ValueError(f"{name}.md has {len(places)} places for {part}; it must be one.")
        start, end = places[0].span()
        text = text[:start] + MARK.format(name=part, text=make(name)) + text[end:]
    return text


def pages() -> Iterator[str]:
    """The methods that need a page: all of ours."""
    yield from sorted({*methods, *joint_methods} - {*methods.plugin_names(), *joint_methods.plugin_names()})


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.publishing.method_pages", description="Write the tables of the methods' pages."
    )
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit code 1 if a page is not what it would be"
    )
    check = parser.parse_args(argv).check
    stale = []
    for name in pages():
        file = FOLDER / f"{name}.md"
        old = file.read_text(encoding="utf-8") if file.is_file() else ""
        new = written(name, old) if old else ""
        if not old or old != new:
            stale.append(str(file))
        if new and not check:
            file.write_text(new, encoding="utf-8", newline="\n")
    for path in stale if check else []:
        print(
            f"{path} is missing or not what it would be. To write it anew: python -m bench.publishing.method_pages",
            file=sys.stderr,
        )
    return int(bool(stale and check))


if __name__ == "__main__":
    sys.exit(main())
