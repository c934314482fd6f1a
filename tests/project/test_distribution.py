"""Wheel and sdist hold every file of the packages, and the installed wheel works without the checkout."""

import os
import subprocess
import sys
import tarfile
import venv
from importlib.metadata import version
from pathlib import Path

import pytest
import torch
from distribution import PACKAGES, build, copy_files, list_tracked, list_wheel
from locations import ROOT

from bench.locations import PUBLISHED
from sweeps.store.store import Store

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """(sdist, wheel) of the tracked files."""
    source = copy_files(list_tracked(), tmp_path_factory.mktemp("source"))
    wheel, sdist = sorted(
        build(source, tmp_path_factory.mktemp("dist")), key=lambda path: path.suffix, reverse=True
    )
    return sdist, wheel


@pytest.fixture(scope="module")
def installed(built, tmp_path_factory):
    """A Python with the wheel; other packages are those of this environment, but not the checkout."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin" / "python"
    install = ["install", "--no-deps", "--no-index", "--disable-pip-version-check", str(built[1])]
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", python, *install], check=True, capture_output=True
    )
    (packages,) = folder.glob("lib/python*/site-packages")
    others = [path for path in sys.path if Path(path).name == "site-packages"]
    assert Path(torch.__file__).parents[1] in map(Path, others)
    (packages / "others.pth").write_text("\n".join(others))
    return python


def test_the_wheel_holds_every_file_of_the_packages(built):
    files = set(list_tracked(*PACKAGES))
    assert {
        "vera/data/embedded/wine_data.csv",
        "bench/report/style.css",
        "bench/paper/values.csv",
        "bench/paper/ledger/statements.csv",
    } < files
    assert list_wheel(built[1]) == files


def test_the_sdist_builds_the_same_wheel(built, tmp_path):
    with tarfile.open(built[0]) as archive:
        archive.extractall(tmp_path / "source", filter="data")
    (source,) = (tmp_path / "source").iterdir()
    (wheel,) = build(source, tmp_path / "dist", "--wheel")
    assert wheel.name == built[1].name
    assert list_wheel(wheel) == list_wheel(built[1])


def run(python, *words, cwd):
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    environment.pop("PYTHONPATH", None)
    return subprocess.run(
        [python, *words], cwd=cwd, env=environment, capture_output=True, text=True, timeout=300
    )


def test_the_installed_packages_are_not_those_of_the_checkout(installed, tmp_path):
    code = "import vera, sweeps, bench; print(*(each.__file__ for each in (vera, sweeps, bench)))"
    done = run(installed, "-c", code, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert all(Path(file).is_relative_to(installed.parents[1]) for file in done.stdout.split())


def test_the_installed_command_reads_embedded_data_and_templates(installed, tmp_path):
    vera = installed.with_name("vera")
    shown = run(vera, "--version", cwd=tmp_path)
    assert shown.stdout.split() == ["vera", version("vera")]
    assert run(vera, "data", "check", "mnist5k", cwd=tmp_path).returncode == 0
    own, published = Store(tmp_path / "own" / "trials"), Store(f"{ROOT / PUBLISHED}/trials")
    own.merge(
        published.location, only=[row.trial_id for row in published.read_rows() if row.sweep == "speed"]
    )
    for command in (("render", "speed", "--quiet"), ("report",)):
        done = run(vera, *command, "--results-dir", "own", cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, ""), done
    assert "WRN-28-2" in (tmp_path / "own" / "tables" / "speed.md").read_text(encoding="utf-8")
    report = (tmp_path / "own" / "report.html").read_text(encoding="utf-8")
    assert (ROOT / "bench" / "report" / "style.css").read_text(encoding="utf-8").splitlines()[0] in report
