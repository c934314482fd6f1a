"""A small committed store is rendered to the same bytes, and files are replaced atomically."""

import os
from dataclasses import replace

import pytest
from bench_helpers import GOLDEN, PROFILES, make_golden_records, print_to_text
from facts import raises_with

from bench.judging.results import Results, open_store
from bench.render import files
from bench.render.files import write_rendering
from bench.render.layout import make_file_stem
from bench.render.plotting import create_panels, draw_figure
from sweeps.errors import StoreError
from sweeps.store.store import Store


@pytest.mark.parametrize("profile", PROFILES)
def test_the_golden_table_is_unchanged(golden, tmp_path, profile):
    """If the change is intended, run make golden and read the diff."""
    sheet = golden["golden-table"].render(Results(open_store(GOLDEN), profile))
    paths = write_rendering(sheet, tmp_path)
    assert [path.relative_to(tmp_path).as_posix() for path in paths] == [
        f"tables/{make_file_stem(sheet)}.{e}" for e in ("md", "tex", "csv")
    ]
    for path in paths:
        assert path.read_bytes() == (GOLDEN / profile / path.relative_to(tmp_path)).read_bytes()
    assert print_to_text(sheet) == (GOLDEN / profile / "tables" / f"{make_file_stem(sheet)}.txt").read_text(
        encoding="utf-8"
    )


def test_the_golden_store_holds_the_declared_rows(golden):
    records = {record.row.trial_id: record for record in make_golden_records(golden["golden-table"])}
    store = Store(GOLDEN / "trials", create=False)
    assert {row.trial_id: row for row in store.read_rows()} == {
        name: record.row for name, record in records.items()
    }
    assert store.problems == []


def test_the_same_rows_give_the_same_figure_bytes(golden, tmp_path):
    drawing = golden["golden-figure"].render(Results(open_store(GOLDEN), "laptop"))
    first, second = write_rendering(drawing, tmp_path / "a"), write_rendering(drawing, tmp_path / "b")
    assert [path.relative_to(tmp_path / "a").as_posix() for path in first] == [
        "figures/golden-figure.png",
        "figures/golden-figure.pdf",
    ]
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]
    assert first[0].read_bytes().startswith(b"\x89PNG")
    assert first[1].read_bytes().startswith(b"%PDF")


def test_a_figure_carries_its_profile(golden, tmp_path, monkeypatch):
    figures = []
    monkeypatch.setattr(files, "save_figure", lambda figure, file, kind: figures.append(figure))
    for profile in PROFILES:
        write_rendering(golden["golden-figure"].render(Results(open_store(GOLDEN), profile)), tmp_path)
    assert [figure.texts[-1].get_text() for figure in figures[::2]] == [
        "golden-figure, laptop profile",
        "golden-figure, paper profile",
    ]


@pytest.mark.parametrize(("profile", "stamps"), [("smoke", ["not a result"]), ("laptop", []), ("paper", [])])
def test_a_figure_of_the_smoke_profile_is_stamped(profile, stamps):
    figure = draw_figure(lambda: create_panels(1, 1, 1.0, 1.0)[0], "figure", profile)
    assert [text.get_text() for text in figure.texts] == [f"figure, {profile} profile", *stamps]


def test_figures_have_one_style_also_for_texts_that_are_set_while_drawing():
    def draw():
        figure, axes = create_panels(1, 1, 1.0, 1.0)
        axes[0, 0].set(title="title", xlabel="label")
        return figure

    axis = draw_figure(draw, "figure", "laptop").axes[0]
    assert (axis.title.get_fontsize(), axis.xaxis.label.get_fontsize()) == (9, 8)


def test_a_figure_that_fails_leaves_the_old_files_and_no_temporary_ones(golden, tmp_path, monkeypatch):
    drawing = golden["golden-figure"].render(Results(open_store(GOLDEN), "laptop"))
    old = [path.read_bytes() for path in write_rendering(drawing, tmp_path)]

    def fail(figure, file, kind):
        file.write(b"half")
        raise RuntimeError("disk full")

    monkeypatch.setattr(files, "save_figure", fail)
    with raises_with(RuntimeError, "disk full"):
        write_rendering(drawing, tmp_path)
    assert sorted(os.listdir(tmp_path / "figures")) == ["golden-figure.pdf", "golden-figure.png"]
    assert [(tmp_path / "figures" / f"golden-figure.{e}").read_bytes() for e in ("png", "pdf")] == old


def test_a_folder_that_cannot_be_written_is_a_store_error(golden, tmp_path):
    (tmp_path / "tables").write_text("a file where a folder should be")
    sheet = golden["golden-table"].render(Results(open_store(GOLDEN), "laptop"))
    with raises_with(StoreError, str(tmp_path / "tables")):
        write_rendering(replace(sheet, notes=()), tmp_path)
