"""One attempt at a trial: built, advanced in slices of time, saved on the way, ended as a record. Plain
Python, no Ray.

Whatever happens, an attempt ends as a row: a metric that is not finite is `diverged`, too little memory
`out_of_memory`, too much time `timeout`, any other exception `error` with the end of its traceback. Its
checkpoint is named by the trial's id: whoever runs the same trial next, in whatever process, on whatever node
that sees the checkpoint, goes on from there.
"""

import math
import time
import traceback
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch

from sweeps.errors import StoreError
from sweeps.run.checkpoint_store import shelf_at
from sweeps.run.conditions import Conditions
from sweeps.run.provenance import trial_provenance
from sweeps.run.restarts import RestartLog
from sweeps.run.scrub import scrubbed
from sweeps.store.row import CurvePoint, Outcome, Record, Row, plain_array
from sweeps.store.schema import check
from sweeps.trial.canonical_json import canonical_json
from sweeps.trial.identity import PROTOCOL, Trial
from vera.errors import CheckpointError
from vera.tasks.build import build_task
from vera.tasks.contract import Measurement

LOG_TAIL = 4_000


@dataclass(frozen=True)
class Ending:
    """How an attempt ended, before it becomes a row."""

    outcome: Outcome
    step: int
    reason: str = ""
    log_tail: str = ""


class Attempt:
    """A trial under way. `advance` until `ending` is there, then `record`."""

    def __init__(self, trial: Trial, conditions: Conditions) -> None:
        self.trial, self.conditions = trial, _settled(conditions)
        self.started_at = _now()
        self.ending: Ending | None = None
        self.measurement = Measurement()
        self.trainer: Any = None
        self.unsaved: str | None = None
        """Why its state could not be written, where it could not: then it must stop, or what follows may be
        lost."""
        self.shelf = shelf_at(conditions.checkpoint_dir, trial.id)
        self.restarts = RestartLog()
        self._saved = time.monotonic()
        self._guard(self._begin)

    @classmethod
    def lost(
        cls,
        trial: Trial,
        conditions: Conditions,
        ending: Ending,
        metrics: dict[str, float],
        seconds: float = 0.0,
    ) -> "Attempt":
        """An attempt of which nothing is left but how it ended and what it reported last; its seconds are
        those of all runs."""
        attempt = cls.__new__(cls)
        attempt.trial, attempt.conditions, attempt.started_at = trial, _settled(conditions), _now()
        attempt.ending, attempt.measurement, attempt.trainer = ending, Measurement(metrics), None
        attempt.shelf = shelf_at(conditions.checkpoint_dir, trial.id)
        with attempt.shelf.brought():
            attempt.restarts = RestartLog.read(attempt.checkpoint)
        attempt._reported = max(0.0, seconds - attempt.restarts.seconds)
        return attempt

    def advance(self, seconds: float, until: int | None = None) -> None:
        """Train for about this long, at most to step `until`, or to the end."""
        self._guard(lambda: self._advance(seconds, until))

    def stop(self, reason: str) -> None:
        """End as stopped_early, with what there is."""
        self.ending = self.ending or Ending("stopped_early", self.step, reason)

    @property
    def step(self) -> int:
        return 0 if self.trainer is None else int(self.trainer.step)

    @property
    def checkpoint(self) -> Path | None:
        return self.shelf.checkpoint

    def save(self) -> None:
        """What the next process needs to go on; nothing once the attempt has ended."""
        if self.checkpoint is not None and self.trainer is not None and self.ending is None:
            try:
                with self.shelf.kept():
                    self.trainer.save(self.checkpoint)
            except (CheckpointError, StoreError, OSError) as error:
                self.unsaved = str(error)
            self._saved = time.monotonic()

    def save_result(self) -> None:
        """For a record that could not be stored: whoever runs the trial next has only to measure, if the
        trial got so far."""
        if self.checkpoint is not None and self.trainer is not None and self.trainer.result is not None:
            with (
                suppress(CheckpointError, StoreError, OSError),
                self.shelf.kept(),
            ):  # what refused the record may refuse this too
                self.trainer.save(self.checkpoint)

    def record(self) -> Record:
        """What the store keeps; measurements that it cannot keep make it an error, in the row as any
        other."""
        try:
            return self._record()
        except (StoreError, TypeError, ValueError) as error:
            self.ending, self.measurement = Ending("error", self.step, _line(error), _tail()), Measurement()
            return self._record()

    def _record(self) -> Record:
        assert self.ending is not None
        record = Record(
            self._row(self.ending),
            self._curves(),
            {n: plain_array(a) for n, a in self.measurement.arrays.items()},
        )
        check(record)
        return record

    def forget_checkpoint(self) -> None:
        """Once the row is stored, the checkpoint has served."""
        self.shelf.forget()

    def _guard(self, work: Any) -> None:
        if self.ending is not None:
            return
        try:
            work()
        except (MemoryError, torch.OutOfMemoryError) as error:
            self.ending = Ending("out_of_memory", self.step, _line(error), _tail())
        except Exception as error:
            outcome: Outcome = "out_of_memory" if _is_memory(error) else "error"
            self.ending = Ending(outcome, self.step, f"{type(error).__name__}: {_line(error)}", _tail())

    def _begin(self) -> None:
        if (
            differs := self.trial.difference_here()
        ):  # its numbers would be those of a trial that nobody asked for
            return self._end("error", 0, differs)
        with self.shelf.brought():
            self.restarts = RestartLog.read(self.checkpoint)
            self._build()

    def _build(self) -> None:
        torch.set_num_threads(max(1, int(self.conditions.cpus)))
        self.task = build_task(self.trial.spec)
        self.trainer = self.task.build(
            self.restarts.spec_of(self.trial.spec),
            data_dir=self.conditions.data_dir,
            device=self.conditions.device,
            progress=False,
        )
        if self.checkpoint is not None and self.checkpoint.is_file():
            try:
                self.trainer.restore(self.checkpoint)
            except CheckpointError as error:
                if isinstance(error.__cause__, OSError | MemoryError | torch.OutOfMemoryError):
                    raise error.__cause__ from error  # the file may be good: this machine could not read it
                self.shelf.drop()

    def _advance(self, seconds: float, until: int | None) -> None:
        deadline, last = time.monotonic() + seconds, self.trainer.steps if until is None else until
        while self.trainer.result is None and time.monotonic() < deadline and not self._is_late():
            began, before = time.monotonic(), self.trainer.step
            wanted = before + self._slice
            self.trainer.run(until=min(wanted, last))
            if wanted > last and self.trainer.result is None:
                break
            # By the steps that were trained: a run that diverges early in its slice says nothing of the rest of it.
            self._slice = _next_slice(max(1, self.trainer.step - before), time.monotonic() - began)
        self._look()

    _slice = 1

    def _look(self) -> None:
        result = self.trainer.result
        if result is not None and result.outcome == "ok":
            self._measure()
            broken = [name for name, value in self.measurement.metrics.items() if not math.isfinite(value)]
            self._diverge(result.step, f"{broken[0]} is not finite") if broken else self._end(
                "ok", result.step
            )
        elif result is not None:
            self._diverge(result.step, result.reason)
        elif self._is_late():
            self.save()  # a retry with more time goes on from here
            limit = f"longer than {self.conditions.time_limit:g} s over all attempts"
            self._end("timeout", self.step, f"{limit}: retry with a larger --time-limit")
        elif time.monotonic() - self._saved >= self.conditions.checkpoint_every:
            self.save()

    def _measure(self) -> None:
        began = time.monotonic()
        self.measurement = self.task.measure(self.trainer)
        self._measuring = time.monotonic() - began

    _measuring = 0.0

    def _end(self, outcome: Outcome, step: int, reason: str = "") -> None:
        self.ending = Ending(outcome, step, reason)

    def _diverge(self, step: int, reason: str) -> None:
        """The end, or the next try from scratch with another seed where the trial allows one; either way it
        is written down."""
        if len(self.restarts.entries) >= self.trial.spec.restarts:
            return self._end("diverged", step, reason)
        self.restarts = self.restarts.with_entry(
            step, reason, self.trainer.seed, self.trainer.seconds + self._measuring
        )
        try:
            with self.shelf.kept():
                self.restarts.write(self.checkpoint)
        except (StoreError, OSError) as error:
            self.unsaved = f"The restart of a trial could not be noted: {error}"
        self.measurement, self._measuring = Measurement(), 0.0
        self.trainer = None  # before the next is built: two may not fit into memory
        self._build()

    @property
    def seconds(self) -> float:
        """Of training and measuring, over all resumptions and restarts."""
        return (
            self.restarts.seconds
            + self._measuring
            + (self._reported if self.trainer is None else self.trainer.seconds)
        )

    _reported = 0.0

    def _is_late(self) -> bool:
        return self.conditions.time_limit is not None and self.seconds > self.conditions.time_limit

    def metrics(self) -> dict[str, float]:
        """The latest ones that are finite."""
        latest = {} if self.trainer is None else self.trainer.journal.latest_metrics()
        values = {**latest, **self.measurement.metrics}
        return {name: value for name, value in values.items() if math.isfinite(value)}

    def _row(self, ending: Ending) -> Row:
        spec, conditions = self.trial.spec, self.conditions
        return Row(
            trial_id=self.trial.id, outcome=ending.outcome, outcome_step=ending.step, reason=ending.reason,
            metrics=canonical_json(self.metrics()), task=spec.task_component["name"], profile=self.trial.profile, sweep=self.trial.sweep,
            label=self.trial.name, dataset=spec.dataset["name"], data_fingerprint=self.trial.facts["data_fingerprint"],
            energy=spec.networks.get("energy", {}).get("name", ""), method=spec.method["name"], seed=spec.seed, steps=spec.steps,
            batch_size=spec.batch_size, spec=canonical_json(self.trial.facts), protocol=PROTOCOL, attempt=conditions.attempt,
            restarts=self.restarts.to_json(), seconds=self.seconds, started_at=self.started_at,
            finished_at=_now(), cpus=conditions.cpus, gpus=conditions.gpus,
            log_tail="\n".join(text for text in (conditions.before, ending.log_tail) if text),
            **trial_provenance(spec, conditions.device),
        )  # fmt: skip

    def _curves(self) -> list[CurvePoint]:
        if self.trainer is None:
            return []
        kinds: list[tuple[Any, Any]] = [
            ("training", self.trainer.history),
            ("evaluation", self.trainer.evaluations),
        ]
        return [
            CurvePoint(self.trial.id, kind, name, int(row["step"]), float(value))
            for kind, rows in kinds
            for row in rows
            for name, value in row.items()
            if name != "step"
        ]


def run_trial(trial: Trial, conditions: Conditions | None = None) -> Record:
    """The whole trial in this process."""
    attempt = Attempt(trial, conditions or Conditions())
    while attempt.ending is None:
        attempt.advance(1.0)
    return attempt.record()


def _next_slice(steps: int, seconds: float) -> int:
    """Steps that take about a quarter of a second: often enough to look at the clock, seldom enough to cost
    nothing."""
    return max(1, min(10 * steps, round(steps * 0.25 / max(seconds, 1e-4))))


def _settled(conditions: Conditions) -> Conditions:
    if conditions.device != "auto":
        return conditions
    return replace(conditions, device="cuda" if conditions.gpus and torch.cuda.is_available() else "cpu")


def _is_memory(error: Exception) -> bool:
    return "out of memory" in str(error).lower() or "can't allocate memory" in str(error).lower()


def _line(error: BaseException) -> str:
    return scrubbed((str(error).strip() or repr(error)).splitlines()[0])[:500]


def _tail() -> str:
    return scrubbed(traceback.format_exc())[-LOG_TAIL:]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
