"""The Trainer: the only training loop. Plain Python, usable without Ray.

It owns the run's random state and the position in the data, so a run that is saved, restored and continued is
bit-identical to an uninterrupted one on the same device. Metrics stay on the device and are checked once
every `log_every` steps; a divergence is still reported at the exact step. Evaluations and callbacks use their
own random numbers, so evaluating or logging more often does not change training.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from math import inf, prod
from pathlib import Path
from typing import Any

from torch import Tensor

from vera.data.contract import DataSet
from vera.data.user_dataset import as_dataset
from vera.errors import CallbackError, SettingError, VeraError
from vera.methods.contract import Method
from vera.spec.settings import Count, Decay, NonNegativeCount, Positive, validate_arguments
from vera.training.averaging import PREFIX
from vera.training.callbacks import Callbacks, call_callbacks, list_callbacks, protect_training
from vera.training.interrupts import defer_interrupt
from vera.training.journal import DivergenceError, Journal
from vera.training.progress import is_interactive, make_progress_bar
from vera.training.state.checkpoint import write_checkpoint
from vera.training.state.random_state import derive_seed, get_random_state, set_random_state
from vera.training.state.run_state import RunState, TrainingResult, describe_type
from vera.training.threads import choose_threads, use_threads

Evaluation = Callable[[Method], Mapping[str, float]]


class Trainer(RunState):
    """Trains a method on data for a number of steps.

    `data` is a data set, or points as the user has them: an array, a tensor, images, a pair (x, y), a data
    frame or a torch Dataset (see `vera.data.as_dataset`). `evaluate` is called every `evaluate_every`
    steps and at the end. A loss beyond `max_loss` in absolute value counts as diverged. The file `checkpoint`
    is written every `save_every` seconds and at the end, so a run that was killed can be restored from it.

    `on_log(step, metrics)` is called with every new row of the history, `on_evaluate(step, metrics)` after
    every evaluation; each may be a list of functions. `vera.loggers` has loggers for TensorBoard and
    Weights & Biases. `progress` shows a bar (default: in a terminal or notebook). `threads` is the number of
    CPU threads; see `vera/training/threads.py` for the default.

    With `ema`, a decay such as .999, an average of the weights is kept beside them; see
    `vera/training/averaging.py`. Evaluations measure both, the averaged weights under names with `ema_`.
    """

    @validate_arguments
    def __init__(
        self,
        method: Method,
        data: DataSet | Tensor | Any,
        *,
        steps: Count,
        batch_size: Count = 128,
        seed: NonNegativeCount = 0,
        device: str = "cpu",
        evaluate: Evaluation | None = None,
        evaluate_every: Count | None = None,
        log_every: Count = 100,
        max_loss: Positive = 1e8,
        checkpoint: str | Path | None = None,
        save_every: Positive = 60.0,
        progress: bool | None = None,
        on_log: Callbacks = None,
        on_evaluate: Callbacks = None,
        threads: Count | None = None,
        ema: Decay | None = None,
    ) -> None:
        if not isinstance(method, Method):
            raise SettingError(
                "Trainer: method must be a Method such as vera.methods.VERA(...), "
                f"got {describe_type(method)}."
            )
        if evaluate is not None and not callable(evaluate):
            raise SettingError(
                f"Trainer: evaluate must be a function of the method, got {describe_type(evaluate)}."
            )
        self.evaluate, self.threads = evaluate, threads
        self.on_log = list_callbacks("on_log", on_log)
        self.on_evaluate = list_callbacks("on_evaluate", on_evaluate)
        self.progress = is_interactive() if progress is None else progress
        self.checkpoint, self.save_every = None if checkpoint is None else Path(checkpoint), save_every
        self._saved = self._since = time.monotonic()
        super().__init__(
            method,
            as_dataset(data),
            Journal(log_every, max_loss),
            steps=steps,
            batch_size=batch_size,
            seed=seed,
            device=device,
            evaluate_every=evaluate_every,
            ema=ema,
        )

    @validate_arguments
    def run(self, until: NonNegativeCount | None = None) -> TrainingResult | None:
        """Train up to step `until` (default: to the end). Returns the result, or None if the run is not over.

        Ctrl-C takes effect at the end of a step; the run can then be saved or continued. So it can after a
        callback raised an exception, which is reported as `CallbackError`.
        """
        until = self.steps if until is None else until
        if until > self.steps:
            raise SettingError(
                f"Trainer: until={until} is beyond the end of this run of {self.steps} steps; "
                f"to train longer, call extend({until - self.steps})."
            )
        self._check_can_continue()
        try:
            with (
                self._measure_time(),
                use_threads(choose_threads(self.threads, self._estimate_work())),
                self._use_own_random_state(),
                defer_interrupt() as interrupt,
                make_progress_bar(
                    self.method.label(), total=self.steps, initial=self.step, shown=self.progress
                ) as bar,
            ):
                while self.step < until and self.result is None:
                    self._evaluate_if_due()
                    self._advance()
                    self._evaluate_if_due()
                    bar.update(self.step - bar.n)
                    self._save_if_due()
                    interrupt.check()
                if self.step == self.steps and self.result is None:
                    self._finish()
        except DivergenceError as end:
            self.result = TrainingResult("diverged", end.step, end.reason, self.journal.latest_metrics())
        except (KeyboardInterrupt, CallbackError):
            self._save_if_paused()
            raise
        if self.result is not None:
            self._save_if_paused()
            self._log_new_row()  # of a run that diverged
        interrupt.check()
        return self.result

    @validate_arguments
    def extend(self, steps: Count) -> TrainingResult | None:
        """Make the run longer by `steps` steps and train to the new end. Returns the result.

        The run is then bit-identical to one that was this long from the start, unless its method has a
        schedule that depends on the number of steps; no registered method has one. An evaluation that was
        made only because the run ended is dropped. Runs that diverged cannot be extended, nor can studies
        that fix their number of steps.
        """
        self._check_can_continue()
        if self.method.has_fixed_length:
            raise VeraError(
                f"{self.method.label()} fixes its number of steps: start a new run of {self.steps + steps}."
            )
        if self.result is not None and self.result.outcome != "ok":
            raise VeraError(
                f"This run {self.result.outcome} at step {self.result.step}: it cannot be extended."
            )
        self.steps += steps
        self._reopen()
        return self.run()

    def _advance(self) -> None:
        self._state = "broken"  # until the step is done: an exception inside it leaves half a step
        metrics = self.method.step(self._next_batch(self.stream))
        if self.average is not None:
            self.average.update()
        self.step += 1
        self._state = "running"
        self.journal.record(self.step, metrics, last=self.step == self.steps)
        if self.step == self.steps or self.step % self.journal.block == 0:
            self._log_new_row()

    def _log_new_row(self) -> None:
        """Pass the last row of the history to the callbacks, unless they have had it."""
        rows = self.history[-1:] if self.on_log else []
        if rows and rows[0]["step"] > self._logged:
            self._logged = int(rows[0]["step"])
            self._notify("on_log", self.on_log, rows[0])

    def _evaluate_if_due(self) -> None:
        """Called after each step, and before it to repeat an evaluation that was interrupted."""
        if 0 < self.step < self.steps and self.step % self.evaluate_every == 0:
            self._evaluate()

    def _finish(self) -> None:
        self._evaluate()
        self.result = TrainingResult("ok", self.step, "", self.journal.latest_metrics())

    def _evaluate(self) -> None:
        """Evaluate the method at this step, unless that is done."""
        if self.evaluate is None or (self.evaluations and self.evaluations[-1]["step"] == self.step):
            return
        self.journal.check_pending(self.step)
        with self._protect(f"evaluation {self.step}"):
            values = self.evaluate(self.method)
        if self.average is not None:
            with self.use_averaged_weights(), self._protect(f"evaluation {self.step}"):
                averaged = self.evaluate(self.method)
            values = {**values, **{f"{PREFIX}{name}": value for name, value in averaged.items()}}
        self.journal.record_evaluation(self.step, values)
        self._notify("on_evaluate", self.on_evaluate, self.evaluations[-1])

    def _notify(self, name: str, callbacks: Callbacks, row: Mapping[str, float]) -> None:
        metrics = {key: value for key, value in row.items() if key != "step"}
        with self._protect(f"{name} {row['step']}"):
            call_callbacks(name, callbacks, int(row["step"]), metrics)

    @contextmanager
    def _protect(self, purpose: str) -> Iterator[None]:
        """The user's code inside the block cannot change the training by accident."""
        with protect_training(self.method.networks().values(), derive_seed(self.seed, purpose)):
            yield

    def _estimate_work(self) -> float:
        """Weights × batch size × pixels; see `vera/training/threads.py`. Unknown on other devices."""
        if self.device.type != "cpu":
            return inf
        weights = sum(p.numel() for network in self.method.networks().values() for p in network.parameters())
        return weights * self.batch_size * prod(self.point_shape[1:])

    def _save_if_paused(self) -> None:
        if self.checkpoint is not None and self._state == "paused":
            self.save(self.checkpoint)

    def _save_if_due(self) -> None:
        if self.checkpoint is not None and time.monotonic() - self._saved > self.save_every:
            self._update_seconds()
            self._random = get_random_state()
            write_checkpoint(self.checkpoint, self._snapshot())
            self._saved = time.monotonic()

    @contextmanager
    def _measure_time(self) -> Iterator[None]:
        self._since = time.monotonic()
        try:
            yield
        finally:
            self._update_seconds()

    def _update_seconds(self) -> None:
        now = time.monotonic()
        self.seconds, self._since = self.seconds + now - self._since, now

    @contextmanager
    def _use_own_random_state(self) -> Iterator[None]:
        outer = get_random_state()
        set_random_state(self._random)
        self._state = "running"
        try:
            yield
        finally:
            if self._state == "running":
                self._state = "paused"
            self._random = get_random_state()
            set_random_state(outer)
