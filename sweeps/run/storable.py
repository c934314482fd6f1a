"""Check before training that the rows of trials can be stored; a row that is refused afterwards is wasted
work."""

from collections.abc import Iterable

from sweeps.errors import StoreError
from sweeps.store.schema import check_text
from sweeps.trial.canonical_json import canonical_json
from sweeps.trial.identity import Trial


def check_storable(trials: Iterable[Trial]) -> None:
    """StoreError for the first trial whose settings, label or sweep cannot be stored in a row."""
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
