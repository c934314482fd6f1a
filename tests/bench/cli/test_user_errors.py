"""A mistake at the prompt is answered in one line with the facts: what is wrong, where, and what to do
next."""

import re

import pytest
from messages import mistakes_folder, run_vera
from mistakes import MISTAKES

from bench.cli.main import main


@pytest.mark.parametrize("line", list(MISTAKES))
def test_mistake_is_answered_in_one_line_with_its_facts(line, tmp_path):
    with mistakes_folder(tmp_path):
        code, _, err = run_vera(line.split())
    assert code == 2
    assert len(err.splitlines()) == 1, err
    assert re.match(r"vera( \w+)*: ", err)
    missing = [fact for fact in MISTAKES[line] if fact not in err]
    assert not missing, f"{missing} not in: {err}"


@pytest.mark.parametrize("line", ["data list", "plan table6", "run table6 --dry-run"])
def test_data_directory_of_the_environment_must_not_be_a_file(line, tmp_path, monkeypatch, capsys):
    (tmp_path / "file").touch()
    monkeypatch.setenv("VERA_DATA", str(tmp_path / "file"))
    assert main([*line.split(), *([] if "data" in line else ["--results-dir", str(tmp_path)])]) == 2
    (err,) = capsys.readouterr().err.splitlines()
    assert f"VERA_DATA {tmp_path / 'file'}" in err
    assert "directory" in err


def test_verbs_without_data_do_not_check_the_data_directory(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("VERA_DATA", str(tmp_path / "file"))
    assert main(["status", "--results-dir", str(tmp_path)]) == 0


@pytest.mark.parametrize("words", ["data list --data-dir=~/file", "status --results-dir=~/file"])
def test_tilde_after_an_equals_sign_means_the_home_directory(words, tmp_path, monkeypatch, capsys):
    (tmp_path / "file").touch()
    monkeypatch.setenv("HOME", str(tmp_path))
    assert main(words.split()) == 2
    assert str(tmp_path / "file") in capsys.readouterr().err
    assert main(["status", "--plugin=~/none.py"]) == 2
    assert str(tmp_path / "none.py") in capsys.readouterr().err


@pytest.mark.parametrize("words", [["help"], ["help", "run"], ["help", "data", "fetch"]])
def test_help_is_also_a_verb(words, capsys):
    with pytest.raises(SystemExit) as end:
        main(words)
    assert end.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: {' '.join(['vera', *words[1:]])} ")


@pytest.mark.parametrize("profile", ["laptop", "paper"])
def test_table_without_trials_runs_nothing_and_is_rendered(profile, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VERA_DATA", str(tmp_path / "nothing"))
    flags = [] if profile == "laptop" else ["--profile", profile]
    for verb in ("plan", "run"):
        assert main([verb, "table9", *flags]) == 0
        out = capsys.readouterr().out
        assert out.startswith("table9 ")
        assert out.endswith(f"{' '.join(['vera render table9', *flags])}\n")
    assert main(["render", "table9", *flags]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"table9 · {profile} profile · ")
    assert "results/local/tables/table9" in out


def test_hint_repeats_the_results_directory(tmp_path, capsys):
    assert main(["status", "--results-dir", str(tmp_path)]) == 0
    assert capsys.readouterr().out.endswith(f"vera run toy-demo --results-dir {tmp_path}\n")
