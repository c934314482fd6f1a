"""All that is known of one trial: why it ended as it did, what was measured, its settings, where it came
from, its curves."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from bench.judging.results import read_metrics
from bench.report.curves import LIMIT, Curve, Name, drawing
from bench.report.markup import Markup, element, together
from bench.report.numbers import exact, short_commit
from sweeps.store.row import Row
from vera.wording import plural

ROW_FACTS = ("task", "attempt", "cpus", "gpus", "device", "processor", "cores", "started_at", "finished_at")
"""Columns of the row that are shown as they are."""


def detail(row: Row, curves: Mapping[Name, Curve], flag: str = "") -> Markup:
    """`flag`: what a command must add to find the trial."""
    shown, again = (element("code", f"vera {verb} {row.trial_id[:8]}{flag}") for verb in ("show", "replay"))
    return together(
        _ending(row),
        element(
            "div",
            _facts(
                "Metrics" if row.outcome == "ok" else "Metrics, the last finite ones", read_metrics(row).items()
            ),
            _facts("Settings", flat(json.loads(row.spec))),
            _facts("Provenance", _provenance(row)),
            class_="facts",
        ),
        _drawings(curves),
        element("p", "On the command line: ", shown, " and ", again, class_="aside"),
    )


def flat(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Nested settings as one list of dotted names; a list stays one value."""
    if not isinstance(value, Mapping):
        yield path, json.dumps(value, ensure_ascii=False) if isinstance(value, list | bool | None) else value
        return
    for name, item in value.items():
        yield from flat(item, f"{path}.{name}" if path else name)


def _ending(row: Row) -> Markup:
    """What a trial that ended ok at the first try leaves out."""
    restarts = json.loads(row.restarts)
    reason = (
        [f"{row.outcome.replace('_', ' ').capitalize()} at step {row.outcome_step:,}: {row.reason}"]
        if row.reason
        else []
    )
    tries = [
        element(
            "li",
            f"seed {restart.get('seed')}: diverged at step {restart.get('step'):,}, {restart.get('reason')}",
        )
        for restart in restarts
    ]
    return together(
        [element("p", text, class_="why") for text in reason],
        [element("h5", f"Restarted {plural(len(tries), 'time')}"), element("ol", tries)] if tries else [],
        [element("h5", "End of its log"), element("pre", row.log_tail, tabindex=0)] if row.log_tail else [],
    )


def _provenance(row: Row) -> Iterator[tuple[str, Any]]:
    yield "trial_id", row.trial_id
    yield "git_commit", short_commit(row.git_commit, row.git_dirty)
    yield from ((name, getattr(row, name)) for name in ROW_FACTS)
    yield from ((f"versions.{name}", text) for name, text in json.loads(row.versions).items())


def _facts(title: str, facts: Iterable[tuple[str, Any]]) -> Markup:
    pairs = [together(element("dt", name), element("dd", exact(value))) for name, value in facts]
    body = element("dl", pairs) if pairs else element("p", "None.")
    return element("div", element("h5", title), body)


def _drawings(curves: Mapping[Name, Curve]) -> Markup:
    if not curves:
        return element("p", "No curves were stored.", class_="aside")
    is_thinned = any(len(curve) > LIMIT for curve in curves.values())
    note = (
        f"Drawn from at most {LIMIT} points each: of every stretch the lowest and the highest."
        if is_thinned
        else ""
    )
    drawings = element("div", [drawing(name, curve) for name, curve in curves.items()], class_="curves")
    return together(element("h5", "Curves"), drawings, element("p", note, class_="aside") if note else "")
