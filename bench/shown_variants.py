"""The variants that tables show beside their own lines: those of `vera render table2 --set method.k=5`.

Like the methods of plug-ins, they are known to the process and not to an experiment. Running does not use
them: `vera run --set` trains the variants alone.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from sweeps.trial.identity import Trial
from sweeps.trial.variant import Changes, make_variant, spell_change

_SHOWN: ContextVar[Changes | None] = ContextVar("shown variants", default=None)


@contextmanager
def show_variants(changes: Changes) -> Iterator[None]:
    """Inside the block, every experiment also lists its trials with these settings."""
    token = _SHOWN.set(changes or None)
    try:
        yield
    finally:
        _SHOWN.reset(token)


def extend_names(name: str, title: str) -> tuple[str, str]:
    """The name of files and the title, with the settings of the shown variants, if there are any."""
    spelled = ", ".join(map(spell_change, (_SHOWN.get() or {}).items()))
    if not spelled:
        return name, title
    words = re.sub("[^a-z0-9.]+", "-", spelled.lower()).strip("-")
    return f"{name}-with-{words}", f"{title}, also with {spelled}"


def list_shown_variants(trials: Iterable[Trial]) -> Iterator[Trial]:
    """The variants of these trials that are shown. A trial that already has the changed settings has none."""
    changes = _SHOWN.get()
    if changes is None:
        return
    for trial in trials:
        variant = make_variant(trial, changes)
        if variant is not None and variant is not trial:
            yield variant
