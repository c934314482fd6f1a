"""Kill storm: a small sweep on Ray is killed with SIGKILL again and again, resumed each time, and compared
with undisturbed runs.

    nice .venv/bin/python tests/stress/kill_storm.py --rounds 20

Each round starts the same command and kills its driver: during start-up, or some time after its first step.
In some rounds a worker is killed first. At last the command runs undisturbed. The script prints how many
trials were lost, doubled or different, and ends with exit code 1 unless all three are 0. `make stress` runs
it.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pyarrow.parquet as pq
from cluster_helpers import is_alive, read_log, read_record
from engine_helpers import PATIENCE, PLUGIN, ROOT, load_trouble_plugin, results

from sweeps.run.attempt import run_attempt
from sweeps.run.conditions import Conditions
from sweeps.store.store import Store
from sweeps.trial.sweep import find_sweep

SWEEP = "patience"
STARTING, RUNNING = (0.2, 6.0), (0.1, 7.0)
"""Seconds after which a driver is killed: from its start, and from the first step of its first trial."""
QUICK_WORKERS = {"RAY_worker_niceness": "0", "RAY_raylet_start_wait_time_s": "120"}
"""On a busy machine: Ray gives its workers a lower priority, and gives up starting after half a minute."""
STRAY_SECONDS = 30.0
"""After this time a process of a killed cluster counts as a stray; a machine may be busy."""


class Storm:
    """The rounds of one storm and what they counted."""

    def __init__(self, folder: Path, seeds: int, seed: int) -> None:
        self.folder, self.log = folder, folder / "log"
        self.random = random.Random(seed)
        self.counts: Counter[str] = Counter()
        self.command = ["run", SWEEP, "--seeds", str(seeds), "--results-dir", str(folder), "--plugin"]
        self.command += [str(PLUGIN), "--max-concurrent", "2", "--checkpoint-every", "1"]
        self.known: dict[str, object] = {}
        """The rows that some round has left, by trial id."""
        self.log.touch()

    def start(self) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, "-m", "bench.cli", *self.command],
            cwd=ROOT, env=os.environ | QUICK_WORKERS | {"TROUBLE_LOG": str(self.log)},
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True,
        )  # fmt: skip

    def run_round(self, number: int) -> None:
        """Start the command and kill it; note processes and rows that should not be, or no longer are."""
        before = len(read_log(self.log))
        driver = self.start()
        in_start_up = self.random.random() < 0.25
        delay = self.random.uniform(*(STARTING if in_start_up else RUNNING))
        if not in_start_up:
            self._wait_for_step(driver, before)
        time.sleep(delay)
        if not in_start_up and self.random.random() < 0.4:
            self._kill_worker(before)
            time.sleep(self.random.uniform(0.0, 3.0))
        started = _list_session(driver.pid)
        if driver.poll() is None:
            driver.kill()
            self.counts["driver kills"] += 1
        _, err = driver.communicate()
        if driver.returncode == 2 and "Ray could not be started" in err:
            self.counts["slow starts"] += 1  # Ray gave up on a busy machine
        elif driver.returncode not in (0, -signal.SIGKILL):
            self.counts["unexpected ends"] += 1
            print(f"the driver ended with code {driver.returncode}: {err}", flush=True)
        self._count_strays(started)
        self._compare_with_earlier()
        print(
            f"round {number}: {'start-up' if in_start_up else 'running'} + {delay:.1f} s, "
            f"{len(self.known)} rows",
            flush=True,
        )

    def finish(self) -> None:
        """Run the command to its end."""
        driver = self.start()
        _, err = driver.communicate(timeout=PATIENCE)
        if driver.returncode or err:
            self.counts["failed resumptions"] += 1
            print(f"the last run ended with code {driver.returncode}: {err}", flush=True)

    def judge(self, seeds: int) -> None:
        """Count the trials that are lost, doubled or different from an undisturbed run."""
        store = Store(self.folder / "trials")
        store.compact()
        parts = [pq.read_table(path) for path in (self.folder / "trials" / "rows").glob("*.parquet")]
        stored = Counter(trial_id for part in parts for trial_id in part["trial_id"].to_pylist())
        self.counts["doubled"] += sum(count > 1 for count in stored.values())
        self.counts["set aside"] += len(store.problems)
        with load_trouble_plugin() as plugin:
            plugin.time.sleep = lambda seconds: None
            trials = find_sweep(SWEEP).trials("laptop", range(seeds))
            for trial in trials:
                if trial.id not in stored:
                    self.counts["lost"] += 1
                    continue
                undisturbed = run_attempt(trial, Conditions())
                same = results(read_record(store, trial.id)) == results(undisturbed.record())
                same = same and store.models.read(trial.id) == undisturbed.encode_model()
                self.counts["different"] += not same
        self.counts["unknown"] += len(stored.keys() - {trial.id for trial in trials})
        self.counts["checkpoints left"] += len(list((self.folder / "checkpoints").glob("*.pt")))

    def _wait_for_step(self, driver: "subprocess.Popen[str]", before: int) -> None:
        until = time.monotonic() + PATIENCE
        while driver.poll() is None and len(read_log(self.log)) <= before and time.monotonic() < until:
            time.sleep(0.1)

    def _kill_worker(self, before: int) -> None:
        workers = sorted({pid for pid, *_ in read_log(self.log)[before:]})
        if workers:
            with suppress(ProcessLookupError):
                os.kill(self.random.choice(workers), signal.SIGKILL)
                self.counts["worker kills"] += 1

    def _count_strays(self, started: set[int]) -> None:
        until = time.monotonic() + STRAY_SECONDS
        while any(map(is_alive, started)) and time.monotonic() < until:
            time.sleep(0.2)
        self.counts["strays"] += sum(map(is_alive, started))

    def _compare_with_earlier(self) -> None:
        """A row that was stored once must stay as it is."""
        rows = {row.trial_id: row for row in Store(self.folder / "trials").read_rows()}
        self.counts["lost"] += len(self.known.keys() - rows.keys())
        self.counts["different"] += sum(row != rows.get(i, row) for i, row in self.known.items())
        self.known |= rows


def _list_session(pid: int) -> set[int]:
    """The process and everything that descends from it."""
    parents: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parents.setdefault(int(path.read_text().rpartition(")")[2].split()[1]), []).append(
                int(path.parent.name)
            )
    found, waiting = set[int](), [pid]
    while waiting:
        found.add(current := waiting.pop())
        waiting += parents.get(current, [])
    return found


BAD = (
    "lost", "doubled", "different", "unknown", "set aside", "strays", "unexpected ends", "failed resumptions",
    "checkpoints left",
)  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--trials", type=int, default=30, help="trials of the sweep; each takes five seconds")
    parser.add_argument("--seed", type=int, default=0, help="decides when and what is killed")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="storm-") as folder:
        storm = Storm(Path(folder), arguments.trials, arguments.seed)
        for number in range(1, arguments.rounds + 1):
            storm.run_round(number)
        storm.finish()
        storm.judge(arguments.trials)
    counts = {"rounds": arguments.rounds, "trials": arguments.trials} | dict.fromkeys(BAD, 0) | storm.counts
    print(f"kill storm: {json.dumps(counts)}")
    return int(any(counts[name] for name in BAD))


if __name__ == "__main__":
    sys.exit(main())
