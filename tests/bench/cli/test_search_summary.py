"""What `vera search` prints and writes at its end, from the rows of a search."""

import argparse
import json
import shutil

from facts import raises_with
from search_helpers import BEST, make_rows, make_search

from bench.cli.search_summary import describe_failures, write_spec_file
from vera.errors import VeraError


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


def test_the_best_configuration_is_written_or_the_error_names_the_folder(tmp_path):
    (entry,) = match_configurations(make_search("any"), list(make_rows(make_search("any"), BEST, -3.0, 0)))
    arguments = argparse.Namespace(results_dir=str(tmp_path), profile="laptop")
    assert json.loads(write_spec_file(entry, arguments).read_text())["profile"] == "laptop"
    shutil.rmtree(tmp_path / "searches")
    (tmp_path / "searches").touch()
    with raises_with(VeraError, str(tmp_path / "searches")):
        write_spec_file(entry, arguments)
