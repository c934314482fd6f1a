"""Trained models in a store: `models/<trial_id>.safetensors`, one complete file per trial.

A worker writes the model before the row, so a row never lacks its model because the worker was killed in
between. A retry replaces the file. The store knows models as bytes only; `vera.saved` reads them.
"""

from collections.abc import Callable, Collection, Iterable
from typing import Any

from sweeps.errors import AmbiguousTrial, StoreError, UnknownTrial
from sweeps.store.folder import Folder, NotAFile, explain_os_errors

MODELS, ENDING = "models", ".safetensors"


class ModelFolder:
    """The models of a store."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder

    def write(self, trial_id: str, content: bytes) -> None:
        """Store the model of a trial, completely or not at all; an earlier one is replaced."""
        with self._explain("write"), self.folder.stage(MODELS, _write_content(content)) as commit:
            commit(_name_file(trial_id))

    def read(self, trial_id: str) -> bytes:
        """The content of a trial's model file; `UnknownTrial` if it has none."""
        try:
            with self._explain("read"), self.folder.open_file(_name_file(trial_id)) as source:
                return bytes(source.file.read())
        except StoreError as error:
            if isinstance(error.__cause__, FileNotFoundError):
                raise UnknownTrial(f"Trial {trial_id} has no model in {self.folder.location}.") from error
            raise
        except NotAFile as error:
            raise StoreError(
                f"The model of trial {trial_id} in {self.folder.location} is {error}."
            ) from error

    def find(self, prefix: str) -> str:
        """The only trial with a model whose id begins with this; `UnknownTrial` or `AmbiguousTrial` if there
        is none or several."""
        found = sorted(trial_id for trial_id in self.list_sizes() if trial_id.startswith(prefix))
        if prefix in found or len(found) == 1:
            return prefix if prefix in found else found[0]
        if found:
            some = ", ".join(found[:5]) + (", …" if len(found) > 5 else "")
            raise AmbiguousTrial(f"{len(found)} models begin with '{prefix}': {some}. Give more of the id.")
        raise UnknownTrial(
            f"No model in {self.folder.location} has the id '{prefix}', or an id that begins with it. "
            "To list the models: vera models"
        )

    def list_sizes(self) -> dict[str, int]:
        """Trial id → size of its model in bytes, ordered by id."""
        with self._explain("read"):
            sizes = self.folder.list_sizes(MODELS)
        return {name.removesuffix(ENDING): sizes[name] for name in sorted(sizes) if name.endswith(ENDING)}

    def remove(self, trial_ids: Iterable[str]) -> None:
        """Remove the models of these trials, where there are any."""
        with self._explain("remove models from"):
            for trial_id in trial_ids:
                self.folder.delete(_name_file(trial_id))

    def copy_from(self, other: "ModelFolder", only: Collection[str]) -> int:
        """Copy the models of these trials that the other store has. Returns their number."""
        wanted = [trial_id for trial_id in other.list_sizes() if trial_id in only]
        for trial_id in wanted:
            self.write(trial_id, other.read(trial_id))
        return len(wanted)

    def _explain(self, doing: str) -> Any:
        return explain_os_errors(doing, self.folder.location)


def _name_file(trial_id: str) -> str:
    return f"{MODELS}/{trial_id}{ENDING}"


def _write_content(content: bytes) -> Callable[[Any], None]:
    def fill(file: Any) -> None:
        file.write(content)

    return fill
