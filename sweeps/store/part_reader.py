"""Reading the parts of a folder. Bad parts are reported and set aside.

Trap: a compaction removes parts while others read. The compacted file exists before its parts are removed, so
a reader lists the folder again until it finds no new file.
"""

from collections.abc import Iterator

import pyarrow as pa

from sweeps.store.folder import LEFT, SUFFIX, Folder, Opening, explain_os_errors
from sweeps.store.parts import BadPart, open_part
from sweeps.store.schema import Kind

Beginning = str | tuple[str, ...]
"""Of a file name; "" for every name."""


class PartReader:
    """Reads the parts of one folder."""

    def __init__(self, folder: Folder, restore_command: str = "") -> None:
        """`restore_command` restores a damaged part; if there is one, bad parts are not moved."""
        self.folder = folder
        self.restore_command = restore_command
        self.moves_bad_parts = not restore_command
        self.problems: list[str] = []
        """One line for each bad part: its name, the reason, and what happened to it."""

    def list_names(self, kind: Kind) -> set[str]:
        """The names of the parts of a kind."""
        with explain_os_errors("read", self.folder.location):
            names = self.folder.list_names(kind)
        return {name for name in names if name.endswith(SUFFIX) and not name.startswith("_")}

    def open_parts(self, kind: Kind, beginning: Beginning = "") -> Iterator[tuple[str, Opening]]:
        """The parts of a kind whose names begin so, until a listing shows no new one."""
        seen: set[str] = set()
        while new := {name for name in self.list_names(kind) if name.startswith(beginning)} - seen:
            yield from self.folder.open_each(f"{kind}/{name}" for name in sorted(new))
            seen |= new

    def read_tables(
        self, kind: Kind, beginning: Beginning = "", columns: list[str] | None = None
    ) -> Iterator[pa.Table]:
        """The tables of all parts of a kind whose names begin so."""
        for name, opening in self.open_parts(kind, beginning):
            yield from self.read_part(name, opening, kind, columns)

    def read_part(
        self,
        name: str,
        opening: Opening,
        kind: Kind,
        columns: list[str] | None = None,
        trial_id: str | None = None,
    ) -> list[pa.Table]:
        """The tables of a part; none if it was removed or is bad. A bad part is set aside."""
        with explain_os_errors("read", self.folder.location):
            try:
                with open_part(opening, kind) as part:
                    return list(part.read_tables(columns, trial_id))
            except BadPart as bad:
                self.set_aside(name, bad)
            except FileNotFoundError:
                pass
            return []

    def set_aside(self, name: str, bad: BadPart) -> None:
        """Report a bad part and move it if parts may be moved, unless a good one has taken its name."""
        happened = self.folder.set_aside(name, bad.identity, self.moves_bad_parts)
        if happened is None:
            return
        is_rerun = happened != LEFT and name.startswith("rows/")
        rerun = "; the next vera run trains its trials again" if is_rerun else ""
        restore = f" To restore it: {self.restore_command}" if self.restore_command else ""
        problem = f"{name} is not readable ({bad}); {happened}{rerun}.{restore}"
        if problem not in self.problems:
            self.problems.append(problem)
