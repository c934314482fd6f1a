"""What `vera search` prints: its start, what remains to be done, failures, and the best configurations."""

import argparse
import json
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from bench.cli.flags import DATA_DIR, PLUGIN, PROFILE, RESULTS_DIR, repeat_flags
from bench.cli.selection.stores import find_output_folder
from vera.wording import plural

if TYPE_CHECKING:
    from pathlib import Path

    from sweeps.cluster.search_run import SearchOptions
    from sweeps.search.declaration import Configuration, Search
    from sweeps.trial.identity import Profile


def describe_start(search: "Search", profile: "Profile", options: "SearchOptions", begun: int) -> str:
    configurations = plural(options.configurations, "configuration")
    seeds, steps = plural(len(search.seeds), "seed"), search.base(profile).spec.steps
    return (
        f"{search.sweep} · {profile} profile · {configurations} of {seeds}, {begun} already started · "
        f"sampler {options.sampler}, scheduler {options.scheduler} · at most {steps:,} steps per trial"
    )


def describe_remaining(
    search: "Search", profile: "Profile", options: "SearchOptions", trials: int
) -> list[str]:
    """The number of trials that would be run, and the range of every axis."""
    steps = trials * search.base(profile).spec.steps
    head = f"would run up to {plural(trials, 'more trial')} with {steps:,} training steps in total"
    width = max(len(axis.name) for axis in search.space.axes)
    in_grid = options.sampler == "grid"
    values = {
        axis.name: ", ".join(map(str, axis.grid or axis.choices)) if in_grid else axis.extent
        for axis in search.space.axes
    }
    lines = [f"  {name:{width}}  {extent}" for name, extent in values.items()]
    return [f"{head}{describe_grid_cost(search, profile)}", *lines]


def describe_failures(found: "Sequence[Configuration]", arguments: argparse.Namespace) -> list[str]:
    """One line per failed outcome of this search, with an example. The next call runs these trials again."""
    from sweeps.store.row import FAILURES

    rows = [row for entry in found for row in entry.own_rows]
    lines = []
    for outcome in FAILURES:
        if failed := [row for row in rows if row.outcome == outcome]:
            flags = repeat_flags(arguments, RESULTS_DIR)
            show = shlex.join(["vera", "show", failed[-1].trial_id[:8], *flags])
            lines.append(f"vera: {len(failed)} of {len(rows)} trials ended as {outcome}; see: {show}")
    return lines


def describe_end(
    search: "Search", found: "Sequence[Configuration]", arguments: argparse.Namespace
) -> list[str]:
    """What this search did, the best configurations in the store, and the commands to run and render them."""
    from sweeps.search.declaration import find_best

    own = [entry for entry in found if entry.own_rows]
    lines = [f"{_describe_own(own)}{describe_grid_cost(search, arguments.profile)}"]
    if len(own) < len(found):
        others = plural(len(found) - len(own), "configuration")
        lines.append(f"{others} of other sweeps were already in the store")
    for entry in find_best(found):
        origin = "" if entry.own_rows else f" (of {next(iter(entry.rows.values())).sweep})"
        lines.append(f"best: {_describe_best(entry)}{origin}")
        lines += _describe_survival(entry, found)
        if not arguments.dry_run:
            lines.append(f"  to run it: {_write_run_command(entry, arguments)}")
    render = ["vera", "render", "searches", *repeat_flags(arguments, PROFILE, RESULTS_DIR, PLUGIN)]
    return [*lines, f"to see it: {shlex.join(render)}"] if found else lines


def _describe_own(own: "Sequence[Configuration]") -> str:
    stopped = sum(entry.is_stopped for entry in own)
    unscored = sum(entry.compute_score() is None for entry in own)
    steps = plural(sum(entry.steps for entry in own), "training step")
    count = plural(len(own), "configuration")
    return f"{count}, {stopped} of them stopped early, {unscored} without a score; {steps} in total"


def _describe_best(entry: "Configuration") -> str:
    score = entry.compute_score()
    assert score is not None
    scores = [
        objective.format_score(value)
        for objective, value in zip(entry.search.objectives, score.scores, strict=True)
    ]
    return f"{', '.join(scores)} ({entry.search.aggregate} of {len(entry.rows)}) at {entry.description}"


def _describe_survival(best: "Configuration", found: "Sequence[Configuration]") -> list[str]:
    """A line if no other configuration ran to its end without diverging: the best then won by default."""
    others = [entry for entry in found if entry is not best]
    if not others or any(_has_survived(entry) for entry in others):
        return []
    stopped = sum(entry.is_stopped for entry in others)
    diverged = sum(entry.has_diverged and not entry.is_stopped for entry in others)
    counts = {
        "stopped early": stopped,
        "diverged": diverged,
        "without a score": len(others) - stopped - diverged,
    }
    listed = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
    what = (
        "it diverged too" if best.has_diverged else "it is the only one that ran to its end without diverging"
    )
    return [f"  {what}: of the {plural(len(others), 'other configuration')}, {listed}"]


def _has_survived(entry: "Configuration") -> bool:
    return entry.compute_score() is not None and not (entry.is_stopped or entry.has_diverged)


def describe_grid_cost(search: "Search", profile: "Profile") -> str:
    """The cost of the full grid, for comparison."""
    points = len(list(search.space.iterate_grid()))
    return f"; the grid of {points} would take {search.count_grid_steps(profile):,}"


def _write_run_command(entry: "Configuration", arguments: argparse.Namespace) -> str:
    """Write the spec to a file; the command that runs it, with the data and plug-ins of the search."""
    file = write_spec_file(entry, arguments)
    flags = repeat_flags(arguments, RESULTS_DIR, DATA_DIR, PLUGIN)
    return shlex.join(["vera", "run", f"spec:{file}", "--seeds", "3", *flags])


def write_spec_file(entry: "Configuration", arguments: argparse.Namespace) -> "Path":
    """Write the trial of a configuration as JSON, for `vera run spec:FILE`; the path of the file."""
    from bench.render.files import write_text_file

    trial = entry.trials[0]
    name = f"{entry.search.name}-{arguments.profile}-{trial.id[:8]}.json"
    file = find_output_folder(arguments.results_dir) / "searches" / name
    content = {"label": trial.label, "profile": arguments.profile, "spec": trial.spec.to_dict()}
    write_text_file(file, json.dumps(content, indent=2) + "\n")
    return file
