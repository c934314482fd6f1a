"""What --help says: examples that can be typed, and what happens where a flag is left out."""

import argparse
import shlex

import pytest

from bench.cli.main import build_parser, main
from bench.cli.verbs.launch import EXAMPLES


def verbs_of(top):
    """(words, parser) of every verb, and of those that it has."""
    for action in top._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, inner in action.choices.items():
                yield (name,), inner
                yield from (((name, *words), deeper) for words, deeper in verbs_of(inner))


VERBS = dict(verbs_of(build_parser()))
TYPED = {words: verb for words, verb in VERBS.items() if words != ("list",)}


@pytest.mark.parametrize("words", list(TYPED), ids=" ".join)
def test_every_verb_ends_with_examples_that_the_parser_takes(words):
    head, *lines = TYPED[words].epilog.splitlines()
    assert head == "examples:"
    assert 1 <= len(lines) <= 4
    for line in lines:
        vera, *typed = shlex.split(line)
        assert (vera, *typed[: len(words)]) == ("vera", *words)
        build_parser().parse_args(typed)


@pytest.mark.parametrize("system", list(EXAMPLES))
def test_the_example_of_a_cluster_can_be_launched(system, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(shlex.split(EXAMPLES[system])) == 0
    assert capsys.readouterr().err == ""


def test_examples_stand_as_they_are_typed(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    for words, verb in TYPED.items():
        with pytest.raises(SystemExit):
            main([*words, "--help"])
        assert capsys.readouterr().out.endswith(f"\n\n{verb.epilog}\n")


@pytest.mark.parametrize(
    "flag", ["--gpus-per-trial", "--cpus-per-trial", "--max-concurrent", "--time-limit", "--retry"]
)
def test_what_a_flag_is_when_it_is_left_out_is_said(flag):
    assert "(default: " in VERBS[("run",)]._option_string_actions[flag].help


def test_every_key_of_only_is_said():
    from sweeps.trial.filter import _facets
    from sweeps.trial.sweep import find_sweep

    said = VERBS[("plan",)]._option_string_actions["--only"].help
    keys = set(_facets(find_sweep("toy-demo").trials("smoke")[0]))
    assert all(key in said for key in keys if not key.startswith("method."))
    assert "method.SETTING" in said
