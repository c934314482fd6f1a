"""Verbs on a store: damaged parts, published trials, and ids that are unknown or ambiguous."""

import re
from dataclasses import replace

import pytest
from bench_helpers import row_of, store_rows

from bench.catalogue import catalogue
from bench.cli.main import main
from sweeps.trial.sweep import find_sweep


def test_damaged_part_is_named_if_it_is_the_only_one(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for verb in (["render", "table2"], ["report"]):
        part = tmp_path / "results" / "local" / "trials" / "rows" / "part.parquet"
        part.parent.mkdir(parents=True, exist_ok=True)
        part.write_text("not Parquet")
        assert main(verb) == 2
        problem, error = capsys.readouterr().err.splitlines()
        assert "rows/part.parquet" in problem
        assert "vera run" in problem
        assert "vera run" in error


@pytest.mark.parametrize("verb", [["list"], ["search", "moons", "--profile", "smoke", "--dry-run"]])
def test_damaged_part_is_named_when_it_is_set_aside(verb, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    part = tmp_path / "results" / "local" / "trials" / "rows" / "part.parquet"
    part.parent.mkdir(parents=True)
    part.write_text("not Parquet")
    assert main(verb) == 0
    (problem,) = capsys.readouterr().err.splitlines()
    assert "rows/part.parquet" in problem
    assert not part.exists()


@pytest.fixture
def published_id(tmp_path, monkeypatch):
    """The id of a published trial of table2, in a working directory with two of them."""
    rows = [
        row_of(trial, 0, -1.0, metric="test_log_likelihood")
        for trial in catalogue.sweep("table2").trials("laptop", [0])[:2]
    ]
    store_rows(tmp_path / "results" / "published", rows)
    monkeypatch.chdir(tmp_path)
    return rows[0].trial_id


@pytest.mark.parametrize("verb", [["render", "table2"], ["report"], ["plan", "table2", "--reuse-published"]])
def test_damaged_part_of_published_results_is_not_moved(verb, published_id, tmp_path, capsys):
    part = tmp_path / "results" / "published" / "trials" / "rows" / "part.parquet"
    part.write_text("not Parquet")
    assert main(verb) == 0
    assert part.is_file()
    assert not (tmp_path / "results" / "published" / "trials" / "set-aside").exists()
    assert capsys.readouterr().err.endswith("git checkout results/published\n")


def test_trials_of_a_plugin_are_pointed_out_if_they_are_the_only_ones(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    trial = catalogue.sweep("table2").trials("laptop", [0])[0]
    own = replace(trial, spec=replace(trial.spec, method={"name": "of-a-plug-in"}))
    store_rows(tmp_path / "results" / "local", [row_of(own, sweep="table2")])
    assert main(["render", "table2"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    facts = ("results/local/trials", "of-a-plug-in", "--plugin FILE", "vera run table2")
    assert all(fact in line for fact in facts)


def test_singular_and_plural_of_a_search(tmp_path, capsys):
    flags = [
        "--configurations",
        "1",
        "--seeds",
        "1",
        "--profile",
        "smoke",
        "--results-dir",
        str(tmp_path),
        "--dry-run",
    ]
    assert main(["search", "moons", *flags]) == 0
    out = capsys.readouterr().out
    assert " · 1 configuration of 1 seed, 0 " in out
    assert " 1 more trial with " in out


def test_named_results_directory_is_not_replaced_by_the_published_one(published_id, tmp_path, capsys):
    for verb in (["render", "table2"], ["report"]):
        assert main([*verb, "--results-dir", "elsewhere"]) == 2
        assert "--from published" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["results"]
    assert main(["report"]) == 0


def test_published_trial_is_shown_with_its_origin(published_id, capsys):
    assert main(["show", published_id[:8]]) == 0
    assert capsys.readouterr().out.startswith(f"{published_id} (from results/published)\n")
    assert main(["show", "zzzz"]) == 2
    assert capsys.readouterr().err.endswith("vera report --from published\n")


def test_id_may_be_upper_case(published_id, capsys):
    assert main(["show", published_id[:8].upper()]) == 0
    assert capsys.readouterr().out.startswith(published_id)


def test_beginning_of_several_ids_is_ambiguous(published_id, tmp_path, capsys):
    twin = replace(
        row_of(catalogue.sweep("table2").trials("laptop", [0])[0]), trial_id=f"{published_id[:6]}0123456789"
    )
    store_rows(tmp_path / "results" / "published", [twin])
    assert main(["show", published_id[:6]]) == 2
    err = capsys.readouterr().err
    assert all(fact in err for fact in ("2 trials", f"'{published_id[:6]}'", published_id))


def test_unknown_id_is_answered_with_the_report_of_this_directory(published_id, capsys):
    assert main(["show", "zzzz", "--results-dir", "results/published"]) == 2
    assert capsys.readouterr().err.endswith("vera report --results-dir results/published\n")


def test_replay_of_a_method_of_a_plugin_asks_for_the_plugin(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    trial = find_sweep("toy-demo").trials("smoke")[0]
    own = replace(trial, spec=replace(trial.spec, method={"name": "of-a-plug-in"}))
    store_rows(tmp_path / "results" / "published", [row_of(own)])
    assert main(["replay", row_of(own).trial_id]) == 2
    err = capsys.readouterr().err
    assert "'of-a-plug-in'" in err
    assert err.endswith("--plugin FILE\n")


def test_list_has_a_line_for_each_sweep_in_numerical_order(tmp_path, capsys):
    assert main(["list", "--results-dir", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    names = [line.split()[0] for line in out.splitlines()]
    assert sorted(names) == sorted(catalogue.sweep_names())
    assert names.index("figure2") < names.index("figure10") < names.index("table2") < names.index("table10")
    assert re.search(r"^toy-demo +smoke 0/9 +laptop 0/9 +paper 0/9 +\S", out, re.MULTILINE)
    assert re.search(r"^table9 +needs no trials +Table 9: settings", out, re.MULTILINE)
