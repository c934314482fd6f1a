"""The verb `vera search`: look for good settings of a method on a task, on one machine or a cluster.

A search has a name, by which it is told apart from others of the same task and method; a budget is counted by
it. What it prints at the end is read off the store, so a second call with nothing left to do prints the same.
"""

import argparse
import json
import re
import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from bench.cli.flag_values import at_least, seeds, whole
from bench.cli.flags import (
    DATA_DIR,
    PLUGIN,
    PROFILE,
    PROFILE_HELP,
    RESULTS_DIR,
    Verbs,
    data_dir,
    execution,
    kept,
    output_folder,
    verb,
)
from bench.locations import DEFAULT_PROFILE, PROFILES
from sweeps.search.objective import AGGREGATES
from sweeps.search.sampler_factory import SAMPLERS
from sweeps.search.stopping_rules import SCHEDULERS
from vera.errors import SettingError
from vera.wording import plural

if TYPE_CHECKING:
    from pathlib import Path

    from sweeps.cluster.search_run import Budget
    from sweeps.search.declaration import Configuration, Search
    from sweeps.search.space import Space
    from sweeps.store.row import Row
    from sweeps.trial.identity import Profile

USUAL = 40
"""Configurations of a search that is no grid, unless it is said."""


def add_search(verbs: Verbs) -> None:
    text = "look for the best settings of a method on a task; the store is its memory"
    parser = verb(
        verbs, "search", text, "search moons --configurations 20", "search moons --sampler grid --dry-run"
    )
    parser.add_argument(
        "task",
        metavar="TASK",
        nargs="?",
        help="moons, circles, rings, flow or labels; without one, what there is",
    )
    parser.add_argument("--method", metavar="NAME", default="vera", help="whose settings (default: vera)")
    parser.add_argument("--profile", choices=PROFILES, default=DEFAULT_PROFILE, help=PROFILE_HELP)
    parser.add_argument(
        "--sampler", choices=SAMPLERS, default="tpe", help="where the next point comes from (default: tpe)"
    )
    parser.add_argument(
        "--scheduler",
        choices=SCHEDULERS,
        help="which trials are stopped early (default: asha; none for a grid and with --against)",
    )
    parser.add_argument(
        "--name",
        metavar="NAME",
        help="what this search is called, in rows and reports (default: its sampler, and what it is against)",
    )
    parser.add_argument(
        "--grid", metavar="AXIS=V1,V2,...", action="append", default=[],
        help="values of an axis in the grid, in place of the declared ones, e.g. lr=1e-4,1e-3; repeatable",
    )  # fmt: skip
    parser.add_argument(
        "--configurations", metavar="N", type=at_least(1),
        help=f"how many in all, earlier runs of this name included (default: {USUAL}; of a grid, all)",
    )  # fmt: skip
    parser.add_argument(
        "--seeds", metavar="N", type=seeds, help="seeds of each configuration (default: the task's own)"
    )
    parser.add_argument(
        "--aggregate",
        choices=tuple(AGGREGATES),
        default="mean",
        help="how seeds make one score (default: mean)",
    )
    parser.add_argument(
        "--against",
        choices=("seconds",),
        help="a second objective: the best are those that nothing beats in both",
    )
    parser.add_argument(
        "--sampler-seed", metavar="N", type=whole, default=0, help="of the sampler's own draws (default: 0)"
    )
    data_dir(parser)
    execution(parser)
    parser.set_defaults(run=search)


def search(arguments: argparse.Namespace) -> int:
    if arguments.task is None:
        return tasks()
    from bench.cli.verbs.inspect import name_problems, opened
    from sweeps.cluster.search_run import Budget, proposer_for

    declared = asked_search(arguments)
    configurations = arguments.configurations or (
        len(list(declared.space.iterate_grid())) if arguments.sampler == "grid" else USUAL
    )
    usual = "none" if arguments.sampler == "grid" or arguments.against else "asha"
    budget = Budget(
        arguments.sampler, arguments.scheduler or usual, configurations, seed=arguments.sampler_seed
    )
    store = opened(arguments, create=not arguments.dry_run)
    proposer = proposer_for(declared, arguments.profile, budget, store)
    name_problems(store)
    print(opening(declared, arguments.profile, budget, len(proposer.begun)), flush=True)
    if arguments.dry_run:
        print("\n".join(to_come(declared, arguments.profile, budget, proposer.count_remaining())))
    else:
        carry_out(arguments, declared, budget)
    found = declared.find_configurations(store.rows(), arguments.profile)
    failed = failures(found, arguments)
    for text in failed:
        print(text, file=sys.stderr)
    for text in closing(declared, found, arguments) if found or not arguments.dry_run else ():
        print(text)
    return int(bool(failed))


def tasks() -> int:
    from bench.searches.problems import TASKS

    for task in TASKS.values():
        print(f"{task.name:10} {task.about}; methods: {', '.join(task.searches)}")
    return 0


def asked_search(arguments: argparse.Namespace) -> "Search":
    """The declared search, with what the flags change."""
    from bench.searches.problems import SECONDS, find_search

    found = find_search(arguments.task, arguments.method)
    declared = replace(
        found,
        aggregate=arguments.aggregate,
        run_name=run_name(arguments),
        space=with_grid(found.space, arguments),
    )
    if arguments.seeds is not None:
        first = declared.seeds[0]
        declared = replace(declared, seeds=tuple(range(first, first + arguments.seeds)))
    return replace(declared, objectives=(*declared.objectives, SECONDS)) if arguments.against else declared


def run_name(arguments: argparse.Namespace) -> str:
    """Part of the sweep's name, and so of a folder's."""
    usual = "-".join(filter(None, (arguments.sampler, arguments.against)))
    name = str(usual if arguments.name is None else arguments.name)
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}", name):
        raise SettingError(
            f"--name takes up to 40 letters, digits, '.', '_' and '-', and begins with a letter or digit; got '{name}'."
        )
    return name


def with_grid(space: "Space", arguments: argparse.Namespace) -> "Space":
    if arguments.grid and arguments.sampler != "grid":
        raise SettingError(
            f"--grid names the values of a grid, and the sampler is {arguments.sampler}: add --sampler grid."
        )
    for text in arguments.grid:
        axis, found, values = text.partition("=")
        if not found:
            raise SettingError(f"--grid takes AXIS=V1,V2,..., such as lr=1e-4,1e-3; got '{text}'.")
        space = space.with_grid(axis.strip(), [value.strip() for value in values.split(",")])
    return space


def opening(declared: "Search", profile: "Profile", budget: "Budget", begun: int) -> str:
    spec, configurations = declared.base(profile).spec, plural(budget.configurations, "configuration")
    return (
        f"{declared.sweep} · {profile} profile · {configurations} of {plural(len(declared.seeds), 'seed')}, {begun} of them begun "
        f"already · sampler {budget.sampler}, scheduler {budget.scheduler} · {spec.steps:,} steps a trial at most"
    )


def to_come(declared: "Search", profile: "Profile", budget: "Budget", trials: int) -> list[str]:
    """What would be run: how much of it, and where it is looked."""
    steps = trials * declared.base(profile).spec.steps
    head = f"would run up to {plural(trials, 'more trial')} of {steps:,} training steps in all{grid_cost(declared, profile)}"
    width = max(len(axis.name) for axis in declared.space.axes)
    in_grid = budget.sampler == "grid"
    values = {
        axis.name: ", ".join(map(str, axis.grid or axis.choices)) if in_grid else axis.extent
        for axis in declared.space.axes
    }
    return [head, *(f"  {name:{width}}  {among}" for name, among in values.items())]


def carry_out(arguments: argparse.Namespace, declared: "Search", budget: "Budget") -> None:
    from bench.cli.verbs.run import engine_of
    from sweeps.cluster.search_run import run_search
    from sweeps.errors import Interrupted
    from sweeps.run.progress import Progress

    progress = Progress(budget.configurations * len(declared.seeds), {})
    try:
        run_search(declared, arguments.profile, budget, engine_of(arguments), progress)
    except KeyboardInterrupt as asked:
        raise Interrupted(
            "Interrupted. What is finished is stored; the same command goes on from there.", asked
        ) from None
    finally:
        progress.close()


def failures(found: "Sequence[Configuration]", arguments: argparse.Namespace) -> list[str]:
    """A line for each way in which trials of this search failed, with one to look at. Its next call runs them
    again."""
    from sweeps.store.row import FAILURES

    rows = [row for entry in found for row in entry.own_rows]
    counts = {outcome: [row for row in rows if row.outcome == outcome] for outcome in FAILURES}
    return [
        f"vera: {len(failed)} of {len(rows)} trials ended as {outcome}; see: {show_command(failed[-1], arguments)}"
        for outcome, failed in counts.items()
        if failed
    ]


def closing(declared: "Search", found: "Sequence[Configuration]", arguments: argparse.Namespace) -> list[str]:
    """What this search did, the best of all that the store has, and how to see more."""
    from sweeps.search.declaration import find_best

    own = [entry for entry in found if entry.own_rows]
    lines = [f"{_ended(own)}{grid_cost(declared, arguments.profile)}"]
    if len(own) < len(found):
        lines.append(
            f"it knew {plural(len(found) - len(own), 'configuration')} of other sweeps from the store"
        )
    for entry in find_best(found):
        whose = "" if entry.own_rows else f" (of {next(iter(entry.rows.values())).sweep})"
        lines += [f"best: {told(entry)}{whose}"]
        lines += [] if arguments.dry_run else [f"  to run it: {run_command(entry, arguments)}"]
    return [*lines, f"to see it: {render_command(arguments)}"] if found else lines


def _ended(own: "Sequence[Configuration]") -> str:
    stopped, unknown = sum(entry.is_stopped for entry in own), sum(entry.compute_score() is None for entry in own)
    steps = sum(entry.steps for entry in own)
    ends = f"{stopped} of them stopped early, {unknown} without a score"
    return f"{plural(len(own), 'configuration')}, {ends}; {plural(steps, 'training step')} in all"


def told(entry: "Configuration") -> str:
    result = entry.compute_score()
    assert result is not None
    scores = [
        objective.format_score(score)
        for objective, score in zip(entry.search.objectives, result.scores, strict=True)
    ]
    return f"{', '.join(scores)} ({entry.search.aggregate} of {len(entry.rows)}) at {entry.description}"


def grid_cost(declared: "Search", profile: "Profile") -> str:
    """What the whole grid would take."""
    return f"; the grid of {len(list(declared.space.iterate_grid()))} would take {declared.count_grid_steps(profile):,}"


def render_command(arguments: argparse.Namespace) -> str:
    return shlex.join(["vera", "render", "searches", *kept(arguments, PROFILE, RESULTS_DIR, PLUGIN)])


def show_command(row: "Row", arguments: argparse.Namespace) -> str:
    return shlex.join(["vera", "show", row.trial_id[:8], *kept(arguments, RESULTS_DIR)])


def run_command(entry: "Configuration", arguments: argparse.Namespace) -> str:
    """Write its specification where it can be run from; the command that does, with the data and plug-ins of
    the search."""
    rest = kept(arguments, RESULTS_DIR, DATA_DIR, PLUGIN)
    return shlex.join(["vera", "run", f"spec:{spec_file(entry, arguments)}", "--seeds", "3", *rest])


def spec_file(entry: "Configuration", arguments: argparse.Namespace) -> "Path":
    from bench.render.files import put_text, replace_file

    trial = entry.trials[0]
    name = f"{entry.search.name}-{arguments.profile}-{trial.id[:8]}.json"
    file = output_folder(arguments.results_dir) / "searches" / name
    content = {"label": trial.label, "profile": arguments.profile, "spec": trial.spec.to_dict()}
    replace_file(file, partial(put_text, json.dumps(content, indent=2) + "\n"))
    return file
