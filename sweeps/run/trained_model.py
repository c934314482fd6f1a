"""The model that a trial leaves: its networks as the content of a model file."""

from collections.abc import Mapping
from typing import Any

from sweeps.run.provenance import collect_provenance
from sweeps.store.row import Outcome
from sweeps.trial.identity import Trial
from vera.errors import IncompatibleModel
from vera.saved.model import SavedModel

TRAINED: tuple[Outcome, ...] = ("ok", "stopped_early", "timeout")
"""Outcomes that leave a model."""


def encode_trained_model(
    trial: Trial, trainer: Any, metrics: Mapping[str, float], device: str
) -> bytes | None:
    """The content of the model file of a trial, or None if its networks do not form a model.

    A model file is a function of the trial and the code alone: it holds no time and no place, so a trial that
    was interrupted and resumed leaves the same bytes.
    """
    commit = str(collect_provenance(device)["git_commit"])
    try:
        model = SavedModel.from_trainer(
            trainer, metrics=metrics, trial_id=trial.id, label=trial.name, commit=commit
        )
    except IncompatibleModel:
        return None
    return model.encode()
