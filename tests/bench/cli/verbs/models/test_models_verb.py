"""`vera models`, `show` and `replay --keep-model`: stored models are listed, removed and trained again."""

import io
import shutil
from pathlib import Path

import pytest

from bench.cli.main import main
from sweeps.store.store import Store

LOCAL = Path("results/local")


def open_models():
    return Store(LOCAL / "trials").models


def test_models_are_listed_with_their_trial_metric_and_size(ids, capsys):
    assert main(["models"]) == 0
    header, *lines, total = capsys.readouterr().out.splitlines()
    assert header.split() == ["id", "sweep", "label", "data", "seed", "main", "metric", "size"]
    by_id = {line.split()[0]: line for line in lines}
    assert by_id.keys() == {trial_id[:8] for trial_id in ids.values()}
    facts = ("toy-demo", "VERA", "moons", "test_log_likelihood -", "kB")
    assert all(fact in by_id[ids["VERA"][:8]] for fact in facts)
    assert "test_accuracy" in by_id[ids["wine"][:8]]
    assert total.startswith("4 models, ")
    assert total.endswith("in results/local")


def test_a_filter_selects_models_by_settings_sweep_and_outcome(ids, capsys):
    for only, count in (("method=vera", 2), ("sweep=toy-demo", 3), ("outcome=ok", 4), ("method.k=20", 2)):
        assert main(["models", "--only", only]) == 0
        assert capsys.readouterr().out.splitlines()[-1].startswith(f"{count} model"), only
    for only, facts in (("method=vrea", ("vrea", "vera")), ("metod=vera", ("'metod'", "method"))):
        assert main(["models", "--only", only]) == 2
        err = capsys.readouterr().err
        assert all(fact in err for fact in facts)


def test_published_models_are_listed_after_ones_own_and_removed_by_no_filter(ids, capsys):
    shutil.copytree(LOCAL, "results/published")
    open_models().remove([ids["ML"], ids["PCD"], ids["wine"]])
    assert main(["models"]) == 0
    totals = [line for line in capsys.readouterr().out.splitlines() if " in results/" in line]
    assert [total.split(",")[0] for total in totals] == ["1 model", "4 models"]
    assert main(["models", "prune", "--yes"]) == 0
    assert open_models().list_sizes() == {}
    assert len(Store("results/published/trials").models.list_sizes()) == 4


def test_a_directory_without_models_names_the_command_that_trains_some(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["models", "--results-dir", "no"]) == 0
    assert capsys.readouterr().out.endswith("vera run toy-demo --results-dir no\n")
    assert main(["models", "prune"]) == 0
    assert list(tmp_path.iterdir()) == []


def test_pruning_removes_the_selected_models_and_no_row(ids, capsys):
    rows = Store(LOCAL / "trials").read_rows()
    size = open_models().list_sizes()[ids["PCD"]]
    assert main(["models", "prune", "--only", "method=pcd", "--yes"]) == 0
    out = capsys.readouterr().out
    assert all(
        fact in out for fact in ("1 of 4 models", f"{size / 1000:.1f} kB", "vera replay ID --keep-model")
    )
    assert set(open_models().list_sizes()) == set(ids.values()) - {ids["PCD"]}
    assert Store(LOCAL / "trials").read_rows() == rows


def test_pruning_asks_first(ids, monkeypatch, capsys):
    assert main(["models", "prune"]) == 2
    assert "--yes" in capsys.readouterr().err
    monkeypatch.setattr("sys.stdin", terminal := io.StringIO("n\n"))
    terminal.isatty = lambda: True
    assert main(["models", "prune"]) == 1
    assert len(open_models().list_sizes()) == 4
    monkeypatch.setattr("sys.stdin", terminal := io.StringIO("y\n"))
    terminal.isatty = lambda: True
    assert main(["models", "prune"]) == 0
    assert open_models().list_sizes() == {}


def test_models_without_a_row_are_removed_alone(ids, capsys):
    open_models().write("leftover", b"weights")
    assert main(["models"]) == 0
    assert any("no row" in line for line in capsys.readouterr().out.splitlines())
    assert main(["models", "prune", "--without-rows", "--yes"]) == 0
    assert set(open_models().list_sizes()) == set(ids.values())
    assert main(["models", "prune", "--without-rows", "--only", "method=ml"]) == 2
    assert "--without-rows" in capsys.readouterr().err


@pytest.mark.parametrize("label", ["ML", "VERA"])
def test_a_replay_restores_the_same_model(label, ids, capsys):
    before = open_models().read(ids[label])
    open_models().remove([ids[label]])
    assert main(["show", ids[label][:8]]) == 0
    assert f"vera replay {ids[label][:8]} --keep-model" in capsys.readouterr().out
    assert main(["sample", ids[label][:8]]) == 2
    assert f"vera replay {ids[label][:8]} --keep-model" in capsys.readouterr().err
    assert main(["replay", ids[label][:8]]) == 0
    assert ids[label] not in open_models().list_sizes()
    assert main(["replay", ids[label][:8], "--keep-model"]) == 0
    assert open_models().read(ids[label]) == before


def test_the_model_of_a_published_trial_is_kept_in_the_users_results(ids, tmp_path):
    shutil.move(LOCAL, "results/published")
    published = Store("results/published/trials")
    before = published.models.read(ids["ML"])
    published.models.remove([ids["ML"]])
    assert main(["replay", ids["ML"], "--keep-model"]) == 0
    assert open_models().read(ids["ML"]) == before
    assert ids["ML"] not in published.models.list_sizes()


def test_show_names_the_model_and_its_commands(ids, capsys):
    assert main(["show", ids["VERA"][:8]]) == 0
    out = capsys.readouterr().out
    assert f"results/local/trials/models/{ids['VERA']}.safetensors" in out
    assert all(f"vera {verb} {ids['VERA'][:8]}" in out for verb in ("sample", "score", "export"))
