"""Helpers for the tests of launchers: the text of `vera launch`, its errors and its vera command."""

import shlex

from bench.cli.main import build_parser, main

RUN = ("run", "table2", "--profile", "paper", "--only", "method=vera")
SHARED = ("--results-dir", "/shared/results")


def render_launch(capsys, *arguments):
    """The text that `vera launch ...` prints."""
    assert main(["launch", *map(str, arguments)]) == 0
    return capsys.readouterr().out


def read_launch_error(capsys, *arguments):
    """The error of `vera launch ...`, which is one line."""
    assert main(["launch", *map(str, arguments)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    return err


def assert_refused(capsys, facts, *arguments):
    """`vera launch ...` fails with one line that contains the facts."""
    error = read_launch_error(capsys, *arguments)
    missing = [fact for fact in facts if fact not in error]
    assert not missing, f"{missing} not in: {error}"


def parse_command(command):
    """The parsed arguments of a vera command, given as text or as words."""
    words = shlex.split(command) if isinstance(command, str) else list(command)
    assert words[0] == "vera"
    return build_parser().parse_args(words[1:])
