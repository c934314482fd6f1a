"""`vera render`: the store it reads, the files it writes, what it prints, and its errors."""

import argparse
import shutil

import pytest
from bench_helpers import GOLDEN, PLUGIN, row_of
from facts import raises_with

from bench.cli.verbs.render import add_parser
from sweeps.store.row import Record
from sweeps.store.store import Store
from vera.errors import UnknownName, VeraError


@pytest.fixture
def place(golden, tmp_path, monkeypatch):
    """An empty working directory, with the golden artifacts instead of the paper's."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def render(*arguments):
    parser = argparse.ArgumentParser()
    add_parser(parser.add_subparsers())
    parsed = parser.parse_args(["render", *map(str, arguments)])
    return parsed.run(parsed)


def copy_store(folder):
    """Copy the golden store into the folder."""
    shutil.copytree(GOLDEN / "trials", folder / "trials")
    return folder


def test_table_is_written_printed_and_judged(place, capsys):
    copy_store(place / "results" / "local")
    assert render("golden-table") == 0
    out = capsys.readouterr().out
    assert "golden-table · laptop profile · local trials" in out
    assert "Table G: likelihood & more, 100 % made up (laptop profile)" in out
    assert "−213.8 ± 1.9" in out
    claims = [line for line in out.splitlines() if " at laptop: " in line]
    assert "supported" in claims[0]
    assert "maximum likelihood is the best (Sec. 1)" in claims[0]
    assert "undetermined" in claims[1]
    assert "VERA beats PCD (Sec. 2)" in claims[1]
    assert "n=3" not in out, "each claim is one line"
    assert out.splitlines()[-1].endswith("vera render golden-table --explain")
    for ending in ("md", "tex", "csv"):
        path = place / "results" / "local" / "tables" / f"golden-table.{ending}"
        assert str(path.relative_to(place)) in out
        assert path.read_bytes() == (GOLDEN / "laptop" / "tables" / path.name).read_bytes()


def test_explain_prints_the_evidence_of_each_claim(place, capsys):
    copy_store(place / "results" / "local")
    assert render("golden-table", "--explain") == 0
    out = capsys.readouterr().out
    assert all(fact in out for fact in ("26.5 ± 3.3", "−213.8 (n=3)", "−402.6 (n=1 of 3)"))
    assert "vera render" not in out


def test_figure_is_written_and_its_paths_are_printed(place, capsys):
    copy_store(place / "mine")
    assert render("golden-figure", "--profile", "paper", "--results-dir", "mine") == 0
    out = capsys.readouterr().out
    assert "Figure G: samples (paper profile)" in out
    assert "mine/figures/golden-figure-paper.png, mine/figures/golden-figure-paper.pdf" in out
    assert (place / "mine" / "figures" / "golden-figure-paper.pdf").stat().st_size > 1000


def source_of(capsys):
    out = capsys.readouterr().out
    return next(word for word in ("local", "published") if f"{word} trials" in out)


def test_own_rows_come_before_published_ones(place, golden, capsys):
    published = copy_store(place / "results" / "published")
    render("golden-table")
    assert source_of(capsys) == "published"
    assert not (published / "tables").exists(), "written only where it is named"
    assert (place / "results" / "local" / "tables" / "golden-table.md").is_file()

    local = Store(place / "results" / "local" / "trials")
    render("golden-table")
    assert source_of(capsys) == "published"

    local.write(Record(row_of(next(golden["golden-table"].trials("paper")), 0, 1.0)))
    render("golden-table")
    assert source_of(capsys) == "published"

    local.write(Record(row_of(next(golden["golden-table"].trials("laptop")), 0, 1.0)))
    render("golden-table")
    assert source_of(capsys) == "local"
    render("golden-table", "--from", "published")
    assert source_of(capsys) == "published"


def test_published_results_can_be_written_elsewhere(place, capsys):
    copy_store(place / "results" / "published")
    render("golden-table", "--from", "published", "--results-dir", "mine")
    assert source_of(capsys) == "published"
    assert (place / "mine" / "tables" / "golden-table.md").is_file()
    render("golden-table", "--from", "published", "--results-dir", "results/local")
    assert (place / "results" / "local" / "tables" / "golden-table.md").is_file()
    assert not (place / "results" / "published" / "tables").exists()


def test_named_store_is_not_replaced_by_another(place):
    copy_store(place / "results" / "published")
    with raises_with(VeraError, "golden-table", "laptop profile", "results/local.", "vera run golden-table"):
        render("golden-table", "--from", "local")


def test_artifact_without_rows_names_the_command_that_runs_it(place):
    with raises_with(VeraError, "results/local or results/published", "vera run golden-table"):
        render("golden-table")
    with raises_with(VeraError, "--profile smoke --results-dir 'my results'", "--from published"):
        render("golden-table", "--profile", "smoke", "--results-dir", "my results")
    assert list(place.iterdir()) == []


def test_artifact_without_trials_at_a_profile_is_refused(place, golden, monkeypatch):
    monkeypatch.setattr(type(golden["golden-table"]), "trials", lambda self, profile: iter(()))
    with raises_with(VeraError, "golden-table", "no trials", "laptop profile"):
        render("golden-table")


def test_wrong_name_changes_nothing(place):
    copy_store(place / "results" / "local")
    with raises_with(UnknownName, "'golden-tabel'", "golden-table"):
        render("golden-figure", "golden-tabel")
    assert not (place / "results" / "local" / "figures").exists()


def test_missing_artifact_stops_before_anything_is_written(place, golden, monkeypatch):
    copy_store(place / "results" / "local")
    monkeypatch.setattr(type(golden["golden-table"]), "trials", lambda self, profile: iter(()))
    with raises_with(VeraError, "golden-table"):
        render("golden-figure", "golden-table")
    assert not (place / "results" / "local" / "figures").exists()


def test_all_names_the_artifacts_without_rows(place, golden, monkeypatch, capsys):
    copy_store(place / "results" / "local")
    monkeypatch.setattr(type(golden["golden-table"]), "trials", lambda self, profile: iter(()))
    assert render("all") == 0
    out = capsys.readouterr().out
    assert out.count("written: ") == 1
    (skipped,) = [line for line in out.splitlines() if line.startswith("skipped: ")]
    assert "golden-table" in skipped


def test_all_of_nothing_is_an_error(place):
    with raises_with(VeraError, "smoke profile", "results/local or results/published", "vera list"):
        render("all", "--profile", "smoke")


def test_repeated_name_is_rendered_once(place, capsys):
    copy_store(place / "results" / "local")
    render("golden-figure", "golden-figure")
    assert capsys.readouterr().out.count("written: ") == 1


def test_notes_on_the_choice_of_rows_reach_the_table(place, golden, capsys):
    folder = copy_store(place / "results" / "local")
    trial = next(golden["golden-table"].trials("laptop"))
    variant = row_of(trial, 0, -9.0, defaults={"lr": 1.0}, finished_at="2026-02-01T00:00:00+00:00")
    Store(folder / "trials").write(Record(variant))
    render("golden-table")
    assert "ML on digits: 2 variants" in capsys.readouterr().out
    assert "2 variants" in (folder / "tables" / "golden-table.md").read_text(encoding="utf-8")


def test_damaged_part_is_named_on_stderr(place, capsys):
    folder = copy_store(place / "results" / "local")
    (folder / "trials" / "rows" / "broken.parquet").write_text("not Parquet")
    assert render("golden-table") == 0
    assert "broken.parquet" in capsys.readouterr().err


def test_plugin_flag_is_accepted():
    parser = argparse.ArgumentParser()
    add_parser(parser.add_subparsers())
    assert parser.parse_args(["render", "x", "--plugin", str(PLUGIN)]).plugin == [str(PLUGIN)]
