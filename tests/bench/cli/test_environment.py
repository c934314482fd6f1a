"""Shell, disk and terminal: their failures end in one line and never in a traceback."""

import argparse
import os
import signal
import subprocess
import sys

import pytest
from engine_helpers import ROOT

from bench.cli.directories import check_results_dir
from bench.cli.main import main


def run_process(*words, cwd=ROOT, out=subprocess.PIPE, **environment):
    """The command in its own process, with these environment variables."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    command = [sys.executable, "-m", "bench.cli", *map(str, words)]
    return subprocess.run(command, cwd=cwd, stdout=out, stderr=subprocess.PIPE, env=env, timeout=120)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_character_that_the_terminal_lacks_is_replaced(encoding, tmp_path):
    done = run_process("render", "table9", "--results-dir", tmp_path, PYTHONIOENCODING=encoding)
    assert (done.returncode, done.stderr) == (0, b"")
    mark = "\u00b7".encode(encoding, "replace")
    assert done.stdout.startswith(b"table9 " + mark + b" laptop profile")


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="has no /dev/full")
def test_full_disk_behind_the_output_is_one_line(unbuffered, tmp_path):
    with open("/dev/full", "w") as full:
        done = run_process("status", "--results-dir", tmp_path, out=full, PYTHONUNBUFFERED=unbuffered)
    assert done.returncode == 2
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith("vera: ")
    assert "No space left on device" in line


def test_closed_pipe_ends_with_the_code_of_its_signal():
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = run_process("list", out=writing)
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (128 + signal.SIGPIPE, b"")


def test_removed_working_directory_is_one_line(tmp_path, monkeypatch, capsys):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    for words in (["status"], ["data", "list"], ["render", "table2"]):
        assert main(words) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert "working directory" in line
        assert "cd DIR" in line


@pytest.mark.parametrize(
    "words", [["status"], ["list"], ["plan", "toy-demo"], ["render", "table2"], ["report"]]
)
def test_impossible_results_directory_is_one_line(words, tmp_path, capsys):
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for folder, reason in (
        (tmp_path / "loop", "Too many levels of symbolic links"),
        (tmp_path / ("n" * 300), "File name too long"),
    ):
        assert main([*words, "--results-dir", str(folder)]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert f"--results-dir {folder}" in line
        assert reason in line


def test_bucket_may_have_a_longer_name_than_a_file():
    check_results_dir(argparse.Namespace(results_dir=f"s3://lab/{'n' * 300}"))


@pytest.mark.skipif(not os.path.isdir("/proc"), reason="has no /proc")
def test_results_directory_that_cannot_be_created_is_refused_before_training(capsys):
    assert main(["run", "toy-demo", "--profile", "smoke", "--results-dir", "/proc/x"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "/proc/x" in line
    assert "--results-dir" in line
