"""The verb `vera render`: tables and figures from the store, with the claims they decide. It runs nothing and loads no torch.

Rows come from the user's own store where it has any of the artifact at that profile, else from the published one; the output says
which. Files are written beside the user's own store, unless the published one is named; for a store in a bucket, in a directory.
"""

import argparse
import shlex
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from bench.flags import LOCAL, PUBLISHED, Verbs, dataset, output_folder, results_dir
from vera.errors import UnknownName, VeraError

if TYPE_CHECKING:
    from bench.artifact import Artifact, Drawing, Sheet
    from bench.results import Results, Source

MARKS = {"supported": "✓", "refuted": "✗", "undetermined": "?"}


def add_render(verbs: Verbs) -> None:
    text = "write tables and figures from stored trials, and say what they decide"
    verb = verbs.add_parser("render", help=text, description=f"{text[0].upper()}{text[1:]}.")
    verb.add_argument("names", metavar="NAME", nargs="+", help="tables and figures by name, e.g. table2; or all")
    verb.add_argument("--profile", choices=("smoke", "laptop", "paper"), default="laptop", help="budgets (default: laptop)")
    verb.add_argument(
        "--from", dest="source", choices=("local", "published"),
        help="whose trials: your own or those that ship (default: yours where there are any)",
    )  # fmt: skip
    dataset(verb)
    results_dir(verb, "where your own store lies")
    verb.add_argument(
        "--plugin", metavar="FILE", action="append", default=[], help="a Python file that registers your own; repeatable"
    )
    verb.set_defaults(run=render)


def render(arguments: argparse.Namespace) -> int:
    """Everything is found before the first file is written, so that a wrong name changes nothing."""
    stores = _stores(arguments)
    found = {artifact: _results(artifact, stores) for artifact in _elsewhere(_asked(arguments.names), arguments.dataset)}
    missing = [_no_rows(artifact, arguments) for artifact, results in found.items() if results is None]
    if missing and ("all" not in arguments.names or len(missing) == len(found)):
        raise VeraError(missing[0] if "all" not in arguments.names else _nothing(arguments))
    for artifact, results in found.items():
        if results is not None:
            _show(artifact, results, _target(arguments))
    for line in missing:
        print(f"skipped: {line}")
    for problem in [problem for results in stores for problem in results.store.problems]:
        print(f"vera: {problem}", file=sys.stderr)
    return 0


def rendered(artifact: "Artifact", results: "Results") -> "Sheet | Drawing":
    """With the notes on the choice of rows, which arise while the artifact reads them."""
    made = artifact.render(results)
    return replace(made, notes=(*made.notes, *(note for note in results.notes if note not in made.notes)))


def claim_lines(artifact: "Artifact", results: "Results") -> Iterator[str]:
    """The artifact's claims, each with its mark, where the paper makes it, and the evidence."""
    for claim in artifact.claims:
        finding = claim.check(results)
        yield f"{MARKS[finding.judgement]} {finding.judgement} at {results.profile}: {claim.text} ({claim.where})"
        yield f"    {finding.evidence}"


def _show(artifact: "Artifact", results: "Results", folder: Path) -> None:
    from bench.artifact import Sheet
    from bench.render.files import write
    from bench.render.terminal import print_sheet
    from bench.render.words import heading

    rendering = rendered(artifact, results)
    paths = write(rendering, folder)
    print(f"{artifact.name} · {results.profile} profile · {results.source} trials\n")
    if isinstance(rendering, Sheet):
        print_sheet(rendering)
    else:
        print("\n".join([heading(rendering), rendering.caption, *rendering.notes]))
    print(f"\nwritten: {', '.join(map(str, paths))}")
    for line in claim_lines(artifact, results):
        print(line)
    print()


def _asked(names: list[str]) -> "list[Artifact]":
    """The artifacts of these names and their companions; all of them if one of the names is 'all'."""
    import bench.paper  # noqa: F401 (registers the paper's tables and figures)
    from bench.artifact import artifacts
    from vera.settings import nearest

    known = artifacts.known
    for name in names:
        if name != "all" and name not in known:
            raise UnknownName(f"There is no table or figure '{name}'.{nearest(name, known)}")
    if "all" in names:
        return list(known.values())
    return [known[wanted] for wanted in dict.fromkeys(each for name in names for each in (name, *known[name].companions))]


def _elsewhere(asked: "list[Artifact]", text: str | None) -> "list[Artifact]":
    """The same on the data of --dataset, if given."""
    if text is None:
        return asked
    from bench.datasets import dataset_part

    part, _ = dataset_part(text)
    return [artifact.on(part) for artifact in asked]


def _stores(arguments: argparse.Namespace) -> "list[Results]":
    """Those that exist, in the order in which they are asked for rows."""
    from bench.results import Results, Source
    from sweeps.places import may_exist, within

    sources: tuple[Source, ...] = get_args(Source) if arguments.source is None else (arguments.source,)
    folders = {source: _folder(source, arguments) for source in sources}
    return [Results.at(at, arguments.profile, source) for source, at in folders.items() if may_exist(within(at, "trials"))]


def _results(artifact: "Artifact", stores: "list[Results]") -> "Results | None":
    """The first store that has a row of the artifact."""
    return next((store.apart() for store in stores if artifact.is_in(store)), None)


def _folder(source: "Source", arguments: argparse.Namespace) -> str:
    return str(arguments.results_dir) if source == "local" else PUBLISHED


def _target(arguments: argparse.Namespace) -> Path:
    """Where files are written: beside the user's own store, unless the published one was named."""
    return Path(PUBLISHED) if arguments.source == "published" else output_folder(arguments.results_dir)


def _no_rows(artifact: "Artifact", arguments: argparse.Namespace) -> str:
    """What is missing, and the command that makes it."""
    profile = arguments.profile
    if artifact.listed and next(iter(artifact.trials(profile)), None) is None:
        return f"{artifact.name} has no trials at the {profile} profile."
    asked = {
        "--profile": (profile, "laptop"), "--dataset": (arguments.dataset, None), "--results-dir": (arguments.results_dir, LOCAL),
    }  # fmt: skip
    options = [text for flag, (value, usual) in asked.items() if value != usual for text in (flag, value)]
    command = shlex.join([*artifact.command.split(), *options])
    return f"{artifact.name} has no trial of the {profile} profile in {_places(arguments)}. To make them: {command}"


def _nothing(arguments: argparse.Namespace) -> str:
    return (
        f"No table or figure has a trial of the {arguments.profile} profile in {_places(arguments)}. To see what to run: vera list"
    )


def _places(arguments: argparse.Namespace) -> str:
    from bench.results import Source

    sources = [arguments.source] if arguments.source else list(get_args(Source))
    return " or ".join(_folder(source, arguments) for source in sources)
