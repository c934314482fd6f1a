"""Texts made fit to share: no absolute path, no user's or host's name, no address, no credential. Enough is
left to find the line.

A reason and a log tail come from whatever raised, so they may hold anything that was in somebody's message.
The trap: Ray's report of a worker that was killed for memory lists the command lines of other processes.
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
"""Up to the last separator; a name in it may have spaces."""
NAMES_OF_SECRETS = ("_KEY", "_KEY_ID", "_TOKEN", "_SECRET", "_PASSWORD")


def scrubbed(text: str) -> str:
    """The text without what is nobody's business."""
    text = OTHERS_PROCESSES.sub("", text)
    for secret in _secrets():
        text = text.replace(secret, HIDDEN)
    text = ENDPOINT.sub(rf"\1?{HIDDEN}", text)
    text = USER_IN_URL.sub(rf"\1{HIDDEN}@", text)
    text = SECRET.sub(rf"\1\2{HIDDEN}", text)
    for name in _names():
        text = re.sub(rf"\b{re.escape(name)}\b", HIDDEN, text)
    return ADDRESS.sub(HIDDEN, PATH.sub(f"{HIDDEN}/", text))


def _secrets() -> list[str]:
    """Values of environment variables that are named like credentials."""
    return [
        value
        for name, value in os.environ.items()
        if name.upper().endswith(NAMES_OF_SECRETS) and len(value) > 5
    ]


@cache
def _names() -> tuple[str, ...]:
    try:
        user = getpass.getuser()
    except (OSError, KeyError):  # no such user in the password file
        user = ""
    return tuple(name for name in (socket.gethostname(), user) if len(name) > 1)
