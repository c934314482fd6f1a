"""Overhead of the sweep engine: trivial trials under the engine against the same calls as plain Ray tasks.

Both run in one process on one cluster, one after the other, after their workers have started. The bar for
1,000 trials is 1.2 times the wall time of the tasks plus 60 seconds: about 60 ms per trial for identity,
scheduling, a row in Parquet and a report. Reading has a bar too: 10,000 rows after a compaction in less than
two seconds.

A search is measured with trials that TPE proposes one by one, after the row of the previous one was recorded.
The plain tasks are known in advance, so the time of a proposal counts as overhead.
"""

import resource
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bench.perf.measurements import BenchmarkValue, make_values
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

PLUGIN = str(Path(__file__).with_name("trivial_task.py"))
ROWS_TO_READ = 10_000


@dataclass(frozen=True)
class EngineOverhead:
    """Seconds of the engine and of plain tasks, peak memory of the driver, seconds to read many rows."""

    trials: int
    engine: float
    tasks: float
    driver_megabytes: float
    read: float

    @property
    def milliseconds(self) -> float:
        """Overhead of one trial over a plain task."""
        return 1e3 * (self.engine - self.tasks) / self.trials

    @property
    def bar(self) -> float:
        return 1.2 * self.tasks + 60.0

    @property
    def is_met(self) -> bool:
        return self.engine <= self.bar and self.read <= 2.0

    def list_values(self) -> list[BenchmarkValue]:
        found = {"seconds": self.engine, "tasks": self.tasks, "overhead": self.milliseconds}
        found |= {"megabytes": self.driver_megabytes, "read": self.read}
        return list(make_values("engine", f"{self.trials:,}", "", found))

    def format_lines(self) -> list[str]:
        return [
            f"{self.trials} trivial trials   engine {self.engine:.1f} s   plain Ray tasks {self.tasks:.1f} s",
            f"overhead            {self.milliseconds:.1f} ms a trial",
            f"bar                 1.2 × {self.tasks:.1f} s + 60 s = {self.bar:.1f} s for {self.engine:.1f} s",
            f"driver's memory     {self.driver_megabytes:.0f} MB at its peak",
            f"reading             {ROWS_TO_READ:,} rows after compaction in {self.read:.2f} s (bar: 2 s)",
        ]


@dataclass(frozen=True)
class SearchOverhead:
    """Seconds of a search and of plain tasks."""

    trials: int
    search: float
    tasks: float

    @property
    def is_met(self) -> bool:
        """A search has no bar."""
        return True

    @property
    def milliseconds(self) -> float:
        """Overhead of one trial over a plain task."""
        return 1e3 * (self.search - self.tasks) / self.trials

    def list_values(self) -> list[BenchmarkValue]:
        found = {"seconds": self.search, "tasks": self.tasks, "overhead": self.milliseconds}
        return list(make_values("search-engine", f"{self.trials:,}", "", found))

    def format_lines(self) -> list[str]:
        return [
            f"{self.trials} trivial trials of a search   engine {self.search:.1f} s   "
            f"plain Ray tasks {self.tasks:.1f} s",
            f"overhead            {self.milliseconds:.1f} ms a trial",
        ]


def make_trivial_trials(count: int, first_seed: int = 0) -> list[Trial]:
    energy, method = {"energy": {"name": "mixture", "components": 1}}, {"name": "ml"}
    seeds = range(first_seed, first_seed + count)
    return [
        Trial(TrialSpec({"name": "moons"}, energy, method, 1, 2, seed, task="trivial"), "smoke")
        for seed in seeds
    ]


def measure_engine(count: int, cpus: int) -> EngineOverhead:
    load_plugin(PLUGIN)
    with tempfile.TemporaryDirectory(prefix="vera-") as folder, connect(cpus=cpus):
        engine = _time_engine(count, Path(folder))
        tasks = _time_tasks(count)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        return EngineOverhead(count, engine, tasks, memory, _time_reading(Path(folder) / "many"))


def _time_engine(count: int, folder: Path) -> float:
    engine = Engine(folder / "trials", folder / "checkpoints", Conditions(), plugins=(PLUGIN,))
    execute(make_trivial_trials(4, first_seed=count), engine)  # starts the workers, which load torch
    trials = make_trivial_trials(count)
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


def make_trivial_search(seed: int) -> Search:
    """One axis and one seed, so that each configuration is one trial; the score is its time."""
    space = Space((log_uniform("method.lr", low=1e-6, high=1.0),))
    objective = Objective("seconds", worst=3_600.0, direction="small")
    return Search(
        "trivial", "for the benchmark", lambda _: make_trivial_trials(1)[0], space, (objective,), (seed,)
    )


def _time_search(count: int, folder: Path) -> float:
    engine = Engine(folder / "trials", folder / "checkpoints", Conditions(), plugins=(PLUGIN,))
    # The first search starts the workers, which load torch.
    run_search(make_trivial_search(seed=1), "smoke", SearchOptions("tpe", "none", 4), engine)
    began = time.perf_counter()
    found = run_search(make_trivial_search(seed=0), "smoke", SearchOptions("tpe", "none", count), engine)
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

    ray.get([call.remote(trial.facts) for trial in make_trivial_trials(4, first_seed=count)])
    facts = [trial.facts for trial in make_trivial_trials(count)]
    began = time.perf_counter()
    outcomes = ray.get([call.remote(fact) for fact in facts])
    seconds = time.perf_counter() - began
    assert set(outcomes) == {"ok"}
    return seconds


def _time_reading(folder: Path) -> float:
    store = Store(folder)
    record = run_trial(make_trivial_trials(1)[0])
    for number in range(ROWS_TO_READ):
        store.write(replace(record, row=replace(record.row, trial_id=f"{number:016x}"), curves=[], arrays={}))
    store.compact()
    began = time.perf_counter()
    assert len(Store(folder).read_rows()) == ROWS_TO_READ
    return time.perf_counter() - began
