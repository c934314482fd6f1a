"""Where a trial's checkpoint and the log of its restarts are kept: two files in a directory, or two objects
in a bucket.

The trainer reads and writes files and knows of nothing else. For a bucket, the files are here only while they
are read or written: what others left is brought when an attempt begins, what is written goes to the bucket at
every save. So a trial goes on wherever the bucket can be reached, and a machine that is lost takes no more
along than the time since its last save.
"""

import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex

from sweeps.errors import StoreError
from sweeps.run.restarts import LOG, forget_checkpoint
from sweeps.store.address import Place, is_url
from sweeps.store.bucket_folder import RemoteFolder
from sweeps.store.folder import explained

CHECKPOINT = ".pt"


class Shelf:
    """In a directory, or nowhere if there is no path."""

    def __init__(self, checkpoint: Path | None) -> None:
        self.checkpoint = checkpoint

    @contextmanager
    def brought(self) -> Iterator[None]:
        """What was kept is at hand for as long as the block runs."""
        yield

    @contextmanager
    def kept(self) -> Iterator[None]:
        """What the block writes is kept when it ends."""
        yield

    def drop(self) -> None:
        """A checkpoint that is of no use."""
        if self.checkpoint is not None:
            self.checkpoint.unlink(missing_ok=True)

    def forget(self) -> None:
        """All of it, once the row is stored."""
        if self.checkpoint is not None:
            forget_checkpoint(self.checkpoint)


class RemoteShelf(Shelf):
    """In a bucket. The directory is this attempt's own, and gone after each block."""

    def __init__(self, place: str, trial_id: str) -> None:
        self.place = place
        self.directory = Path(tempfile.gettempdir()) / f"vera-{token_hex(8)}"
        self.names = (f"{trial_id}{CHECKPOINT}", f"{trial_id}{LOG}")
        super().__init__(self.directory / self.names[0])

    @contextmanager
    def brought(self) -> Iterator[None]:
        with self._directory():
            with explained("read", self.place):
                for name in self.names:
                    self._folder().get(name, self.directory / name)
            yield

    @contextmanager
    def kept(self) -> Iterator[None]:
        with self._directory():
            yield
            with explained("write", self.place):
                for path in self.directory.iterdir():
                    self._folder().put(path.name, path)

    def drop(self) -> None:
        super().drop()
        self._delete(self.names[0])

    def forget(self) -> None:
        """As far as the server lets: whoever started the run looks once more at its end."""
        with suppress(StoreError):
            self._delete(*self.names)

    @contextmanager
    def _directory(self) -> Iterator[None]:
        self.directory.mkdir(mode=0o700)
        try:
            yield
        finally:
            shutil.rmtree(self.directory)

    def _folder(self) -> RemoteFolder:
        return RemoteFolder(self.place)

    def _delete(self, *names: str) -> None:
        with explained("write", self.place):
            for name in names:
                self._folder().delete(name)


def shelf_at(place: str | None, trial_id: str) -> Shelf:
    if place is not None and is_url(place):
        return RemoteShelf(place, trial_id)
    return Shelf(None if place is None else Path(place) / f"{trial_id}{CHECKPOINT}")


def forget_checkpoints(place: Place, trial_ids: Iterable[str]) -> None:
    """Those of trials that are finished; a bucket is asked once what it has."""
    if not is_url(place):
        for trial_id in trial_ids:
            shelf_at(str(place), trial_id).forget()
        return
    with explained("write", place):
        folder = RemoteFolder(str(place))
        wanted = {f"{trial_id}{ending}" for trial_id in trial_ids for ending in (CHECKPOINT, LOG)}
        for name in sorted(folder.names("") & wanted):
            folder.delete(name)
