"""Removal of private details from texts that are shared: absolute paths, user and host names, addresses and
credentials. Enough remains to find the line that failed.

A reason and a log tail come from exceptions of any program, so they may hold anything.
Trap: Ray's report on a worker that was killed for memory lists the command lines of other processes.
"""

import getpass
import os
import re
import socket
from functools import cache

HIDDEN = "…"
OTHERS_PROCESSES = re.compile(r"Top \d+ memory users.*", re.DOTALL)
ADDRESS = re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}\b")
USER_IN_URL = re.compile(r"(\w+://)[^\s/@]+@")
ENDPOINT = re.compile(r"(\bs3://[^\s?\"']*)\?[^\s\"']*")
SECRET = re.compile(
    r"(?i)\b((?:api[-_]?)?key|token|secret|password|passwd)([\"']?\s*[=:]\s*[\"']?)[^\s\"'&,;]+"
)
PATH = re.compile(r"(?<![\w./])[/\\](?:[^\n\"'/\\:]+[/\\])+")
"""Up to the last separator; names may hold spaces."""
NAMES_OF_SECRETS = ("_KEY", "_KEY_ID", "_TOKEN", "_SECRET", "_PASSWORD")


def scrub(text: str) -> str:
    """The text without private details."""
    text = OTHERS_PROCESSES.sub("", text)
    for secret in _find_secrets():
        text = text.replace(secret, HIDDEN)
    text = ENDPOINT.sub(rf"\1?{HIDDEN}", text)
    text = USER_IN_URL.sub(rf"\1{HIDDEN}@", text)
    text = SECRET.sub(rf"\1\2{HIDDEN}", text)
    for name in _find_own_names():
        text = re.sub(rf"\b{re.escape(name)}\b", HIDDEN, text)
    return ADDRESS.sub(HIDDEN, PATH.sub(f"{HIDDEN}/", text))


def _find_secrets() -> list[str]:
    """Values of environment variables that are named like credentials."""
    return [
        value
        for name, value in os.environ.items()
        if name.upper().endswith(NAMES_OF_SECRETS) and len(value) > 5
    ]


@cache
def _find_own_names() -> tuple[str, ...]:
    """The names of the host and of the user."""
    try:
        user = getpass.getuser()
    except (OSError, KeyError):  # the user id is not in the password file
        user = ""
    return tuple(name for name in (socket.gethostname(), user) if len(name) > 1)
