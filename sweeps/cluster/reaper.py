"""Kills what is left of a local Ray cluster after the command that started it has ended, however it ended.

Run as a program with the process ids of the cluster. The command keeps the other end of its standard input
open, so end of file means that the command is gone. Ray then ends most of its processes, but two stay for
minutes if the command was killed. After a short delay the processes of the cluster and their descendants are
killed. Descendants are looked up all the time, because a process whose parent is gone belongs to nobody.

Imports nothing heavy, because every run starts it. Where there is no /proc (not Linux), nothing is killed.
"""

import os
import select
import signal
import sys
import time
from contextlib import suppress

INTERVAL = 0.5
DELAY = 1.0
"""Seconds that Ray has to end its processes itself."""


def read_processes() -> dict[int, tuple[int, str]]:
    """The parent and the start time of every process."""
    found: dict[int, tuple[int, str]] = {}
    for name in os.listdir("/proc") if os.path.isdir("/proc") else ():
        if name.isdigit():
            with suppress(OSError), open(f"/proc/{name}/stat") as file:
                fields = file.read().rpartition(")")[2].split()
                found[int(name)] = int(fields[1]), fields[19]
    return found


def add_descendants(known: dict[int, str], processes: dict[int, tuple[int, str]]) -> None:
    """Add to the known processes, by start time, all their descendants."""
    is_growing = True
    while is_growing:
        children = {
            number: start
            for number, (parent, start) in processes.items()
            if parent in known and number not in known
        }
        known |= children
        is_growing = bool(children)


def kill_processes(known: dict[int, str]) -> None:
    """Kill the known processes that still run. A number that another process has got since is spared."""
    for number, (_, start) in read_processes().items():
        if known.get(number) == start:
            with suppress(OSError):
                os.kill(number, signal.SIGKILL)


def main(roots: list[int]) -> None:
    processes = read_processes()
    known = {number: processes[number][1] for number in roots if number in processes}
    is_over = False
    while not is_over:
        add_descendants(known, read_processes())
        is_over = bool(select.select([sys.stdin], [], [], INTERVAL)[0])
    time.sleep(DELAY)
    kill_processes(known)


if __name__ == "__main__":
    main([int(number) for number in sys.argv[1:]])
