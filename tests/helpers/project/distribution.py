"""Copies of the tracked files, and wheels and sdists built from them."""

import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from zipfile import ZipFile

from locations import ROOT

PACKAGES = ("vera", "sweeps", "bench")


def list_tracked(*folders: str) -> list[str]:
    """The tracked files that exist, all or those of some folders."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", *folders]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return sorted({file for file in done.stdout.split("\0") if file and (ROOT / file).is_file()})


def copy_files(files: Iterable[str], target: Path) -> Path:
    """Copy files of the checkout; returns the target."""
    for file in files:
        (target / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, target / file)
    return target


def build(source: Path, target: Path, *what: str) -> list[Path]:
    """What `python -m build` makes, without an environment of its own."""
    command = [sys.executable, "-m", "build", "--no-isolation", *what, "--outdir", str(target), str(source)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return sorted(target.iterdir())


def list_wheel(wheel: Path) -> set[str]:
    """The files of a wheel, without its metadata."""
    with ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if ".dist-info/" not in name}
