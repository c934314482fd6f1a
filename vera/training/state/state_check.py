"""Checks of the values in a checkpoint before they are used. A file may be damaged, edited or written by
another program: its numbers must be of the right kind and in range, or the run would go on from a state that
no run can have. Weights may hold any number; a run that is about to diverge has such a checkpoint too.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import Tensor

OUTCOMES = ("ok", "diverged")


def check_state(state: Mapping[str, Any], steps: int) -> None:
    """Raise ValueError, naming the value, unless the state could be one of a run of `steps` steps."""
    step = state["step"]
    _require(_is_count(step) and step <= steps, "step", step)
    _require(_is_number(state["seconds"]) and state["seconds"] >= 0, "seconds", state["seconds"])
    _check_result(state["result"], step)
    _check_random(state["random"])
    _check_journal(state["journal"], step)


def check_optimiser(optimiser: torch.optim.Optimizer) -> None:
    """Raise ValueError unless the optimiser's state fits its weights and its settings are finite; torch
    compares only the number of weights."""
    for group in optimiser.param_groups:
        for name, value in iterate_numbers(
            {k: v for k, v in group.items() if k != "params"}, "the optimiser's"
        ):
            _require(math.isfinite(value), name.replace(".", " ", 1), value)
    for weight, own in optimiser.state.items():
        for name, value in own.items():
            fits = not isinstance(value, Tensor) or not value.dim() or value.shape == weight.shape
            _require(fits, f"the optimiser's {name}", getattr(value, "shape", value))


def iterate_numbers(value: Any, name: str) -> Iterator[tuple[str, float]]:
    """All plain numbers in nested dicts and lists, by their dotted names."""
    if isinstance(value, dict | list | tuple):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from iterate_numbers(item, f"{name}.{key}")
    elif isinstance(value, int | float):
        yield name, value


def _check_result(result: Any, step: int) -> None:
    if result is None:
        return
    _require(result["outcome"] in OUTCOMES, "result.outcome", result["outcome"])
    _require(_is_count(result["step"]) and result["step"] <= step, "result.step", result["step"])
    _require(isinstance(result["reason"], str), "result.reason", result["reason"])
    _check_values(result["metrics"], "result.metrics")


def _check_random(random: Mapping[str, Any]) -> None:
    """Setting the state of a generator raises if it is not valid."""
    torch.Generator().set_state(random["cpu"].cpu())
    for state in random["cuda"]:
        _require(
            isinstance(state, Tensor) and state.dtype == torch.uint8, "random.cuda", type(state).__name__
        )


def _check_journal(journal: Mapping[str, Any], step: int) -> None:
    names, held = journal["names"], journal["held"]
    _require(all(isinstance(name, str) for name in names), "journal.names", names)
    shape = tuple(held.shape)
    _require(
        not len(held) or (held.dtype == torch.float64 and shape[1:] == (len(names),)), "journal.held", shape
    )
    _require(len(held) <= step, "journal.held", shape)
    for kind in ("history", "evaluations"):
        before = 0
        for row in journal[kind]:
            now = row["step"]
            _require(_is_number(now) and before <= now <= step, f"journal.{kind}", now)
            _check_values(row, f"journal.{kind}")
            before = now


def _check_values(values: Any, name: str) -> None:
    """Names and finite numbers."""
    for key, value in values.items():
        _require(isinstance(key, str) and _is_number(value), f"{name}.{key}", value)


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)


def _require(holds: bool, name: str, value: Any) -> None:
    if not holds:
        raise ValueError(f"{name} cannot be {value!r}")
