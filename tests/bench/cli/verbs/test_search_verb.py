"""`vera search`: the commands of docs/search.md, and what is printed and written at the end of a search."""

import argparse
import io
import json
import re
import shlex
import shutil
from dataclasses import replace

import pytest
from facts import raises_with
from locations import ROOT
from search_helpers import BEST, make_rows, make_search

from bench.cli.main import build_parser
from bench.cli.search_summary import describe_end, describe_failures, write_spec_file
from bench.cli.verbs.search import SAMPLERS, SCHEDULERS, select_search
from bench.searches.problems import PROBLEMS, find_search
from sweeps.run.progress import Progress
from vera.errors import VeraError

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


def match_configurations(search, rows):
    return search.match_configurations(rows, "laptop", search.select_fixed_facts(json.loads(rows[0].spec)))


def test_failed_trials_of_another_search_are_not_reported():
    rows = [
        *make_rows(make_search("first"), BEST, -3.0, 0, "error"),
        *make_rows(make_search("second"), BEST | {"method.lr": 1e-3}, -4.0, 1),
    ]
    found = {name: match_configurations(make_search(name), rows) for name in ("first", "second")}
    arguments = argparse.Namespace(results_dir="results/local")
    assert describe_failures(found["second"], arguments) == []
    (line,) = describe_failures(found["first"], arguments)
    assert all(fact in line for fact in ("2 of 2", "error", "vera show "))


def end_lines(rows, tmp_path):
    search = make_search("tpe")
    arguments = argparse.Namespace(results_dir=str(tmp_path), profile="laptop", dry_run=True, plugin=[])
    return describe_end(search, match_configurations(search, rows), arguments)


def test_a_best_configuration_without_rivals_is_said_to_be_the_only_survivor(tmp_path):
    search = make_search("tpe")
    best = list(make_rows(search, BEST, -3.0, 0))
    outcomes = {1e-3: "diverged", 1.5e-3: "diverged", 3e-3: "stopped_early"}
    others = [
        row
        for rate, outcome in outcomes.items()
        for row in make_rows(search, BEST | {"method.lr": rate}, -4.0, 1, outcome)
    ]
    (line,) = [line for line in end_lines([*best, *others], tmp_path) if "only one" in line]
    assert all(fact in line for fact in ("3 other configurations", "1 stopped early", "2 diverged"))
    rival = make_rows(search, BEST | {"method.lr": 5e-4}, -5.0, 2)
    assert not [line for line in end_lines([*best, *others, *rival], tmp_path) if "only one" in line]
    assert not [line for line in end_lines(best, tmp_path) if "only one" in line]


def test_a_best_configuration_that_diverged_is_named(tmp_path):
    search = make_search("tpe")
    rows = [
        row
        for rate in (1e-3, 2e-3)
        for row in make_rows(search, BEST | {"method.lr": rate}, -4.0, 1, "diverged")
    ]
    assert any(
        "it diverged too: of the 1 other configuration, 1 diverged" in x for x in end_lines(rows, tmp_path)
    )


def test_progress_lines_of_a_search_show_the_settings(tmp_path):
    search = make_search("tpe")
    row, _ = make_rows(search, BEST, -3.0, 0)
    out = io.StringIO()
    Progress(2, {}, out, name=search.describe_settings).on_end(row)
    assert "lr 0.002, generator_lr 0.004, entropy_weight 0.5" in out.getvalue()
    assert len(search.describe_settings(row)) <= search.space.description_width
    spec = json.loads(row.spec)
    spec["method"]["lr"] = 10.0
    assert search.describe_settings(replace(row, spec=json.dumps(spec))) == row.label, "outside of the space"


def test_the_best_configuration_is_written_or_the_error_names_the_folder(tmp_path):
    (entry,) = match_configurations(make_search("any"), list(make_rows(make_search("any"), BEST, -3.0, 0)))
    arguments = argparse.Namespace(results_dir=str(tmp_path), profile="laptop")
    assert json.loads(write_spec_file(entry, arguments).read_text())["profile"] == "laptop"
    shutil.rmtree(tmp_path / "searches")
    (tmp_path / "searches").touch()
    with raises_with(VeraError, str(tmp_path / "searches")):
        write_spec_file(entry, arguments)
