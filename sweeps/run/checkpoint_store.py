"""Storage of a trial's checkpoint and restart log: two files in a directory, or two objects in a bucket.

The trainer reads and writes local files only. With a bucket, local copies exist only while they are read or
written: they are downloaded when an attempt begins and uploaded at every save. So a trial can resume wherever
the bucket can be reached, and a machine that fails loses no more than the time since its last save.
"""

import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex

from sweeps.errors import StoreError
from sweeps.run.restarts import LOG, name_log
from sweeps.store.bucket_folder import BucketFolder
from sweeps.store.folder import explain_os_errors
from sweeps.store.local_folder import remove_abandoned
from sweeps.store.location import Location, is_url

CHECKPOINT = ".pt"


class CheckpointStore:
    """Checkpoint and log in a directory; without a path nothing is stored."""

    def __init__(self, checkpoint: Path | None) -> None:
        self.checkpoint = checkpoint

    @contextmanager
    def open_for_reading(self) -> Iterator[None]:
        """The stored files are available under their local names until the block ends."""
        yield

    @contextmanager
    def open_for_writing(self) -> Iterator[None]:
        """Files that the block writes are stored when it ends."""
        yield

    def discard_checkpoint(self) -> None:
        """Delete a checkpoint that cannot be used, but not the log."""
        if self.checkpoint is not None:
            self.checkpoint.unlink(missing_ok=True)

    def delete(self) -> None:
        """Delete checkpoint and log once the row is stored, and old temporary files of killed processes.

        Trap: a temporary file of this trial may belong to another driver that is saving right now. If it were
        deleted, that driver would report a broken disk and stop.
        """
        if self.checkpoint is not None:
            with suppress(NotADirectoryError):
                for path in (self.checkpoint, name_log(self.checkpoint)):
                    path.unlink(missing_ok=True)
                remove_abandoned(self.checkpoint.parent)


class BucketCheckpointStore(CheckpointStore):
    """Checkpoint and log in a bucket. The local directory belongs to this attempt and exists only inside the
    blocks."""

    def __init__(self, location: str, trial_id: str) -> None:
        self.location = location
        self.directory = Path(tempfile.gettempdir()) / f"vera-{token_hex(8)}"
        self.names = (f"{trial_id}{CHECKPOINT}", f"{trial_id}{LOG}")
        super().__init__(self.directory / self.names[0])

    @contextmanager
    def open_for_reading(self) -> Iterator[None]:
        with self._create_directory():
            with explain_os_errors("read", self.location):
                for name in self.names:
                    self._open_folder().get(name, self.directory / name)
            yield

    @contextmanager
    def open_for_writing(self) -> Iterator[None]:
        with self._create_directory():
            yield
            with explain_os_errors("write", self.location):
                for path in self.directory.iterdir():
                    self._open_folder().put(path.name, path)

    def discard_checkpoint(self) -> None:
        super().discard_checkpoint()
        self._delete_objects(self.names[0])

    def delete(self) -> None:
        """Errors are ignored: the driver deletes remaining checkpoints at the end of the run."""
        with suppress(StoreError):
            self._delete_objects(*self.names)

    @contextmanager
    def _create_directory(self) -> Iterator[None]:
        self.directory.mkdir(mode=0o700)
        try:
            yield
        finally:
            shutil.rmtree(self.directory)

    def _open_folder(self) -> BucketFolder:
        return BucketFolder(self.location)

    def _delete_objects(self, *names: str) -> None:
        with explain_os_errors("write", self.location):
            for name in names:
                self._open_folder().delete(name)


def open_checkpoint_store(location: str | None, trial_id: str) -> CheckpointStore:
    """The checkpoint store of a trial in a directory or bucket; one that stores nothing if there is no
    location."""
    if location is not None and is_url(location):
        return BucketCheckpointStore(location, trial_id)
    return CheckpointStore(None if location is None else Path(location) / f"{trial_id}{CHECKPOINT}")


def delete_checkpoints(location: Location, trial_ids: Iterable[str]) -> None:
    """Delete the checkpoints and logs of finished trials. A bucket is listed only once."""
    if not is_url(location):
        for trial_id in trial_ids:
            open_checkpoint_store(str(location), trial_id).delete()
        return
    with explain_os_errors("write", location):
        folder = BucketFolder(str(location))
        wanted = {f"{trial_id}{ending}" for trial_id in trial_ids for ending in (CHECKPOINT, LOG)}
        for name in sorted(folder.list_names("") & wanted):
            folder.delete(name)
