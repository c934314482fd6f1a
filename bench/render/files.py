"""Writes renderings to files: a sheet to tables/NAME.{md,tex,csv}, a drawing to figures/NAME.{png,pdf}.

NAME is the artifact's own name at the default profile (table6.md) and includes the profile at any other
(table6-paper.md). Every file is replaced atomically: a failed rendering leaves the old file.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import BinaryIO

from bench.artifact import Drawing, Sheet
from bench.render.csv_table import render_csv
from bench.render.latex import render_latex
from bench.render.layout import make_file_stem
from bench.render.markdown import render_markdown
from bench.render.plotting import FIGURE_FORMATS, draw_figure, save_figure
from sweeps.store.folder import explain_os_errors
from vera.atomic_write import write_atomically

TABLE_RENDERERS: dict[str, Callable[[Sheet], str]] = {
    "md": render_markdown,
    "tex": render_latex,
    "csv": render_csv,
}


def write_rendering(rendering: Sheet | Drawing, folder: str | Path) -> list[Path]:
    """Write the rendering in every format and return the paths."""
    if isinstance(rendering, Sheet):
        return _write_sheet(rendering, Path(folder))
    return _write_drawing(rendering, Path(folder))


def _write_sheet(sheet: Sheet, folder: Path) -> list[Path]:
    stem = folder / "tables" / make_file_stem(sheet)
    texts = {Path(f"{stem}.{suffix}"): render(sheet) for suffix, render in TABLE_RENDERERS.items()}
    for path, text in texts.items():
        write_text_file(path, text)
    return list(texts)


def _write_drawing(drawing: Drawing, folder: Path) -> list[Path]:
    figure = draw_figure(drawing.draw, drawing.name, drawing.profile)
    stem = folder / "figures" / make_file_stem(drawing)
    paths = {kind: Path(f"{stem}.{kind}") for kind in FIGURE_FORMATS}
    for kind, path in paths.items():
        _replace_file(path, partial(save_figure, figure, kind=kind))
    return list(paths.values())


def write_text_file(path: Path, text: str) -> None:
    """Replace the file atomically, creating its folder; StoreError if it cannot be written."""
    _replace_file(path, lambda file: file.write(text.encode()))


def _replace_file(path: Path, write: Callable[[BinaryIO], object]) -> None:
    with explain_os_errors("write", path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        with write_atomically(path) as file:
            write(file)
