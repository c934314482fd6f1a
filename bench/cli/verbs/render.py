"""The verb `vera render`: tables and figures from the store, with the claims they decide. It runs nothing and
loads no torch.

Rows come from the user's own store where it has any of the artifact at that profile, else from the published
one, unless a store was named with --results-dir; the output says which. Files are written beside the user's
own store, those of --from published beside the published one, and all of them where --results-dir says if it
is given; for a store in a bucket, in a directory. Those of the default profile have an artifact's name
(table6.md), those of others also the profile's (table6-paper.md): one profile never overwrites another.
"""

import argparse
import json
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bench.cli.flags import (
    DATASET,
    PLUGIN,
    PROFILE_HELP,
    RESULTS_DIR,
    Verbs,
    asked_sources,
    check_ships,
    dataset,
    described,
    kept,
    ours_instead,
    output_folder,
    plugin,
    results_dir,
)
from bench.locations import DEFAULT_PROFILE, PROFILES, PUBLISHED
from vera.errors import UnknownName, VeraError

if TYPE_CHECKING:
    from bench.artifact import Artifact
    from bench.judging.results import Results, Source
    from sweeps.trial.identity import Profile

EVERY = "all"
"""In place of a name: every table and figure. In place of a profile: every one that has trials."""


def add_render(verbs: Verbs) -> None:
    text = "write tables and figures from stored trials, and say what they decide"
    verb = described(verbs, "render", text, "render table2", "render all --from published --quiet")
    verb.add_argument(
        "names", metavar="NAME", nargs="+", help="tables and figures by name, e.g. table2; or all"
    )
    verb.add_argument(
        "--profile", choices=(*PROFILES, EVERY), default=DEFAULT_PROFILE,
        help=f"{PROFILE_HELP}; {EVERY}: whichever of them has trials",
    )  # fmt: skip
    verb.add_argument(
        "--from", dest="source", choices=("local", "published"),
        help="whose trials: your own or those that ship (default: yours where there are any)",
    )  # fmt: skip
    verb.add_argument(
        "--quiet", action="store_true", help="print the names of the files, not what is in them"
    )
    dataset(verb)
    results_dir(verb, "where your own store lies")
    plugin(verb)
    verb.set_defaults(run=render)


def render(arguments: argparse.Namespace) -> int:
    """Everything is found before the first file is written, so that a wrong name changes nothing."""
    asked = _elsewhere(_asked(arguments.names), arguments.dataset)
    stores = [store for profile in _profiles(arguments) for store in _stores(arguments, profile)]
    if not stores and EVERY not in arguments.names and not all(artifact.needs_rows for artifact in asked):
        stores = list(_empty(arguments))
    try:
        found = {artifact: _by_profile(artifact, stores) for artifact in asked}
        others = (
            _on_other_images(asked, stores) if EVERY in arguments.names and arguments.dataset is None else {}
        )
        return _render(arguments, found | others, stores)
    finally:
        for problem in [problem for results in stores for problem in results.store.problems]:
            print(f"vera: {problem}", file=sys.stderr)


def _render(
    arguments: argparse.Namespace, found: "dict[Artifact, list[Results]]", stores: "Sequence[Results]"
) -> int:
    missing = [artifact for artifact, results in found.items() if not results]
    if missing and (EVERY not in arguments.names or len(missing) == len(found)):
        if EVERY in arguments.names:
            raise VeraError(_nothing(arguments))
        raise VeraError(
            " ".join([*_not_shown(missing[0], arguments, stores), _no_rows(missing[0], arguments)])
        )
    for artifact, of_profiles in found.items():
        for results in of_profiles:
            (_name if arguments.quiet else _show)(artifact, results, _target(arguments))
    for line in _skipped(missing, arguments):
        print(line)
    return 0


def claim_lines(artifact: "Artifact", results: "Results") -> Iterator[str]:
    """The artifact's claims, each with its mark, where the paper makes it, and the evidence."""
    for claim in artifact.claims:
        finding = claim.check(results)
        yield f"{finding.label} at {results.profile}: {claim.text} ({claim.where})"
        yield f"    {finding.evidence}"


def _show(artifact: "Artifact", results: "Results", folder: Path) -> None:
    from bench.artifact import Sheet
    from bench.render.files import write
    from bench.render.headings import heading
    from bench.render.terminal import print_sheet

    rendering = artifact.render_with_notes(results)
    paths = write(rendering, folder)
    whose = f"{results.source} trials" if artifact.needs_rows else "needs no trials"
    print(f"{artifact.name} · {results.profile} profile · {whose}\n")
    if isinstance(rendering, Sheet):
        print_sheet(rendering)
    else:
        print("\n".join([heading(rendering), rendering.caption, *rendering.notes]))
    print(f"\nwritten: {', '.join(map(str, paths))}")
    for line in claim_lines(artifact, results):
        print(line)
    print()


def _name(artifact: "Artifact", results: "Results", folder: Path) -> None:
    from bench.render.files import write

    first, *others = write(artifact.render_with_notes(results), folder)
    print(
        f"{artifact.name} · {results.profile} profile: {first}{''.join(f', {path.suffix}' for path in others)}",
        flush=True,
    )


def _skipped(missing: "list[Artifact]", arguments: argparse.Namespace) -> Iterator[str]:
    """Of all tables and figures, those without rows: one line each, or one for all of them."""
    if not arguments.quiet:
        yield from (f"skipped: {_no_rows(artifact, arguments)}" for artifact in missing)
    elif missing:
        yield f"no trials yet: {', '.join(artifact.name for artifact in missing)}. To see what to run: vera list"


def _asked(names: list[str]) -> "list[Artifact]":
    """The artifacts of these names and their companions; all of them if one of the names is 'all'."""
    from bench.catalogue import catalogue

    for name in names:
        if name != EVERY and name not in catalogue:
            _refuse(name)
    if EVERY in names:
        return catalogue.artifacts()
    asked = [catalogue.artifact(name) for name in names]
    wanted = dict.fromkeys(each for artifact in asked for each in (artifact.name, *artifact.companions))
    return [catalogue.artifact(name) for name in wanted]


def _refuse(name: str) -> None:
    """UnknownName for what cannot be rendered: why, or what is nearest."""
    from bench.catalogue import catalogue

    if why := catalogue.why_not_run(name):
        raise UnknownName(why)
    if name in catalogue.sweep_names():
        raise UnknownName(f"{name} is a sweep without a table; its trials are listed by: vera report")
    catalogue.artifact(name)


def _elsewhere(asked: "list[Artifact]", text: str | None) -> "list[Artifact]":
    """The same on the data of --dataset, if given."""
    if text is None:
        return asked
    from bench.catalogue import catalogue
    from bench.cli.dataset_flag import dataset_part

    part, _ = dataset_part(text)
    return [catalogue.on_dataset(artifact, part) for artifact in asked]


def _at_hand(text: str | None) -> Mapping[str, str]:
    """What the file of --dataset holds, if it names one: trials of what it held before are not shown."""
    if text is None:
        return {}
    from bench.cli.dataset_flag import dataset_part, fingerprint_at_hand
    from sweeps.trial.matching import make_data_key

    part, folder = dataset_part(text)
    found = fingerprint_at_hand(part, folder)
    return {} if found is None else {make_data_key(part): found}


def _on_other_images(asked: "list[Artifact]", stores: "list[Results]") -> "dict[Artifact, list[Results]]":
    """Those of images once more for each other set of images that a store has trials of, as `--dataset` makes
    them: like all others from the first store that has any, for both would be written to the same files."""
    from sweeps.trial.canonical_json import canonical_json

    taking = [artifact for artifact in asked if artifact.takes == "images"]
    holding: dict[str, list[Results]] = {}
    for store in stores:
        usual = {
            canonical_json(trial.spec.dataset)
            for artifact in taking
            for trial in artifact.trials(store.profile)
        }
        parts = {
            canonical_json(json.loads(row.spec)["dataset"]) for row in store.rows if row.task == "images"
        }
        for part in parts - usual:
            holding.setdefault(part, []).append(store)
    made = {artifact.on(json.loads(part)): holding[part] for part in sorted(holding) for artifact in taking}
    found = {artifact: _by_profile(artifact, having) for artifact, having in made.items()}
    return {artifact: results for artifact, results in found.items() if results}


def _profiles(arguments: argparse.Namespace) -> "tuple[Profile, ...]":
    return PROFILES if arguments.profile == EVERY else (arguments.profile,)


def _stores(arguments: argparse.Namespace, profile: "Profile") -> "list[Results]":
    """Those that exist, in the order in which they are asked for rows."""
    from bench.judging.results import Results
    from sweeps.store.address import may_exist, within

    check_ships(arguments)
    folders, at_hand = (
        {source: _folder(source, arguments) for source in asked_sources(arguments)},
        _at_hand(arguments.dataset),
    )
    found = [
        Results.open(at, profile, source, at_hand)
        for source, at in folders.items()
        if may_exist(within(at, "trials"))
    ]
    return [results for results in found if results.rows or arguments.profile != EVERY]


def _empty(arguments: argparse.Namespace) -> "Iterator[Results]":
    """For what needs no rows where there is no store: a new one, beside which its files are written."""
    from bench.judging.results import Results, open_store

    for profile in _profiles(arguments):
        yield Results(open_store(_target(arguments), create=True), profile)


def _by_profile(artifact: "Artifact", stores: "list[Results]") -> "list[Results]":
    """Of each profile the first store that has a row of the artifact."""
    first: dict[str, Results] = {}
    for store in stores:
        if store.profile not in first and artifact.is_in(store):
            first[store.profile] = store.copy_without_notes()
    return list(first.values())


def _folder(source: "Source", arguments: argparse.Namespace) -> str:
    return str(arguments.results_dir) if source == "local" else PUBLISHED


def _target(arguments: argparse.Namespace) -> Path:
    """Where files are written: in the place that was named, else beside the store whose trials they are
    of."""
    shipped = arguments.source == "published" and "results_dir" not in arguments.given
    return Path(PUBLISHED) if shipped else output_folder(arguments.results_dir)


def _no_rows(artifact: "Artifact", arguments: argparse.Namespace) -> str:
    """What is missing, and the command that makes it."""
    profile = DEFAULT_PROFILE if arguments.profile == EVERY else arguments.profile
    if artifact.listed and next(iter(artifact.trials(profile)), None) is None:
        return f"{artifact.name} has no trials at the {profile} profile."
    options = [
        *(["--profile", profile] if profile != DEFAULT_PROFILE else []),
        *kept(arguments, DATASET, RESULTS_DIR, PLUGIN),
    ]
    command = shlex.join([*artifact.command.split(), *options])
    where = f"{_which(arguments)} in {_places(arguments)}"
    return f"{artifact.name} has no trial of {where}. To make them: {command}{ours_instead(arguments)}"


def _not_shown(
    artifact: "Artifact", arguments: argparse.Namespace, stores: "Sequence[Results]"
) -> Iterator[str]:
    """Of a table without a trial to show, those that the stores have all the same: of other content, or of a
    plug-in's method."""
    if arguments.dataset is not None:
        yield from dict.fromkeys(note for results in stores for note in results.notes)
    for results in stores:
        trials = list(artifact.trials(results.profile))
        known, data = {trial.spec.method["name"] for trial in trials}, {trial.data for trial in trials}
        others = {
            row.method for row in results.rows if row.sweep == artifact.name and row.data in data
        } - known
        if artifact.listed and others:
            told = f"{results.store.place} has trials of {artifact.name} by {', '.join(sorted(others))}"
            yield f"{told}: to see them, name the plug-in with --plugin FILE."


def _nothing(arguments: argparse.Namespace) -> str:
    where = f"{_which(arguments)} in {_places(arguments)}"
    return (
        f"No table or figure has a trial of {where}. To see what to run: vera list{ours_instead(arguments)}"
    )


def _which(arguments: argparse.Namespace) -> str:
    return "any profile" if arguments.profile == EVERY else f"the {arguments.profile} profile"


def _places(arguments: argparse.Namespace) -> str:
    return " or ".join(_folder(source, arguments) for source in asked_sources(arguments))
