"""Fonts inside SVG files: Matplotlib writes real text but no fonts, so a reader without them would see others."""

import base64
import io
import logging
from typing import Literal

from fontTools import subset
from fontTools.ttLib import TTFont
from matplotlib import font_manager
from matplotlib.figure import Figure
from matplotlib.text import Text

from sdtps.figure.style import FONT, cjk_font

STYLES: tuple[tuple[Literal["normal", "italic"], str], ...] = (
    ("normal", "normal"),
    ("normal", "bold"),
    ("italic", "normal"),
)


def embed(svg: bytes, figure: Figure) -> bytes:
    """The SVG with the letters it uses as subset fonts in its style."""
    used = {c for text in figure.findobj(Text) for c in text.get_text()} | set("0123456789()=/.−-")
    used |= set(svg.decode("utf-8"))  # mathtext turns \beta into β: only the file knows
    faces = [_face(FONT, used, style, weight) for style, weight in STYLES if _uses(svg, style, weight)]
    chinese = {c for c in used if ord(c) > 0x2E7F}
    if chinese and (name := cjk_font()):
        faces.append(_face(name, chinese, "normal", "normal"))
    style = f"<style>{''.join(faces)}</style>".encode()
    head, mark, rest = svg.partition(b"<defs>")
    return head + mark + style + rest if mark else svg


def _uses(svg: bytes, style: str, weight: str) -> bool:
    return style == "normal" == weight or (b"italic" in svg if style == "italic" else b"bold" in svg or b"700" in svg)


def _face(name: str, characters: set[str], style: Literal["normal", "italic"], weight: str) -> str:
    entry = font_manager.findfont(font_manager.FontProperties(family=name, style=style, weight=weight))
    index = int(getattr(entry, "face_index", 0))
    options = subset.Options(notdef_outline=True, recalc_timestamp=False, layout_features=["kern"])
    logging.getLogger("fontTools").setLevel(logging.ERROR)
    with TTFont(str(entry), fontNumber=index, recalcTimestamp=False) as opened:
        tool = subset.Subsetter(options)
        tool.populate(text="".join(sorted(characters)))
        tool.subset(opened)
        stream = io.BytesIO()
        opened.save(stream)
    data = base64.b64encode(stream.getvalue()).decode("ascii")
    return (
        f"@font-face{{font-family:'{name}';font-style:{style};font-weight:{weight};"
        f"src:url(data:font/opentype;base64,{data})}}"
    )
