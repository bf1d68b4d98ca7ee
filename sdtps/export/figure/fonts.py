"""Fonts that stay in the file: TrueType copies of Chinese letters for PDF, subset fonts inside SVG."""

import base64
import hashlib
import io
import logging
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Literal

from fontTools import subset
from fontTools.pens.cu2quPen import Cu2QuPen
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.ttLib import TTFont, newTable
from matplotlib import font_manager
from matplotlib.figure import Figure
from matplotlib.text import Text

from sdtps.export.figure.style import FONT, WORDS, cjk_font

Slant = Literal["normal", "italic"]
FACES: tuple[tuple[Slant, str], ...] = (("normal", "normal"), ("normal", "bold"), ("italic", "normal"))
FIRST_CJK = 0x2E80
MAX_ERROR = 1.0  # font units by which a quadratic curve may leave the cubic one

# One font serves all figures, except those with a Chinese file name.
OWN_WORDS = frozenset(c for word in WORDS["zh"].values() for c in word if ord(c) >= FIRST_CJK)

logging.getLogger("fontTools").setLevel(logging.ERROR)


def is_chinese(character: str) -> bool:
    """Whether the Latin font has no chance to hold it."""
    return ord(character) >= FIRST_CJK


def families_for(content: str) -> list[str]:
    """Font names for a text, the Latin one first."""
    chinese = frozenset(filter(is_chinese, content))
    return [FONT, _truetype_copy(chinese | OWN_WORDS)] if chinese and cjk_font() else [FONT]


def embed(svg: bytes, figure: Figure) -> bytes:
    """The SVG with the letters it uses as subset fonts in its style."""
    used = set(svg.decode("utf-8"))  # mathtext turns \\beta into β: only the file knows
    faces = [_face(FONT, used, slant, weight) for slant, weight in FACES if _uses(svg, slant, weight)]
    names = {tuple(families_for(t.get_text())) for t in figure.findobj(Text)}
    faces += [_face(name[1], set(filter(is_chinese, used))) for name in sorted(names) if len(name) > 1]
    style = f"<style>{''.join(faces)}</style>".encode()
    head, mark, rest = svg.partition(b"<defs>")
    return head + mark + style + rest if mark else svg


def _uses(svg: bytes, slant: Slant, weight: str) -> bool:
    if slant == "italic":
        return b"italic" in svg
    return weight == "normal" or b"bold" in svg or b"700" in svg


def _face(name: str, characters: set[str], slant: Slant = "normal", weight: str = "normal") -> str:
    path = font_manager.findfont(font_manager.FontProperties(family=name, style=slant, weight=weight))
    with _opened(path) as font:
        _keep_only(font, characters)
        stream = io.BytesIO()
        font.save(stream)
    data = base64.b64encode(stream.getvalue()).decode("ascii")
    return (
        f"@font-face{{font-family:'{name}';font-style:{slant};font-weight:{weight};"
        f"src:url(data:font/ttf;base64,{data})}}"
    )


@lru_cache(maxsize=16)
def _truetype_copy(characters: frozenset[str]) -> str:
    """The name of a small TrueType font with these letters.

    Chinese fonts mostly hold PostScript outlines, which Matplotlib would put into a PDF as a TrueType font that no
    reader can draw; so their cubic curves become quadratic ones first.
    """
    name = f"Lens {hashlib.sha256(''.join(sorted(characters)).encode()).hexdigest()[:8]}"
    with _opened(font_manager.findfont(font_manager.FontProperties(family=cjk_font()))) as font:
        _keep_only(font, characters)
        if "glyf" not in font:
            _make_quadratic(font)
        for record in list(font["name"].names):
            if record.nameID in (1, 4, 6, 16):
                record.string = name.replace(" ", "") if record.nameID == 6 else name
        path = Path(_folder().name) / f"{name}.ttf"
        font.save(path)
    font_manager.fontManager.addfont(str(path))
    return name


@lru_cache
def _folder() -> "tempfile.TemporaryDirectory[str]":
    return tempfile.TemporaryDirectory(prefix="sdtps-fonts-")  # lives as long as the process


def close() -> None:
    """Remove the fonts that were made, for an end that Python's own clean-up does not see."""
    if _folder.cache_info().currsize:
        _folder().cleanup()


def _opened(path: object) -> TTFont:
    index = int(getattr(path, "face_index", 0))  # collections hold several fonts in one file
    return TTFont(str(path), fontNumber=index, recalcTimestamp=False)


def _keep_only(font: TTFont, characters: "set[str] | frozenset[str]") -> None:
    tool = subset.Subsetter(subset.Options(notdef_outline=True, layout_features=[], hinting=False, name_IDs=["*"]))
    tool.populate(text="".join(sorted(characters)))
    tool.subset(font)


def _make_quadratic(font: TTFont) -> None:
    order, outlines = font.getGlyphOrder(), font.getGlyphSet()
    drawn = {}
    for name in order:
        pen = TTGlyphPen(outlines)
        outlines[name].draw(Cu2QuPen(pen, MAX_ERROR, reverse_direction=True))
        drawn[name] = pen.glyph()
    glyf = font["glyf"] = newTable("glyf")
    glyf.glyphOrder, glyf.glyphs = order, drawn
    font["loca"] = newTable("loca")
    maxp = font["maxp"]
    maxp.tableVersion = 0x00010000
    for field in ("maxZones", "maxTwilightPoints", "maxStorage", "maxFunctionDefs", "maxInstructionDefs"):
        setattr(maxp, field, 1 if field == "maxZones" else 0)
    for field in ("maxStackElements", "maxSizeOfInstructions", "maxComponentElements", "maxPoints", "maxContours"):
        setattr(maxp, field, 0)
    for field in ("maxCompositePoints", "maxCompositeContours", "maxComponentDepth"):
        setattr(maxp, field, 0)
    for table in ("CFF ", "CFF2", "VORG"):
        if table in font:
            del font[table]
    font["post"].formatType = 3.0
    font.sfntVersion = "\x00\x01\x00\x00"
