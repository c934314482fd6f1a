"""Every command that docs/search.md shows is one that the command line takes, and what it says of the paper's
tasks is declared."""

import re
import shlex

import pytest
from locations import ROOT

from bench.cli.main import build_parser
from bench.cli.verbs.search import SAMPLERS, SCHEDULERS, asked_search
from bench.searches.problems import TASKS, find_search

PAGE = (ROOT / "docs" / "search.md").read_text()
COMMANDS = [line.split("  ")[0] for line in re.findall(r"^(vera .*)$", PAGE, re.MULTILINE)]
SEARCHES = [command for command in COMMANDS if command.startswith("vera search")]


@pytest.mark.parametrize("command", dict.fromkeys(COMMANDS))
def test_the_commands_of_the_page_are_taken(command):
    words = shlex.split(command)[1:]
    assert build_parser().parse_args(words).run.__name__ in {
        "run_sweep" if words[0] == "retry" else words[0],
        f"{words[0]}_sweep",
    }


@pytest.mark.parametrize("command", dict.fromkeys(SEARCHES))
def test_what_they_search_is_declared(command):
    arguments = build_parser().parse_args(shlex.split(command)[1:])
    assert (
        asked_search(arguments).sweep
        == f"search-{find_search(arguments.task, arguments.method).name}-{arguments.sampler}"
    )


def test_every_task_sampler_and_scheduler_is_named():
    assert len(SEARCHES) == 5
    assert [name for name in (*TASKS, *SAMPLERS, *SCHEDULERS) if f"`{name}`" not in PAGE] == []
