"""The state of a run between two steps, in memory and in checkpoint files.

It holds everything that the next step depends on: method, position in the data, random state and journal. So
a run that is saved, restored and continued is bit-identical to an uninterrupted one on the same device.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor

from vera.data.contract import DataSet, Stream
from vera.data.labelled import LabelledBatch
from vera.errors import CheckpointError, VeraError
from vera.methods.contract import Batch, Method
from vera.training.averaging import PREFIX, WeightAverage
from vera.training.device import resolve_device
from vera.training.journal import Journal
from vera.training.state.checkpoint import check_plain_data, read_checkpoint, write_checkpoint
from vera.training.state.random_state import derive_seed, get_random_state, use_seed
from vera.training.state.run_identity import check_same_run, describe_run
from vera.training.state.state_check import check_optimiser, check_state


@dataclass(frozen=True)
class TrainingResult:
    """How a run ended: outcome, last step, reason if it diverged, and the last finite metrics."""

    outcome: Literal["ok", "diverged"]
    step: int
    reason: str = ""
    metrics: dict[str, float] = field(default_factory=dict)


class RunState:
    """A run of `steps` steps that can be saved and restored; the Trainer adds the loop."""

    def __init__(
        self,
        method: Method,
        data: DataSet,
        journal: Journal,
        *,
        steps: int,
        batch_size: int,
        seed: int,
        device: str,
        evaluate_every: int | None,
        ema: float | None = None,
    ) -> None:
        self.method, self.data, self.journal = method, data, journal
        self.steps, self.batch_size, self.seed = steps, batch_size, seed
        self.device = resolve_device(device)
        self.step, self.seconds = 0, 0.0
        self.result: TrainingResult | None = None
        self.spec: dict[str, Any] | None = None
        self.stream = data.stream(batch_size, derive_seed(seed, "data"))
        self._evaluate_every = evaluate_every
        self._logged = 0
        """The step of the last row of the history that was passed to callbacks."""
        self._state: Literal["paused", "running", "broken"] = "paused"
        method.to(self.device)
        self.average = None if ema is None else WeightAverage(method, ema)
        self._uses_average = False
        self.dtype = method.energy_weights[0].dtype
        check_plain_data("the settings of the method", method.settings())
        with use_seed(derive_seed(seed, "training")):
            example = self._next_batch(data.stream(batch_size, derive_seed(seed, "data")))
            method.begin(example)
            self._random = get_random_state()
        self.point_shape = tuple((example.x if isinstance(example, LabelledBatch) else example).shape[1:])

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
        """All evaluations, as rows with a "step". With averaged weights in use, those of these weights."""
        if not self._uses_average:
            return self.journal.evaluations
        return [
            {
                name.removeprefix(PREFIX): value
                for name, value in row.items()
                if name.startswith((PREFIX, "step"))
            }
            for row in self.journal.evaluations
        ]

    @contextmanager
    def use_averaged_weights(self) -> Iterator[None]:
        """The averaged networks take the place of the trained ones inside the block."""
        if self.average is None:
            raise VeraError("This run has no averaged weights: build its Trainer with ema=0.999.")
        with self.average.installed():
            self._uses_average = True
            try:
                yield
            finally:
                self._uses_average = False

    def save(self, path: str | Path) -> None:
        """Write a checkpoint with everything that the next step depends on."""
        write_checkpoint(Path(path), self.state_dict())

    def restore(self, path: str | Path) -> None:
        """Load a checkpoint of this run; one of another run raises an error that names the differences."""
        state = read_checkpoint(Path(path), self.device)
        check_same_run(Path(path), state["identity"], self.identity())
        if isinstance(state["step"], int) and state["step"] > self.steps:
            raise CheckpointError(f"{path} is at step {state['step']}, beyond this run's {self.steps} steps.")
        before, condition, logged = self._snapshot(), self._state, self._logged
        try:
            check_state(state, self.steps)
            self.load_state_dict(state)
            for optimiser in self._find_optimisers():
                check_optimiser(optimiser)
        except Exception as error:
            self.load_state_dict(before)
            self._state, self._logged = condition, logged
            reason = f"{type(error).__name__}: {error}"
            raise CheckpointError(f"{path} does not fit this run ({reason}); nothing was changed.") from error

    def identity(self) -> dict[str, Any]:
        """What distinguishes this run from others, as plain data; see `run_identity.py`."""
        run = describe_run(self.method, self.data, self.batch_size, self.seed)
        return run if self.average is None else {**run, "ema": self.average.decay}

    def state_dict(self) -> dict[str, Any]:
        """Everything that the next step depends on; available only while the run is paused."""
        if self._state == "running":
            raise VeraError(
                "A run cannot be saved from inside an evaluation or a callback: "
                "call run(until=...), then save."
            )
        if self._state == "broken":
            raise VeraError("This run failed inside a step and cannot be saved: restore its last checkpoint.")
        return self._snapshot()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self._state = "broken"  # until all of it is loaded
        self.step, self.seconds = state["step"], state["seconds"]
        self.result = None if state["result"] is None else TrainingResult(**state["result"])
        self.method.load_state_dict(state["method"])
        if self.average is not None:
            self.average.load_state_dict(state["average"])
        self.stream.load_state_dict(state["stream"])
        self._random = {
            "cpu": state["random"]["cpu"].cpu(),
            "cuda": [s.cpu() for s in state["random"]["cuda"]],
        }
        self.journal.load_state_dict(state["journal"])
        self.journal.end = self.step if self.step == self.steps else None
        if self.result is not None and self.result.outcome == "ok" and self.step < self.steps:
            self._reopen()
        self._logged = int(self.history[-1]["step"]) if self.history else 0
        self._state = "paused"

    def _snapshot(self) -> dict[str, Any]:
        result = None if self.result is None else vars(self.result).copy()
        average = {} if self.average is None else {"average": self.average.state_dict()}
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
            **average,
        }

    def _find_optimisers(self) -> Iterator[torch.optim.Optimizer]:
        for value in vars(self.method).values():
            items = (
                value.values() if isinstance(value, dict) else value if isinstance(value, list) else [value]
            )
            yield from (item for item in items if isinstance(item, torch.optim.Optimizer))

    def _check_can_continue(self) -> None:
        if self._state == "broken":
            raise VeraError("This run failed inside a step and cannot continue: restore its last checkpoint.")
        if self._state == "running":
            raise VeraError(
                "A run cannot be continued from inside an evaluation or a callback: let it return first."
            )

    def _reopen(self) -> None:
        """Continue a finished run to a later end, as if it had never ended."""
        self.result, self.journal.end = None, None
        if self.evaluations and self.evaluations[-1]["step"] % self.evaluate_every:
            self.evaluations.pop()
        if self.spec is not None:
            self.spec = {**self.spec, "steps": self.steps}

    def _next_batch(self, stream: Stream) -> Batch:
        x = stream.next_batch()
        if not isinstance(x, Tensor | LabelledBatch):
            raise VeraError(
                f"The data set '{self.data.name}' must yield tensors or labelled batches, "
                f"got {describe_type(x)}."
            )
        return x.to(self.device, self.dtype, non_blocking=True)


def describe_type(value: Any) -> str:
    """The type of a wrong argument, for messages."""
    return f"the class {value.__name__} itself" if isinstance(value, type) else type(value).__name__
