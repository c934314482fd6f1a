"""`ray job submit`: the command on a cluster that is already there, with the project's files sent along if
not installed.

The trap: what is sent is unpacked into a temporary folder of Ray's, on each node anew. Nothing that is to be
kept may be written there, and nothing large may be sent.
"""

import json
from dataclasses import dataclass
from typing import Any

from sweeps.launch.settings import check_shared, shell

EXCLUDES = ("/.venv", "/.git", "/results", "/build", "**/__pycache__")


@dataclass(frozen=True)
class SubmittedJob:
    """A job and the cluster that is to run it."""

    command: tuple[str, ...]
    address: str | None = None
    """Of the cluster's dashboard, e.g. http://127.0.0.1:8265; without one Ray asks RAY_API_SERVER_ADDRESS."""
    name: str | None = None
    """The job's id, which a cluster accepts once; without one Ray makes it up."""
    working_dir: str | None = None
    """A checkout to send along; without one `vera` must be installed on the nodes."""
    wait: bool = False


def render(job: SubmittedJob) -> str:
    check_shared(job.command)
    lines = [
        "exec ray job submit",
        *(shell((option,)) for option in options(job)),
        f"-- {shell(entrypoint(job))}",
    ]
    return HEADER + " \\\n    ".join(lines) + "\n"


def options(job: SubmittedJob) -> list[str]:
    """What stands before the command; a value is joined to its flag."""
    found = [f"--address={job.address}"] if job.address else []
    found += [f"--submission-id={job.name}"] if job.name else []
    found += [f"--runtime-env-json={json.dumps(runtime_environment(job), sort_keys=True)}"]
    return found + ([] if job.wait else ["--no-wait"])


def runtime_environment(job: SubmittedJob) -> dict[str, Any]:
    sent = {"working_dir": job.working_dir, "excludes": list(EXCLUDES)} if job.working_dir else {}
    return {"env_vars": {"PYTHONUNBUFFERED": "1"}, **sent}


def entrypoint(job: SubmittedJob) -> tuple[str, ...]:
    """Files that were sent are not installed, so the command line is run as a module of them."""
    return ("python", "-m", "bench.cli.main", *job.command[1:]) if job.working_dir else job.command


HEADER = """#!/bin/sh
# Needs ray[default] here and on the cluster, and the cluster's token in RAY_AUTH_TOKEN or in the file of RAY_AUTH_TOKEN_PATH.
export RAY_AUTH_MODE=token
"""
