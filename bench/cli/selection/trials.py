"""The trials that a command is about: a sweep by name, a table on other data, or a single trial.

    table2            a table or figure, or another sweep by name
    spec:FILE         the trial in a JSON file, as `vera search` writes it
    trial:ID          a stored trial, of the user's own store or of the published one

A single trial comes with its own profile.
"""

import argparse
import shlex
from typing import TYPE_CHECKING

from bench.cli.flags import (
    DATA_DIR,
    DATASET,
    PLUGIN,
    PROFILE,
    RESULTS_DIR,
    SET,
    repeat_flags,
    repeat_results_dir,
)
from bench.cli.selection.settings import parse_settings, vary_trials
from bench.cli.selection.stores import CommandStore, has_published
from bench.locations import PUBLISHED
from sweeps.errors import AmbiguousTrial, EngineError, StoreError, UnknownTrial
from vera.errors import UnknownName

if TYPE_CHECKING:
    from sweeps.store.row import Row
    from sweeps.store.store import Store
    from sweeps.trial.identity import Trial
    from sweeps.trial.sweep import Flop, Sweep

ID_HELP = "id of a trial, or its beginning; published trials are found too"
STORED = "trial:"
INCOMPLETE = {
    "spec:": "file: write spec:FILE. vera search writes such files to results/local/searches.",
    STORED: "trial: write trial:ID. All ids are listed by: vera report",
}
"""What is missing after a prefix without a value."""


def select_trials(arguments: argparse.Namespace, own: CommandStore | None = None) -> "list[Trial]":
    """The trials of the sweep, changed by --set, that match --only. `own` is the user's store, which trial:ID
    needs."""
    from sweeps.trial.filter import explain_no_match, filter_trials

    seeds = None if arguments.seeds is None else range(arguments.seeds)
    changes = parse_settings(arguments.set)
    every = _find_sweep(arguments, own).trials(arguments.profile, seeds)
    every = vary_trials(every, changes) if changes else every
    trials = filter_trials(every, arguments.only)
    name = arguments.sweep
    if not every:
        listing = shlex.join(["vera", "list", *repeat_flags(arguments, PLUGIN)])
        raise EngineError(
            f"{name} has no trials at the {arguments.profile} profile. To list all sweeps: {listing}"
        )
    if not trials:
        flags = repeat_flags(arguments, PROFILE, DATASET, SET, DATA_DIR, RESULTS_DIR, PLUGIN)
        raise EngineError(
            f"No trial of {name} matches --only {' '.join(arguments.only)}."
            f"{explain_no_match(every, arguments.only)} To list its trials: "
            f"{shlex.join(['vera', 'plan', name, *flags])}"
        )
    if "profile" in arguments.given and trials[0].profile != arguments.profile:
        raise EngineError(f"{name} has the profile {trials[0].profile}. Omit --profile.")
    arguments.profile = trials[0].profile
    return trials


def has_nothing_to_run(arguments: argparse.Namespace) -> bool:
    """Whether it is a table or figure that is rendered without trials."""
    from bench.catalogue import catalogue

    if arguments.dataset is not None or arguments.sweep not in catalogue:
        return False
    return not catalogue.artifact(arguments.sweep).needs_rows


def find_flop(sweep: str) -> "Flop | None":
    """The function that counts the operations of the sweep's trials, if there is one."""
    from bench.catalogue import catalogue

    return None if sweep.startswith(STORED) else catalogue.sweep(sweep).flop


def _find_sweep(arguments: argparse.Namespace, own: CommandStore | None) -> "Sweep":
    from bench.catalogue import catalogue
    from bench.cli.selection.dataset import build_sweep_on
    from sweeps.trial.sweep import make_sweep_from_row

    name = arguments.sweep
    if arguments.dataset is not None:
        return build_sweep_on(arguments.dataset, name, arguments.profile, arguments.data_dir)
    if missing := INCOMPLETE.get(name):
        raise UnknownName(f"{name} names no {missing}")
    if own is not None and name.startswith(STORED):
        return make_sweep_from_row(find_stored_trial(name.removeprefix(STORED), arguments, own)[0])
    if why := catalogue.explain_not_run(name):
        raise UnknownName(why)
    artifact = catalogue.artifact(name) if name in catalogue else None
    if artifact is not None and not artifact.listed:
        raise EngineError(
            f"{name} shows the trials of searches, which are not listed in advance. To start one: "
            f"{artifact.command}"
        )
    return catalogue.sweep(name)


def find_stored_trial(trial_id: str, arguments: argparse.Namespace, own: CommandStore) -> "tuple[Row, Store]":
    """The row and the store that holds it: the user's own, else the published one. Ids are lower case."""
    from bench.judging.results import open_store

    wanted = trial_id.lower()
    try:
        return own.store.read_row(wanted), own.store
    except AmbiguousTrial:
        raise
    except UnknownTrial as error:
        unknown = error
    try:
        published = open_store(PUBLISHED)
        return published.read_row(wanted), published
    except AmbiguousTrial:
        raise
    except (StoreError, UnknownTrial):
        raise UnknownTrial(f"{unknown} {_hint_ids(arguments, own)}") from unknown


def _hint_ids(arguments: argparse.Namespace, own: CommandStore) -> str:
    """Where ids are listed."""
    if own.outcomes:
        return f"All ids are listed by: vera report{repeat_results_dir(arguments)}"
    if has_published():
        return "The store is empty. Published trials are listed by: vera report --from published"
    return f"The store is empty. To start: vera run toy-demo{repeat_results_dir(arguments)}"


def describe_origin(store: "Store") -> str:
    """A remark on a trial of the published store; empty for the user's own."""
    return f" (from {PUBLISHED})" if store.restore_command else ""
