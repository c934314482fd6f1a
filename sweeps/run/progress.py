"""The events of a run and their display: one line per ended trial, and on a terminal a live line with counts
and remaining time. Imports neither ray nor torch."""

import json
import shutil
import sys
import time
from collections.abc import Callable, Container, Iterable, Mapping
from typing import TextIO

from sweeps.store.row import FAILURES, Outcome, Row
from sweeps.trial.identity import Trial
from vera.wording import make_printable

MARKS = {"ok": "✓", "diverged": "✗", "stopped_early": "·"}
Widths = tuple[int, int]
"""Widths of the columns of labels and of data sets."""
NARROW: Widths = (12, 8)
HEADLINES = ("test_log_likelihood", "grid_log_likelihood", "test_accuracy", "modes", "rms_bias", "loss")


class TrialListener:
    """Receives the events of a run and ignores them."""

    def on_note(self, note: str) -> None:
        """A message that is about no finished trial."""

    def on_start(self, trial_id: str) -> None:
        """The trial starts."""

    def on_resume(self, trial_id: str, step: int) -> None:
        """The trial resumes from a checkpoint at this step; sent once, before it advances."""

    def on_advance(self, trial_id: str, step: int) -> None:
        """The trial has reached this step."""

    def on_end(self, row: Row) -> None:
        """The trial has ended with this row."""


class Progress(TrialListener):
    """Counts trials as they run and estimates the remaining time."""

    def __init__(
        self,
        total: int,
        steps: dict[str, int],
        out: TextIO | None = None,
        widths: Widths = NARROW,
        seconds: Mapping[str, float] | None = None,
        name: Callable[[Row], str] = lambda row: row.label,
    ) -> None:
        """`steps` are those of each trial by id, `seconds` what trials are expected to take, as far as it is
        known. `name` is what the line of a trial calls it."""
        self.total, self.steps, self.out, self.widths = total, steps, out or sys.stdout, widths
        self.name = name
        self.seconds_per_step = estimate_seconds_per_step(steps, seconds or {})
        self.is_live = self.out.isatty()
        self.start_time = time.monotonic()
        self.running: dict[str, int] = {}
        """Steps of the running trials, by id."""
        self.resumed_at: dict[str, int] = {}
        """Steps that trials had done before this run, by id."""
        self.outcomes: dict[str, Outcome] = {}
        """The last outcome of the ended trials, by id."""

    def on_note(self, note: str) -> None:
        self._clear()
        print(f" {make_printable(note)}", file=self.out, flush=True)

    def on_start(self, trial_id: str) -> None:
        self.running.setdefault(trial_id, 0)
        self._draw()

    def on_resume(self, trial_id: str, step: int) -> None:
        self.resumed_at.setdefault(trial_id, step)

    def on_advance(self, trial_id: str, step: int) -> None:
        self.running[trial_id] = step
        self._draw()

    def on_end(self, row: Row) -> None:
        self.running.pop(row.trial_id, None)
        self.outcomes[row.trial_id] = row.outcome
        self._clear()
        print(format_row(row, self.widths, self.name(row)), file=self.out, flush=True)
        self._draw()

    @property
    def done_count(self) -> int:
        return len(self.outcomes)

    @property
    def diverged_count(self) -> int:
        return sum(outcome == "diverged" for outcome in self.outcomes.values())

    @property
    def failed_count(self) -> int:
        return sum(outcome in FAILURES for outcome in self.outcomes.values())

    def close(self) -> None:
        """Remove the live line."""
        self._clear()

    def format_line(self) -> str:
        """The live line."""
        counts = {
            "running": len(self.running),
            "diverged": self.diverged_count,
            "failed": self.failed_count,
            "left": self.total - self.done_count - len(self.running),
        }
        counted = "   ".join(f"{count} {name}" for name, count in counts.items())
        return f" {self.done_count}/{self.total} done   {counted}   {self._format_remaining_time()}"

    def _format_remaining_time(self) -> str:
        """The time left, by the share of the work of this run that is done: steps, weighted by what a step of
        their trial is expected to cost."""
        steps = {i: max(0, total - self.resumed_at.get(i, 0)) for i, total in self.steps.items()}
        done = {i: steps.get(i, 0) for i in self.outcomes}
        for i, step in self.running.items():
            done[i] = min(max(0, step - self.resumed_at.get(i, 0)), steps.get(i, 0))
        elapsed = time.monotonic() - self.start_time
        work = sum(self.seconds_per_step.get(i, 1.0) * count for i, count in done.items())
        if not work:
            return "eta unknown"
        total = sum(self.seconds_per_step.get(i, 1.0) * count for i, count in steps.items())
        left = elapsed * (total - work) / work
        rate = sum(done.values()) / max(elapsed, 1e-9)
        return f"eta {format_clock(left)}   {rate:,.0f} steps/s"

    def _draw(self) -> None:
        if self.is_live:
            width = shutil.get_terminal_size().columns - 1  # a wrapped line cannot be overwritten
            print(f"\r\x1b[2K{self.format_line()[:width]}", end="", file=self.out, flush=True)

    def _clear(self) -> None:
        if self.is_live:
            print("\r\x1b[2K", end="", file=self.out, flush=True)


def estimate_seconds_per_step(steps: Mapping[str, int], seconds: Mapping[str, float]) -> dict[str, float]:
    """The expected cost of a step of each trial; that of a trial whose seconds are not known is the mean of
    the others."""
    known = {i: seconds[i] / count for i, count in steps.items() if count and seconds.get(i)}
    usual = sum(seconds[i] for i in known) / sum(steps[i] for i in known) if known else 1.0
    return {i: known.get(i, usual) for i in steps}


def format_clock(seconds: float) -> str:
    """As 4:05, or 1:04:05 from an hour on."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def measure_widths(trials: Iterable[Trial]) -> Widths:
    """The widths of columns that fit the labels and data sets of all these trials."""
    found = [(len(trial.name), len(trial.data)) for trial in trials]
    return max([NARROW[0], *(label for label, _ in found)]), max([NARROW[1], *(data for _, data in found)])


def format_row(row: Row, widths: Widths = NARROW, name: str | None = None) -> str:
    """The line of an ended trial: ✓ VERA   moons   seed 2   test_log_likelihood -2.61   12 s   4f0c9a

    `name` stands in the place of the label."""
    label = row.label if name is None else name
    headline = (row.outcome == "ok" and format_headline(row)) or f"{row.outcome} at step {row.outcome_step:,}"
    reason = f" ({row.reason})" if row.reason else ""
    trial = f"{MARKS.get(row.outcome, '!')} {label:{widths[0]}} {row.data:{widths[1]}} seed {row.seed:<4}"
    return make_printable(f" {trial} {headline}{reason}   {row.seconds:.0f} s   {row.trial_id[:8]}")


def format_headline(row: Row) -> str:
    """The main metric of the row with its value, or an empty text: test_log_likelihood -2.61"""
    metrics = json.loads(row.metrics)
    name = find_headline(metrics)
    return f"{name} {metrics[name]:.4g}" if name else ""


def find_headline(metrics: Container[str]) -> str | None:
    """The main one of these metrics, or None if none of them is one."""
    return next((name for name in HEADLINES if name in metrics), None)
