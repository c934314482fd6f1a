"""Help: every verb ends with examples that the parser accepts, and defaults are documented. Help and error
messages equal a golden file, word for word; to update it: make golden."""

import difflib
import shlex
import sys

import pytest
from messages import GOLDEN, collect_messages, find_verbs

from bench.cli.main import build_parser, main
from bench.cli.verbs.launch import EXAMPLES
from sweeps.trial.filter import _collect_facets
from sweeps.trial.sweep import find_sweep

VERBS = dict(find_verbs(build_parser()))


@pytest.mark.parametrize("words", list(VERBS), ids=" ".join)
def test_verb_ends_with_examples_that_the_parser_accepts(words):
    head, *lines = VERBS[words].epilog.splitlines()
    assert head == "examples:"
    assert 1 <= len(lines) <= 4
    for line in lines:
        vera, *typed = shlex.split(line)
        assert (vera, *typed[: len(words)]) == ("vera", *words)
        build_parser().parse_args(typed)


@pytest.mark.parametrize("system", list(EXAMPLES))
def test_example_of_a_cluster_can_be_launched(system, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(shlex.split(EXAMPLES[system])) == 0
    # Nothing, or one line that this machine lacks MNIST.
    assert all("train-images" in line for line in capsys.readouterr().err.splitlines())


def test_examples_are_printed_as_they_are_typed(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    for words, verb in VERBS.items():
        with pytest.raises(SystemExit):
            main([*words, "--help"])
        assert capsys.readouterr().out.endswith(f"\n\n{verb.epilog}\n")


@pytest.mark.parametrize(
    "flag", ["--gpus-per-trial", "--cpus-per-trial", "--max-concurrent", "--time-limit", "--retry"]
)
def test_help_names_the_default(flag):
    assert "(default: " in VERBS[("run",)]._option_string_actions[flag].help


def test_help_names_every_key_of_only():
    text = VERBS[("plan",)]._option_string_actions["--only"].help
    keys = set(_collect_facets(find_sweep("toy-demo").trials("smoke")[0]))
    assert all(key in text for key in keys if not key.startswith("method."))
    assert "method.SETTING" in text


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="argparse formats help differently")
def test_messages_equal_the_golden_file():
    old, new = GOLDEN.read_text(encoding="utf-8"), collect_messages()
    difference = list(difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=1))
    assert not difference, "\n".join(difference)
