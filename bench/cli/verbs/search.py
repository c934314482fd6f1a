"""`vera search`: search for good settings of a method on a search problem, on one machine or a cluster.

A search has a name, which distinguishes it from others of the same problem and method. The number of
configurations is counted per name. Everything printed at the end is read from the store, so a finished search
prints the same when it is called again.
"""

import argparse
import re
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from bench.cli.directories import check_results_writable
from bench.cli.flags import PROFILE, PROFILE_HELP, add_data_dir, add_execution, add_store_verb, build_engine
from bench.cli.parser import Subparsers, at_least, parse_seeds, parse_whole
from bench.cli.search_summary import describe_end, describe_failures, describe_remaining, describe_start
from bench.cli.selection.stores import CommandStore
from bench.cli.terminal_output import unfiltered
from bench.cli.verbs.run import describe_spent_budget
from bench.locations import DEFAULT_PROFILE, PROFILES
from sweeps.search.objective import AGGREGATES
from sweeps.search.samplers import SAMPLERS
from sweeps.search.stopping_rules import SCHEDULERS
from vera.errors import SettingError

if TYPE_CHECKING:
    from sweeps.cluster.search_run import SearchOptions
    from sweeps.search.declaration import Search
    from sweeps.search.space import Space

DEFAULT_CONFIGURATIONS = 40
"""Configurations of a search that is not a grid."""
EXAMPLES = ("search moons --configurations 20", "search moons --sampler grid --dry-run")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")


def add_parser(verbs: Subparsers) -> None:
    text = "search for the best settings of a method; all trials are stored and reused"
    parser = add_store_verb(verbs, "search", text, *EXAMPLES)
    parser.add_argument(
        "problem",
        metavar="PROBLEM",
        nargs="?",
        help="such as moons, flow, images, modes or human; without it, the problems are listed",
    )
    parser.add_argument("--method", metavar="NAME", default="vera", help="method to tune (default: vera)")
    parser.add_argument(PROFILE, choices=PROFILES, default=DEFAULT_PROFILE, help=PROFILE_HELP)
    _add_strategy(parser)
    _add_size(parser)
    add_data_dir(parser)
    add_execution(parser)
    parser.set_defaults(run=run_search_verb)


def _add_strategy(parser: argparse.ArgumentParser) -> None:
    """How points are proposed, and which trials are stopped early."""
    parser.add_argument("--sampler", choices=SAMPLERS, default="tpe", help="proposes points (default: tpe)")
    parser.add_argument(
        "--scheduler",
        choices=SCHEDULERS,
        help="stops trials early (default: asha; none for a grid, with --against, and for modes)",
    )
    parser.add_argument(
        "--name",
        metavar="NAME",
        help="name of this search in rows and reports (default: the sampler and --against)",
    )
    parser.add_argument(
        "--grid",
        metavar="AXIS=V1,V2,...",
        action="append",
        default=[],
        help="grid values of an axis instead of the declared ones, e.g. lr=1e-4,1e-3; repeatable",
    )


def _add_size(parser: argparse.ArgumentParser) -> None:
    """How many trials are run, and how they are scored."""
    parser.add_argument(
        "--configurations",
        metavar="N",
        type=at_least(1),
        help=f"total number, earlier runs of this name included (default: {DEFAULT_CONFIGURATIONS}; of "
        "a grid, all)",
    )
    parser.add_argument(
        "--seeds",
        metavar="N",
        type=parse_seeds,
        help="seeds per configuration (default: those of the problem)",
    )
    parser.add_argument(
        "--aggregate",
        choices=tuple(AGGREGATES),
        default="mean",
        help="how the scores of seeds are combined (default: mean)",
    )
    parser.add_argument(
        "--against", choices=("seconds",), help="second objective; the result is the Pareto front of both"
    )
    parser.add_argument(
        "--sampler-seed", metavar="N", type=parse_whole, default=0, help="seed of the sampler (default: 0)"
    )


def run_search_verb(arguments: argparse.Namespace) -> int:
    """Exit code 1 if a trial failed, or if the budget was spent before the end."""
    if arguments.problem is None:
        return list_problems()
    from sweeps.cluster.search_run import build_proposer

    search, options = select_search(arguments), choose_options(arguments)
    own, unfinished = CommandStore(arguments.results_dir, create=not arguments.dry_run), False
    proposer = build_proposer(search, arguments.profile, options, own.store)
    own.print_problems()
    print(describe_start(search, arguments.profile, options, len(proposer.begun)), flush=True)
    if arguments.dry_run:
        remaining = proposer.count_remaining()
        print("\n".join(describe_remaining(search, arguments.profile, options, remaining)))
        check_results_writable(arguments.results_dir)
    elif _execute(arguments, search, options):
        left = build_proposer(search, arguments.profile, options, own.store).count_remaining()
        unfinished = left > 0
        if unfinished:
            print(f"vera: {describe_spent_budget(arguments, left)}", file=sys.stderr)
    found = search.find_configurations(own.rows, arguments.profile)
    failures = describe_failures(found, arguments)
    for line in failures:
        print(line, file=sys.stderr)
    if found or not arguments.dry_run:
        print("\n".join(describe_end(search, found, arguments)))
    return int(bool(failures or unfinished))


def list_problems() -> int:
    from bench.searches.problems import PROBLEMS

    for problem in PROBLEMS.values():
        print(f"{problem.name:13} {problem.about}; methods: {', '.join(problem.searches)}")
    return 0


def select_search(arguments: argparse.Namespace) -> "Search":
    """The declared search with the changes of the flags."""
    from bench.searches.problems import SECONDS, find_search

    declared = find_search(arguments.problem, arguments.method)
    search = replace(
        declared,
        aggregate=arguments.aggregate,
        run_name=choose_name(arguments),
        space=apply_grid(declared.space, arguments),
    )
    if arguments.seeds is not None:
        first = search.seeds[0]
        search = replace(search, seeds=tuple(range(first, first + arguments.seeds)))
    return replace(search, objectives=(*search.objectives, SECONDS)) if arguments.against else search


def choose_options(arguments: argparse.Namespace) -> "SearchOptions":
    from sweeps.cluster.search_run import SearchOptions

    is_grid = arguments.sampler == "grid"
    search = select_search(arguments)
    points = len(list(search.space.iterate_grid())) if is_grid else DEFAULT_CONFIGURATIONS
    is_evaluated = search.base(arguments.profile).spec.evaluate_every is not None
    runs_to_end = is_grid or arguments.against or not is_evaluated
    scheduler = arguments.scheduler or ("none" if runs_to_end else "asha")
    return SearchOptions(
        arguments.sampler, scheduler, arguments.configurations or points, seed=arguments.sampler_seed
    )


def choose_name(arguments: argparse.Namespace) -> str:
    """The name of this search. It is part of the sweep's name and of file names."""
    default = "-".join(filter(None, (arguments.sampler, arguments.against)))
    name = str(default if arguments.name is None else arguments.name)
    if not NAME.fullmatch(name):
        raise SettingError(
            f"--name takes up to 40 letters, digits, '.', '_' and '-', and starts with a letter or digit; "
            f"got '{name}'."
        )
    return name


def apply_grid(space: "Space", arguments: argparse.Namespace) -> "Space":
    """The space with the grid values of --grid."""
    if arguments.grid and arguments.sampler != "grid":
        raise SettingError(f"--grid needs the sampler grid, not {arguments.sampler}: add --sampler grid.")
    for text in arguments.grid:
        axis, equals, values = text.partition("=")
        if not equals:
            raise SettingError(f"--grid takes AXIS=V1,V2,..., such as lr=1e-4,1e-3; got '{text}'.")
        space = space.with_grid(axis.strip(), [value.strip() for value in values.split(",")])
    return space


def _execute(arguments: argparse.Namespace, search: "Search", options: "SearchOptions") -> bool:
    """Run the search. Whether its budget was spent."""
    from sweeps.cluster.search_run import run_search
    from sweeps.errors import Interrupted
    from sweeps.run.progress import NARROW, Progress

    total = options.configurations * len(search.seeds)
    widths = (search.space.description_width, NARROW[1])
    progress = Progress(total, {}, unfiltered(), widths, name=search.describe_settings)
    try:
        engine = build_engine(arguments)
        run_search(search, arguments.profile, options, engine, progress)
        return engine.budget is not None and engine.budget.is_spent
    except KeyboardInterrupt as interrupt:
        raise Interrupted(
            "Interrupted. Finished trials are stored. To resume, run the same command again.", interrupt
        ) from None
    finally:
        progress.close()
