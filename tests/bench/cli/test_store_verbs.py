"""What the verbs say of a store: a damaged part, trials that ship, an id that is not there or is that of
several."""

from dataclasses import replace

import pytest
from bench_helpers import row_of, stored

from bench.cli.main import main
from sweeps.trial.sweep import find_sweep


def test_a_damaged_part_is_named_also_where_it_was_the_only_one(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for verb in (["render", "table2"], ["report"]):
        part = tmp_path / "results" / "local" / "trials" / "rows" / "part.parquet"
        part.parent.mkdir(parents=True, exist_ok=True)
        part.write_text("not Parquet")
        assert main(verb) == 2
        problem, error = capsys.readouterr().err.splitlines()
        assert "rows/part.parquet is not readable" in problem
        assert problem.endswith("the next vera run trains its trials again.")
        assert "vera run" in error


@pytest.mark.parametrize("verb", [["list"], ["search", "moons", "--profile", "smoke", "--dry-run"]])
def test_who_sets_a_damaged_part_aside_names_it(verb, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    part = tmp_path / "results" / "local" / "trials" / "rows" / "part.parquet"
    part.parent.mkdir(parents=True)
    part.write_text("not Parquet")
    assert main(verb) == 0
    (problem,) = capsys.readouterr().err.splitlines()
    assert "rows/part.parquet is not readable" in problem
    assert not part.exists()


@pytest.fixture
def ships(tmp_path, monkeypatch):
    """A working directory in which nothing but trials of table2 ships, and the id of one."""
    rows = [
        row_of(trial, 0, -1.0, metric="test_log_likelihood")
        for trial in find_sweep("table2").trials("laptop", [0])[:2]
    ]
    stored(tmp_path / "results" / "published", rows)
    monkeypatch.chdir(tmp_path)
    return rows[0].trial_id


@pytest.mark.parametrize("verb", [["render", "table2"], ["report"], ["plan", "table2", "--reuse-published"]])
def test_a_damaged_part_of_what_ships_stays_where_it_is(verb, ships, tmp_path, capsys):
    part = tmp_path / "results" / "published" / "trials" / "rows" / "part.parquet"
    part.write_text("not Parquet")
    assert main(verb) == 0
    assert part.is_file()
    assert not (tmp_path / "results" / "published" / "trials" / "set-aside").exists()
    assert capsys.readouterr().err.endswith(
        "left where it is. To restore it: git checkout results/published\n"
    )


def test_a_table_whose_only_trials_are_of_a_plug_in_asks_for_it(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    trial = find_sweep("table2").trials("laptop", [0])[0]
    own = replace(trial, spec=replace(trial.spec, method={"name": "of-a-plug-in"}))
    stored(tmp_path / "results" / "local", [row_of(own, sweep="table2")])
    assert main(["render", "table2"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    told = "results/local/trials has trials of table2 by of-a-plug-in: to see them, name the plug-in with --plugin FILE."
    assert line.startswith(
        f"vera: {told} table2 has no trial of the laptop profile in results/local or results/published. To make"
    )


def test_one_of_a_thing_is_no_several(tmp_path, capsys):
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
    assert " · 1 configuration of 1 seed, 0 of them begun already · " in out
    assert "would run up to 1 more trial of " in out


def test_who_names_a_place_is_not_shown_what_ships(ships, tmp_path, capsys):
    for verb in (["render", "table2"], ["report"]):
        assert main([*verb, "--results-dir", "elsewhere"]) == 2
        assert "; those that ship: --from published" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["results"]
    assert main(["report"]) == 0


def test_a_trial_that_ships_is_shown_and_said_to_be_no_own_one(ships, capsys):
    assert main(["show", ships[:8]]) == 0
    assert capsys.readouterr().out.startswith(f"{ships} (from results/published)\n")
    assert main(["show", "zzzz"]) == 2
    assert capsys.readouterr().err.endswith(
        "the ids of the trials that ship stand in the page of: vera report --from published\n"
    )


def test_an_id_may_be_typed_in_capitals(ships, capsys):
    assert main(["show", ships[:8].upper()]) == 0
    assert capsys.readouterr().out.startswith(ships)


def test_the_beginning_of_several_trials_that_ship_is_said_to_be_one(ships, tmp_path, capsys):
    twin = replace(row_of(find_sweep("table2").trials("laptop", [0])[0]), trial_id=f"{ships[:6]}0123456789")
    stored(tmp_path / "results" / "published", [twin])
    assert main(["show", ships[:6]]) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"vera: 2 trials begin with '{ships[:6]}': ")
    assert err.endswith("Give more of the id.\n")


def test_who_asks_for_a_trial_that_is_not_there_is_led_to_the_page_of_this_place(ships, capsys):
    assert main(["show", "zzzz", "--results-dir", "results/published"]) == 2
    assert capsys.readouterr().err.endswith(
        " Every id stands in the page of: vera report --results-dir results/published\n"
    )


def test_a_replay_of_a_plug_ins_method_asks_for_the_plug_in(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    trial = find_sweep("toy-demo").trials("smoke")[0]
    own = replace(trial, spec=replace(trial.spec, method={"name": "of-a-plug-in"}))
    stored(tmp_path / "results" / "published", [row_of(own)])
    assert main(["replay", row_of(own).trial_id]) == 2
    err = capsys.readouterr().err
    assert "There is no method 'of-a-plug-in'." in err
    assert err.endswith("If a plug-in of yours has it: --plugin FILE\n")
