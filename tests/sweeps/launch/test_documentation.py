"""The launch commands of docs/cluster.md render, and the excerpts shown there are in the rendered files."""

import re
import shlex

import pytest
from launch_helpers import render_launch
from locations import ROOT

PAGE = (ROOT / "docs" / "cluster.md").read_text()
COMMANDS = [
    line.split(" | ")[0] for line in re.findall(r"^(vera launch .*)$", PAGE.replace("\\\n", ""), re.MULTILINE)
]


def render_command(capsys, command):
    words = shlex.split(command)[2:]
    if "--output" in words:
        place = words.index("--output")
        del words[place : place + 2]
    return render_launch(capsys, *words)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.split()[2])
def test_every_command_of_the_page_renders(capsys, command):
    assert render_command(capsys, command)


def test_the_page_has_one_command_for_each_system():
    assert [command.split()[2] for command in COMMANDS] == ["slurm", "ray-up", "kuberay", "job"]


@pytest.mark.parametrize(("system", "first"), [("slurm", "#SBATCH"), ("ray-up", "# ray")])
def test_excerpts_of_the_page_are_in_the_files(capsys, system, first):
    command = next(command for command in COMMANDS if command.split()[2] == system)
    shown = next(block for block in re.findall(r"```\n(.*?)```", PAGE, re.DOTALL) if block.startswith(first))
    assert shown in render_command(capsys, command)
