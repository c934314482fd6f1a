"""A small committed store, rendered and compared byte for byte; the files are written whole or not at all."""

import os
from dataclasses import replace

import pytest
from bench_helpers import GOLDEN, PROFILES, golden_records, terminal_text

from bench.judging.results import Results
from bench.render import files
from bench.render.files import write
from bench.render.headings import stem
from sweeps.errors import StoreError
from sweeps.store.store import Store


@pytest.mark.parametrize("profile", PROFILES)
def test_the_golden_table_is_what_it_was(golden, tmp_path, profile):
    """If the change is meant: python tests/helpers/bench_helpers.py, and read the difference."""
    sheet = golden["golden-table"].render(Results.open(GOLDEN, profile))
    paths = write(sheet, tmp_path)
    assert [path.relative_to(tmp_path).as_posix() for path in paths] == [
        f"tables/{stem(sheet)}.{e}" for e in ("md", "tex", "csv")
    ]
    for path in paths:
        assert path.read_bytes() == (GOLDEN / profile / path.relative_to(tmp_path)).read_bytes()
    assert terminal_text(sheet) == (GOLDEN / profile / "tables" / f"{stem(sheet)}.txt").read_text(
        encoding="utf-8"
    )


def test_the_golden_store_holds_the_rows_that_the_helpers_declare(golden):
    records = {record.row.trial_id: record for record in golden_records(golden["golden-table"])}
    store = Store(GOLDEN / "trials", create=False)
    assert {row.trial_id: row for row in store.rows()} == {
        name: record.row for name, record in records.items()
    }
    assert store.problems == []


def test_the_same_rows_give_the_same_figure_bytes(golden, tmp_path):
    drawing = golden["golden-figure"].render(Results.open(GOLDEN, "laptop"))
    first, second = write(drawing, tmp_path / "a"), write(drawing, tmp_path / "b")
    assert [path.relative_to(tmp_path / "a").as_posix() for path in first] == [
        "figures/golden-figure.png",
        "figures/golden-figure.pdf",
    ]
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]
    assert first[0].read_bytes().startswith(b"\x89PNG")
    assert first[1].read_bytes().startswith(b"%PDF")


def test_a_figure_says_its_profile(golden, tmp_path, monkeypatch):
    figures = []
    monkeypatch.setattr(files, "save", lambda figure, path: (figures.append(figure), path.touch()))
    for profile in PROFILES:
        write(golden["golden-figure"].render(Results.open(GOLDEN, profile)), tmp_path)
    assert [figure.texts[-1].get_text() for figure in figures[::2]] == [
        "golden-figure, laptop profile",
        "golden-figure, paper profile",
    ]


def test_a_figure_that_fails_leaves_the_old_one_and_no_rubbish(golden, tmp_path, monkeypatch):
    drawing = golden["golden-figure"].render(Results.open(GOLDEN, "laptop"))
    old = [path.read_bytes() for path in write(drawing, tmp_path)]

    def fail(figure, path):
        path.write_bytes(b"half")
        raise RuntimeError("no more ink")

    monkeypatch.setattr(files, "save", fail)
    with pytest.raises(RuntimeError, match="ink"):
        write(drawing, tmp_path)
    assert sorted(os.listdir(tmp_path / "figures")) == ["golden-figure.pdf", "golden-figure.png"]
    assert [(tmp_path / "figures" / f"golden-figure.{e}").read_bytes() for e in ("png", "pdf")] == old


def test_a_folder_that_cannot_be_written_is_one_clear_error(golden, tmp_path):
    (tmp_path / "tables").write_text("a file where a folder should be")
    sheet = golden["golden-table"].render(Results.open(GOLDEN, "laptop"))
    with pytest.raises(StoreError, match="Cannot write the results"):
        write(replace(sheet, notes=()), tmp_path)
