"""The look holds together: four font sizes, one rhythm, one set of icons, nothing to press below 24 pixels."""

import re

from sdtps.web import static

SIZES = ("small", "text", "large", "title")
SIZE = re.compile(r"font(?:-size)?:([^;}]*)")
SPACE = re.compile(r"(?<![-\w])(?:padding|margin|gap|row-gap|column-gap)(?:-\w+)*: ([^;}]+)")
HAIRLINES = (0, 1, 2)  # room for a border, or for a line of text that would else touch one
GLYPHS = re.compile("[✕✖×↺⟳◐▦‹›⚄↗]'\\)")  # a character of the reader's font in place of an icon


def test_four_font_sizes_and_no_other() -> None:
    sheets = static.styles()
    for name in SIZES:
        assert len(re.findall(rf"--font-{name}: [\d.]+px", sheets)) == 1
    others = [said for said in SIZE.findall(sheets) if re.search(r"\d(px|rem|pt)", said.partition("/")[0])]
    assert others == []
    used = set(re.findall(r"var\(--font-(\w+)\)", sheets))
    assert used == set(SIZES)


def test_room_comes_in_halves_of_eight_pixels() -> None:
    spaces = [int(size) for said in SPACE.findall(static.styles()) for size in re.findall(r"(?<![\w.])(\d+)px", said)]
    assert len(spaces) > 300
    assert {size for size in spaces if size % 4 and size not in HAIRLINES} == set()


def test_icons_are_drawn_not_typed() -> None:
    scripts = {path: path.read_text(encoding="utf-8") for path in (static.STATIC / "js").rglob("*.js")}
    assert [path.name for path, text in scripts.items() if GLYPHS.search(text)] == []
