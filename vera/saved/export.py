"""A model as a directory in the layout of model hubs: weights, spec and a model card as README.md."""

import json
from pathlib import Path

from vera.atomic_write import write_atomically
from vera.errors import ModelFileError
from vera.saved.model import SavedModel

MODEL_FILE, SPEC_FILE, CARD_FILE = "model.safetensors", "spec.json", "README.md"


def export_model(model: SavedModel, directory: str | Path) -> list[Path]:
    """Write model.safetensors, spec.json and README.md into a directory, and return their paths.

    spec.json holds the spec of the training run or, for a run without a spec, its method, networks and data.
    """
    directory, facts = Path(directory), model.facts
    spec = facts.spec or {"method": facts.method, "networks": facts.networks, "data": facts.data}
    model.save(directory / MODEL_FILE)
    texts = {
        SPEC_FILE: json.dumps(spec, indent=2, sort_keys=True, ensure_ascii=False) + "\n",
        CARD_FILE: model.card(),
    }
    for name, text in texts.items():
        try:
            with write_atomically(directory / name) as file:
                file.write(text.encode())
        except OSError as error:
            reason = error.strerror or str(error)
            raise ModelFileError(f"{directory / name} cannot be written ({reason}).") from error
    return [directory / name for name in (MODEL_FILE, *texts)]
