"""One attempt at a trial: it is built, advanced in slices of time, saved now and then, and ends as a record.
Plain Python, no Ray.

An attempt always ends as a row: `diverged` if a metric is not finite, `out_of_memory`, `timeout` after the
time limit, and `error` with the end of the traceback for any other exception. The checkpoint is named by the
trial's id, so any process on any node that sees it can resume the trial.
"""

import math
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import torch

from sweeps.errors import StoreError
from sweeps.run.checkpoint_store import open_checkpoint_store
from sweeps.run.conditions import Conditions
from sweeps.run.record import AttemptSummary, Ending, build_record, format_time, select_finite
from sweeps.run.restarts import RestartLog
from sweeps.run.scrub import scrub
from sweeps.run.trained_model import TRAINED, encode_trained_model
from sweeps.store.row import CurvePoint, Outcome, Record
from sweeps.trial.identity import Trial
from vera.errors import CheckpointError
from vera.tasks.build import build_task
from vera.tasks.contract import Measurement

CLOCK_SECONDS = 0.25
"""Training runs for about this long between two readings of the clock."""


class Attempt:
    """A running trial. Call `advance` until `ending` is set, then `record`."""

    def __init__(self, trial: Trial, conditions: Conditions) -> None:
        self.trial, self.conditions = trial, conditions.resolve_device()
        self.started_at = format_time()
        self.ending: Ending | None = None
        self.measurement = Measurement()
        self.trainer: Any = None
        self.save_error: str | None = None
        """Why the state could not be saved. The attempt must stop then, because further work could not be
        resumed."""
        self.checkpoints = open_checkpoint_store(conditions.checkpoint_dir, trial.id)
        self.restarts = RestartLog()
        self.afresh = ""
        """Why an earlier checkpoint could not be used, so that the trial starts afresh; else empty."""
        self._saved_at = time.monotonic()
        self._slice_steps = 1
        self._measuring_seconds = 0.0
        self._run_guarded(self._begin)

    def advance(self, seconds: float, until: int | None = None) -> None:
        """Train for about this long, at most to step `until` or to the end."""
        self._run_guarded(lambda: self._advance(seconds, until))

    @property
    def step(self) -> int:
        return 0 if self.trainer is None else int(self.trainer.step)

    @property
    def seconds(self) -> float:
        """Of training and measuring, over all resumptions and restarts."""
        training = 0.0 if self.trainer is None else self.trainer.seconds
        return self.restarts.seconds + self._measuring_seconds + training

    @property
    def checkpoint(self) -> Path | None:
        return self.checkpoints.checkpoint

    def save(self) -> None:
        """Save what another process needs to resume; nothing once the attempt has ended."""
        if self.checkpoint is not None and self.trainer is not None and self.ending is None:
            try:
                with self.checkpoints.open_for_writing():
                    self.trainer.save(self.checkpoint)
            except (CheckpointError, StoreError, OSError) as error:
                self.save_error = str(error)
            self._saved_at = time.monotonic()

    def save_result(self) -> None:
        """Save a finished training whose record could not be stored: the next attempt only has to measure."""
        if self.checkpoint is not None and self.trainer is not None and self.trainer.result is not None:
            # The disk that refused the record may refuse the checkpoint too.
            with suppress(CheckpointError, StoreError, OSError), self.checkpoints.open_for_writing():
                self.trainer.save(self.checkpoint)

    def record(self) -> Record:
        """The record for the store; its outcome is `error` if the measurement cannot be stored."""
        assert self.ending is not None
        summary = AttemptSummary(
            self.trial,
            self.conditions,
            self.started_at,
            self.restarts,
            self.seconds,
            self._read_latest_metrics(),
            self._collect_curves(),
        )
        return build_record(summary, self.ending, self.measurement)

    def encode_model(self) -> bytes | None:
        """The content of the model file as training is now; None if the trial leaves no model."""
        is_trained = self.ending is None or self.ending.outcome in TRAINED
        if not self.conditions.keep_model or self.trainer is None or not is_trained:
            return None
        if not self.task.trains_model:
            return None
        return encode_trained_model(self.trial, self.trainer, self.collect_metrics(), self.conditions.device)

    def collect_metrics(self) -> dict[str, float]:
        """The latest metrics that are finite."""
        return select_finite({**self._read_latest_metrics(), **self.measurement.metrics})

    def _run_guarded(self, work: Callable[[], None]) -> None:
        """Do the work unless the attempt has ended; an exception ends it."""
        if self.ending is not None:
            return
        try:
            work()
        except (MemoryError, torch.OutOfMemoryError) as error:
            self.ending = Ending.from_error("out_of_memory", self.step, error)
        except Exception as error:
            outcome: Outcome = "out_of_memory" if _is_out_of_memory(error) else "error"
            self.ending = Ending.from_error(outcome, self.step, error, prefix=f"{type(error).__name__}: ")

    def _begin(self) -> None:
        # The numbers of another trial must not be stored under this id.
        if difference := self.trial.explain_difference():
            return self._end("error", 0, difference)
        with self.checkpoints.open_for_reading():
            self.restarts = RestartLog.read(self.checkpoint)
            self._build()

    def _build(self) -> None:
        threads = max(1, int(self.conditions.cpus))
        torch.set_num_threads(threads)
        self.task = build_task(self.trial.spec)
        self.trainer = self.task.build(
            self.restarts.derive_spec(self.trial.spec),
            data_dir=self.conditions.data_dir,
            device=self.conditions.device,
            progress=False,
            threads=threads,
        )
        if self.checkpoint is not None and self.checkpoint.is_file():
            try:
                self.trainer.restore(self.checkpoint)
            except CheckpointError as error:
                if isinstance(error.__cause__, OSError | MemoryError | torch.OutOfMemoryError):
                    raise error.__cause__ from error  # the file may be good: this machine could not read it
                self.afresh = scrub(str(error))
                self.checkpoints.discard_checkpoint()

    def _advance(self, seconds: float, until: int | None) -> None:
        deadline, end = time.monotonic() + seconds, self.trainer.steps
        last = end if until is None else min(until, end)
        while self.trainer.result is None and time.monotonic() < deadline and not self._is_over_time():
            began, before = time.monotonic(), self.trainer.step
            wanted = before + self._slice_steps
            self.trainer.run(until=min(wanted, last))
            if wanted > last and self.trainer.result is None:
                break
            # By the steps done: a run that diverges early in its slice says nothing about the rest.
            done = max(1, self.trainer.step - before)
            self._slice_steps = _choose_slice_steps(done, time.monotonic() - began)
        self._check_end()

    def _check_end(self) -> None:
        """End the attempt if training has ended or the time is over; otherwise save it if that is due."""
        result = self.trainer.result
        if result is not None and result.outcome == "ok":
            began = time.monotonic()
            self.measurement = self.task.measure_run(self.trainer)
            self._measuring_seconds = time.monotonic() - began
            broken = [name for name, value in self.measurement.metrics.items() if not math.isfinite(value)]
            if broken:
                self._diverge(result.step, f"{broken[0]} is not finite")
            else:
                self._end("ok", result.step)
        elif result is not None:
            self._diverge(result.step, result.reason)
        elif self._is_over_time():
            self.save()  # a retry with more time resumes here
            limit = f"longer than {self.conditions.time_limit:g} s over all attempts"
            self._end("timeout", self.step, f"{limit}: retry with a larger --time-limit")
        elif time.monotonic() - self._saved_at >= self.conditions.checkpoint_every:
            self.save()

    def _end(self, outcome: Outcome, step: int, reason: str = "") -> None:
        self.ending = Ending(outcome, step, reason)

    def _diverge(self, step: int, reason: str) -> None:
        """End as diverged or, if the trial allows another restart, log it and start again with another
        seed."""
        if len(self.restarts.entries) >= self.trial.spec.restarts:
            return self._end("diverged", step, reason)
        seconds = self.trainer.seconds + self._measuring_seconds
        self.restarts = self.restarts.add(step, reason, self.trainer.seed, seconds)
        try:
            with self.checkpoints.open_for_writing():
                self.restarts.write(self.checkpoint)
        except (StoreError, OSError) as error:
            self.save_error = f"The restart of a trial could not be saved: {error}"
        self.measurement, self._measuring_seconds = Measurement(), 0.0
        self.trainer = None  # before the next one is built: two may not fit into memory
        self._build()

    def _is_over_time(self) -> bool:
        return self.conditions.time_limit is not None and self.seconds > self.conditions.time_limit

    def _read_latest_metrics(self) -> dict[str, float]:
        return {} if self.trainer is None else self.trainer.journal.latest_metrics()

    def _collect_curves(self) -> list[CurvePoint]:
        if self.trainer is None:
            return []
        kinds: list[tuple[Literal["training", "evaluation"], Any]] = [
            ("training", self.trainer.history),
            ("evaluation", self.trainer.evaluations),
        ]
        return [
            CurvePoint(self.trial.id, kind, name, int(entry["step"]), float(value))
            for kind, entries in kinds
            for entry in entries
            for name, value in entry.items()
            if name != "step"
        ]


def run_trial(trial: Trial, conditions: Conditions | None = None) -> Record:
    """Run the whole trial in this process and return its record."""
    return run_attempt(trial, conditions or Conditions()).record()


def run_attempt(trial: Trial, conditions: Conditions) -> Attempt:
    """Run the whole trial in this process and return the attempt, which has ended."""
    attempt = Attempt(trial, conditions)
    while attempt.ending is None:
        attempt.advance(1.0)
    return attempt


def _choose_slice_steps(steps: int, seconds: float) -> int:
    """The number of steps that take about CLOCK_SECONDS, given the time of the last ones."""
    return max(1, min(10 * steps, round(steps * CLOCK_SECONDS / max(seconds, 1e-4))))


def _is_out_of_memory(error: Exception) -> bool:
    text = str(error).lower()
    return "out of memory" in text or "can't allocate memory" in text
