"""Which trials a command means: a sweep by its name, a table on other data, or a single trial with other seeds.

    table2            a registered sweep; every table and figure is one
    spec:FILE         the trial that a JSON file describes, as `vera search` writes it
    trial:ID          a trial of the store, such as the best of a search; looked for among the published ones too

A single trial brings its profile along.
"""

import argparse
from contextlib import suppress
from typing import TYPE_CHECKING

from bench.flags import PUBLISHED
from sweeps.errors import EngineError, StoreError, UnknownTrial

if TYPE_CHECKING:
    from sweeps.row import Row
    from sweeps.store import Store
    from sweeps.sweep import Flop, Sweep
    from sweeps.trial import Trial

STORED = "trial:"


def asked_trials(arguments: argparse.Namespace, store: "Store") -> "list[Trial]":
    import bench.paper  # noqa: F401 (registers them)
    from sweeps.sweep import matching

    seeds = None if arguments.seeds is None else range(arguments.seeds)
    trials = matching(_sweep(arguments, store).trials(arguments.profile, seeds), arguments.only)
    name = arguments.sweep
    if not trials and arguments.only:
        raise EngineError(f"No trial of {name} fits --only {' '.join(arguments.only)}. To see its trials: vera plan {name}")
    if not trials:
        raise EngineError(f"{name} has no trials at the {arguments.profile} profile. To see what there is: vera list")
    if "profile" in arguments.given and trials[0].profile != arguments.profile:
        raise EngineError(f"{name} has the profile {trials[0].profile} of its own: leave --profile out.")
    arguments.profile = trials[0].profile
    return trials


def needs_none(arguments: argparse.Namespace) -> bool:
    """Whether it is a table or figure for which no trial has to be run."""
    import bench.paper  # noqa: F401 (registers them)
    from bench.artifact import artifacts

    artifact = artifacts.known.get(arguments.sweep)
    return artifact is not None and not artifact.needs_rows and arguments.dataset is None


def flop_of(sweep: str) -> "Flop | None":
    """How its operations are counted, where they are."""
    from sweeps.sweep import find_sweep

    return None if sweep.startswith(STORED) else find_sweep(sweep).flop


def _sweep(arguments: argparse.Namespace, store: "Store") -> "Sweep":
    from bench.artifact import artifacts
    from bench.other_data import sweep_on
    from sweeps.sweep import find_sweep, of_row

    if arguments.dataset is not None:
        return sweep_on(arguments.dataset, arguments.sweep, arguments.profile, arguments.data_dir)
    if arguments.sweep.startswith(STORED):
        return of_row(stored_trial(arguments.sweep.removeprefix(STORED), store)[0])
    artifact = artifacts.known.get(arguments.sweep)
    if artifact is not None and not artifact.listed:
        raise EngineError(f"{artifact.name} has no list of trials: a search proposes them. To begin one: {artifact.command}")
    return find_sweep(arguments.sweep)


def stored_trial(trial_id: str, store: "Store") -> "tuple[Row, Store]":
    """From the user's own store, else from the published one; and which of them has it."""
    from bench.results import open_store

    try:
        return store.row(trial_id), store
    except UnknownTrial:
        with suppress(StoreError, UnknownTrial):
            published = open_store(PUBLISHED)
            return published.row(trial_id), published
        raise


def origin(store: "Store") -> str:
    """What to say of a trial that is not the user's own."""
    return f" (from {PUBLISHED})" if store.restore else ""
