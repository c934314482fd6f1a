"""What a shell, a disk or a terminal does to a command: told in one line, and never with a traceback."""

import argparse
import os
import signal
import subprocess
import sys

import pytest
from engine_helpers import ROOT

from bench.cli.main import check_results_dir, main


def vera(*words, cwd=ROOT, out=subprocess.PIPE, **environment):
    """The command in a process of its own, with these variables of the environment."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    command = [sys.executable, "-m", "bench.cli.main", *map(str, words)]
    return subprocess.run(command, cwd=cwd, stdout=out, stderr=subprocess.PIPE, env=env, timeout=120)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_a_mark_that_the_terminal_does_not_have_ends_nothing(encoding, tmp_path):
    done = vera("render", "table9", "--results-dir", tmp_path, PYTHONIOENCODING=encoding)
    assert (done.returncode, done.stderr) == (0, b"")
    mark = "\u00b7".encode(encoding, "replace")
    assert done.stdout.startswith(b"table9 " + mark + b" laptop profile")


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="has no /dev/full")
def test_a_full_disk_behind_the_output_is_one_line(unbuffered, tmp_path):
    with open("/dev/full", "w") as full:
        done = vera("status", "--results-dir", tmp_path, out=full, PYTHONUNBUFFERED=unbuffered)
    assert done.returncode == 2
    assert done.stderr.decode().splitlines() == [
        "vera: Nothing more can be written: No space left on device. Make room, or send the output elsewhere."
    ]


def test_a_reader_that_leaves_is_no_error_and_no_success():
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = vera("list", out=writing)
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (128 + signal.SIGPIPE, b"")


def test_a_working_directory_that_is_gone_is_one_line(tmp_path, monkeypatch, capsys):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    for words in (["status"], ["data", "list"], ["render", "table2"]):
        assert main(words) == 2
        assert capsys.readouterr().err == (
            "vera: The working directory is no longer there. Go to one that is, and call it again: cd DIR\n"
        )


@pytest.mark.parametrize(
    "words", [["status"], ["list"], ["plan", "toy-demo"], ["render", "table2"], ["report"]]
)
def test_a_place_that_cannot_be_is_one_line(words, tmp_path, capsys):
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for place, reason in (
        (tmp_path / "loop", "Too many levels of symbolic links"),
        (tmp_path / ("n" * 300), "File name too long"),
    ):
        assert main([*words, "--results-dir", str(place)]) == 2
        assert (
            capsys.readouterr().err
            == f"vera: --results-dir {place} cannot be used: {reason}. Choose another directory.\n"
        )


def test_an_address_in_a_bucket_may_be_longer_than_a_file_name():
    check_results_dir(argparse.Namespace(results_dir=f"s3://lab/{'n' * 300}"))


@pytest.mark.skipif(not os.path.isdir("/proc"), reason="has no /proc")
def test_a_place_that_cannot_be_made_has_a_way_on(capsys):
    assert main(["run", "toy-demo", "--profile", "smoke", "--results-dir", "/proc/x"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith(": No such file or directory. Choose another directory with --results-dir.")
