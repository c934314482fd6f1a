"""The pages with generated parts: README.md, results/README.md and one page per method in docs/methods.

A generated part is a block between `<!-- NAME: written by vera docs -->` and `<!-- end -->`; the rest of a
page is written by hand. All blocks are built from the published rows and tables, the stored benchmarks and
the settings of the methods, so no page can show a number that no trial produced.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path

from bench.judging.results import Results
from bench.locations import PUBLISHED
from bench.publishing.benchmark_tables import render_benchmarks
from bench.publishing.claim_summary import render_verdicts
from bench.publishing.ledger import render_ledger
from bench.publishing.method_pages import list_methods, render_command, render_knobs, render_numbers
from bench.publishing.overview import render_overview
from bench.publishing.table10_summary import render_table10
from bench.render.files import write_text_file
from vera.errors import VeraError

README, RESULTS_README, METHODS = Path("README.md"), Path("results/README.md"), Path("docs/methods")
BEGIN, END = "<!-- {name}: written by vera docs -->\n", "<!-- end -->"
Blocks = Mapping[str, Callable[[], str]]
"""The blocks of a page by name, each with the function that builds its text."""


def list_pages() -> Iterator[tuple[Path, Blocks]]:
    """Every page with its blocks. The published store is read once."""
    laptop, paper = Results.open_profiles(PUBLISHED, ("laptop", "paper"), "published")
    yield README, {"overview": partial(render_overview, laptop, paper)}
    yield (
        RESULTS_README,
        {
            "verdicts": partial(render_verdicts, laptop, paper),
            "table10": partial(render_table10, paper),
            "ledger": partial(render_ledger, paper.stored_rows),
            "benchmarks": partial(render_benchmarks, PUBLISHED),
        },
    )
    for name in list_methods():
        builders = {"knobs": render_knobs, "numbers": render_numbers, "command": render_command}
        yield METHODS / f"{name}.md", {block: partial(build, name) for block, build in builders.items()}


def update_pages(pages: Iterable[tuple[Path, Blocks]], write: bool) -> list[str]:
    """Write all pages, or only compare them. Returns the pages that are missing or, if nothing is written,
    out of date."""
    problems = []
    for path, blocks in pages:
        if not path.is_file():
            problems.append(f"{path} is missing: create it with the blocks {', '.join(blocks)}.")
            continue
        old = path.read_text(encoding="utf-8")
        new = fill_blocks(path, old, blocks)
        if write:
            write_text_file(path, new)
        elif new != old:
            problems.append(f"{path} is out of date. To update it: vera docs")
    return problems


def fill_blocks(path: Path, text: str, blocks: Blocks) -> str:
    """The page with new text in all its blocks; VeraError if a block is missing or occurs twice."""
    for name, build in blocks.items():
        begin = BEGIN.format(name=name)
        places = list(re.finditer(f"{re.escape(begin)}.*?{re.escape(END)}", text, re.DOTALL))
        if len(places) != 1:
            raise VeraError(
                f"{path} has {len(places)} blocks '{name}', it needs one: {begin.strip()} and {END} on "
                "lines of their own."
            )
        start, stop = places[0].span()
        text = f"{text[:start]}{begin}{build()}{END}{text[stop:]}"
    return text
