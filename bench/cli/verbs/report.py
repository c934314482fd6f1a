"""`vera report`: one self-contained HTML page of all that a store holds. Reads Parquet only; loads neither
torch nor ray."""

import argparse
import sys
from functools import partial
from typing import TYPE_CHECKING

from bench.cli.flags import (
    Verbs,
    asked_sources,
    check_ships,
    described,
    ours_instead,
    output_folder,
    plugin,
    results_dir,
    shown_place,
)
from bench.locations import PUBLISHED
from sweeps.errors import StoreError

if TYPE_CHECKING:
    from bench.judging.results import Results, Source

FILE = "report.html"


def add_report(verbs: Verbs) -> None:
    text = "write one self-contained HTML page: scorecard, tables, figures, trials"
    verb = described(verbs, "report", text, "report --open", "report --from published")
    verb.add_argument(
        "--from", dest="source", choices=("local", "published"),
        help="whose trials: your own or those that ship (default: yours if there are any)",
    )  # fmt: skip
    results_dir(verb, "where your own store lies")
    verb.add_argument("--open", action="store_true", help="show the page in a browser")
    plugin(verb)
    verb.set_defaults(run=report)


def report(arguments: argparse.Namespace) -> int:
    from bench.catalogue import catalogue
    from bench.render.files import put_text, replace_file
    from bench.report.page import page

    folder, found = _found(arguments)
    text = page(catalogue.artifacts(), found, _warnings(found))
    path = output_folder(arguments.results_dir if "results_dir" in arguments.given else folder) / FILE
    replace_file(path, partial(put_text, text))
    counts = ", ".join(f"{results.profile} {len(results.rows)}" for results in found)
    print(f"{path}  {found[0].source} trials: {counts}  {len(text.encode()) / 1e6:.1f} MB")
    for problem in found[0].store.problems:
        print(f"vera: {problem}", file=sys.stderr)
    if arguments.open:
        import webbrowser

        webbrowser.open(path.resolve().as_uri())
    return 0


def _found(arguments: argparse.Namespace) -> "tuple[str, list[Results]]":
    """The folder that was asked for, or the first that has trials, and its results by profile."""
    check_ships(arguments)
    folders: dict[Source, str] = {"local": arguments.results_dir, "published": PUBLISHED}
    asked = {source: folders[source] for source in asked_sources(arguments)}
    for source, folder in asked.items():
        if found := _by_profile(folder, source):
            return folder, found
    places = " nor in ".join(asked.values())
    begin = f"vera run toy-demo{shown_place(arguments)}{ours_instead(arguments)}"
    raise StoreError(f"There are no trials in {places}, so there is nothing to report. To begin: {begin}")


def _by_profile(folder: str, source: "Source") -> "list[Results]":
    """Of each profile that has trials."""
    from bench.judging.results import Results, open_store
    from bench.report.page import PROFILES
    from sweeps.store.address import may_exist, within

    if not may_exist(within(folder, "trials")):
        return []
    store = open_store(folder)
    found = [results for profile in PROFILES if (results := Results(store, profile, source)).rows]
    for problem in [] if found else store.problems:  # else whoever shows the results names them
        print(f"vera: {problem}", file=sys.stderr)
    return found


def _warnings(found: "list[Results]") -> list[str]:
    """What the page leaves out."""
    from sweeps.trial.identity import PROTOCOL
    from vera.wording import plural

    store = found[0].store
    older = sum(row.protocol != PROTOCOL for row in store.rows())
    verb = "is" if older == 1 else "are"
    left_out = (
        f"{plural(older, 'trial')} of another protocol than {PROTOCOL} {verb} not comparable and left out."
    )
    return [*([left_out] if older else []), *store.problems]
