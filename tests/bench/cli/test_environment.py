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


LONG = "n" * 300


@pytest.mark.parametrize(
    "words",
    [
        ["list", "--plugin", f"{LONG}.py"],
        ["plan", f"spec:{LONG}.json"],
        ["plan", "table6", "--dataset", f"csv:{LONG}.csv,label=kind"],
        ["plan", "toy-demo", "--data-dir", LONG, "--dataset", "moons", "--plugin", f"{LONG}/{LONG}.py"],
        ["score", LONG, f"{LONG}.csv"],
        ["train", f"{LONG}.csv"],
        ["export", "0", LONG],
        ["launch", "slurm", "--results-dir", "/r", "--output", LONG, "--", "run", "toy-demo"],
    ],
)
def test_impossible_path_is_one_line(words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(words) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "nnn" in line


@pytest.mark.parametrize("words", [["list", "--plugin"], ["status", "--results-dir"], ["plan"]])
def test_word_that_is_not_text_is_one_line(words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    name = os.fsdecode(b"b\xff.py")
    (tmp_path / name).write_text("")
    assert main([*words, name]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert r"b\xff.py" in line
    assert "UTF-8" in line


def test_plugin_may_lie_in_a_directory_whose_name_is_not_text(tmp_path, monkeypatch):
    folder = tmp_path / os.fsdecode(b"d\xff")
    folder.mkdir()
    (folder / "mine.py").write_text("")
    monkeypatch.chdir(folder)
    assert main(["status", "--plugin", "mine.py", "--results-dir", str(tmp_path)]) == 0
