"""Every launcher shown in docs/cluster.md renders, and what the page shows of a file stands in it."""

import re
import shlex

import pytest
from launch_helpers import text_of
from locations import ROOT

PAGE = (ROOT / "docs" / "cluster.md").read_text()
COMMANDS = [
    line.split(" | ")[0] for line in re.findall(r"^(vera launch .*)$", PAGE.replace("\\\n", ""), re.MULTILINE)
]


def rendered(capsys, command):
    words = shlex.split(command)[2:]
    if "--output" in words:
        place = words.index("--output")
        del words[place : place + 2]
    return text_of(capsys, *words)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.split()[2])
def test_the_commands_of_the_page_render(capsys, command):
    assert rendered(capsys, command)


def test_there_is_one_for_each_system():
    assert [command.split()[2] for command in COMMANDS] == ["slurm", "ray-up", "kuberay", "job"]


@pytest.mark.parametrize(("system", "first"), [("slurm", "#SBATCH"), ("ray-up", "# ray")])
def test_what_the_page_shows_of_a_file_stands_in_it(capsys, system, first):
    command = next(command for command in COMMANDS if command.split()[2] == system)
    shown = next(block for block in re.findall(r"```\n(.*?)```", PAGE, re.DOTALL) if block.startswith(first))
    assert shown in rendered(capsys, command)
