"""docs/search.md: its commands are accepted, and its problems, samplers and schedulers are declared."""

import re
import shlex

import pytest
from locations import ROOT

from bench.cli.main import build_parser
from bench.cli.verbs.search import SAMPLERS, SCHEDULERS, select_search
from bench.searches.problems import PROBLEMS, find_search

PAGE = (ROOT / "docs" / "search.md").read_text(encoding="utf-8")
COMMANDS = [line.split("  ")[0] for line in re.findall(r"^(vera .*)$", PAGE, re.MULTILINE)]
SEARCHES = [command for command in COMMANDS if command.startswith("vera search")]


@pytest.mark.parametrize("command", dict.fromkeys(COMMANDS))
def test_commands_of_the_page_are_accepted(command):
    words = shlex.split(command)[1:]
    module = build_parser().parse_args(words).run.__module__
    assert module == f"bench.cli.verbs.{'run' if words[0] == 'retry' else words[0]}"


@pytest.mark.parametrize("command", dict.fromkeys(SEARCHES))
def test_searches_of_the_page_are_declared(command):
    arguments = build_parser().parse_args(shlex.split(command)[1:])
    declared = find_search(arguments.problem, arguments.method)
    assert select_search(arguments).sweep == f"search-{declared.name}-{arguments.sampler}"


def test_page_names_every_problem_sampler_and_scheduler():
    assert len(SEARCHES) == 5
    assert [name for name in (*PROBLEMS, *SAMPLERS, *SCHEDULERS) if f"`{name}`" not in PAGE] == []
