"""Finding the model file of a stored trial: `trials/models/<id>.safetensors` in a results directory.

`sweeps.store.models` writes these files. Results in a bucket are read through the store only.
"""

import re
from pathlib import Path

from vera.errors import SettingError, UnknownName

MODEL_FILE = "model.safetensors"
"""The model in an exported directory."""
LOCAL, PUBLISHED = Path("results/local"), Path("results/published")
MODELS, ENDING = Path("trials/models"), ".safetensors"
TRIAL_ID = re.compile(r"[0-9a-fA-F]{1,16}")


def locate_model(path: str | Path, results: str | Path | None = None) -> Path:
    """The path itself, the model in an exported directory or, if there is no such path and it looks like a
    trial's id, the model file of that trial.

    `UnknownName` names the directories that were searched.
    """
    if Path(path).is_dir():
        return Path(path, MODEL_FILE)
    if Path(path).is_file() or not TRIAL_ID.fullmatch(str(path)):
        return Path(path)
    if results is not None and "://" in str(results):
        raise SettingError(
            f"load_model reads directories. To copy the model from {results}: "
            f"vera export {path} DIR --results-dir {results}"
        )
    folders = [folder / MODELS for folder in _list_results(results)]
    for folder in folders:
        found = sorted(folder.glob(f"{str(path).lower()}*{ENDING}"))
        if len(found) > 1:
            some = ", ".join(file.stem for file in found[:5])
            raise UnknownName(
                f"{len(found)} models in {folder} begin with '{path}': {some}. Give more of the id."
            )
        if found:
            return found[0]
    looked = " or ".join(map(str, folders))
    raise UnknownName(
        f"There is no file {path}, and no model of a trial '{path}' in {looked}. To list models: vera models"
    )


def _list_results(results: str | Path | None) -> list[Path]:
    """The results directories to search, each once."""
    if results is not None:
        return [Path(results)]
    checkout = Path(__file__).parents[2] / PUBLISHED
    is_same = PUBLISHED.resolve() == checkout.resolve()
    return [LOCAL, PUBLISHED, *([] if is_same or not checkout.is_dir() else [checkout])]
