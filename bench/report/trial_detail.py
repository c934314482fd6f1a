"""The details of one trial: its outcome, density, samples and curves, its settings, and the commands that use
it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from bench.judging.results import read_metrics
from bench.render.caption import describe_commit
from bench.render.numbers import format_stored
from bench.report.array_images import EmbeddedImage, draw_arrays
from bench.report.curve_drawing import POINT_LIMIT, CurveDrawing, CurveName, History, draw_curve
from sweeps.store.row import Row

ROW_FACTS = ("task", "attempt", "cpus", "gpus", "device", "processor", "cores", "started_at", "finished_at")
"""Columns of the row that are shown unchanged."""
COMMIT_DIGITS = 10
SHORT_ID = 8


@dataclass(frozen=True)
class CommandContext:
    """What the commands of a page need to find its trials."""

    flag: str = ""
    """The flag of the results directory, with a space before it."""
    folder: str = ""
    """The results directory, if it is not one that `vera.load_model` looks in."""
    models: frozenset[str] = frozenset()
    """The trials whose model is stored."""


@dataclass(frozen=True)
class FactList:
    title: str
    facts: Mapping[str, str]


@dataclass(frozen=True)
class TrialDetail:
    reason: str
    """Why the trial did not end ok; empty if it did."""
    restarts: Sequence[str]
    log_tail: str
    fact_lists: Sequence[FactList]
    images: Sequence[EmbeddedImage]
    curves: Sequence[CurveDrawing]
    is_thinned: bool
    commands: Sequence[tuple[str, str]]
    """What can be done with the trial, and the command or the Python expression that does it."""


def build_detail(
    row: Row,
    histories: Mapping[CurveName, History],
    context: CommandContext,
    arrays: Mapping[str, NDArray[Any]] | None = None,
) -> TrialDetail:
    ending = f"{row.outcome.replace('_', ' ').capitalize()} at step {row.outcome_step:,}: {row.reason}"
    return TrialDetail(
        ending if row.reason else "",
        list(_describe_restarts(row)),
        row.log_tail,
        list(_collect_facts(row)),
        list(draw_arrays(arrays or {})),
        [draw_curve(name, history) for name, history in histories.items() if not name[1].endswith("_se")],
        any(len(history) > POINT_LIMIT for history in histories.values()),
        list(_list_commands(row, context)),
    )


def _list_commands(row: Row, context: CommandContext) -> Iterator[tuple[str, str]]:
    short, flag = row.trial_id[:SHORT_ID], context.flag
    if row.trial_id in context.models:
        if "://" in context.folder:  # load_model reads directories
            yield "copy its model", f"vera export {short} model-{short}{flag}"
        else:
            results = f", results={json.dumps(context.folder)}" if context.folder else ""
            yield "load it in Python", f'model = vera.load_model("{short}"{results})'
        yield "draw samples", f"vera sample {short} -n 64 -o samples.png{flag}"
    elif row.outcome == "ok" and row.energy:
        yield "train it again and keep its model", f"vera replay {short} --keep-model{flag}"
    yield "run it again and compare every number", f"vera replay {short}{flag}"
    yield "compare it with another trial", f"vera compare {short} ID -o curves.png{flag}"
    yield "print everything that is stored", f"vera show {short}{flag}"


def _describe_restarts(row: Row) -> Iterator[str]:
    for restart in json.loads(row.restarts):
        seed, step, reason = restart.get("seed"), restart.get("step"), restart.get("reason")
        yield f"seed {seed}: diverged at step {step:,}, {reason}"


def _collect_facts(row: Row) -> Iterator[FactList]:
    metrics = "Metrics" if row.outcome == "ok" else "Metrics (last finite values)"
    yield FactList(metrics, _format_facts(read_metrics(row)))
    yield FactList("Settings", _format_facts(dict(flatten_settings(json.loads(row.spec)))))
    yield FactList("Provenance", _format_facts(dict(_list_provenance(row))))


def _format_facts(facts: Mapping[str, Any]) -> dict[str, str]:
    return {name: format_stored(value) for name, value in facts.items()}


def flatten_settings(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Nested settings as pairs of a dotted name and a value; a list stays one value."""
    if not isinstance(value, Mapping):
        yield path, json.dumps(value, ensure_ascii=False) if isinstance(value, list | bool | None) else value
        return
    for name, item in value.items():
        yield from flatten_settings(item, f"{path}.{name}" if path else name)


def _list_provenance(row: Row) -> Iterator[tuple[str, Any]]:
    yield "trial_id", row.trial_id
    yield "git_commit", describe_commit(row, COMMIT_DIGITS, "unknown")
    yield from ((name, getattr(row, name)) for name in ROW_FACTS)
    yield from ((f"versions.{name}", text) for name, text in json.loads(row.versions).items())
