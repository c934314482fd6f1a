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
from ipaddress import IPv6Address

HIDDEN = "…"
OTHERS_PROCESSES = re.compile(r"Top \d+ memory users.*", re.DOTALL)
ADDRESS = re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}\b")
MAYBE_V6 = re.compile(r"(?<![\w:.])[0-9a-fA-F]{1,4}:[0-9a-fA-F:]+(?:%\w+)?(?!\w)")
EMAIL = re.compile(r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b")
USER_IN_URL = re.compile(r"(\w+://)[^\s/@]+@")
ENDPOINT = re.compile(r"(\bs3://[^\s?\"']*)\?[^\s\"']*")
SECRET = re.compile(
    r"(?i)(?<![a-z])((?:api[-_]?)?key|token|secret|[a-z]*password|passphrase|passwd|pwd)([\"']?\s*[=:]\s*[\"']?)[^\s\"'&,;]+"
)
OPTION = re.compile(
    r"(?i)(--?(?:[a-z]+-)*(?:key|token|secret|password|passphrase|passwd|pwd)\s+[\"']?)[^\s\"'-][^\s\"']*"
)
BEARER = re.compile(r"(?i)\b(bearer|authorization[\"']?\s*:\s*[\"']?basic)\s+[\w.~+/=-]{6,}")
BASIC = re.compile(r"(?i)\b(basic)\s+[a-z0-9+/]{6,}={1,2}")
COOKIE = re.compile(r"(?i)\b((?:set-)?cookie[\"']?\s*:\s*)[^\n]+")
PERSONAL_TOKEN = re.compile(
    r"\b(?:gh[opsur]_\w{16,}|github_pat_\w{16,}|glpat-[\w-]{16,}|hf_\w{16,}"
    r"|npm_\w{16,}|pypi-[\w-]{16,}|AIza[\w-]{16,}|sk-[\w-]{16,}"
    r"|xox[a-z]-[\w-]{10,}|(?:AKIA|ASIA)[A-Z0-9]{12,}|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*)"
)
"""Tokens known by how they begin: code hosts, model hubs, package indexes, chat services, AWS,
Google, JSON web tokens."""
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
    text = COOKIE.sub(rf"\1{HIDDEN}", BASIC.sub(rf"\1 {HIDDEN}", text))
    text = BEARER.sub(rf"\1 {HIDDEN}", PERSONAL_TOKEN.sub(HIDDEN, text))
    text = OPTION.sub(rf"\1{HIDDEN}", SECRET.sub(rf"\1\2{HIDDEN}", text))
    text = EMAIL.sub(HIDDEN, text)
    for name in _find_own_names():
        text = re.sub(rf"\b{re.escape(name)}\b", HIDDEN, text)
    text = MAYBE_V6.sub(_hide_address, text)
    return ADDRESS.sub(HIDDEN, PATH.sub(f"{HIDDEN}/", text))


def _hide_address(found: re.Match[str]) -> str:
    """A time of day looks similar, so the standard library decides."""
    try:
        IPv6Address(found.group())
    except ValueError:
        return found.group()
    return HIDDEN


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
