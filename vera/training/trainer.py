"""The Trainer: the only training loop. Plain Python, usable without Ray.

It owns the run's random state and the position in the data, so a run that is saved, restored and continued is
bit-identical to an uninterrupted one on the same device. Metrics stay on the device and are checked once
every `log_every` steps; a divergence is still reported at the exact step. Evaluation uses its own random
numbers, so evaluating more often does not change training.
"""

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor
from tqdm import tqdm

from vera.data.contract import DataSet, Stream
from vera.data.labelled import LabelledBatch
from vera.data.tensor import as_dataset
from vera.errors import CheckpointError, SettingError, VeraError
from vera.methods.contract import Batch, Method
from vera.spec.settings import Count, NonNegativeCount, Positive, validate_arguments
from vera.training.checkpoint import check_plain_data, read_checkpoint, write_checkpoint
from vera.training.interrupts import defer_interrupt
from vera.training.journal import DivergenceError, Journal
from vera.training.random_state import derive_seed, get_random_state, set_random_state, use_seed
from vera.training.run_identity import check_same_run, describe_run

Evaluation = Callable[[Method], Mapping[str, float]]


@dataclass(frozen=True)
class TrainingResult:
    """How a run ended: outcome, last step, reason if it diverged, and the last finite metrics."""

    outcome: Literal["ok", "diverged"]
    step: int
    reason: str = ""
    metrics: dict[str, float] = field(default_factory=dict)


def resolve_device(name: str) -> torch.device:
    """The torch device of that name; raises `SettingError` if no tensor can be created on it."""
    try:
        device = torch.device(name)
        torch.zeros(1, device=device).item()
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise SettingError(
            f"The device '{name}' cannot be used here: {str(error).splitlines()[0]}"
        ) from error
    return device


class Trainer:
    """Trains a method on data for a number of steps.

    `data` is a data set or an (N, D) tensor or array of floats. `evaluate` is called every `evaluate_every`
    steps and at the end. A loss beyond `max_loss` in absolute value counts as diverged. The file `checkpoint`
    is written every `save_every` seconds and at the end, so a run that was killed can be restored from it.
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
    ) -> None:
        if not isinstance(method, Method):
            raise SettingError(
                f"Trainer: method must be a Method such as vera.methods.VERA(...), got {_describe(method)}."
            )
        if evaluate is not None and not callable(evaluate):
            raise SettingError(
                f"Trainer: evaluate must be a function of the method, got {_describe(evaluate)}."
            )
        self.data: DataSet = as_dataset(data)
        self.method, self.steps, self.batch_size, self.seed = method, steps, batch_size, seed
        self.evaluate, self._evaluate_every = evaluate, evaluate_every
        self.device = resolve_device(device)
        self.progress = sys.stderr.isatty() if progress is None else progress
        self.journal = Journal(log_every, max_loss)
        self.checkpoint, self.save_every = None if checkpoint is None else Path(checkpoint), save_every
        self._state: Literal["paused", "running", "broken"] = "paused"
        self._saved = self._since = time.monotonic()
        self.step, self.seconds = 0, 0.0
        self.result: TrainingResult | None = None
        self.spec: dict[str, Any] | None = None
        self.stream = self.data.stream(batch_size, derive_seed(seed, "data"))
        method.to(self.device)
        self.dtype = method.energy_weights[0].dtype
        check_plain_data("the settings of the method", method.settings())
        with use_seed(derive_seed(seed, "training")):
            method.begin(self._next_batch(self.data.stream(batch_size, derive_seed(seed, "data"))))
            self._random = get_random_state()

    @validate_arguments
    def run(self, until: NonNegativeCount | None = None) -> TrainingResult | None:
        """Train up to step `until` (default: to the end). Returns the result, or None if the run is not over.

        Ctrl-C takes effect at the end of a step; the run can then be saved or continued.
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
                self._use_own_random_state(),
                defer_interrupt() as interrupt,
                self._show_progress() as bar,
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
        except KeyboardInterrupt:
            self._save_if_paused()
            raise
        if self.result is not None:
            self._save_if_paused()
        interrupt.check()
        return self.result

    @validate_arguments
    def extend(self, steps: Count) -> TrainingResult | None:
        """Make the run longer by `steps` steps and train to the new end. Returns the result.

        The run is then bit-identical to one that was this long from the start, unless its method has a
        schedule that depends on the number of steps. An evaluation that was made only because the run ended
        is dropped. A run that diverged cannot be extended.
        """
        self._check_can_continue()
        if self.result is not None and self.result.outcome != "ok":
            raise VeraError(
                f"This run {self.result.outcome} at step {self.result.step}: it cannot be extended."
            )
        self.steps += steps
        self._reopen()
        return self.run()

    @property
    def evaluate_every(self) -> int:
        """The number of steps between evaluations; by default only the end is evaluated."""
        return self._evaluate_every or self.steps

    @property
    def history(self) -> list[dict[str, float]]:
        """The means of all metrics over blocks of `log_every` steps, as rows with a "step"."""
        return self.journal.history

    @property
    def evaluations(self) -> list[dict[str, float]]:
        """All evaluations, as rows with a "step"."""
        return self.journal.evaluations

    def save(self, path: str | Path) -> None:
        """Write a checkpoint with everything that the next step depends on."""
        write_checkpoint(Path(path), self.state_dict())

    def restore(self, path: str | Path) -> None:
        """Load a checkpoint of this run; one of another run raises an error that names the differences."""
        state = read_checkpoint(Path(path), self.device)
        check_same_run(Path(path), state["identity"], self.identity())
        if not isinstance(state["step"], int) or state["step"] > self.steps:
            raise CheckpointError(f"{path} is at step {state['step']}, beyond this run's {self.steps} steps.")
        before, condition = self._snapshot(), self._state
        try:
            self.load_state_dict(state)
        except Exception as error:
            self.load_state_dict(before)
            self._state = condition
            reason = f"{type(error).__name__}: {error}"
            raise CheckpointError(f"{path} does not fit this run ({reason}); nothing was changed.") from error

    def identity(self) -> dict[str, Any]:
        """What distinguishes this run from others, as plain data; see `vera/training/run_identity.py`."""
        return describe_run(self.method, self.data, self.batch_size, self.seed)

    def state_dict(self) -> dict[str, Any]:
        """Everything that the next step depends on; available only while the run is paused."""
        if self._state == "running":
            raise VeraError(
                "A run cannot be saved from inside an evaluation: call run(until=...), then save."
            )
        if self._state == "broken":
            raise VeraError("This run failed inside a step and cannot be saved: restore its last checkpoint.")
        return self._snapshot()

    def _snapshot(self) -> dict[str, Any]:
        result = None if self.result is None else vars(self.result).copy()
        return {
            "identity": self.identity(),
            "spec": self.spec,
            "step": self.step,
            "seconds": self.seconds,
            "result": result,
            "method": self.method.state_dict(),
            "stream": self.stream.state_dict(),
            "random": self._random,
            "journal": self.journal.state_dict(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self._state = "broken"  # until all of it is loaded
        self.step, self.seconds = state["step"], state["seconds"]
        self.result = None if state["result"] is None else TrainingResult(**state["result"])
        self.method.load_state_dict(state["method"])
        self.stream.load_state_dict(state["stream"])
        self._random = {
            "cpu": state["random"]["cpu"].cpu(),
            "cuda": [s.cpu() for s in state["random"]["cuda"]],
        }
        self.journal.load_state_dict(state["journal"])
        self.journal.end = self.step if self.step == self.steps else None
        if self.result is not None and self.result.outcome == "ok" and self.step < self.steps:
            self._reopen()
        self._state = "paused"

    def _check_can_continue(self) -> None:
        if self._state == "broken":
            raise VeraError("This run failed inside a step and cannot continue: restore its last checkpoint.")
        if self._state == "running":
            raise VeraError("A run cannot be continued from inside an evaluation: let it return first.")

    def _reopen(self) -> None:
        """Continue a finished run to a later end, as if it had never ended."""
        self.result, self.journal.end = None, None
        if self.evaluations and self.evaluations[-1]["step"] % self.evaluate_every:
            self.evaluations.pop()
        if self.spec is not None:
            self.spec = {**self.spec, "steps": self.steps}

    def _advance(self) -> None:
        self._state = "broken"  # until the step is done: an exception inside it leaves half a step
        metrics = self.method.step(self._next_batch(self.stream))
        self.step += 1
        self._state = "running"
        self.journal.record(self.step, metrics, last=self.step == self.steps)

    def _evaluate_if_due(self) -> None:
        """Called after each step, and before it to repeat an evaluation that was interrupted."""
        done = self.evaluations[-1]["step"] if self.evaluations else 0
        if 0 < self.step < self.steps and self.step % self.evaluate_every == 0 and done < self.step:
            self._evaluate()

    def _finish(self) -> None:
        self._evaluate()
        self.result = TrainingResult("ok", self.step, "", self.journal.latest_metrics())

    def _evaluate(self) -> None:
        if self.evaluate is None:
            return
        self.journal.check_pending(self.step)
        with use_seed(derive_seed(self.seed, f"evaluation {self.step}")):
            self.journal.record_evaluation(self.step, self.evaluate(self.method))

    def _next_batch(self, stream: Stream) -> Batch:
        x = stream.next_batch()
        if not isinstance(x, Tensor | LabelledBatch):
            raise VeraError(
                f"The data set '{self.data.name}' must yield tensors or labelled batches, got {_describe(x)}."
            )
        return x.to(self.device, self.dtype, non_blocking=True)

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

    def _show_progress(self) -> tqdm:
        return tqdm(
            total=self.steps,
            initial=self.step,
            desc=self.method.label(),
            unit="step",
            disable=not self.progress,
        )


def _describe(value: Any) -> str:
    return f"the class {value.__name__} itself" if isinstance(value, type) else type(value).__name__
