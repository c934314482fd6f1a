"""Which trials a command means: a sweep by its name, a table on other data, or a single trial with other
seeds.

    table2            a registered sweep; every table and figure is one
    spec:FILE         the trial that a JSON file describes, as `vera search` writes it
    trial:ID          a trial of the store, such as the best of a search; looked for among the published ones too

A single trial brings its profile along.
"""

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from bench.cli.flags import DATA_DIR, DATASET, PLUGIN, PROFILE, RESULTS_DIR, kept, shown_place
from bench.locations import PUBLISHED
from sweeps.errors import AmbiguousTrial, EngineError, StoreError, UnknownTrial
from vera.errors import UnknownName

if TYPE_CHECKING:
    from sweeps.store.row import Row
    from sweeps.store.store import Store
    from sweeps.trial.identity import Trial
    from sweeps.trial.sweep import Flop, Sweep

STORED = "trial:"
EMPTY = {
    "spec:": "file: write spec:FILE. vera search writes such files to results/local/searches.",
    STORED: "trial: write trial:ID. Every id stands in the page of: vera report",
}
"""What to say of a beginning after which nothing stands."""


def asked_trials(arguments: argparse.Namespace, store: "Store | None" = None) -> "list[Trial]":
    """The store is where a trial is looked for that is named by its id."""
    from sweeps.trial.filter import matching, why_none

    seeds = None if arguments.seeds is None else range(arguments.seeds)
    every = _sweep(arguments, store).trials(arguments.profile, seeds)
    trials = matching(every, arguments.only)
    name = arguments.sweep
    if not every:
        there = shlex.join(["vera", "list", *kept(arguments, PLUGIN)])
        raise EngineError(
            f"{name} has no trials at the {arguments.profile} profile. To see what there is: {there}"
        )
    if not trials:
        own = shlex.join(
            ["vera", "plan", name, *kept(arguments, PROFILE, DATASET, DATA_DIR, RESULTS_DIR, PLUGIN)]
        )
        why = why_none(every, arguments.only)
        raise EngineError(
            f"No trial of {name} fits --only {' '.join(arguments.only)}.{why} To see its trials: {own}"
        )
    if "profile" in arguments.given and trials[0].profile != arguments.profile:
        raise EngineError(f"{name} has the profile {trials[0].profile} of its own: leave --profile out.")
    arguments.profile = trials[0].profile
    return trials


def needs_none(arguments: argparse.Namespace) -> bool:
    """Whether it is a table or figure for which no trial has to be run."""
    from bench.catalogue import catalogue

    if arguments.dataset is not None or arguments.sweep not in catalogue:
        return False
    return not catalogue.artifact(arguments.sweep).needs_rows


def flop_of(sweep: str) -> "Flop | None":
    """How its operations are counted, where they are."""
    from bench.catalogue import catalogue

    return None if sweep.startswith(STORED) else catalogue.sweep(sweep).flop


def _sweep(arguments: argparse.Namespace, store: "Store | None") -> "Sweep":
    from bench.catalogue import catalogue
    from bench.cli.dataset_sweep import sweep_on
    from sweeps.trial.sweep import of_row

    if arguments.dataset is not None:
        return sweep_on(arguments.dataset, arguments.sweep, arguments.profile, arguments.data_dir)
    if what := EMPTY.get(arguments.sweep):
        raise UnknownName(f"{arguments.sweep} names no {what}")
    if store is not None and arguments.sweep.startswith(STORED):
        return of_row(stored_trial(arguments.sweep.removeprefix(STORED), arguments, store)[0])
    if why := catalogue.why_not_run(arguments.sweep):
        raise UnknownName(why)
    artifact = catalogue.artifact(arguments.sweep) if arguments.sweep in catalogue else None
    if artifact is not None and not artifact.listed:
        raise EngineError(
            f"{artifact.name} has no list of trials: a search proposes them. To begin one: {artifact.command}"
        )
    return catalogue.sweep(arguments.sweep)


def stored_trial(trial_id: str, arguments: argparse.Namespace, store: "Store") -> "tuple[Row, Store]":
    """From the user's own store, else from the published one; and which of them has it. Ids are in small
    letters."""
    from bench.judging.results import open_store

    asked = trial_id.lower()
    try:
        return store.row(asked), store
    except AmbiguousTrial:
        raise
    except UnknownTrial as error:
        unknown = error
    try:
        published = open_store(PUBLISHED)
        return published.row(asked), published
    except AmbiguousTrial:  # some of those that ship: more of the id tells which
        raise
    except (StoreError, UnknownTrial):
        raise UnknownTrial(f"{unknown} {_where_ids_stand(arguments, store)}") from unknown


def _where_ids_stand(arguments: argparse.Namespace, store: "Store") -> str:
    """A page that can be written, else how to have one."""
    if store.outcomes():
        return f"Every id stands in the page of: vera report{shown_place(arguments)}"
    if Path(PUBLISHED, "trials").is_dir():
        return (
            "It is empty; the ids of the trials that ship stand in the page of: vera report --from published"
        )
    return f"It is empty. To begin: vera run toy-demo{shown_place(arguments)}"


def origin(store: "Store") -> str:
    """What to say of a trial that is not the user's own."""
    return f" (from {PUBLISHED})" if store.restore else ""
