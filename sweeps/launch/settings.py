"""What every launcher is told: how large the cluster is, what to call it, and the command that runs on it
once it is up.

A launcher only renders text, so a mistake would show itself hours later, in a queue: whatever can be seen to
be wrong is refused here. The trap: a results directory that is not on every node. A relative one lies in the
folder of whoever starts the run, which on another machine is a temporary copy; only Slurm, which starts a job
where it was submitted, may have one.
"""

import re
import shlex
from dataclasses import dataclass

from sweeps.errors import EngineError
from sweeps.store.address import is_url

RAY_VERSION = "2.60.0"
"""The release in the images; the one that constraints.txt pins."""
IMAGE = f"rayproject/ray:{RAY_VERSION}-py311"
GPU_IMAGE = f"{IMAGE}-gpu"
NAME = re.compile(r"[a-z]([a-z0-9-]{0,38}[a-z0-9])?")
TIME = re.compile(r"(?:(\d+)-)?(\d{1,3}):([0-5]\d):([0-5]\d)")


@dataclass(frozen=True)
class Nodes:
    """So many machines that are alike; the first of them is the head, and trials run on it too."""

    name: str = "vera"
    nodes: int = 1
    cpus_per_node: int = 8
    gpus_per_node: int = 0

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            raise EngineError(
                f"--name must be lower-case letters, digits and dashes, at most 40, got '{self.name}'."
            )

    @property
    def image(self) -> str:
        return GPU_IMAGE if self.gpus_per_node else IMAGE


def seconds(time: str) -> int:
    """Of a time in Slurm's way of writing, HOURS:MM:SS or DAYS-HOURS:MM:SS."""
    found = TIME.fullmatch(time)
    if found is None:
        raise EngineError(f"--time is written HH:MM:SS or D-HH:MM:SS, e.g. 1-12:00:00, got '{time}'.")
    days, hours, minutes, rest = (int(part or 0) for part in found.groups())
    total = ((days * 24 + hours) * 60 + minutes) * 60 + rest
    if not total:
        raise EngineError(f"--time must be longer than nothing, got '{time}'.")
    return total


def shell(command: tuple[str, ...]) -> str:
    return shlex.join(command)


def flag_of(command: tuple[str, ...], flag: str) -> str | None:
    """The value that a command line gives to a flag, in either way of writing it."""
    for word, following in zip(command, (*command[1:], ""), strict=True):
        if word == flag:
            return following
        if word.startswith(f"{flag}="):
            return word.removeprefix(f"{flag}=")
    return None


def check_shared(command: tuple[str, ...]) -> None:
    """The command's results directory can be the same one on every node."""
    place = flag_of(command, "--results-dir")
    if place is None or not (place.startswith("/") or is_url(place)):
        raise EngineError(
            f"The nodes must share one results directory, so it is an absolute path, got '{place or 'results/local'}': "
            "add --results-dir /on/every/node."
        )
