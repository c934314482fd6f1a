"""Renderings as files: a sheet to tables/NAME.{md,tex,csv}, a drawing to figures/NAME.{png,pdf}.

NAME is the artifact's own at the default profile (table6.md), and carries the profile at any other
(table6-paper.md). A file is written under a temporary name and renamed, so that nobody reads half of one and
a failed rendering leaves the old one. A figure carries its profile at its foot, because a picture travels
without its caption.
"""

import os
import secrets
from collections.abc import Callable
from functools import partial
from pathlib import Path

from bench.artifact import Drawing, Sheet
from bench.render.csv_table import csv_text
from bench.render.headings import stem
from bench.render.latex import latex
from bench.render.markdown import markdown
from bench.render.plotting import save
from sweeps.store.folder import explained

WRITERS: dict[str, Callable[[Sheet], str]] = {"md": markdown, "tex": latex, "csv": csv_text}
IMAGES = ("png", "pdf")


def write(rendering: Sheet | Drawing, folder: str | Path) -> list[Path]:
    """Every format of the rendering; the paths that were written."""
    return (
        _write_sheet(rendering, Path(folder))
        if isinstance(rendering, Sheet)
        else _write_drawing(rendering, Path(folder))
    )


def _write_sheet(sheet: Sheet, folder: Path) -> list[Path]:
    texts = {
        folder / "tables" / f"{stem(sheet)}.{ending}": writer(sheet) for ending, writer in WRITERS.items()
    }
    for path, text in texts.items():
        replace_file(path, partial(put_text, text))
    return list(texts)


def _write_drawing(drawing: Drawing, folder: Path) -> list[Path]:
    figure = drawing.draw()
    # With the tight bounding box of plotting.save, what stands below the figure's edge is part of the picture.
    figure.text(0.0, 0.0, f"{drawing.name}, {drawing.profile} profile", va="top", fontsize=6, color="0.4")
    paths = [folder / "figures" / f"{stem(drawing)}.{ending}" for ending in IMAGES]
    for path in paths:
        replace_file(path, partial(save, figure))
    return paths


def put_text(text: str, path: Path) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


def replace_file(path: Path, make: Callable[[Path], None]) -> None:
    """Whole or not at all. The temporary name keeps the ending, which tells the format."""
    temporary = path.with_name(f".{path.stem}.{secrets.token_hex(8)}{path.suffix}")
    with explained("write", path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            make(temporary)
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)
