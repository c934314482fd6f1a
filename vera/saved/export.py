"""A model as a directory in the layout of model hubs: weights, spec and a model card as README.md."""

import json
from pathlib import Path

from vera.saved.locate import MODEL_FILE
from vera.saved.model import SavedModel
from vera.saved.model_file import write_file

SPEC_FILE, CARD_FILE = "spec.json", "README.md"


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
        write_file(directory / name, text.encode())
    return [directory / name for name in (MODEL_FILE, *texts)]
