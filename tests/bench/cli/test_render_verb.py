"""`vera render`: which store is read, what is written and printed, and the errors that say how to go on."""

import argparse
import shutil

import pytest
from bench_helpers import GOLDEN, PLUGIN, row_of

from bench.cli.verbs.render import add_render
from sweeps.store.row import Record
from sweeps.store.store import Store
from vera.errors import UnknownName, VeraError


@pytest.fixture
def paper(golden, monkeypatch):
    """The golden artifacts in place of the paper's."""
    return golden


@pytest.fixture
def place(paper, tmp_path, monkeypatch):
    """An empty working directory, as of a fresh clone."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def render(*arguments):
    parser = argparse.ArgumentParser()
    add_render(parser.add_subparsers())
    parsed = parser.parse_args(["render", *map(str, arguments)])
    return parsed.run(parsed)


def keep(folder):
    """The golden store there."""
    shutil.copytree(GOLDEN / "trials", folder / "trials")
    return folder


def test_a_table_is_written_printed_and_judged(place, capsys):
    keep(place / "results" / "local")
    assert render("golden-table") == 0
    out = capsys.readouterr().out
    assert "golden-table · laptop profile · local trials" in out
    assert "Table G: likelihood & more, 100 % made up (laptop profile)" in out
    assert "−213.8 ± 1.9" in out
    assert (
        "✓ supported at laptop: maximum likelihood is the best (Sec. 1)\n    ML − VERA = 26.5 ± 1.8 (n=3 and 3)"
        in out
    )
    assert (
        "? undetermined at laptop: VERA beats PCD (Sec. 2)\n    VERA −213.8 (n=3), PCD −402.6 (n=1 of 3): too few"
        in out
    )
    for ending in ("md", "tex", "csv"):
        path = place / "results" / "local" / "tables" / f"golden-table.{ending}"
        assert str(path.relative_to(place)) in out
        assert path.read_bytes() == (GOLDEN / "laptop" / "tables" / path.name).read_bytes()


def test_a_figure_is_written_and_its_path_printed(place, capsys):
    keep(place / "mine")
    assert render("golden-figure", "--profile", "paper", "--results-dir", "mine") == 0
    out = capsys.readouterr().out
    assert "Figure G: samples (paper profile)" in out
    assert "written: mine/figures/golden-figure-paper.png, mine/figures/golden-figure-paper.pdf" in out
    assert (place / "mine" / "figures" / "golden-figure-paper.pdf").stat().st_size > 1000


def source_of(capsys):
    out = capsys.readouterr().out
    return next(word for word in ("local", "published") if f"{word} trials" in out)


def test_own_rows_come_first_and_published_ones_where_there_are_none(place, paper, capsys):
    published = keep(place / "results" / "published")
    render("golden-table")
    assert source_of(capsys) == "published"
    assert not (published / "tables").exists(), "written only where it is named"
    assert (place / "results" / "local" / "tables" / "golden-table.md").is_file()

    local = Store(place / "results" / "local" / "trials")
    render("golden-table")
    assert source_of(capsys) == "published"

    local.write(Record(row_of(next(paper["golden-table"].trials("paper")), 0, 1.0)))
    render("golden-table")
    assert source_of(capsys) == "published"

    local.write(Record(row_of(next(paper["golden-table"].trials("laptop")), 0, 1.0)))
    render("golden-table")
    assert source_of(capsys) == "local"
    render("golden-table", "--from", "published")
    assert source_of(capsys) == "published"


def test_what_ships_can_be_written_to_another_place(place, capsys):
    keep(place / "results" / "published")
    render("golden-table", "--from", "published", "--results-dir", "mine")
    assert source_of(capsys) == "published"
    assert (place / "mine" / "tables" / "golden-table.md").is_file()
    render("golden-table", "--from", "published", "--results-dir", "results/local")
    assert (place / "results" / "local" / "tables" / "golden-table.md").is_file()
    assert not (place / "results" / "published" / "tables").exists()


def test_a_store_that_was_named_is_not_replaced_by_another(place):
    keep(place / "results" / "published")
    with pytest.raises(
        VeraError,
        match=r"golden-table has no trial of the laptop profile in results/local\. .* vera run golden-table$",
    ):
        render("golden-table", "--from", "local")


def test_an_artifact_without_rows_says_which_command_makes_them(place):
    with pytest.raises(
        VeraError, match=r"in results/local or results/published\. To make them: vera run golden-table$"
    ):
        render("golden-table")
    with pytest.raises(
        VeraError, match=r"--profile smoke --results-dir 'my results'; those that ship: --from published$"
    ):
        render("golden-table", "--profile", "smoke", "--results-dir", "my results")
    assert list(place.iterdir()) == []


def test_an_artifact_without_trials_at_a_profile_says_so(place, paper, monkeypatch):
    monkeypatch.setattr(type(paper["golden-table"]), "trials", lambda self, profile: iter(()))
    with pytest.raises(VeraError, match=r"^golden-table has no trials at the laptop profile\.$"):
        render("golden-table")


def test_a_wrong_name_changes_nothing(place):
    keep(place / "results" / "local")
    with pytest.raises(UnknownName, match=r"There is no table or figure 'golden-tabel'.*golden-table"):
        render("golden-figure", "golden-tabel")
    assert not (place / "results" / "local" / "figures").exists()


def test_a_missing_artifact_stops_before_anything_is_written(place, paper, monkeypatch):
    keep(place / "results" / "local")
    monkeypatch.setattr(type(paper["golden-table"]), "trials", lambda self, profile: iter(()))
    with pytest.raises(VeraError, match="golden-table"):
        render("golden-figure", "golden-table")
    assert not (place / "results" / "local" / "figures").exists()


def test_all_skips_what_has_no_rows_in_one_line_each(place, paper, monkeypatch, capsys):
    keep(place / "results" / "local")
    monkeypatch.setattr(type(paper["golden-table"]), "trials", lambda self, profile: iter(()))
    assert render("all") == 0
    out = capsys.readouterr().out
    assert out.count("written: ") == 1
    assert "skipped: golden-table has no trials at the laptop profile.\n" in out


def test_all_of_nothing_is_an_error(place):
    with pytest.raises(
        VeraError,
        match="No table or figure has a trial of the smoke profile in results/local or results/published",
    ):
        render("all", "--profile", "smoke")


def test_a_name_given_twice_is_rendered_once(place, capsys):
    keep(place / "results" / "local")
    render("golden-figure", "golden-figure")
    assert capsys.readouterr().out.count("written: ") == 1


def test_notes_on_the_choice_of_rows_reach_the_table_that_they_are_about_alone(place, paper, capsys):
    folder = keep(place / "results" / "local")
    trial = next(paper["golden-table"].trials("laptop"))
    variant = row_of(trial, 0, -9.0, defaults={"lr": 1.0}, finished_at="2026-02-01T00:00:00+00:00")
    Store(folder / "trials").write(Record(variant))
    render("golden-table")
    assert "ML on digits: 2 variants of it are in the store" in capsys.readouterr().out
    assert "2 variants" in (folder / "tables" / "golden-table.md").read_text(encoding="utf-8")


def test_a_damaged_part_is_named_on_stderr(place, capsys):
    folder = keep(place / "results" / "local")
    (folder / "trials" / "rows" / "broken.parquet").write_text("not Parquet")
    assert render("golden-table") == 0
    assert "broken.parquet" in capsys.readouterr().err


def test_the_plug_in_flag_is_there_for_the_command_line_to_load():
    parser = argparse.ArgumentParser()
    add_render(parser.add_subparsers())
    assert parser.parse_args(["render", "x", "--plugin", str(PLUGIN)]).plugin == [str(PLUGIN)]
