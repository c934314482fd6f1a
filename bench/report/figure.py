"""A drawing as a picture inside the page: PNG in base64, with the caption as its description."""

import base64
import io
import struct

from bench.artifact import Drawing
from bench.render.headings import heading
from bench.render.plotting import STYLE, save
from bench.report.markup import Markup, element

CSS_DPI = 96


def picture(drawing: Drawing) -> Markup:
    file = io.BytesIO()
    save(drawing.draw(), file)
    data = file.getvalue()
    width, height = (
        round(side * CSS_DPI / STYLE["savefig.dpi"]) for side in struct.unpack(">II", data[16:24])
    )
    source = f"data:image/png;base64,{base64.b64encode(data).decode()}"
    text = f"{heading(drawing)}. {drawing.caption}"
    return element("img", src=source, alt=text, width=width, height=height)
