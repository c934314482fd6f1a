"""`vera report`: one self-contained HTML page of all stored results. Loads neither torch nor ray.

With --watch the page follows a running sweep: the store is read every few seconds, the page is replaced when
trials have ended, and it loads itself again in the browser. No server is needed, so this also works on a disk
that a cluster shares.
"""

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from bench.cli.flags import add_plugin, add_results_dir, add_source, repeat_results_dir
from bench.cli.parser import Subparsers, add_command, at_least
from bench.cli.selection.stores import choose_sources, find_output_folder, hint_published
from bench.locations import PROFILES
from sweeps.errors import StoreError
from vera.wording import plural

if TYPE_CHECKING:
    from bench.judging.results import Results, Source

FILE = "report.html"
WATCH_SECONDS = 10
PAUSE_SHARE = 2
"""A watch pauses at least this many times as long as the last page took, so that training keeps the CPUs."""


def add_parser(verbs: Subparsers) -> None:
    text = "write one self-contained HTML page: your sweeps, tables, figures, trials"
    parser = add_command(verbs, "report", text, "report --open", "report --watch", "report --from published")
    add_source(parser)
    add_results_dir(parser, "where your own results are stored")
    parser.add_argument("--open", action="store_true", help="open the page in a browser")
    parser.add_argument(
        "--watch",
        type=at_least(1),
        nargs="?",
        const=WATCH_SECONDS,
        metavar="SECONDS",
        help="follow a running sweep until Ctrl-C: read the store every SECONDS seconds, replace the page "
        f"when trials have ended, and reload it in the browser (default: {WATCH_SECONDS})",
    )
    add_plugin(parser)
    parser.set_defaults(run=write_report)


def write_report(arguments: argparse.Namespace) -> int:
    if arguments.watch:
        return _watch(arguments)
    folder, found = _find_results(arguments)
    path = _write_page(arguments, folder, found)
    _print_problems(found)
    if arguments.open:
        _open_page(path)
    return 0


def _watch(arguments: argparse.Namespace) -> int:
    """Write the page whenever trials have ended. The page that an interrupt leaves behind is up to date and
    no longer loads itself."""
    source, folder = next(iter(choose_sources(arguments).items()))
    path: Path | None = None
    seen: set[tuple[str, str]] = set()
    try:
        print(f"Following the trials in {folder}. Ctrl-C ends it.", flush=True)
        while True:
            start = time.monotonic()
            found = _open_profiles(folder, source)
            if found and (ended := _list_ended(found)) != seen:
                is_first, seen = path is None, ended
                path = _write_page(arguments, folder, found, arguments.watch)
                if is_first and arguments.open:
                    _open_page(path)
            time.sleep(max(arguments.watch, PAUSE_SHARE * (time.monotonic() - start)))
    except KeyboardInterrupt:
        if path is not None:
            found = _open_profiles(folder, source)
            _write_page(arguments, folder, found)
            _print_problems(found)
    return 0


def _list_ended(found: "list[Results]") -> set[tuple[str, str]]:
    """What identifies the rows that the page shows."""
    return {(row.trial_id, row.finished_at) for results in found for row in results.rows}


def _write_page(arguments: argparse.Namespace, folder: str, found: "list[Results]", refresh: int = 0) -> Path:
    """Replace the page, print its path, its trials and its size, and return the path."""
    from bench.catalogue import catalogue
    from bench.render.files import write_text_file
    from bench.report.page import render_page

    grids = {name for paper in catalogue.papers for name in paper.sweeps}
    text = render_page(catalogue.artifacts(), found, _list_warnings(found), grids, refresh)
    path = find_output_folder(arguments.results_dir if "results_dir" in arguments.given else folder) / FILE
    write_text_file(path, text)
    counts = ", ".join(f"{results.profile} {len(results.rows)}" for results in found)
    print(f"{path}  {found[0].source} trials: {counts}  {len(text.encode()) / 1e6:.1f} MB", flush=True)
    return path


def _open_page(path: Path) -> None:
    import webbrowser

    webbrowser.open(path.resolve().as_uri())


def _find_results(arguments: argparse.Namespace) -> "tuple[str, list[Results]]":
    """The first results directory with trials, and its results by profile; StoreError if there is none."""
    sources = choose_sources(arguments)
    for source, folder in sources.items():
        if found := _open_profiles(folder, source):
            return folder, found
    start = f"vera run toy-demo{repeat_results_dir(arguments)}{hint_published(arguments)}"
    raise StoreError(f"No trials to report in {' or '.join(sources.values())}. To start: {start}")


def _open_profiles(folder: str, source: "Source") -> "list[Results]":
    """The results of every profile with trials, the largest profile first."""
    from bench.judging.results import Results
    from sweeps.store.location import is_url_or_directory, join_location

    if not is_url_or_directory(join_location(folder, "trials")):
        return []
    every = Results.open_profiles(folder, reversed(PROFILES), source)
    found = [results for results in every if results.rows]
    if not found:
        _print_problems(every)
    return found


def _print_problems(found: "list[Results]") -> None:
    for problem in found[0].store.problems:
        print(f"vera: {problem}", file=sys.stderr)


def _list_warnings(found: "list[Results]") -> list[str]:
    """What the page leaves out."""
    from sweeps.trial.identity import PROTOCOL

    older = sum(row.protocol != PROTOCOL for row in found[0].stored_rows)
    verb = "is" if older == 1 else "are"
    warning = (
        f"{plural(older, 'trial')} of another protocol than {PROTOCOL} {verb} not comparable and left out."
    )
    return [*([warning] if older else []), *found[0].store.problems]
