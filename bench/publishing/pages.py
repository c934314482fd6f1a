"""The pages with generated parts: README.md, results/README.md, docs/performance.md, one page per method in
docs/methods, and any that a paper adds.

A generated part is a block between `<!-- NAME: written by vera docs -->` and `<!-- end -->`; the rest of a
page is written by hand. All blocks are built from the published rows and tables, the stored benchmarks and
the settings of the methods, so no page can show a number that no trial produced.

The blocks here hold for all papers. A paper adds its own with `PAGES` in its `artifacts.py`; see
`bench.catalogue`.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path

from bench.catalogue import catalogue, load_attribute
from bench.judging.results import Results
from bench.locations import PUBLISHED
from bench.publishing.benchmark_tables import render_benchmarks
from bench.publishing.method_pages import list_methods, render_knobs
from bench.publishing.results_tables import render_ledger, render_verdicts
from bench.render.files import write_text_file
from vera.errors import VeraError

README, RESULTS_README, METHODS = Path("README.md"), Path("results/README.md"), Path("docs/methods")
PERFORMANCE = Path("docs/performance.md")
BEGIN, END = "<!-- {name}: written by vera docs -->\n", "<!-- end -->"
Blocks = Mapping[str, Callable[[], str]]
"""Blocks of a page by name, each with the function that builds its text."""
Page = tuple[Path, Blocks]


def list_pages() -> Iterator[Page]:
    """Every page with its blocks. A page occurs several times if its blocks have several origins."""
    yield from list_results_pages()
    for name in list_methods():
        yield METHODS / f"{name}.md", {"knobs": partial(render_knobs, name)}


def list_results_pages() -> Iterator[Page]:
    """The blocks that are built from results: those of each paper, and those of all papers. The published
    store is read once. Loads neither torch nor ray."""
    laptop, paper = Results.open_profiles(PUBLISHED, ("laptop", "paper"), "published")
    for listing in catalogue.papers:
        if listing.pages:
            yield from load_attribute(listing.pages)(laptop, paper)
    yield (
        RESULTS_README,
        {
            "verdicts": partial(render_verdicts, laptop, paper),
            "ledger": partial(render_ledger, paper.stored_rows),
        },
    )
    yield PERFORMANCE, {"benchmarks": partial(render_benchmarks, PUBLISHED)}


def update_pages(pages: Iterable[Page], write: bool) -> list[str]:
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
    return list(dict.fromkeys(problems))


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
