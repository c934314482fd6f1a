"""`ray job submit`: run the command on an existing cluster, sending the project's files if vera is not
installed there.

Trap: Ray unpacks the files into a temporary folder, again on each node. Nothing worth keeping may be written
there, and nothing large may be sent.
"""

import json
import shlex
from dataclasses import dataclass
from typing import Any

from sweeps.launch.settings import check_shared_results

EXCLUDES = ("/.venv", "/.git", "/results", "/build", "**/__pycache__")


@dataclass(frozen=True)
class SubmittedJob:
    """A job and the cluster that runs it."""

    command: tuple[str, ...]
    address: str | None = None
    """The cluster's dashboard, e.g. http://127.0.0.1:8265; without it Ray reads RAY_API_SERVER_ADDRESS."""
    name: str | None = None
    """The job's id, which a cluster accepts once; without it Ray makes one."""
    working_dir: str | None = None
    """A checkout to send; without it vera must be installed on the nodes."""
    wait: bool = False


def render(job: SubmittedJob) -> str:
    check_shared_results(job.command)
    lines = [
        "exec ray job submit",
        *(shlex.quote(option) for option in list_options(job)),
        f"-- {shlex.join(build_entrypoint(job))}",
    ]
    return HEADER + " \\\n    ".join(lines) + "\n"


def list_options(job: SubmittedJob) -> list[str]:
    """The options before the command, each as --flag=value."""
    options = [f"--address={job.address}"] if job.address else []
    options += [f"--submission-id={job.name}"] if job.name else []
    options += [f"--runtime-env-json={json.dumps(build_runtime_environment(job), sort_keys=True)}"]
    return options + ([] if job.wait else ["--no-wait"])


def build_runtime_environment(job: SubmittedJob) -> dict[str, Any]:
    sent = {"working_dir": job.working_dir, "excludes": list(EXCLUDES)} if job.working_dir else {}
    return {"env_vars": {"PYTHONUNBUFFERED": "1"}, **sent}


def build_entrypoint(job: SubmittedJob) -> tuple[str, ...]:
    """The command. Files that were sent are not installed, so it then runs as a module."""
    return ("python", "-m", "bench.cli", *job.command[1:]) if job.working_dir else job.command


HEADER = """#!/bin/sh
# Needs ray[default] here and on the cluster, and the cluster's token in RAY_AUTH_TOKEN
# or in the file RAY_AUTH_TOKEN_PATH.
export RAY_AUTH_MODE=token
"""
