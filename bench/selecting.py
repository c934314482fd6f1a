"""Which trials a command means: a sweep by its name, a table on other data, or a single trial with other seeds.

    table2            a registered sweep; every table and figure is one
    spec:FILE         the trial that a JSON file describes, as `vera search` writes it
    trial:ID          a trial of the store, such as the best of a search; looked for among the published ones too

A single trial brings its profile along.
"""

import argparse
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from bench.flags import PUBLISHED
from sweeps.errors import EngineError, StoreError, UnknownTrial

if TYPE_CHECKING:
    from sweeps.row import Row
    from sweeps.store import Store
    from sweeps.sweep import Flop, Sweep
    from sweeps.trial import Trial
    from vera.spec import Part

STORED = "trial:"


def asked_trials(arguments: argparse.Namespace, store: "Store") -> "list[Trial]":
    import bench.paper  # noqa: F401 (registers them)
    from sweeps.sweep import matching

    seeds = None if arguments.seeds is None else range(arguments.seeds)
    trials = matching(_sweep(arguments, store).trials(arguments.profile, seeds), arguments.only)
    if not trials:
        raise EngineError(f"No trial of {arguments.sweep} fits --only {' '.join(arguments.only)}.")
    arguments.profile = trials[0].profile
    return trials


def flop_of(sweep: str) -> "Flop | None":
    """How its operations are counted, where they are."""
    from sweeps.sweep import find_sweep

    return None if sweep.startswith(STORED) else find_sweep(sweep).flop


def _sweep(arguments: argparse.Namespace, store: "Store") -> "Sweep":
    from bench.artifact import artifacts
    from sweeps.sweep import find_sweep, of_row

    if arguments.dataset is not None:
        return _elsewhere(arguments)
    if arguments.sweep.startswith(STORED):
        return of_row(_stored(arguments.sweep.removeprefix(STORED), store))
    artifact = artifacts.known.get(arguments.sweep)
    if artifact is not None and not artifact.listed:
        raise EngineError(f"{artifact.name} has no list of trials: a search proposes them. To begin one: {artifact.command}")
    return find_sweep(arguments.sweep)


def _stored(trial_id: str, store: "Store") -> "Row":
    """From the user's own store, else from the published one."""
    from sweeps.store import Store

    try:
        return store.row(trial_id)
    except UnknownTrial:
        published = Path(PUBLISHED) / "trials"
        with suppress(StoreError, UnknownTrial):
            return Store(published, create=False).row(trial_id)
        raise


def _elsewhere(arguments: argparse.Namespace) -> "Sweep":
    """The sweep of a table on the data of --dataset."""
    from bench.artifact import artifacts
    from bench.datasets import dataset_part

    part, _ = dataset_part(arguments.dataset)
    if arguments.sweep not in artifacts.known:
        raise EngineError(f"--dataset goes with a table or a figure; {arguments.sweep} is neither.")
    elsewhere = artifacts.known[arguments.sweep].on(part)
    if "file" in part:
        largest = max(trial.spec.batch_size for trial in elsewhere.trials(arguments.profile))
        _check_rows(part, arguments.data_dir, largest)
    return elsewhere.sweep()


def _check_rows(part: "Part", data_dir: str | None, batch: int) -> None:
    """A user's own file must fill a batch; say so once, before every trial does."""
    from vera.build import build_labelled
    from vera.errors import SettingError

    rows = len(build_labelled(part, data_dir).split(0).train)
    if rows < batch:
        raise SettingError(
            f"{part['file']} has {rows} rows to train with, fewer than a batch of {batch}: it is too small for this."
        )
