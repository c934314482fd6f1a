"""How trials come to ship: those of a user's own store go into results/published, slimmed to what is looked
at.

    python -m bench.publishing.publish results/local table10 --profile paper

A row goes as it is, with its evaluations; a training curve is averaged down to a hundred points; arrays are
kept of the first seed of a trial, for most pictures show one. Refused is what was trained by code that
differed from its commit. Left out, and named, is what failed: it says something about a machine, not about a
method. What shipped before stays as it is, file by file, so that a history of versions grows by the new
trials alone. Loads neither torch nor ray.
"""

import json
import shlex
import sys
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Literal, get_args

from bench.cli.flags import Parser
from bench.judging.results import open_store
from bench.locations import PROFILES, PUBLISHED
from sweeps.errors import StoreError
from sweeps.store.row import FAILURES, CurvePoint, Record, Row
from sweeps.store.store import Store
from sweeps.trial.canonical_json import canonical_json
from vera.spec.settings import suggest_or_list

POINTS = 100
"""Of a training curve, at the most."""
Wanted = Callable[[Row], bool]
Arrays = Literal["none", "first", "all"]


def slim_curves(points: Iterable[CurvePoint]) -> Iterator[CurvePoint]:
    """Evaluations as they are; of each training curve means of so many neighbours that few are left, at the
    step of the last."""
    for (kind, _), curve in groupby(sorted(points, key=_place), key=lambda point: (point.kind, point.metric)):
        found = list(curve)
        size = 1 if kind == "evaluation" else -(-len(found) // POINTS)
        for block in (found[at : at + size] for at in range(0, len(found), size)):
            yield replace(block[-1], value=fmean(point.value for point in block))


def _place(point: CurvePoint) -> tuple[str, str, int]:
    return point.kind, point.metric, point.step


def records(store: Store, rows: Iterable[Row], arrays: Arrays, shown: Iterable[str] = ()) -> Iterator[Record]:
    """What is kept of these rows' trials. The first of trials that differ by their seed alone is the lowest
    seed with arrays, if none of them is `shown` already."""
    seen = set(shown)
    for row in sorted(rows, key=lambda row: row.seed):
        wanted = arrays == "all" or (arrays == "first" and _but_for_its_seed(row) not in seen)
        kept = store.arrays(row.trial_id) if wanted else {}
        seen.update([_but_for_its_seed(row)] if kept else [])
        yield Record(row, list(slim_curves(store.curves(row.trial_id))), kept)


def _but_for_its_seed(row: Row) -> str:
    return canonical_json(json.loads(row.spec) | {"seed": 0})


def chosen(store: Store, held: Container[str], wanted: Wanted) -> tuple[list[Row], list[Row]]:
    """(rows to publish, rows that failed) of those wanted that do not ship already."""
    new = [row for row in store.rows() if wanted(row) and row.trial_id not in held]
    if changed := [row for row in new if row.git_dirty or not row.git_commit]:
        names, first = ", ".join(row.trial_id[:8] for row in changed), changed[0]
        again = shlex.join(["vera", "run", first.sweep, "--profile", first.profile, "--retry", first.outcome])
        raise StoreError(
            f"Trained by code that differed from its commit, or from none: {names}. To run them again, from a clean commit: {again}"
        )
    return [row for row in new if row.outcome not in FAILURES], [
        row for row in new if row.outcome in FAILURES
    ]


def publish(place: str, wanted: Wanted, to: Path, arrays: Arrays = "first") -> tuple[int, list[Row]]:
    """Copy what is wanted and new into the store at `to`; how many that were, and what was left out because
    it failed."""
    source, target = open_store(place), Store(to)
    rows, failed = chosen(source, target.outcomes(), wanted)
    shown = {_but_for_its_seed(row) for row in target.rows() if wanted(row) and target.arrays(row.trial_id)}
    with TemporaryDirectory() as folder:
        slim = Store(folder)
        for record in records(source, rows, arrays, shown):
            slim.write(record)
        target.merge(folder)
    return len(rows), failed


def check_asked(place: str, sweeps: Iterable[str], profile: str) -> None:
    """StoreError for a sweep of which the place has no trial."""
    held = {row.sweep for row in open_store(place).rows() if row.profile == profile}
    for name in sweeps:
        if name not in held:
            raise StoreError(
                f"{place} has no trial of {name} at {profile}.{suggest_or_list(name, sorted(held))}"
            )


def main(argv: Sequence[str] | None = None) -> int:
    parser = Parser(
        prog="python -m bench.publishing.publish",
        description=f"Copy finished trials into {PUBLISHED}, slimmed.",
    )
    parser.add_argument("place", metavar="RESULTS_DIR", help="where the trials lie, e.g. results/local")
    parser.add_argument("sweeps", metavar="SWEEP", nargs="+", help="the sweeps that ran them, e.g. table10")
    parser.add_argument(
        "--profile", choices=PROFILES, default="paper", help="of this profile (default: paper)"
    )
    parser.add_argument(
        "--arrays",
        choices=get_args(Arrays),
        default="first",
        help="of which seeds samples, density images and the like are kept (default: first; Figure 6 draws all)",
    )
    given = parser.parse_args(argv)
    try:
        check_asked(given.place, given.sweeps, given.profile)
        count, failed = publish(
            given.place,
            lambda row: row.sweep in given.sweeps and row.profile == given.profile,
            Path(PUBLISHED, "trials"),
            given.arrays,
        )
    except StoreError as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 2
    for row in failed:
        print(f"left out: {row.trial_id[:8]} {row.label} {row.dataset} seed {row.seed}, {row.outcome}")
    print(
        f"{count} trials of {', '.join(given.sweeps)} at {given.profile} are new in {PUBLISHED}; to see them: make figures"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
