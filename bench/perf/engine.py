"""`make bench-engine`: what the engine costs. Trivial trials under the engine against the same calls as plain
Ray tasks.

Both run in one process on one cluster, one after the other, after each has warmed its workers up. The bar: at
most 1.2 times the tasks' wall time plus 60 seconds for 1,000 trials, which leaves the engine about 60 ms a
trial for identity, scheduling, a row in Parquet and a report. Reading is measured as well: 10,000 rows after
a compaction in less than two seconds.

`python -m bench.perf.engine --search 500` measures a search instead: so many trials that TPE proposes one by
one, each told to it when it has its row. The same calls as plain Ray tasks are known beforehand, so what a
proposal takes is overhead too.
"""

import argparse
import resource
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bench.cli.flag_values import at_least
from bench.perf.measurements import Number, keep, numbers_of
from sweeps.cluster.connection import connect
from sweeps.cluster.engine import Engine
from sweeps.cluster.execute import execute
from sweeps.cluster.search_run import SearchOptions, run_search
from sweeps.run.attempt import run_trial
from sweeps.run.conditions import Conditions
from sweeps.search.declaration import Search
from sweeps.search.objective import Objective
from sweeps.search.space import Space, log_uniform
from sweeps.store.store import Store
from sweeps.trial.identity import Trial
from vera.spec.registry import load_plugin
from vera.spec.trial_spec import TrialSpec

PLUGIN = str(Path(__file__).with_name("trivial.py"))
ROWS_TO_READ = 10_000


@dataclass(frozen=True)
class Overhead:
    """Seconds of both ways, and what the driver held in memory."""

    trials: int
    engine: float
    tasks: float
    driver_megabytes: float
    read: float

    @property
    def milliseconds(self) -> float:
        """A trial's, over a plain task's."""
        return 1e3 * (self.engine - self.tasks) / self.trials

    @property
    def bar(self) -> float:
        return 1.2 * self.tasks + 60.0

    @property
    def met(self) -> bool:
        return self.engine <= self.bar and self.read <= 2.0

    def numbers(self) -> list[Number]:
        found = {"seconds": self.engine, "tasks": self.tasks, "overhead": self.milliseconds}
        found |= {"megabytes": self.driver_megabytes, "read": self.read}
        return list(numbers_of("engine", f"{self.trials:,}", "", found))

    def lines(self) -> list[str]:
        return [
            f"{self.trials} trivial trials   engine {self.engine:.1f} s   plain Ray tasks {self.tasks:.1f} s",
            f"overhead            {self.milliseconds:.1f} ms a trial",
            f"bar                 {self.engine:.1f} s against 1.2 × {self.tasks:.1f} s + 60 s = {self.bar:.1f} s",
            f"driver's memory     {self.driver_megabytes:.0f} MB at its largest",
            f"reading             {ROWS_TO_READ:,} rows after compaction in {self.read:.2f} s (bar: 2 s)",
        ]


@dataclass(frozen=True)
class SearchOverhead:
    """Seconds of both ways."""

    trials: int
    search: float
    tasks: float

    @property
    def met(self) -> bool:
        """There is no bar."""
        return True

    @property
    def milliseconds(self) -> float:
        """A trial's, over a plain task's."""
        return 1e3 * (self.search - self.tasks) / self.trials

    def numbers(self) -> list[Number]:
        found = {"seconds": self.search, "tasks": self.tasks, "overhead": self.milliseconds}
        return list(numbers_of("search-engine", f"{self.trials:,}", "", found))

    def lines(self) -> list[str]:
        return [
            f"{self.trials} trivial trials of a search   engine {self.search:.1f} s   plain Ray tasks {self.tasks:.1f} s",
            f"overhead            {self.milliseconds:.1f} ms a trial",
        ]


def trivial_trials(count: int, first_seed: int = 0) -> list[Trial]:
    energy, method = {"energy": {"name": "mixture", "components": 1}}, {"name": "ml"}
    seeds = range(first_seed, first_seed + count)
    return [
        Trial(TrialSpec({"name": "moons"}, energy, method, 1, 2, seed, task="trivial"), "smoke")
        for seed in seeds
    ]


def measure(count: int, cpus: int) -> Overhead:
    load_plugin(PLUGIN)
    with tempfile.TemporaryDirectory(prefix="vera-") as folder, connect(cpus=cpus):
        engine = _time_engine(count, Path(folder))
        tasks = _time_tasks(count)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        return Overhead(count, engine, tasks, memory, _time_reading(Path(folder) / "many"))


def _time_engine(count: int, folder: Path) -> float:
    engine = Engine(folder / "trials", folder / "checkpoints", Conditions(), plugins=(PLUGIN,))
    execute(trivial_trials(4, first_seed=count), engine)  # workers that have loaded torch
    trials = trivial_trials(count)
    began = time.perf_counter()
    execute(trials, engine)
    seconds = time.perf_counter() - began
    assert {row.outcome for row in Store(engine.store).read_rows()} == {"ok"}
    return seconds


def measure_search(count: int, cpus: int) -> SearchOverhead:
    load_plugin(PLUGIN)
    with tempfile.TemporaryDirectory(prefix="vera-") as folder, connect(cpus=cpus):
        search = _time_search(count, Path(folder))
        return SearchOverhead(count, search, _time_tasks(count))


def trivial_search(seed: int) -> Search:
    """One axis and one seed, so that each configuration is a trial; the score is the time it took, since
    there is no other."""
    space, objective = (
        Space((log_uniform("method.lr", low=1e-6, high=1.0),)),
        Objective("seconds", worst=3_600.0, direction="small"),
    )
    return Search(
        "trivial", "for the benchmark", lambda _: trivial_trials(1)[0], space, (objective,), (seed,)
    )


def _time_search(count: int, folder: Path) -> float:
    engine = Engine(folder / "trials", folder / "checkpoints", Conditions(), plugins=(PLUGIN,))
    run_search(
        trivial_search(seed=1), "smoke", SearchOptions("tpe", "none", 4), engine
    )  # workers that have loaded torch
    began = time.perf_counter()
    found = run_search(trivial_search(seed=0), "smoke", SearchOptions("tpe", "none", count), engine)
    seconds = time.perf_counter() - began
    assert len(found) == count
    assert all(entry.compute_score() is not None for entry in found)
    return seconds


def _time_tasks(count: int) -> float:
    import ray

    from sweeps.cluster.trainable import load_once

    @ray.remote(num_cpus=1)
    def call(facts: dict[str, Any]) -> str:
        load_once(PLUGIN)
        return run_trial(Trial.from_facts(facts)).row.outcome

    ray.get([call.remote(trial.facts) for trial in trivial_trials(4, first_seed=count)])
    facts = [trial.facts for trial in trivial_trials(count)]
    began = time.perf_counter()
    outcomes = ray.get([call.remote(fact) for fact in facts])
    seconds = time.perf_counter() - began
    assert set(outcomes) == {"ok"}
    return seconds


def _time_reading(folder: Path) -> float:
    store = Store(folder)
    record = run_trial(trivial_trials(1)[0])
    for number in range(ROWS_TO_READ):
        store.write(replace(record, row=replace(record.row, trial_id=f"{number:016x}"), curves=[], arrays={}))
    store.compact()
    began = time.perf_counter()
    assert len(Store(folder).read_rows()) == ROWS_TO_READ
    return time.perf_counter() - began


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.perf.engine", description="What the sweep engine costs a trial."
    )
    parser.add_argument(
        "--trials",
        type=at_least(1),
        default=1_000,
        metavar="N",
        help="how many (default: 1000, which the bar is for)",
    )
    parser.add_argument(
        "--search", type=at_least(1), metavar="N", help="measure a search of so many trials instead"
    )
    parser.add_argument(
        "--cpus", type=at_least(1), default=2, metavar="N", help="slots for trials (default: 2)"
    )
    parser.add_argument(
        "--keep",
        metavar="DIR",
        help="keep the numbers as Parquet under this directory, e.g. results/published",
    )
    parser.add_argument("--enforce", action="store_true", help="exit with 1 if a bar is missed")
    arguments = parser.parse_args(argv)
    found: Overhead | SearchOverhead
    if arguments.search is not None:
        found = measure_search(arguments.search, arguments.cpus)
    else:
        found = measure(arguments.trials, arguments.cpus)
    print("\n".join(found.lines()))
    if arguments.keep:
        keep(arguments.keep, found.numbers())
    return int(arguments.enforce and not found.met)


if __name__ == "__main__":
    sys.exit(main())
