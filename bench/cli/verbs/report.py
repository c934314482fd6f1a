"""`vera report`: one self-contained HTML page of all stored results. Loads neither torch nor ray."""

import argparse
import sys
from typing import TYPE_CHECKING

from bench.cli.flags import add_plugin, add_results_dir, add_source, repeat_results_dir
from bench.cli.parser import Subparsers, add_command
from bench.cli.selection.stores import choose_sources, find_output_folder, hint_published
from bench.locations import PROFILES
from sweeps.errors import StoreError
from vera.wording import plural

if TYPE_CHECKING:
    from bench.judging.results import Results, Source

FILE = "report.html"


def add_parser(verbs: Subparsers) -> None:
    text = "write one self-contained HTML page: scorecard, tables, figures, trials"
    parser = add_command(verbs, "report", text, "report --open", "report --from published")
    add_source(parser)
    add_results_dir(parser, "where your own results are stored")
    parser.add_argument("--open", action="store_true", help="open the page in a browser")
    add_plugin(parser)
    parser.set_defaults(run=write_report)


def write_report(arguments: argparse.Namespace) -> int:
    from bench.catalogue import catalogue
    from bench.render.files import write_text_file
    from bench.report.page import render_page

    folder, found = _find_results(arguments)
    grids = {name for paper in catalogue.papers for name in paper.sweeps}
    text = render_page(catalogue.artifacts(), found, _list_warnings(found), grids)
    path = find_output_folder(arguments.results_dir if "results_dir" in arguments.given else folder) / FILE
    write_text_file(path, text)
    counts = ", ".join(f"{results.profile} {len(results.rows)}" for results in found)
    print(f"{path}  {found[0].source} trials: {counts}  {len(text.encode()) / 1e6:.1f} MB")
    _print_problems(found)
    if arguments.open:
        import webbrowser

        webbrowser.open(path.resolve().as_uri())
    return 0


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
