"""Time of the verbs that read a store, and time and memory of a compaction, by the number of stored trials.

The trials are made up: those that Table 2 declares at `laptop`, and variants of them with other learning
rates, each with a short history. They lie in a temporary directory, at first in files of a thousand trials
whose ids overlap. These are compacted, and as many parts of single trials are added as a running sweep leaves
at most. Every command runs in a process of its own, so its time includes starting Python.
"""

import hashlib
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path

import pyarrow as pa

from bench.catalogue import catalogue
from bench.perf.measurements import BenchmarkValue, make_values
from sweeps.errors import EngineError
from sweeps.store.merging import COMPACTED
from sweeps.store.parts import MANY_TRIALS, stage_part
from sweeps.store.row import CurvePoint, Record, Row
from sweeps.store.schema import to_tables
from sweeps.store.store import LOOSE_LIMIT, Store
from sweeps.trial.canonical_json import canonical_json
from sweeps.trial.identity import Profile, Trial

SWEEP = "table2"
PROFILE: Profile = "laptop"
IN_A_FILE = 1_000
LOOSE = LOOSE_LIMIT - 1
"""Parts of single trials: as many as a store holds before it compacts itself."""
EVALUATIONS = 20
SIZES = (0, 1_000, 10_000, 100_000)
COMMANDS = {
    "list": ("list",),
    "status": ("status",),
    "plan": ("plan", SWEEP),
    "render": ("render", SWEEP, "--quiet"),
    "report": ("report",),
    "show": ("show",),
}
"""Quantity → the words of the command; `show` is followed by an id."""
BARS = {"list": 5.0, "status": 5.0, "plan": 5.0, "render": 10.0, "report": 60.0, "page": 20.0, "peak": 500.0}
"""Seconds, and megabytes for `page` and `peak`, for the largest store."""
EMPTY_BARS = {"list": 1.0, "plan": 1.0}
COMPACT = """
import resource, sys, time
from sweeps.store.store import Store
began = time.perf_counter()
Store(sys.argv[1]).compact()
print(time.perf_counter() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


@dataclass(frozen=True)
class StoreTimes:
    """What was measured with one number of trials: seconds, and megabytes for `page` and `peak`."""

    trials: int
    found: dict[str, float]

    def list_missed(self) -> list[str]:
        """The quantities that exceed their bars, which are stated for an empty and for the largest store."""
        bars = {0: EMPTY_BARS, SIZES[-1]: BARS}.get(self.trials, {})
        return [name for name, bar in bars.items() if self.found.get(name, 0.0) > bar]


@dataclass(frozen=True)
class StoreScaling:
    """The measurements for each number of trials."""

    times: Sequence[StoreTimes]

    @property
    def is_met(self) -> bool:
        return not any(each.list_missed() for each in self.times)

    def list_values(self) -> list[BenchmarkValue]:
        return [
            value for each in self.times for value in make_values("store", f"{each.trials:,}", "", each.found)
        ]

    def format_lines(self) -> list[str]:
        names = list(dict.fromkeys(name for each in self.times for name in each.found))
        head = " ".join([f"{'trials':>8}", *(f"{name:>8}" for name in names)])
        lines = [
            f"{each.trials:>8,} {' '.join(_format(each, name) for name in names)}" for each in self.times
        ]
        note = (
            f"seconds; page and peak memory of compact in MB; * above the bar for {SIZES[-1]:,} or no trials"
        )
        return [head, *lines, f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; {note}"]


def measure_store(sizes: Sequence[int]) -> StoreScaling:
    """Measure every command with every number of trials."""
    with tempfile.TemporaryDirectory(prefix="vera-perf-") as folder:
        return StoreScaling([_measure_size(size, Path(folder, str(size))) for size in sizes])


def make_records(number: int) -> Iterator[Record]:
    """Made-up finished trials: first those that the sweep declares."""
    declared = catalogue.sweep(SWEEP).trials(PROFILE)
    chance = random.Random(0)
    made = (_make_record(trial, variant, chance) for variant in count() for trial in declared)
    return islice(made, number)


def write_files(folder: Path, records: Iterator[Record]) -> None:
    """Write the trials in files of many."""
    store = Store(folder)
    for number in count():
        batch = list(islice(records, IN_A_FILE))
        if not batch:
            return
        _write_file(store, batch, number)


def _write_file(store: Store, records: Sequence[Record], number: int) -> None:
    """One file of many trials, without a compaction."""
    tables = [to_tables(record) for record in records]
    for kind in tables[0]:
        joined = pa.concat_tables([table[kind] for table in tables]).combine_chunks()
        with stage_part(store.folder, kind, [joined], MANY_TRIALS) as commit:
            commit(f"{kind}/{COMPACTED}{number:016x}.parquet")


def _make_record(trial: Trial, variant: int, chance: random.Random) -> Record:
    facts = dict(trial.facts)
    if variant:
        facts["method"] = facts["method"] | {"lr": 1e-3 * (1 + variant / 10_000)}
    spec = canonical_json(facts)
    trial_id = hashlib.sha256(spec.encode()).hexdigest()[:16]
    value = chance.gauss(-200.0, 10.0)
    curves = [
        CurvePoint(
            trial_id, "evaluation", metric, step * trial.spec.steps // EVALUATIONS, chance.gauss(value)
        )
        for metric in ("test_log_likelihood", "loss")
        for step in range(1, EVALUATIONS + 1)
    ]
    row = Row(
        trial_id=trial_id,
        outcome="ok",
        outcome_step=trial.spec.steps,
        reason="",
        metrics=canonical_json({"loss": chance.random(), "test_log_likelihood": value}),
        task="density",
        profile=trial.profile,
        sweep=SWEEP if not variant else f"{SWEEP} · method.lr",
        label=trial.name,
        dataset=trial.spec.dataset["name"],
        data_fingerprint=facts["data_fingerprint"],
        energy=trial.spec.networks["energy"]["name"],
        method=trial.spec.method["name"],
        seed=trial.spec.seed,
        steps=trial.spec.steps,
        batch_size=trial.spec.batch_size,
        spec=spec,
        protocol=facts["protocol"],
        attempt=1,
        restarts="[]",
        seconds=1.0 + chance.random(),
        started_at="2026-01-01T00:00:00+00:00",
        finished_at=f"2026-01-01T00:00:{chance.random() * 59:09.6f}+00:00",
        cpus=1.0,
        gpus=0.0,
        device="cpu",
        processor="made up",
        cores=2,
        versions='{"numpy":"2.0.0","python":"3.11.0","torch":"2.8.0"}',
        git_commit="",
        git_dirty=False,
        log_tail="",
    )
    return Record(row, curves)


def _measure_size(number: int, folder: Path) -> StoreTimes:
    trials, found = folder / "trials", dict[str, float]()
    if number:
        records, loose = make_records(number), min(LOOSE, number // 2)
        write_files(trials, islice(records, number - loose))
        found["compact"], found["peak"] = map(
            float, _run([sys.executable, "-c", COMPACT, str(trials)]).split()
        )
        for record in records:
            Store(trials).write(record)
            last = record.row.trial_id
    _time_command(("plan", SWEEP), folder)  # derives facts that later commands of a user find
    for name, words in COMMANDS.items():
        if number:
            found[name] = _time_command((*words, last) if name == "show" else words, folder)
        elif name in EMPTY_BARS:
            found[name] = _time_command(words, folder)
    if number:
        found["page"] = (folder / "report.html").stat().st_size / 1e6
    print(f"{number:,} trials measured", file=sys.stderr, flush=True)
    return StoreTimes(number, found)


def _time_command(words: Sequence[str], folder: Path) -> float:
    """Seconds of a command in a process of its own."""
    began = time.perf_counter()
    _run([sys.executable, "-m", "bench.cli", *words, "--results-dir", str(folder)])
    return time.perf_counter() - began


def _run(words: Sequence[str]) -> str:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise EngineError(f"{' '.join(words[2:4])} ended with exit code {done.returncode}: {last}")
    return done.stdout


def _format(each: StoreTimes, name: str) -> str:
    if name not in each.found:
        return " " * 8
    mark = "*" if name in each.list_missed() else " "
    return f"{each.found[name]:>7.{0 if name == 'peak' else 2}f}{mark}"
