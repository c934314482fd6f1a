"""The commands in README and pages: targets and verbs exist, flags are accepted, and CI runs those of README,
quickstart and the page of all commands.

Cheap commands are run. Expensive ones are checked without training: target, verb, flags, sweep, and that
`--only` leaves trials. `.ci/readme` runs them at smoke; that its list is complete is checked here.
"""

import re
import shlex
import subprocess

import pytest
from locations import ROOT

from bench.catalogue import catalogue
from bench.cli.main import build_parser, main
from bench.paper.artifacts import ARTIFACTS, UNLISTED
from sweeps.trial.filter import filter_trials

PAGES = [ROOT / "README.md", ROOT / "results" / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
COMMAND = r"(?:\$ )?((?:make|vera|python -m) \S.*?)(?:  +#.*)?"


def find_commands(page):
    """Commands in fenced blocks, one per line, and in backticks."""
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")  # a command may continue on the next line
    blocks = [
        body
        for language, body in re.findall(r"^```(\w*)\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
        if not language
    ]
    fenced = [
        found.group(1)
        for block in blocks
        for line in block.splitlines()
        if (found := re.fullmatch(COMMAND, line))
    ]
    prose = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    return fenced + [
        found.group(1) for code in re.findall(r"`([^`\n]+)`", prose) if (found := re.fullmatch(COMMAND, code))
    ]


FOUND = sorted({command for page in PAGES for command in find_commands(page)})
OURS = [command for command in FOUND if command.startswith("vera ")]
PLACEHOLDERS = {"SWEEP", "ID", "trial:ID", "NAME", "NAME...", "FILE"}


@pytest.mark.parametrize("command", [command for command in FOUND if command.startswith("make ")])
def test_every_make_target_exists(command):
    words = [word.replace("NAME", "table2") for word in shlex.split(command)]
    done = subprocess.run([words[0], "-n", *words[1:]], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("command", OURS)
def test_parser_accepts_every_command(command):
    words = shlex.split(command)[1:]
    if len(words) == 1:  # a verb that is only mentioned
        assert words[0] in build_parser().format_help().split()
        return
    arguments = build_parser().parse_args(words)
    named = {getattr(arguments, "sweep", "ID"), *getattr(arguments, "names", [])} - PLACEHOLDERS - {"all"}
    if not has_foreign_names(arguments):
        assert named <= {*catalogue.sweep_names(), *catalogue.artifact_names()}
        assert all(
            name in catalogue.artifact_names() for name in set(getattr(arguments, "names", [])) & named
        )
    for name in (
        [arguments.sweep]
        if hasattr(arguments, "sweep") and arguments.only and not has_foreign_names(arguments)
        else []
    ):
        assert filter_trials(catalogue.sweep(name).trials(arguments.profile), arguments.only)


def has_foreign_names(arguments):
    """Whether names may come from a plug-in or are placeholders; tests/project/test_docs.py runs these."""
    return bool(getattr(arguments, "plugin", [])) or getattr(arguments, "sweep", "") in PLACEHOLDERS


def test_every_program_is_a_verb():
    assert not [command for command in FOUND if command.startswith("python -m bench")]


@pytest.mark.parametrize("file", sorted(set(re.findall(r"(?:csv:|--plugin )([^\s,]+)", "\n".join(FOUND)))))
def test_every_file_that_a_command_names_exists(file):
    assert file in PLACEHOLDERS or (ROOT / file).is_file()


def test_pages_have_commands():
    assert {
        "make reproduce-table2",
        "make test",
        "make figures",
        "vera run toy-demo",
        "vera docs --check",
    } <= set(FOUND)
    assert len(OURS) > 40


CHEAP = {
    "vera plan table2 --profile paper": r"33 trials · 0 already done · at least 26 GPU-hours",
    "vera list": r"table10 +smoke 0/30 +laptop 0/60",
    "vera data list": r"mnist5k-logit +here",
    "vera status": r"results/local .* vera run toy-demo",
}


@pytest.mark.parametrize("command", list(CHEAP))
def test_cheap_command_is_run(command, tmp_path, monkeypatch, capsys):
    assert command in FOUND
    monkeypatch.chdir(tmp_path)
    assert main(shlex.split(command)[1:]) == 0
    assert re.search(CHEAP[command], capsys.readouterr().out)


NOT_IN_CI = {
    "make setup": "every other target does it first",
    "vera docs": "make docs-check runs it with --check",
    "vera data fetch": "needs the network; tests/vera/data/files/test_fetch.py has its own server",
    "vera run table3": "needs the files of CIFAR10; tests/bench/paper has tests on other data",
    "vera plan table3": "the same verb with another table",
    "make check": "make lint and make test",
    "vera replay 79ecd95e": "tests/project/test_readme.py replays it",
    "vera perf memory": "takes 832 MB; tests/bench/perf/test_image_step.py measures a smaller shape",
}
"""The beginnings of commands that .ci does not run, and why."""


def shorten_command(command):
    """What a smoke form has in common with the command in the README: program, verb or target, and its
    subject."""
    words = [word for word in shlex.split(command) if "=" not in word or word.startswith("--")]
    subject = [word for word in words[2:3] if not word.startswith("-")]
    return " ".join(words[:2] + subject)


FIRST_PAGES = [ROOT / "README.md", ROOT / "docs" / "quickstart.md", ROOT / "docs" / "commands.md"]


@pytest.mark.parametrize(
    "command", sorted({command for page in FIRST_PAGES for command in find_commands(page)})
)
def test_ci_runs_every_command_of_the_first_pages(command):
    script = "".join((ROOT / ".ci" / name).read_text(encoding="utf-8") for name in ("run", "readme"))
    tables = command.startswith("make reproduce-")  # .ci/readme reads these from the README
    mentioned = PLACEHOLDERS & set(shlex.split(command))
    known = command in CHEAP or any(command.startswith(beginning) for beginning in NOT_IN_CI)
    assert tables or mentioned or known or shorten_command(command) in script, (
        f"add its smoke form to .ci/readme: {shorten_command(command)}"
    )


def test_ci_runs_every_table_of_the_readme():
    loop = re.search(r"\$\((sed .*)\); do", (ROOT / ".ci" / "readme").read_text(encoding="utf-8")).group(1)
    found = subprocess.run(["bash", "-c", loop], cwd=ROOT, capture_output=True, text=True).stdout.split()
    assert len(found) == len(set(found)) > 25
    assert set(found) <= set(ARTIFACTS)
    left_out = set(ARTIFACTS) - set(found)
    sheets = {f"figure{number}" for number in range(10, 27)}
    assert left_out == {*sheets, *UNLISTED}, "reproduce-all renders the sheets"
