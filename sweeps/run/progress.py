"""Progress: one live line on a terminal, and one line for each trial that ends; plain lines where the output
is no terminal."""

import json
import shutil
import sys
import time
from collections.abc import Iterable
from typing import TextIO

from sweeps.run.listener import Listener
from sweeps.store.row import FAILURES, Outcome, Row
from sweeps.trial.identity import Trial

MARKS = {"ok": "✓", "diverged": "✗", "stopped_early": "·"}
Widths = tuple[int, int]
"""Of the columns of labels and of data sets."""
NARROW: Widths = (12, 8)
HEADLINES = ("test_log_likelihood", "grid_log_likelihood", "test_accuracy", "loss")


class Progress(Listener):
    """Counts trials as they come and go, and says when it will be over."""

    def __init__(
        self, total: int, steps: dict[str, int], out: TextIO | None = None, widths: Widths = NARROW
    ) -> None:
        self.total, self.steps, self.out, self.widths = total, steps, out or sys.stdout, widths
        self.live = self.out.isatty()
        self.began = time.monotonic()
        self.running: dict[str, int] = {}
        self.before: dict[str, int] = {}
        """Steps that trials had behind them when they began here."""
        self.over: dict[str, Outcome] = {}

    def noted(self, note: str) -> None:
        print(f" {note}", file=self.out, flush=True)

    def started(self, trial_id: str) -> None:
        self.running.setdefault(trial_id, 0)
        self._draw()

    def resumed(self, trial_id: str, step: int) -> None:
        self.before.setdefault(trial_id, step)

    def advanced(self, trial_id: str, step: int) -> None:
        self.running[trial_id] = step
        self._draw()

    def ended(self, row: Row) -> None:
        self.running.pop(row.trial_id, None)
        self.over[row.trial_id] = row.outcome  # the last, where a trial is run once more
        self._clear()
        print(line_for(row, self.widths), file=self.out, flush=True)
        self._draw()

    @property
    def done(self) -> int:
        return len(self.over)

    @property
    def diverged(self) -> int:
        return sum(outcome == "diverged" for outcome in self.over.values())

    @property
    def failed(self) -> int:
        return sum(outcome in FAILURES for outcome in self.over.values())

    def close(self) -> None:
        self._clear()

    def line(self) -> str:
        counts = f"{self.done}/{self.total} done   {len(self.running)} running   {self.diverged} diverged   {self.failed} failed"
        return f" {counts}   {self.total - self.done - len(self.running)} left   {self._eta()}"

    def _eta(self) -> str:
        """From the share of the training steps that are behind us, of those that are to be trained here."""
        todo = {
            trial_id: max(0, steps - self.before.get(trial_id, 0)) for trial_id, steps in self.steps.items()
        }
        behind = sum(todo.get(i, 0) for i in self.over)
        behind += sum(
            min(max(0, step - self.before.get(i, 0)), todo.get(i, 0)) for i, step in self.running.items()
        )
        elapsed = time.monotonic() - self.began
        if not behind:
            return "eta unknown"
        left = elapsed * (sum(todo.values()) - behind) / behind
        return f"eta {int(left // 60)}:{int(left % 60):02d}   {behind / max(elapsed, 1e-9):,.0f} steps/s"

    def _draw(self) -> None:
        if self.live:
            width = shutil.get_terminal_size().columns - 1  # a line that wraps cannot be drawn over
            print(f"\r\x1b[2K{self.line()[:width]}", end="", file=self.out, flush=True)

    def _clear(self) -> None:
        if self.live:
            print("\r\x1b[2K", end="", file=self.out, flush=True)


def widths_of(trials: Iterable[Trial]) -> Widths:
    """Those of the columns in which all their labels and data sets fit."""
    found = [(len(trial.name), len(trial.data)) for trial in trials]
    return max([NARROW[0], *(label for label, _ in found)]), max([NARROW[1], *(data for _, data in found)])


def line_for(row: Row, widths: Widths = NARROW) -> str:
    """✓ VERA   moons   seed 2   test_log_likelihood -2.61   12 s   4f0c9a"""
    metrics = json.loads(row.metrics)
    name = next((name for name in HEADLINES if name in metrics), None)
    headline = (
        f"{name} {metrics[name]:.4g}"
        if row.outcome == "ok" and name
        else f"{row.outcome} at step {row.outcome_step:,}"
    )
    reason = f" ({row.reason})" if row.reason else ""
    trial = f"{MARKS.get(row.outcome, '!')} {row.label:{widths[0]}} {row.data:{widths[1]}} seed {row.seed:<4}"
    return f" {trial} {headline}{reason}   {row.seconds:.0f} s   {row.trial_id[:8]}"
