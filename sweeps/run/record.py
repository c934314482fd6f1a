"""The record of an attempt: its ending, metrics, curves and arrays in the form that the store keeps."""

import math
import traceback
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sweeps.errors import StoreError
from sweeps.run.checkpoint_store import open_checkpoint_store
from sweeps.run.conditions import Conditions
from sweeps.run.provenance import collect_trial_provenance
from sweeps.run.restarts import RestartLog
from sweeps.run.scrub import scrub
from sweeps.store.row import CurvePoint, Outcome, Record, Row, to_plain_array
from sweeps.store.schema import check_record, check_text
from sweeps.trial.canonical_json import canonical_json
from sweeps.trial.identity import PROTOCOL, Trial
from vera.tasks.contract import Measurement

LOG_TAIL = 4_000
"""Characters of a log that a row keeps."""


@dataclass(frozen=True)
class Ending:
    """How an attempt ended."""

    outcome: Outcome
    step: int
    reason: str = ""
    log_tail: str = ""

    @classmethod
    def from_error(cls, outcome: Outcome, step: int, error: BaseException, prefix: str = "") -> "Ending":
        """The ending by the exception that is being handled. Its reason is the first line of the message."""
        line = scrub((str(error).strip() or repr(error)).splitlines()[0])[:500]
        return cls(outcome, step, f"{prefix}{line}", scrub(traceback.format_exc())[-LOG_TAIL:])


@dataclass(frozen=True)
class AttemptSummary:
    """What a record holds of an attempt besides its ending and measurement."""

    trial: Trial
    conditions: Conditions
    started_at: str
    restarts: RestartLog
    seconds: float
    """Of training and measuring, over all resumptions and restarts."""
    latest_metrics: Mapping[str, float]
    """The last metrics of the training."""
    curves: Sequence[CurvePoint] = ()


def check_storable(trials: Iterable[Trial]) -> None:
    """StoreError for the first trial whose settings, label or sweep cannot be stored in a row. Called before
    training: a row that is refused afterwards is wasted work."""
    for trial in trials:
        try:
            texts = {"spec": canonical_json(trial.facts), "label": trial.name, "sweep": trial.sweep}
            for name, text in texts.items():
                check_text(name, text)
        except ValueError as error:
            about = f"{trial.spec.method['name']} with seed {trial.spec.seed}"
            raise StoreError(
                f"The trial of {about} could not be stored, so nothing is run: {error}. Rows are meant to be "
                "shared: change that text, and give the location of files with --data-dir."
            ) from error


def build_record(summary: AttemptSummary, ending: Ending, measurement: Measurement) -> Record:
    """The record; its outcome is `error` if the measurement cannot be stored."""
    try:
        return _build_checked_record(summary, ending, measurement)
    except (StoreError, TypeError, ValueError) as error:
        failed = Ending.from_error("error", ending.step, error)
        return _build_checked_record(summary, failed, Measurement())


def build_record_from_report(
    trial: Trial, conditions: Conditions, ending: Ending, metrics: dict[str, float], seconds: float = 0.0
) -> Record:
    """The record of an attempt whose process has ended, from its ending, the metrics of its last report, and
    the seconds of all its runs."""
    conditions = conditions.resolve_device()
    checkpoints = open_checkpoint_store(conditions.checkpoint_dir, trial.id)
    with checkpoints.open_for_reading():
        restarts = RestartLog.read(checkpoints.checkpoint)
    seconds = max(seconds, restarts.seconds)
    summary = AttemptSummary(trial, conditions, format_time(), restarts, seconds, latest_metrics={})
    return build_record(summary, ending, Measurement(metrics))


def select_finite(metrics: Mapping[str, float]) -> dict[str, float]:
    """The metrics that are finite."""
    return {name: value for name, value in metrics.items() if math.isfinite(value)}


def format_time() -> str:
    """The current time, as rows hold it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _build_checked_record(summary: AttemptSummary, ending: Ending, measurement: Measurement) -> Record:
    metrics = select_finite({**summary.latest_metrics, **measurement.metrics})
    arrays = {name: to_plain_array(array) for name, array in measurement.arrays.items()}
    record = Record(_build_row(summary, ending, metrics), list(summary.curves), arrays)
    check_record(record)
    return record


def _build_row(summary: AttemptSummary, ending: Ending, metrics: dict[str, float]) -> Row:
    trial, spec, conditions = summary.trial, summary.trial.spec, summary.conditions
    return Row(
        trial_id=trial.id,
        outcome=ending.outcome,
        outcome_step=ending.step,
        reason=ending.reason,
        metrics=canonical_json(metrics),
        task=spec.task_component["name"],
        profile=trial.profile,
        sweep=trial.sweep,
        label=trial.name,
        dataset=spec.dataset["name"],
        data_fingerprint=trial.facts["data_fingerprint"],
        energy=spec.networks.get("energy", {}).get("name", ""),
        method=spec.method["name"],
        seed=spec.seed,
        steps=spec.steps,
        batch_size=spec.batch_size,
        spec=canonical_json(trial.facts),
        protocol=PROTOCOL,
        attempt=conditions.attempt,
        restarts=summary.restarts.to_json(),
        seconds=summary.seconds,
        started_at=summary.started_at,
        finished_at=format_time(),
        cpus=conditions.cpus,
        gpus=conditions.gpus,
        log_tail="\n".join(text for text in (conditions.before, ending.log_tail) if text),
        **collect_trial_provenance(spec, conditions.device),
    )
