"""Provenance of a row: code, packages and processor. Never a user, a host or a path, because rows are meant
to be shared."""

import os
import platform
import subprocess
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from sweeps.run.plugin_sources import collect_source_hashes
from sweeps.trial.canonical_json import canonical_json
from vera.spec.trial_spec import TrialSpec

PACKAGES = ("vera", "torch", "numpy", "ray")
UNKNOWN = "unknown"
ROOT = Path(__file__).resolve().parents[2]


@cache
def collect_provenance(device: str) -> dict[str, Any]:
    """The columns of a row that describe code and machine."""
    commit, dirty = read_git_state()
    return {
        "device": device,
        "processor": read_processor(device),
        "cores": os.cpu_count() or 1,
        "versions": canonical_json(collect_versions()),
        "git_commit": commit,
        "git_dirty": dirty,
    }


def collect_trial_provenance(spec: TrialSpec, device: str) -> dict[str, Any]:
    """The same columns for one trial, with the hashes of the plug-ins that it uses."""
    hashes = collect_source_hashes(spec)
    found = collect_provenance(device)
    return found | {"versions": canonical_json(collect_versions() | hashes)} if hashes else found


def collect_versions() -> dict[str, str]:
    """The versions of Python and of the installed packages that matter."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def read_processor(device: str) -> str:
    """The model of the CPU, or of the GPU for a CUDA device; "unknown" if there is no such GPU, since a trial
    that could not run on it ends as a row all the same."""
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


def read_git_state() -> tuple[str, bool]:
    """The commit of the running code, and whether its files differ from it, results aside; ("", False)
    outside a checkout."""
    if not (ROOT / ".git").exists():
        return "", False
    try:
        commit = _run_git("rev-parse", "HEAD")
        changes = _run_git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!results")
        return commit, bool(changes)
    except (OSError, subprocess.SubprocessError):
        return "", False


def _run_git(*arguments: str) -> str:
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=30).stdout.strip()
