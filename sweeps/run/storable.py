"""Whether trials can be stored once they have run, asked before anything is trained: a row that is refused
then is lost work."""

from collections.abc import Iterable

from sweeps.errors import StoreError
from sweeps.store.schema import check_text
from sweeps.trial.canonical_json import canonical_json
from sweeps.trial.identity import Trial


def check_storable(trials: Iterable[Trial]) -> None:
    """StoreError for the first trial whose settings, label or sweep its row could not hold."""
    for trial in trials:
        try:
            for name, text in {
                "spec": canonical_json(trial.facts),
                "label": trial.name,
                "sweep": trial.sweep,
            }.items():
                check_text(name, text)
        except ValueError as error:
            about = f"{trial.spec.method['name']} with seed {trial.spec.seed}"
            raise StoreError(
                f"The trial of {about} could not be stored, so nothing is run: {error}. A row is made to be shared: "
                "change that text; where files lie is for --data-dir to say."
            ) from error
