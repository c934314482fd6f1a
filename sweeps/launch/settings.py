"""Settings that all launchers share: the name and size of the cluster, and the command that runs on it.

A launcher only renders text, so a mistake would show up hours later, in a queue. Everything that can be found
wrong is refused here. Trap: a results directory that the nodes do not share. A relative path is resolved on
the machine that starts the run, where it may lie in a temporary copy. Only Slurm starts a job in the folder
it was submitted from, so only Slurm accepts one.
"""

import json
import re
from dataclasses import dataclass
from typing import Any

from sweeps.errors import EngineError
from sweeps.store.location import is_url

RAY_VERSION = "2.60.0"
"""The Ray release in the images; constraints.txt pins the same one."""
IMAGE = f"rayproject/ray:{RAY_VERSION}-py311"
GPU_IMAGE = f"{IMAGE}-gpu"
NAME = re.compile(r"[a-z]([a-z0-9-]{0,38}[a-z0-9])?")
TIME = re.compile(r"(?:(\d+)-)?(\d{1,3}):([0-5]\d):([0-5]\d)", re.ASCII)
PLAIN = re.compile(r"[\w][\w./:@,+-]*", re.ASCII)
"""Names of partitions, claims, images and the like, and amounts: nothing that a shell or YAML interprets."""


@dataclass(frozen=True)
class ClusterSettings:
    """A number of equal nodes; the first is the head, and trials run on it too."""

    name: str = "vera"
    nodes: int = 1
    cpus_per_node: int = 8
    gpus_per_node: int = 0

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            raise EngineError(
                f"--name takes up to 40 lower-case letters, digits and dashes, starting with a letter; got "
                f"'{self.name}'."
            )

    @property
    def image(self) -> str:
        return GPU_IMAGE if self.gpus_per_node else IMAGE


def parse_time(time: str) -> int:
    """Seconds of a time in Slurm's format, HOURS:MM:SS or DAYS-HOURS:MM:SS."""
    found = TIME.fullmatch(time)
    if found is None:
        raise EngineError(f"--time must be HH:MM:SS or D-HH:MM:SS, e.g. 1-12:00:00; got '{time}'.")
    days, hours, minutes, seconds = (int(number or 0) for number in found.groups())
    total = ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    if not total:
        raise EngineError(f"--time must be longer than zero, got '{time}'.")
    return total


def check_name(flag: str, value: str | None) -> None:
    """Raise `EngineError` unless the value is a plain name."""
    if value is not None and not PLAIN.fullmatch(value):
        raise EngineError(f"{flag} takes letters, digits and any of . / : @ , + - _; got {value!r}.")


def check_printable(value: str) -> None:
    """Raise `EngineError` if the value contains a line break or another character that cannot be printed: it
    could end the line that it is written into."""
    if not value.isprintable():
        raise EngineError(f"A value must be one line of printable characters, got {value!r}.")


def quote_yaml(value: Any) -> str:
    """The value in YAML, of which JSON is a subset. Trap: JSON may write a character as two escapes, which
    YAML reads as two characters; so characters are written as they are."""
    return json.dumps(value, ensure_ascii=False)


def find_flag(command: tuple[str, ...], flag: str) -> str | None:
    """The value of a flag in a command line, written `--flag value` or `--flag=value`; None without it. Of
    several the last counts."""
    found = None
    for word, following in zip(command, (*command[1:], ""), strict=True):
        if word == flag:
            found = following
        elif word.startswith(f"{flag}="):
            found = word.removeprefix(f"{flag}=")
    return found


def check_shared_results(command: tuple[str, ...]) -> None:
    """Raise `EngineError` unless the command's results directory can be the same on every node."""
    place = find_flag(command, "--results-dir")
    if place is None or not (place.startswith("/") or is_url(place)):
        raise EngineError(
            f"All nodes must share one results directory, given by an absolute path or a URL; got "
            f"'{place or 'results/local'}': add --results-dir /on/every/node."
        )
