"""Settings that all launchers share: the name and size of the cluster, and the command that runs on it.

A launcher only renders text, so a mistake would show up hours later, in a queue. Everything that can be found
wrong is refused here. Trap: a results directory that the nodes do not share. A relative path is resolved on
the machine that starts the run, where it may lie in a temporary copy. Only Slurm starts a job in the folder
it was submitted from, so only Slurm accepts one.
"""

import re
from dataclasses import dataclass

from sweeps.errors import EngineError
from sweeps.store.location import is_url

RAY_VERSION = "2.60.0"
"""The Ray release in the images; constraints.txt pins the same one."""
IMAGE = f"rayproject/ray:{RAY_VERSION}-py311"
GPU_IMAGE = f"{IMAGE}-gpu"
NAME = re.compile(r"[a-z]([a-z0-9-]{0,38}[a-z0-9])?")
TIME = re.compile(r"(?:(\d+)-)?(\d{1,3}):([0-5]\d):([0-5]\d)")


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


def find_flag(command: tuple[str, ...], flag: str) -> str | None:
    """The value of a flag in a command line, written `--flag value` or `--flag=value`; None without it."""
    for word, following in zip(command, (*command[1:], ""), strict=True):
        if word == flag:
            return following
        if word.startswith(f"{flag}="):
            return word.removeprefix(f"{flag}=")
    return None


def check_shared_results(command: tuple[str, ...]) -> None:
    """Raise `EngineError` unless the command's results directory can be the same on every node."""
    place = find_flag(command, "--results-dir")
    if place is None or not (place.startswith("/") or is_url(place)):
        raise EngineError(
            f"All nodes must share one results directory, given by an absolute path or a URL; got "
            f"'{place or 'results/local'}': add --results-dir /on/every/node."
        )
