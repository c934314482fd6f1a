"""The details of one trial: its outcome, metrics, settings, provenance and curves."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.judging.results import read_metrics
from bench.render.caption import describe_commit
from bench.render.numbers import format_stored
from bench.report.curve_drawing import POINT_LIMIT, CurveDrawing, CurveName, History, draw_curve
from sweeps.store.row import Row

ROW_FACTS = ("task", "attempt", "cpus", "gpus", "device", "processor", "cores", "started_at", "finished_at")
"""Columns of the row that are shown unchanged."""
COMMIT_DIGITS = 10


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
    curves: Sequence[CurveDrawing]
    is_thinned: bool
    commands: tuple[str, str]
    """The commands that show the trial and run it again."""


def build_detail(row: Row, histories: Mapping[CurveName, History], flag: str = "") -> TrialDetail:
    """`flag` is what the commands need to find the trial."""
    ending = f"{row.outcome.replace('_', ' ').capitalize()} at step {row.outcome_step:,}: {row.reason}"
    show, replay = (f"vera {verb} {row.trial_id[:8]}{flag}" for verb in ("show", "replay"))
    return TrialDetail(
        ending if row.reason else "",
        list(_describe_restarts(row)),
        row.log_tail,
        list(_collect_facts(row)),
        [draw_curve(name, history) for name, history in histories.items()],
        any(len(history) > POINT_LIMIT for history in histories.values()),
        (show, replay),
    )


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
