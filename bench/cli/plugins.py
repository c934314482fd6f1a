"""Loading plug-ins, and notes on stderr about what they define."""

import shlex
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from vera.wording import plural

if TYPE_CHECKING:
    from sweeps.store.row import Row
    from sweeps.trial.identity import Trial


def load_plugins(files: Sequence[str]) -> None:
    """Run the files. What looks like an oversight is noted, not refused."""
    if not files:
        return
    from bench.catalogue import catalogue
    from sweeps.cluster.connection import set_ray_defaults
    from vera.spec.registry import find_unregistered_classes, load_plugin

    set_ray_defaults()
    for file in dict.fromkeys(files):
        load_plugin(file)
        for name in find_unregistered_classes(file):
            _print_note(
                f'{file} does not register its method {name}: write @methods.register("NAME") above it.'
            )
    catalogue.check_plugin_sweeps()
    _note_missing_defaults()


def _note_missing_defaults() -> None:
    """Tables only take methods whose settings all have defaults."""
    from sweeps.trial.identity import find_required_settings
    from vera.spec.registry import joint_methods, methods

    for registry in (methods, joint_methods):
        for name in registry.plugin_names():
            if lacking := find_required_settings(registry.get(name)):
                _print_note(
                    f"no table takes the {registry.kind} '{name}': {' and '.join(lacking)} has no default."
                )


def print_plugin_edits(cached: "Sequence[Trial]", rows: "Iterable[Row]", command: Sequence[str]) -> None:
    """Note the stored trials whose plug-in was edited since they were trained, with the command that trains
    them again; `command` is the one that was typed."""
    from sweeps.run.provenance import find_edited_plugins

    for (role, name), found in find_edited_plugins(cached, {row.trial_id: row for row in rows}).items():
        again = shlex.join(_build_retry(role, name, found, command))
        _print_note(f"{_describe_edit(role, name, len(found))} To train again: {again}")


def _describe_edit(role: str, name: str, count: int) -> str:
    kind = "data set" if role == "dataset" else role
    were = "was" if count == 1 else "were"
    stored = "The stored result is" if count == 1 else "The stored results are"
    return (
        f"The file of the {kind} '{name}' was edited since {plural(count, 'trial')} {were} trained with it. "
        f"{stored} kept."
    )


def _build_retry(role: str, name: str, found: "Sequence[Row]", command: Sequence[str]) -> list[str]:
    """Restricted to the trials that use the plug-in; others with the same outcome are not trained again."""
    only = f"{role}={name}"
    selection = ["--only", only] if only not in command else []
    return [*command, *selection, "--retry", ",".join(sorted({row.outcome for row in found}))]


def _print_note(text: str) -> None:
    print(f"vera: {text}", file=sys.stderr)
