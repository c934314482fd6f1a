"""The verbs that look at what the store holds: list, status, show, replay. None writes, but a damaged part is
set aside."""

import argparse
import json
import sys
from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING

from bench.cli.flags import RESULTS_DIR, Verbs, data_dir, shown_place, verb
from bench.cli.trial_selection import origin, stored_trial
from bench.locations import PROFILES
from vera.errors import UnknownName

if TYPE_CHECKING:
    from sweeps.store.row import Row
    from sweeps.store.store import Store

ID_HELP = "a trial's id, or the beginning of it; one that ships is found too"
JSON_COLUMNS = ("metrics", "restarts", "spec", "versions")


def add_list(verbs: Verbs) -> None:
    parser = verb(verbs, "list", "every sweep, and how much of it the store holds")
    parser.set_defaults(run=list_sweeps)


def add_status(verbs: Verbs) -> None:
    parser = verb(
        verbs,
        "status",
        "what the store holds, by sweep and outcome",
        "status",
        "status --results-dir results/published",
    )
    parser.set_defaults(run=status)


def add_show(verbs: Verbs) -> None:
    parser = verb(verbs, "show", "everything the store knows of one trial", "show 79ecd95e")
    parser.add_argument("id", metavar="ID", help=ID_HELP)
    parser.set_defaults(run=show)


def add_replay(verbs: Verbs) -> None:
    parser = verb(
        verbs,
        "replay",
        "run a stored trial again in this process and compare it with its row",
        "replay 79ecd95e",
    )
    parser.add_argument("id", metavar="ID", help=ID_HELP)
    data_dir(parser)
    parser.set_defaults(run=replay)


def list_sweeps(arguments: argparse.Namespace) -> int:
    from bench.catalogue import catalogue
    from vera.spec.settings import by_number

    store = opened(arguments)
    held = store.outcomes()
    names = sorted(catalogue.sweep_names(), key=by_number)
    for name in names:
        sweep = catalogue.sweep(name)
        trials = {profile: sweep.trials(profile) for profile in PROFILES}
        counts = {
            profile: f"{sum(trial.id in held for trial in of)}/{len(of)}" for profile, of in trials.items()
        }
        told = (
            "  ".join(f"{profile} {count:<7}" for profile, count in counts.items())
            if any(trials.values())
            else "needs no trials"
        )
        print(f"{name:{max(map(len, names))}}  {told:43}  {sweep.about}")
    name_problems(store)
    return 0


def status(arguments: argparse.Namespace) -> int:
    """A line for each sweep, profile and outcome: how many trials, and on which data."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    store = opened(arguments)
    for row in store.rows():
        groups.setdefault((row.sweep or "-", row.profile, row.outcome), []).append(row.data)
    width = max([16, *(len(name) for name, *_ in groups)])
    for (name, profile, outcome), data in sorted(groups.items()):
        print(f"{name:{width}} {profile:8} {outcome:14} {len(data):<5} {', '.join(sorted(set(data)))}")
    if not groups:
        print(
            f"No trials in {arguments.results_dir} yet. To begin: vera run toy-demo{shown_place(arguments)}"
        )
    name_problems(store)
    return 0


def show(arguments: argparse.Namespace) -> int:
    row, store = stored_trial(arguments.id, arguments, opened(arguments))
    if from_where := origin(store):
        print(f"{row.trial_id}{from_where}")
    for name, value in asdict(row).items():
        text = json.dumps(json.loads(value), indent=2, ensure_ascii=False) if name in JSON_COLUMNS else value
        print(f"{name:18} {text}")
    curves = Counter((point.kind, point.metric) for point in store.curves(row.trial_id))
    for (kind, metric), points in sorted(curves.items()):
        print(f"curve              {metric}, {kind}, {points} points")
    for name, array in sorted(store.arrays(row.trial_id).items()):
        print(f"array              {name}, {array.dtype} {list(array.shape)}")
    name_problems(store)
    return 0


def replay(arguments: argparse.Namespace) -> int:
    from sweeps.run.conditions import Conditions
    from sweeps.run.replay import compare_with_replay

    row, store = stored_trial(arguments.id, arguments, opened(arguments))
    name_problems(store)
    _check_known(row)
    differences, seconds = compare_with_replay(
        row, Conditions(data_dir=arguments.data_dir, cpus=row.cpus, device=row.device)
    )
    title = f"replayed {row.label} seed {row.seed}{origin(store)} in {seconds:.0f} s"
    if not differences:
        print(f"{title}: identical to the stored row")
        return 0
    print(f"{title}: it differs")
    for line in differences:
        print(f"  {line}")
    return 1


def _check_known(row: "Row") -> None:
    """What a plug-in brought is not known without it."""
    from sweeps.trial.identity import Trial

    try:
        _ = Trial.from_facts(json.loads(row.spec)).facts
    except UnknownName as error:
        raise UnknownName(f"{error} If a plug-in of yours has it: --plugin FILE") from error


def name_problems(store: "Store") -> None:
    """Files in the store that are no parts: named by whoever comes upon them, for they are set aside and not
    seen again."""
    for problem in store.problems:
        print(f"vera: {problem}", file=sys.stderr)


def opened(arguments: argparse.Namespace, create: bool = False) -> "Store":
    """The store of --results-dir. Who only looks makes no directory: where there is none, there are no
    trials."""
    from bench.judging.results import open_store
    from sweeps.errors import StoreError
    from sweeps.store.address import is_url

    try:
        return open_store(arguments.results_dir, create, needed=False)
    except StoreError as error:
        if RESULTS_DIR in str(error) or is_url(arguments.results_dir):
            raise
        raise StoreError(f"{error} Choose another directory with {RESULTS_DIR}.") from error
