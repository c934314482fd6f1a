"""Where a row came from: code, packages and processor. Never a user, a host or a path, because rows are made
to be shared."""

import os
import platform
import subprocess
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from sweeps.run.plugin_sources import plugin_sources
from sweeps.trial.canonical_json import canonical_json
from vera.spec.trial_spec import TrialSpec

PACKAGES = ("vera", "torch", "numpy", "ray")
UNKNOWN = "unknown"


@cache
def provenance(device: str) -> dict[str, Any]:
    """The columns of a row that say what it was made with."""
    commit, dirty = git_state()
    return {
        "device": device,
        "processor": processor(device),
        "cores": os.cpu_count() or 1,
        "versions": canonical_json(versions()),
        "git_commit": commit,
        "git_dirty": dirty,
    }


def trial_provenance(spec: TrialSpec, device: str) -> dict[str, Any]:
    """The same of one trial: with the source of what a plug-in brings to it."""
    own = plugin_sources(spec)
    return provenance(device) | ({"versions": canonical_json(versions() | own)} if own else {})


def versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def processor(device: str) -> str:
    """The model of the CPU, or of the GPU that the trial runs on. A GPU that cannot be asked, as on a machine
    without one, is unknown: a trial that could not run on it ends as a row all the same."""
    if device.startswith("cuda"):
        import torch

        try:
            return torch.cuda.get_device_name()
        except (AssertionError, RuntimeError, ValueError):
            return UNKNOWN
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.machine()


def git_state() -> tuple[str, bool]:
    """(commit, whether the work tree differs from it, results aside) of the code that runs; empty where it is
    not a checkout."""
    root = Path(__file__).resolve().parent.parent
    if not (root / ".git").exists():
        return "", False
    try:
        commit = _git(root, "rev-parse", "HEAD")
        return commit, bool(
            _git(root, "status", "--porcelain", "--untracked-files=no", "--", ".", ":!results")
        )
    except (OSError, subprocess.SubprocessError):
        return "", False


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(root), *arguments], capture_output=True, text=True, check=True, timeout=30
    )
    return done.stdout.strip()
