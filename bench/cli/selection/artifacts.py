"""What `vera render` renders: the artifacts of its names, each with the results that hold trials of it."""

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.cli.selection.stores import choose_sources, find_output_folder
from bench.locations import PROFILES, PUBLISHED
from vera.errors import UnknownName

if TYPE_CHECKING:
    from bench.artifact import Artifact
    from bench.judging.results import Results
    from sweeps.trial.identity import Profile

EVERY = "all"
"""As a name: every table and figure. As a profile: every profile with trials."""


def select_artifacts(names: Sequence[str], dataset: str | None) -> "list[Artifact]":
    """The artifacts of these names with their companions, on the data of --dataset if it is given."""
    from bench.catalogue import catalogue

    for name in names:
        if name != EVERY and name not in catalogue:
            _refuse_name(name)
    if EVERY in names:
        found = catalogue.artifacts()
    else:
        named = [catalogue.artifact(name) for name in names]
        wanted = dict.fromkeys(each for artifact in named for each in (artifact.name, *artifact.companions))
        found = [catalogue.artifact(name) for name in wanted]
    if dataset is None:
        return found
    from bench.cli.selection.dataset import parse_dataset

    component, _ = parse_dataset(dataset)
    return [catalogue.on_dataset(artifact, component) for artifact in found]


def keep_with_variants(
    artifacts: "Sequence[Artifact]", changes: Mapping[str, Any], profiles: "Sequence[Profile]"
) -> "list[Artifact]":
    """The artifacts that show variants with these settings. UnknownName if a setting is unknown, or if none
    of the artifacts has room for variants."""
    from bench.cli.selection.settings import vary_trials
    from bench.shown_variants import show_variants

    own = [(artifact, profile) for artifact in artifacts for profile in profiles]
    counts = {pair: len(list(pair[0].trials(pair[1]))) for pair in own}
    with show_variants(changes):
        shown = {a for a, profile in own if len(list(a.trials(profile))) > counts[a, profile]}
    found = [artifact for artifact in artifacts if artifact in shown and artifact.shows_variants]
    if not found:
        names = ", ".join(artifact.name for artifact in artifacts)
        vary_trials([trial for a, profile in own for trial in a.sweep().trials(profile)], changes)
        raise UnknownName(f"{names} shows no variants. To see their trials: vera report")
    return found


def _refuse_name(name: str) -> None:
    """UnknownName with the reason, or with the nearest name."""
    from bench.catalogue import catalogue

    if why := catalogue.explain_not_run(name):
        raise UnknownName(why)
    if name in catalogue.sweep_names():
        raise UnknownName(f"{name} is a sweep without a table. To see its trials: vera report")
    catalogue.artifact(name)


def open_results(arguments: argparse.Namespace) -> "list[Results]":
    """The results of every profile and source that exists, by profile and in the order in which they are
    searched. Each store is read once."""
    from bench.judging.results import Results
    from sweeps.store.location import is_url_or_directory, join_location

    profiles, fingerprints = choose_profiles(arguments), fingerprint_dataset(arguments.dataset)
    found = [
        Results.open_profiles(location, profiles, source, fingerprints)
        for source, location in choose_sources(arguments).items()
        if is_url_or_directory(join_location(location, "trials"))
    ]
    by_profile = [results for of_profile in zip(*found, strict=True) for results in of_profile]
    return [results for results in by_profile if results.rows or arguments.profile != EVERY]


def open_empty_results(arguments: argparse.Namespace) -> "Iterator[Results]":
    """An empty new store, for an artifact that needs no rows in a directory without results."""
    from bench.judging.results import Results, open_store

    for profile in choose_profiles(arguments):
        yield Results(open_store(find_target(arguments), create=True), profile)


def choose_profiles(arguments: argparse.Namespace) -> "tuple[Profile, ...]":
    return PROFILES if arguments.profile == EVERY else (arguments.profile,)


def find_target(arguments: argparse.Namespace) -> Path:
    """The directory for the files: that of --results-dir, else that of the trials."""
    if arguments.source == "published" and "results_dir" not in arguments.given:
        return Path(PUBLISHED)
    return find_output_folder(arguments.results_dir)


def fingerprint_dataset(text: str | None) -> Mapping[str, str]:
    """The fingerprint of the file in --dataset. Trials of other contents of this file are not shown."""
    if text is None:
        return {}
    from bench.cli.selection.dataset import fingerprint_file, parse_dataset
    from sweeps.trial.matching import make_data_key

    dataset, folder = parse_dataset(text)
    found = fingerprint_file(dataset, folder)
    return {} if found is None else {make_data_key(dataset): found}


def find_first_results(artifact: "Artifact", stores: "Sequence[Results]") -> "list[Results]":
    """For each profile the first results with trials of the artifact."""
    first: dict[str, Results] = {}
    for results in stores:
        if results.profile not in first and artifact.is_in(results):
            first[results.profile] = results.copy_without_notes()
    return list(first.values())


def find_image_variants(
    artifacts: "Sequence[Artifact]", stores: "Sequence[Results]"
) -> "dict[Artifact, list[Results]]":
    """The image artifacts on every other image data set with trials, as --dataset makes them. As for all
    artifacts, the first results with trials count, because both would be written to the same files."""
    from sweeps.trial.canonical_json import canonical_json

    on_images = [artifact for artifact in artifacts if artifact.takes == "images"]
    holding: dict[str, list[Results]] = {}
    for results in stores:
        declared = {
            canonical_json(trial.spec.dataset)
            for artifact in on_images
            for trial in artifact.trials(results.profile)
        }
        stored = {
            canonical_json(json.loads(row.spec)["dataset"]) for row in results.rows if row.task == "images"
        }
        for dataset in stored - declared:
            holding.setdefault(dataset, []).append(results)
    variants = {
        artifact.on(json.loads(dataset)): holding[dataset]
        for dataset in sorted(holding)
        for artifact in on_images
    }
    found = {artifact: find_first_results(artifact, results) for artifact, results in variants.items()}
    return {artifact: results for artifact, results in found.items() if results}
