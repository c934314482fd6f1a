"""Provenance of a row: code, packages, processor, and hashes of the plug-ins that it used. Never a user, a
host or a path, because rows are meant to be shared.

A trial is identified by its settings, not by its code; otherwise every edited comment would make another
trial. So the rows of a plug-in's method stay valid when the method is edited. A row stores the hash of the
source that trained it, and a plan reports rows whose source has changed. Trap: the hash covers the one file
that defines the class, as it was when it was imported, not what that file imports.
"""

import json
import os
import platform
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from sweeps.store.row import Row
from sweeps.trial.canonical_json import canonical_json
from sweeps.trial.identity import Trial
from vera.spec.registry import datasets, find_source_hash, models
from vera.spec.trial_spec import TrialSpec

PACKAGES = ("vera", "torch", "numpy", "ray")
UNKNOWN = "unknown"
SOURCE = "_source"
"""The end of the names of hashes among the versions."""
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
    # Without optional locks: `git status` would lock the index, and a worker that is killed meanwhile would
    # leave the lock behind, so that no commit is possible.
    command = ["git", "--no-optional-locks", "-C", str(ROOT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=30).stdout.strip()


def collect_source_hashes(spec: TrialSpec) -> dict[str, str]:
    """The hashes of the components that come from plug-ins, as a row stores them: {"method_source": hash,
    "dataset_source": hash, "energy_source": hash, ...}."""
    from vera.tasks.build import build_task

    components = {"method": (build_task(spec).methods, spec.method), "dataset": (datasets, spec.dataset)}
    components |= {role: (models, component) for role, component in spec.networks.items()}
    found = {
        f"{role}{SOURCE}": find_source_hash(registry.get(component["name"]))
        for role, (registry, component) in components.items()
    }
    return {name: source for name, source in found.items() if source}


def find_edited_components(trial: Trial, row: Row) -> Iterator[tuple[str, str]]:
    """(role, name) of the components whose source has changed since the row was trained. A row without hashes
    gives none."""
    then = {name: text for name, text in json.loads(row.versions).items() if name.endswith(SOURCE)}
    now = collect_source_hashes(trial.spec) if then else {}
    components = {"method": trial.spec.method, "dataset": trial.spec.dataset, **trial.spec.networks}
    for name, source in now.items():
        if then.get(name, source) != source:
            role = name.removesuffix(SOURCE)
            yield role, components[role]["name"]


def find_edited_plugins(trials: Sequence[Trial], rows: Mapping[str, Row]) -> dict[tuple[str, str], list[Row]]:
    """(role, name) of each edited component → the rows that its earlier source trained."""
    found: dict[tuple[str, str], list[Row]] = {}
    for trial in (trial for trial in trials if trial.id in rows):
        for component in find_edited_components(trial, rows[trial.id]):
            found.setdefault(component, []).append(rows[trial.id])
    return found
