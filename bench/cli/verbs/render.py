"""`vera render`: tables and figures from the store, with the claims they decide. Trains nothing, loads no
torch.

Rows come from the user's store if it has any of the artifact at that profile, else from the published one,
unless --results-dir or --from names a store; the output says which. Files are written to the results
directory of the rows, or to --results-dir; for a bucket, to a local directory. Files of the default profile
have the name of the artifact (table6.md), those of other profiles also that of the profile (table6-paper.md).
Each claim is one line; --explain prints its evidence below it.
"""

import argparse
import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bench.cli.flags import (
    DATASET,
    PLUGIN,
    PROFILE,
    PROFILE_HELP,
    RESULTS_DIR,
    SET,
    add_dataset,
    add_plugin,
    add_results_dir,
    add_set,
    add_source,
    repeat_flags,
)
from bench.cli.parser import Subparsers, add_command
from bench.cli.selection.artifacts import (
    EVERY,
    choose_profiles,
    find_first_results,
    find_image_variants,
    find_target,
    keep_with_variants,
    open_empty_results,
    open_results,
    select_artifacts,
)
from bench.cli.selection.settings import parse_settings
from bench.cli.selection.stores import choose_sources, hint_published
from bench.cli.terminal_output import unfiltered
from bench.locations import DEFAULT_PROFILE, PROFILES
from vera.errors import VeraError

EXPLAIN = "--explain"

if TYPE_CHECKING:
    from bench.artifact import Artifact
    from bench.judging.results import Results


def add_parser(verbs: Subparsers) -> None:
    text = "write tables and figures from stored trials, with the claims they decide"
    parser = add_command(verbs, "render", text, "render table2", "render all --from published --quiet")
    parser.add_argument("names", metavar="NAME", nargs="+", help="tables and figures, e.g. table2; or all")
    parser.add_argument(
        PROFILE,
        choices=(*PROFILES, EVERY),
        default=DEFAULT_PROFILE,
        help=f"{PROFILE_HELP}; {EVERY}: every profile with trials",
    )
    add_source(parser)
    parser.add_argument("--quiet", action="store_true", help="print only the names of the files")
    parser.add_argument(EXPLAIN, action="store_true", help="also print the evidence for each claim")
    add_dataset(parser)
    add_set(parser, "also show the variants of vera run --set, in lines of their own; repeatable")
    add_results_dir(parser, "where your own results are stored")
    add_plugin(parser)
    parser.set_defaults(run=render)


def render(arguments: argparse.Namespace) -> int:
    """Find everything before writing the first file, so that a wrong name changes nothing."""
    from bench.shown_variants import show_variants

    artifacts = select_artifacts(arguments.names, arguments.dataset)
    changes = parse_settings(arguments.set)
    if changes:
        artifacts = keep_with_variants(artifacts, changes, choose_profiles(arguments))
    with show_variants(changes):
        return _render_artifacts(arguments, artifacts)


def _render_artifacts(arguments: argparse.Namespace, artifacts: "Sequence[Artifact]") -> int:
    stores = open_results(arguments)
    if not stores and EVERY not in arguments.names and not all(each.needs_rows for each in artifacts):
        stores = list(open_empty_results(arguments))
    try:
        found = {artifact: find_first_results(artifact, stores) for artifact in artifacts}
        if EVERY in arguments.names and arguments.dataset is None:
            found |= find_image_variants(artifacts, stores)
        return _render_found(arguments, found, stores)
    finally:
        for problem in dict.fromkeys(problem for results in stores for problem in results.store.problems):
            print(f"vera: {problem}", file=sys.stderr)


def _render_found(
    arguments: argparse.Namespace, found: "dict[Artifact, list[Results]]", stores: "Sequence[Results]"
) -> int:
    missing = [artifact for artifact, results in found.items() if not results]
    if missing and (EVERY not in arguments.names or len(missing) == len(found)):
        if EVERY in arguments.names:
            raise VeraError(
                f"No table or figure has a trial of {_describe_place(arguments)}. To see what to run: "
                f"vera list{hint_published(arguments)}"
            )
        hidden = _explain_hidden(missing[0], arguments, stores)
        raise VeraError(" ".join([*hidden, _explain_missing(missing[0], arguments)]))
    folder = find_target(arguments)
    for artifact, of_profiles in found.items():
        for results in of_profiles:
            _print_rendering(artifact, results, folder, arguments)
    if any(artifact.claims for artifact, results in found.items() if results) and not (
        arguments.quiet or arguments.explain
    ):
        print(f"for the evidence: {_repeat_command(arguments)} {EXPLAIN}")
    for line in _list_skipped(missing, arguments):
        print(line)
    return 0


def _repeat_command(arguments: argparse.Namespace) -> str:
    source = [] if arguments.source is None else ["--from", arguments.source]
    flags = repeat_flags(arguments, PROFILE, DATASET, SET, RESULTS_DIR, PLUGIN)
    return shlex.join(["vera", "render", *arguments.names, *flags, *source])


def _print_rendering(
    artifact: "Artifact", results: "Results", folder: Path, arguments: argparse.Namespace
) -> None:
    """Write the files of an artifact. Print it with its claims or, with --quiet, the names of the files."""
    from bench.artifact import Sheet
    from bench.render.files import write_rendering
    from bench.render.layout import make_heading
    from bench.render.terminal import print_sheet

    rendering = artifact.render_with_notes(results)
    paths = write_rendering(rendering, folder)
    if arguments.quiet:
        files = ", ".join([str(paths[0]), *(path.suffix for path in paths[1:])])
        print(f"{artifact.name} · {results.profile} profile: {files}", flush=True)
        return
    origin = f"{results.source} trials" if artifact.needs_rows else "needs no trials"
    print(f"{artifact.name} · {results.profile} profile · {origin}\n")
    if isinstance(rendering, Sheet):
        print_sheet(rendering, unfiltered())
    else:
        print("\n".join([make_heading(rendering), rendering.caption, *rendering.notes]))
    print(f"\nwritten: {', '.join(map(str, paths))}")
    for claim in artifact.claims:
        finding = claim.judge(results)
        print(f"{finding.label} at {results.profile}: {claim.text} ({claim.where})")
        if arguments.explain:
            print(f"    {finding.explanation}")
    print()


def _list_skipped(missing: "Sequence[Artifact]", arguments: argparse.Namespace) -> Iterator[str]:
    """The artifacts without rows, for `vera render all`."""
    missing = [artifact for artifact in missing if not artifact.optional]
    if not arguments.quiet:
        yield from (f"skipped: {_explain_missing(artifact, arguments)}" for artifact in missing)
    elif missing:
        names = ", ".join(artifact.name for artifact in missing)
        yield f"no trials yet: {names}. To see what to run: vera list"


def _explain_missing(artifact: "Artifact", arguments: argparse.Namespace) -> str:
    """What is missing, and the command that runs it."""
    profile = DEFAULT_PROFILE if arguments.profile == EVERY else arguments.profile
    if artifact.listed and next(iter(artifact.trials(profile)), None) is None:
        return f"{artifact.name} has no trials at the {profile} profile."
    flags = [] if profile == DEFAULT_PROFILE else [PROFILE, profile]
    flags += repeat_flags(arguments, DATASET, SET, RESULTS_DIR, PLUGIN)
    command = shlex.join([*artifact.command.split(), *flags])
    return (
        f"{artifact.name} has no trial of {_describe_place(arguments)}. To run them: "
        f"{command}{hint_published(arguments)}"
    )


def _explain_hidden(
    artifact: "Artifact", arguments: argparse.Namespace, stores: "Sequence[Results]"
) -> Iterator[str]:
    """Stored trials of the artifact that are not shown: of other file contents, or of a plug-in's method."""
    if arguments.dataset is not None:
        yield from dict.fromkeys(note for results in stores for note in results.notes)
    for results in stores:
        trials = list(artifact.trials(results.profile))
        known, data = {trial.spec.method["name"] for trial in trials}, {trial.data for trial in trials}
        others = {
            row.method for row in results.rows if row.sweep == artifact.name and row.data in data
        } - known
        if artifact.listed and others:
            names = ", ".join(sorted(others))
            yield (
                f"{results.store.location} has trials of {artifact.name} by {names}: to see them, load the "
                "plug-in with --plugin FILE."
            )


def _describe_place(arguments: argparse.Namespace) -> str:
    profile = "any profile" if arguments.profile == EVERY else f"the {arguments.profile} profile"
    return f"{profile} in {' or '.join(choose_sources(arguments).values())}"
