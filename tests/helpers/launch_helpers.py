"""What the tests of the launchers share: the verb's text, and the vera command in it parsed by vera's own
parser."""

import shlex

from bench.cli.main import main, parser

RUN = ("run", "table2", "--profile", "paper", "--only", "method=vera")
SHARED = ("--results-dir", "/shared/results")


def text_of(capsys, *arguments):
    """What `vera launch ...` prints."""
    assert main(["launch", *map(str, arguments)]) == 0
    return capsys.readouterr().out


def error_of(capsys, *arguments):
    """The one line of an error."""
    assert main(["launch", *map(str, arguments)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    return err


def parsed(command):
    """A vera command, as a text or as words."""
    words = shlex.split(command) if isinstance(command, str) else list(command)
    assert words[0] == "vera"
    return parser().parse_args(words[1:])
