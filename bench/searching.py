"""The verb `vera search`: look for good settings of a method on a task, on one machine or a cluster.

What it prints at the end is read off the store, so a second call with nothing left to do prints the same.
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from bench.flags import Verbs, count, execution, output_folder, verb

if TYPE_CHECKING:
    from sweeps.search.declaration import Configuration, Search
    from sweeps.search.run import Budget
    from sweeps.trial import Profile

SAMPLERS, SCHEDULERS = ("grid", "random", "tpe", "nsga2"), ("none", "asha", "median")


def add_search(verbs: Verbs) -> None:
    parser = verb(verbs, "search", "look for the best settings of a method on a task; the store is its memory")
    parser.add_argument("task", metavar="TASK", nargs="?", help="moons, circles, rings, flow or labels; without one, what there is")
    parser.add_argument("--method", metavar="NAME", default="vera", help="whose settings (default: vera)")
    parser.add_argument("--profile", choices=("smoke", "laptop", "paper"), default="laptop", help="budgets (default: laptop)")
    parser.add_argument("--sampler", choices=SAMPLERS, default="tpe", help="where the next point comes from (default: tpe)")
    parser.add_argument("--scheduler", choices=SCHEDULERS, default="asha", help="which trials are stopped early (default: asha)")
    parser.add_argument(
        "--configurations", metavar="N", type=count, default=40, help="how many in all, earlier runs included (default: 40)"
    )
    parser.add_argument("--seeds", metavar="N", type=count, help="seeds of each configuration (default: the task's own)")
    parser.add_argument(
        "--aggregate", choices=("mean", "median", "worst"), default="mean", help="how seeds make one score (default: mean)"
    )
    parser.add_argument("--against", choices=("seconds",), help="a second objective: the best are those that nothing beats in both")
    parser.add_argument("--sampler-seed", metavar="N", type=int, default=0, help="of the sampler's own draws (default: 0)")
    parser.add_argument("--data-dir", metavar="DIR", help="where data files lie (default: VERA_DATA, else ~/.cache/vera)")
    execution(parser)
    parser.set_defaults(run=search)


def search(arguments: argparse.Namespace) -> int:
    if arguments.task is None:
        return tasks()
    from sweeps.places import within
    from sweeps.search.run import Budget, proposer_for
    from sweeps.store import Store

    declared = asked(arguments)
    budget = Budget(arguments.sampler, arguments.scheduler, arguments.configurations, seed=arguments.sampler_seed)
    store = Store(within(arguments.results_dir, "trials"))
    proposer = proposer_for(declared, arguments.profile, budget, store)
    print(opening(declared, arguments.profile, budget, len(proposer.begun)), flush=True)
    if not arguments.dry_run:
        carry_out(arguments, declared, budget)
    found = declared.found(store.rows(), arguments.profile)
    for text in closing(declared, found, arguments):
        print(text)
    return int(not found)


def tasks() -> int:
    from bench.searches import TASKS

    for task in TASKS.values():
        print(f"{task.name:10} {task.about}; methods: {', '.join(task.searches)}")
    return 0


def asked(arguments: argparse.Namespace) -> "Search":
    """The declared search, with what the flags change."""
    from bench.searches import SECONDS, find_search

    declared = replace(find_search(arguments.task, arguments.method), aggregate=arguments.aggregate)
    if arguments.seeds is not None:
        first = declared.seeds[0]
        declared = replace(declared, seeds=tuple(range(first, first + arguments.seeds)))
    return replace(declared, objectives=(*declared.objectives, SECONDS)) if arguments.against else declared


def opening(declared: "Search", profile: "Profile", budget: "Budget", begun: int) -> str:
    spec = declared.base(profile).spec
    return (
        f"{declared.sweep} · {profile} profile · {budget.configurations} configurations of {len(declared.seeds)} seeds, {begun} of "
        f"them begun already · sampler {budget.sampler}, scheduler {budget.scheduler} · {spec.steps:,} steps a trial at most"
    )


def carry_out(arguments: argparse.Namespace, declared: "Search", budget: "Budget") -> None:
    from bench.engine import engine_of
    from sweeps.errors import EngineError
    from sweeps.progress import Progress
    from sweeps.search.run import run_search

    progress = Progress(budget.configurations * len(declared.seeds), {})
    try:
        run_search(declared, arguments.profile, budget, engine_of(arguments), progress)
    except KeyboardInterrupt:
        raise EngineError("Interrupted. What is finished is stored; the same command goes on from there.") from None
    finally:
        progress.close()


def closing(declared: "Search", found: "Sequence[Configuration]", arguments: argparse.Namespace) -> list[str]:
    from sweeps.search.declaration import best

    scored = [entry for entry in found if entry.result() is not None]
    stopped = sum(entry.stopped for entry in found)
    steps = sum(entry.steps for entry in found)
    lines = [f"{len(found)} configurations, {stopped} of them stopped early, {len(found) - len(scored)} without a score; "
             f"{steps:,} training steps in all{grid_cost(declared, arguments.profile)}"]  # fmt: skip
    for entry in best(found):
        lines += [f"best: {told(entry)}", f"  to run it: {spec_file(entry, arguments)}"]
    return lines


def told(entry: "Configuration") -> str:
    result = entry.result()
    assert result is not None
    scores = [objective.printed(score) for objective, score in zip(entry.search.objectives, result.scores, strict=True)]
    point = ", ".join(f"{name.split('.')[-1]} {value:g}" if isinstance(value, float) else f"{name.split('.')[-1]} {value}"
                      for name, value in entry.point.items())  # fmt: skip
    return f"{', '.join(scores)} ({entry.search.aggregate} of {len(entry.rows)}) at {point}"


def grid_cost(declared: "Search", profile: "Profile") -> str:
    """What the whole grid would take."""
    axes = declared.space.axes
    if not all(axis.grid for axis in axes):
        return ""
    points = len(list(declared.space.grid()))
    return f"; the grid of {points} would take {points * len(declared.seeds) * declared.base(profile).spec.steps:,}"


def spec_file(entry: "Configuration", arguments: argparse.Namespace) -> str:
    """Write its specification where it can be run from; the command that does."""
    folder = output_folder(arguments.results_dir) / "searches"
    folder.mkdir(parents=True, exist_ok=True)
    trial = entry.trials[0]
    file = folder / f"{entry.search.name}-{arguments.profile}-{trial.id[:8]}.json"
    content = {"label": trial.label, "profile": arguments.profile, "spec": trial.spec.to_dict()}
    file.write_text(json.dumps(content, indent=2) + "\n")
    return f"vera run spec:{file} --seeds 3"
