"""Dockerfile and apptainer.def: what they copy is there and is enough to build, what they install exists."""

import fnmatch
import re
import shlex
import subprocess
import tomllib

import pytest
import ray
from distribution import PACKAGES, build, copy_files, list_tracked, list_wheel
from locations import ROOT

from vera import __version__

DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
APPTAINER = (ROOT / "apptainer.def").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def read_dockerfile():
    """(instruction, arguments) of each line."""
    lines = [
        line for line in DOCKERFILE.replace("\\\n", " ").splitlines() if line and not line.startswith("#")
    ]
    return [tuple(line.split(None, 1)) for line in lines]


def read_sections():
    """The sections of the definition by name, without comments; the header as ''."""
    found = {"": []}
    for line in APPTAINER.splitlines():
        if line.startswith("%"):
            lines = found[line[1:].strip()] = []
        elif line.strip() and not line.strip().startswith("#"):
            lines = found[""] if len(found) == 1 else lines
            lines.append(line.strip())
    return found


SECTIONS = read_sections()


def list_copied_by_docker():
    """The tracked files that .dockerignore leaves in the context, which is copied whole."""
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    return [
        file
        for file in list_tracked()
        if not any(
            fnmatch.fnmatch(part, pattern) for part in (file, file.split("/")[0]) for pattern in ignored
        )
    ]


def list_copied_by_apptainer():
    return list_tracked(*(line.split()[0] for line in SECTIONS["files"]))


def test_instructions_of_the_dockerfile_are_known():
    assert [name for name, _ in read_dockerfile()] == ["ARG", "FROM", "COPY", "RUN"]
    copied = dict(read_dockerfile())["COPY"].split()
    assert copied == ["--chown=ray:users", ".", "/home/ray/vera"]


def test_sections_of_the_definition_are_known():
    assert list(SECTIONS) == ["", "files", "post", "environment", "runscript", "test", "labels", "help"]
    header = dict(line.split(": ") for line in SECTIONS[""])
    assert header.keys() == {"Bootstrap", "From"}
    major, minor = re.fullmatch(r"python:(\d+)\.(\d+)-slim", header["From"]).groups()
    lowest = PROJECT["requires-python"].removeprefix(">=").split(".")
    assert (int(major), int(minor)) >= tuple(map(int, lowest))
    assert SECTIONS["labels"] == [f"Version {__version__}"]


@pytest.mark.parametrize(
    "script",
    [dict(read_dockerfile())["RUN"], *("\n".join(SECTIONS[name]) for name in ("post", "runscript", "test"))],
)
def test_scripts_are_valid_shell(script):
    done = subprocess.run(["sh", "-n"], input=script, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("script", "folder"),
    [(dict(read_dockerfile())["RUN"], "/home/ray/vera"), (SECTIONS["post"][0], "/opt/vera")],
)
def test_pip_installs_the_copied_project_with_its_constraints(script, folder):
    words = shlex.split(script)
    assert words[:2] == ["pip", "install"]
    constraints = words[words.index("--constraint") + 1]
    assert constraints == f"{folder}/constraints.txt"
    assert (ROOT / "constraints.txt").is_file()
    path, extra = re.fullmatch(r"(\S+)\[(\w+)\]", words[words.index(constraints) + 1]).groups()
    assert (path, extra in PROJECT["optional-dependencies"]) == (folder, True)


def test_files_of_the_definition_exist_and_keep_their_names():
    for line in SECTIONS["files"]:
        source, target = line.split()
        assert (ROOT / source).exists()
        assert target == f"/opt/vera/{source}"


@pytest.mark.long
@pytest.mark.parametrize("list_copied", [list_copied_by_docker, list_copied_by_apptainer])
def test_what_is_copied_is_enough_to_build_the_package(list_copied, tmp_path):
    files = list_copied()
    assert "constraints.txt" in files
    (wheel,) = build(copy_files(files, tmp_path / "source"), tmp_path / "dist", "--wheel")
    assert list_wheel(wheel) == set(list_tracked(*PACKAGES))


def test_results_and_environments_stay_out_of_the_image():
    assert not [
        file for file in list_copied_by_docker() if file.split("/")[0] in ("results", ".venv", ".git")
    ]


def test_the_image_has_the_pinned_release_of_ray():
    assert re.search(r"^ARG BASE=rayproject/ray:([\d.]+)-", DOCKERFILE, re.MULTILINE)[1] == ray.__version__


def test_commands_of_the_image_are_commands_of_vera():
    from bench.cli.main import build_parser

    for line in [*SECTIONS["test"], SECTIONS["help"][-1].replace("apptainer run --nv vera.sif", "vera")]:
        words = shlex.split(line)[1:]
        if words != ["--version"]:
            assert build_parser().parse_args(words).run
