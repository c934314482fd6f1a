"""A drawing as an image inside the page: a PNG in base64, with heading and caption as its description."""

import base64
import io
import struct
from dataclasses import dataclass

from bench.artifact import Drawing
from bench.render.headings import make_heading
from bench.render.plotting import STYLE, save_figure

CSS_DPI = 96


@dataclass(frozen=True)
class EmbeddedImage:
    source: str
    description: str
    width: int
    height: int


def embed_drawing(drawing: Drawing) -> EmbeddedImage:
    file = io.BytesIO()
    save_figure(drawing.draw(), file)
    data = file.getvalue()
    pixels = struct.unpack(">II", data[16:24])
    width, height = (round(side * CSS_DPI / STYLE["savefig.dpi"]) for side in pixels)
    source = f"data:image/png;base64,{base64.b64encode(data).decode()}"
    return EmbeddedImage(source, f"{make_heading(drawing)}. {drawing.caption}", width, height)
