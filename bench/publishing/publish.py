"""Publishing: copy finished trials from a user's store into results/published, with less data.

Rows and evaluations are copied unchanged. Training curves are averaged down to a hundred points. Arrays are
kept for the first seed of a trial, because most figures show one seed. Models are copied on request, because
they are large. Trials of code that differs from its commit are refused. Failed trials are left out and named:
they say something about a machine, not about a method. Published files are never changed, so the history of
versions grows by the new trials alone.
"""

import json
import shlex
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Literal

from sweeps.errors import StoreError
from sweeps.store.row import FAILURES, CurvePoint, Record, Row
from sweeps.trial.canonical_json import canonical_json
from vera.spec.settings import suggest_or_list

if TYPE_CHECKING:
    from sweeps.store.store import Store

MAX_POINTS = 100
"""Points of a published training curve."""
Arrays = Literal["none", "first", "all"]
"""The seeds whose arrays or models are published."""


def publish_trials(
    source: "Store", rows: Sequence[Row], target_folder: Path, arrays: Arrays = "first"
) -> tuple[int, list[Row]]:
    """Copy those of the source's rows that are not published yet. Returns their number and the failed ones.
    Arrays that other sweeps or profiles published do not count as arrays of the first seed."""
    from sweeps.store.store import Store  # slow to import; the command line needs only `Arrays` to start

    target = Store(target_folder)
    published = target.read_rows()
    new, failed = split_new_rows(rows, {row.trial_id for row in published})
    selected, wanted = {(row.sweep, row.profile) for row in rows}, {_drop_seed(row) for row in new}
    earlier = [row for row in published if (row.sweep, row.profile) in selected and _drop_seed(row) in wanted]
    with_arrays = {_drop_seed(row) for row in earlier if target.read_arrays(row.trial_id)}
    with TemporaryDirectory() as folder:
        thinned = Store(folder)
        for record in thin_records(source, new, arrays, with_arrays):
            thinned.write(record)
        target.merge(folder, models=False)
    return len(new), failed


def publish_models(source: "Store", rows: Iterable[Row], target_folder: Path, models: Arrays) -> list[int]:
    """Copy the models of those of the source's rows that are published with the same metrics; "first" takes
    one model of trials that differ only in their seed. Returns the sizes of the copied models in bytes."""
    from sweeps.store.store import Store

    target = Store(target_folder)
    published = {row.trial_id: row for row in target.read_rows()}
    sizes, there = source.models.list_sizes(), target.models.list_sizes()
    same = [row for row in rows if row.trial_id in sizes and _has_same_metrics(row, published)]
    seen = {_drop_seed(row) for trial_id, row in published.items() if trial_id in there}
    copied = []
    for row in sorted(same, key=lambda row: row.seed) if models != "none" else ():
        if row.trial_id not in there and (models == "all" or _drop_seed(row) not in seen):
            seen.add(_drop_seed(row))
            target.models.write(row.trial_id, source.models.read(row.trial_id))
            copied.append(sizes[row.trial_id])
    return copied


def _has_same_metrics(row: Row, published: Mapping[str, Row]) -> bool:
    return row.trial_id in published and row.metrics == published[row.trial_id].metrics


def select_rows(location: str, rows: Iterable[Row], sweeps: Sequence[str], profile: str) -> list[Row]:
    """The rows of these sweeps at this profile; StoreError for a sweep without rows at this location."""
    stored = [row for row in rows if row.profile == profile]
    names = sorted({row.sweep for row in stored})
    for sweep in sweeps:
        if sweep not in names:
            offer = suggest_or_list(sweep, names)
            raise StoreError(f"{location} has no trial of {sweep} at {profile}.{offer}")
    return [row for row in stored if row.sweep in sweeps]


def split_new_rows(rows: Iterable[Row], published: Container[str]) -> tuple[list[Row], list[Row]]:
    """(rows to publish, failed rows) among those that are not published; StoreError for uncommitted code."""
    new = [row for row in rows if row.trial_id not in published]
    if changed := [row for row in new if row.git_dirty or not row.git_commit]:
        names, first = ", ".join(row.trial_id[:8] for row in changed), changed[0]
        again = shlex.join(["vera", "run", first.sweep, "--profile", first.profile, "--retry", first.outcome])
        raise StoreError(
            f"Trained by uncommitted code or code of unknown commit: {names}. To run them again from a clean "
            f"commit: {again}"
        )
    failed = [row for row in new if row.outcome in FAILURES]
    return [row for row in new if row.outcome not in FAILURES], failed


def thin_records(
    store: "Store", rows: Iterable[Row], arrays: Arrays, with_arrays: Iterable[str] = ()
) -> Iterator[Record]:
    """The records of these rows with thinned curves. Of trials that differ only in their seed, "first" keeps
    the arrays of the lowest seed that has some, unless one of them is in `with_arrays`."""
    seen = set(with_arrays)
    for row in sorted(rows, key=lambda row: row.seed):
        wanted = arrays == "all" or (arrays == "first" and _drop_seed(row) not in seen)
        kept = store.read_arrays(row.trial_id) if wanted else {}
        if kept:
            seen.add(_drop_seed(row))
        yield Record(row, list(thin_curves(store.read_curves(row.trial_id))), kept)


def thin_curves(points: Iterable[CurvePoint]) -> Iterator[CurvePoint]:
    """Evaluations unchanged; training curves as means over blocks of neighbours, at the step of the last
    one."""
    ordered = sorted(points, key=lambda point: (point.kind, point.metric, point.step))
    for (kind, _), curve in groupby(ordered, key=lambda point: (point.kind, point.metric)):
        found = list(curve)
        size = 1 if kind == "evaluation" else -(-len(found) // MAX_POINTS)
        for start in range(0, len(found), size):
            block = found[start : start + size]
            yield replace(block[-1], value=fmean(point.value for point in block))


def _drop_seed(row: Row) -> str:
    """The same text for trials that differ only in their seed."""
    return canonical_json(json.loads(row.spec) | {"seed": 0})
