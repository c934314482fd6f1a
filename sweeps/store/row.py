"""The row: what the store keeps of a finished trial. Each field is a column, and its annotation describes it.

Every trial ends as a row, also a failed one. Rows are meant to be shared: they hold no user name, host name
or path. The schema is fixed: settings and metrics, whose names vary, are JSON. So `pandas.read_parquet` reads
a folder of parts as one table. `sweeps.store.frame` turns the JSON into columns.
"""

import json
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

SCHEMA_VERSION = 1

Outcome = Literal["ok", "diverged", "out_of_memory", "timeout", "error", "stopped_early"]
FAILURES: tuple[Outcome, ...] = ("error", "out_of_memory", "timeout")
"""Outcomes caused by the machine or the code; the others are results of the method."""


@dataclass(frozen=True)
class Row:
    """One finished trial. JSON columns hold objects with sorted keys. All numbers are finite."""

    trial_id: Annotated[str, "hash of everything that decides the trial's numbers"]
    outcome: Annotated[Outcome, "how the trial ended"]
    outcome_step: Annotated[
        int, "the step at which it ended; for diverged the step at which a metric first broke"
    ]
    reason: Annotated[str, "why it ended, in one line; empty for ok"]
    metrics: Annotated[
        str, "JSON: final metrics by name, the last finite ones for a trial that did not end ok"
    ]
    task: Annotated[str, "what is trained and measured"]
    profile: Annotated[str, "budget: smoke, laptop or paper"]
    sweep: Annotated[str, "the sweep that ran it first; not part of its identity"]
    label: Annotated[str, "a short name for people; not part of its identity"]
    dataset: Annotated[str, "registered name of the data set"]
    data_fingerprint: Annotated[str, "hash of the data's content and preprocessing"]
    energy: Annotated[str, "registered name of the energy model, empty where the task has none"]
    method: Annotated[str, "registered name of the method, or of the estimator that is studied"]
    seed: Annotated[int, "seed of data order, initialisation and training"]
    steps: Annotated[int, "training steps asked for"]
    batch_size: Annotated[int, "points in a batch"]
    spec: Annotated[str, "JSON: the whole trial with every default filled in, from which it can be run again"]
    protocol: Annotated[int, "raised by hand when a change makes older results incomparable"]
    attempt: Annotated[int, "1 for the first run of this trial, one more for each retry"]
    restarts: Annotated[
        str,
        "JSON: a list of the runs that diverged before this one, with step, reason and seed",
    ]
    seconds: Annotated[
        float, "wall time of training, evaluation and measurement, over all resumptions and restarts"
    ]
    started_at: Annotated[str, "UTC, ISO 8601"]
    finished_at: Annotated[str, "UTC, ISO 8601"]
    cpus: Annotated[float, "CPUs given to the trial; torch's threads"]
    gpus: Annotated[float, "GPUs, or a fraction of one, given to the trial"]
    device: Annotated[str, "cpu or cuda"]
    processor: Annotated[str, "model of the CPU or GPU"]
    cores: Annotated[int, "cores of the machine"]
    versions: Annotated[
        str, "JSON: versions of Python and of the packages that matter; hashes of a plug-in's file"
    ]
    git_commit: Annotated[str, "commit of the code, empty if unknown"]
    git_dirty: Annotated[bool, "whether the code differed from that commit"]
    log_tail: Annotated[str, "the end of the trial's log where it failed, else empty"]
    schema_version: Annotated[int, "version of these columns"] = SCHEMA_VERSION

    @property
    def data(self) -> str:
        """The data set's name for people: the name of the file, if it is one."""
        return str(json.loads(self.spec).get("dataset", {}).get("file", self.dataset))


@dataclass(frozen=True)
class CurvePoint:
    """One value of one metric's history."""

    trial_id: Annotated[str, "the trial"]
    kind: Annotated[
        Literal["training", "evaluation"], "mean over the steps since the last point, or one evaluation"
    ]
    metric: Annotated[str, "name of the metric"]
    step: Annotated[int, "training step"]
    value: Annotated[float, "finite"]


@dataclass(frozen=True)
class Record:
    """Everything that is stored of a trial: its row, its curves, and arrays by name (samples, density
    images)."""

    row: Row
    curves: list[CurvePoint] = field(default_factory=list)
    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)


Rank = tuple[int, bool, str]
"""(attempt, whether it is a result, finished_at). Of several records of a trial the highest counts.

Two drivers may run the same attempt of a trial at once. If one of them loses its worker, its failure must not
replace the result of the other, even if it ends later."""
RANKED = ("attempt", "outcome", "finished_at")
"""The columns that decide the rank."""


def rank(attempt: int, outcome: str, finished_at: str) -> Rank:
    """The rank of a record with these values of `RANKED`."""
    return attempt, outcome not in FAILURES, finished_at


def rank_row(row: Row) -> Rank:
    """The rank of the row's record."""
    return rank(row.attempt, row.outcome, row.finished_at)


def to_plain_array(x: Any) -> NDArray[Any]:
    """A numeric array in C order and little-endian, as the store keeps it; TypeError for anything else."""
    array = np.asarray(x, order="C")  # unlike ascontiguousarray, keeps a single number 0-d
    if array.dtype.kind not in "biuf":
        raise TypeError(f"the store keeps arrays of numbers only, got {array.dtype}")
    return array.astype(array.dtype.newbyteorder("<"), copy=False)
