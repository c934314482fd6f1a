"""Trials that are done and were trained by a plug-in that was edited since: one line, and the command that
trains them anew."""

import shlex
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from vera.wording import plural

if TYPE_CHECKING:
    from sweeps.store.row import Row
    from sweeps.trial.identity import Trial


def name_edits(cached: "Sequence[Trial]", rows: "Iterable[Row]", command: Sequence[str]) -> None:
    """On stderr; `command` is the one that was typed, to which it adds what it needs."""
    from sweeps.run.plugin_sources import changed

    for (role, name), found in changed(cached, {row.trial_id: row for row in rows}).items():
        print(
            f"vera: {_told(role, name, found)} To train anew: {shlex.join(_anew(role, name, found, command))}",
            file=sys.stderr,
        )


def _told(role: str, name: str, found: "Sequence[Row]") -> str:
    what = "data set" if role == "dataset" else role
    kept = (
        "was trained with it, which is kept as it is"
        if len(found) == 1
        else "were trained with it, which are kept as they are"
    )
    return f"The file of the {what} '{name}' was edited since {plural(len(found), 'trial')} {kept}."


def _anew(role: str, name: str, found: "Sequence[Row]", command: Sequence[str]) -> list[str]:
    """Of the sweep's trials those alone: others that ended in the same way need not be trained again."""
    only = f"{role}={name}"
    chosen = ["--only", only] if only not in command else []
    return [*command, *chosen, "--retry", ",".join(sorted({row.outcome for row in found}))]
