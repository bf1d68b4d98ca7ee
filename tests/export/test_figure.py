"""Figures: text as text, vector patches, the numbers of the analysis, every layout and language."""

import os
import re
import subprocess
import sys
import zlib
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.collections import PolyCollection
from matplotlib.font_manager import fontManager
from matplotlib.path import Path
from matplotlib.text import Text

import sdtps
from sdtps import panels
from sdtps.export import rendering
from sdtps.export.figure import (
    PRESETS,
    Collected,
    FigureOptions,
    RankedItem,
    RankedQuery,
    collection_figure,
    compare_figure,
    fonts,
    grid_figure,
    rank_figure,
    style,
)
from sdtps.export.figure.cells import outline
from sdtps.export.figure.sheet import MAX_PIXELS
from sdtps.types import Grid


@pytest.fixture(scope="module")
def analysis(tiny_model, photos):
    return sdtps.analyse(tiny_model, *photos.values())


@pytest.fixture(scope="module")
def trained(analysis):
    """The same numbers as if the weights were trained."""
    return replace(analysis, weights=replace(analysis.weights, trained=True, missing=()))


def texts(sheet) -> list[str]:
    return [t.get_text() for t in sheet.figure.findobj(Text) if t.get_text()]


@pytest.mark.parametrize("width", ["cvpr-column", "cvpr-page"])
def test_what_stands_below_a_collection_leaves_its_colour_bars_free(trained, photos, width):
    sheet = collection_figure([Collected(trained, photos)] * 2, FigureOptions(width=width))
    boxes = {t: t.get_window_extent() for t in sheet.figure.findobj(Text) if t.get_text()}
    (line,) = [box for t, box in boxes.items() if t.get_text().startswith("weights ")]
    numbers = [box for t, box in boxes.items() if t.get_text() in ("0", "1")]
    assert numbers
    assert all(box.y0 >= line.y1 for box in numbers)


def streams(pdf: bytes) -> bytes:
    """All streams of a PDF, decompressed."""
    found = re.findall(rb"stream\r?\n(.*?)endstream", pdf, flags=re.DOTALL)
    parts = []
    for part in found:
        try:
            parts.append(zlib.decompress(part))
        except zlib.error:
            parts.append(part)
    return b"\n".join(parts)


def test_rows_columns_and_counts_are_printed_once(trained, photos):
    written = texts(grid_figure(trained, photos))
    for label in ("RGB", "NIR", "TIR", "Picture", "Self-attention", "Kept", "Aggregation"):
        assert written.count(label) == 1
    assert r"$K/N$ = 64/128" in written
    assert any(trained.weights.name in line and trained.weights.short_hash in line for line in written)
    assert not any("Random weights" in line for line in written)


def test_every_colour_bar_is_numbered_with_its_range(trained, photos):
    options = FigureOptions(columns=("input", "score", "kept"), scale="map")
    written = texts(grid_figure(trained, photos, options))
    for trace in trained.traces.values():
        assert style.short(float(trace.score.min())) in written
        assert style.short(float(trace.score.max())) in written


def test_untrained_weights_put_a_banner_on_the_figure(analysis, photos):
    written = texts(grid_figure(analysis, photos, FigureOptions(provenance=False)))
    assert style.WORDS["en"]["banner.random"] in written
    partly = replace(analysis, weights=replace(analysis.weights, trained=True, missing=("a", "b")))
    assert any("2 tensors" in t for t in texts(grid_figure(partly, photos)))


@pytest.mark.parametrize(("preset", "inches"), PRESETS.items())
def test_presets_have_their_width(trained, photos, preset, inches):
    sheet = grid_figure(trained, photos, FigureOptions(width=preset, columns=("input", "kept")))
    assert sheet.figure.get_size_inches()[0] == pytest.approx(inches)


def test_captions_count_through_the_alphabet(trained, photos):
    written = texts(grid_figure(trained, photos, FigureOptions(captions=True, columns=("input", "score", "kept"))))
    assert [t for t in written if re.fullmatch(r"\([a-z]\)", t)] == ["(a)", "(b)", "(c)"]


def test_pdf_holds_text_as_text_in_truetype_fonts_and_patches_as_rectangles(trained, photos):
    options = FigureOptions(columns=("input", "score", "kept"))
    pdf = grid_figure(trained, photos, options).render("pdf")
    assert pdf.startswith(b"%PDF")
    assert b"/FontFile2" in pdf  # TrueType
    assert b"/Type3" not in pdf
    content = streams(pdf)
    assert b"beginbfchar" in content or b"beginbfrange" in content  # letters can be copied
    operators = re.findall(rb"(?<=[\s)>\]])(TJ|Tj)(?=\s)", content)
    assert len(operators) > 10
    # A path of four corners for each of the 128 patches of three score maps, none of them inside a picture.
    assert len(re.findall(rb"\sh\s", content)) >= 3 * 128


def test_svg_holds_text_as_text_embedded_fonts_and_vector_patches(trained, photos):
    svg = grid_figure(trained, photos, FigureOptions(columns=("input", "score", "kept"))).render("svg").decode()
    for word in ("RGB", "Score", "Kept", trained.weights.short_hash):
        assert re.search(rf"<text[^>]*>[^<]*{word}", svg), word
    assert "@font-face{font-family:'STIXGeneral'" in svg
    table = rendering.colour_table("viridis")
    for trace in trained.traces.values():
        limits = panels.shared_ranges(trained.traces.values(), trained.settings)["score"]
        for red, green, blue in rendering.colours_of(trace.score, limits, table)[:5]:
            assert f"#{red:02x}{green:02x}{blue:02x}" in svg


def test_the_same_figure_is_the_same_file(trained, photos):
    options = FigureOptions(columns=("input", "kept"))
    for kind in ("pdf", "svg", "png"):
        assert grid_figure(trained, photos, options).render(kind) == grid_figure(trained, photos, options).render(kind)


def test_png_has_the_dpi_asked_for(trained, photos):
    from io import BytesIO

    from PIL import Image

    sheet = grid_figure(trained, photos, FigureOptions(columns=("input", "kept"), width=3.0))
    image = Image.open(BytesIO(sheet.render("png", dpi=200)))
    assert image.width == 600


def test_chinese_prints_in_pdf_and_svg(trained, photos):
    sheet = grid_figure(trained, photos, FigureOptions(language="zh", columns=("input", "kept")))
    assert sheet.notes == ()
    assert "保留" in texts(sheet)
    pdf = sheet.render("pdf")
    assert b"/FontFile2" in pdf
    assert b"/FontFile3" not in pdf  # PostScript outlines inside a TrueType font are boxes in most readers
    name = fonts.families_for("保留")[-1]
    assert name.replace(" ", "").encode() in pdf
    svg = sheet.render("svg").decode()
    assert "保留" in svg
    assert f"font-family:'{name}'" in svg


def test_a_chinese_font_that_came_after_matplotlibs_list_was_made_is_found(monkeypatch):
    others = [font for font in fontManager.ttflist if font.name not in style.CJK_FONTS]
    known = style.cjk_font()
    monkeypatch.setattr(fontManager, "ttflist", others)
    style.cjk_font.cache_clear()
    assert style.cjk_font() == known
    assert known is not None


def test_without_a_chinese_font_the_labels_are_english_and_a_note_says_so(trained, photos, monkeypatch):
    monkeypatch.setattr(style, "cjk_font", lambda: None)
    sheet = grid_figure(trained, photos, FigureOptions(language="zh", columns=("input", "kept")))
    assert "Kept" in texts(sheet)
    assert sheet.notes == ("No Chinese font is installed; the labels are in English.",)


def test_missing_modality_and_absent_predictor_are_said(trained, photos):
    traces = {m: replace(t, predictor=None) for m, t in trained.traces.items()}
    traces["nir"] = replace(traces["nir"], missing=True)
    lacking = replace(trained, traces=traces)
    sheet = grid_figure(lacking, photos | {"nir": None}, FigureOptions(columns=("input", "predictor")))
    assert texts(sheet).count(style.WORDS["en"]["missing"]) == 1
    assert texts(sheet).count(style.WORDS["en"]["absent"]) == 2, "the row of the missing one is a strip"


def test_heat_colours_are_those_of_the_page():
    table = rendering.colour_table("viridis")
    values = np.array([0.0, 0.5 / 255, 0.5, 1.0, 2.0], np.float32)
    place = np.array([0, 1, 128, 255, 255])  # half up, clamped
    assert np.array_equal(rendering.colours_of(values, (0.0, 1.0), table), table[place])


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("columns", [("kept",), ("input", "score"), ("input", "score", "kept")])
def test_no_figure_is_taller_than_a_page(analysis, photos, preset, columns):
    sheet = grid_figure(analysis, photos, FigureOptions(width=preset, columns=columns, captions=True, scale="map"))
    assert sheet.height <= style.PAGE_HEIGHT + 1e-6
    boxes = [axes.get_position() for axes in sheet.figure.axes]
    assert min(b.x0 for b in boxes) >= 0
    assert max(b.x1 for b in boxes) <= 1
    wide = {round(b.width * sheet.width / (b.height * sheet.height), 3) for b in boxes if b.height * sheet.height > 0.3}
    assert wide == {round(8 / 16, 3)}, "pictures keep their shape"


@pytest.mark.parametrize("seed", range(5))
def test_outline_encloses_exactly_the_mask(seed):
    grid = Grid(16, 8)
    mask = np.random.default_rng(seed).random(grid.patches) < 0.5
    path = outline(mask, grid)
    loops = path.to_polygons()
    rows, cols = np.divmod(np.arange(grid.patches), grid.cols)
    centres = np.stack([cols + 0.5, rows + 0.5], axis=1)
    windings = sum(Path(loop).contains_points(centres).astype(int) * _turn(loop) for loop in loops)
    assert np.array_equal(windings != 0, mask)
    area = sum(abs(_area(loop)) * _turn(loop) for loop in loops)
    assert area == pytest.approx(mask.sum())


def _area(loop: np.ndarray) -> float:
    x, y = loop[:, 0], loop[:, 1]
    return float(np.sum(x[:-1] * y[1:] - x[1:] * y[:-1]) / 2)


def _turn(loop: np.ndarray) -> int:
    return 1 if _area(loop) > 0 else -1


def test_heat_map_of_kept_patches_draws_only_those(tiny_model, photos):
    few = sdtps.analyse(tiny_model, *photos.values(), sdtps.Settings(sparse_ratio=0.25))
    sheet = grid_figure(few, photos, FigureOptions(columns=("aggregation",), provenance=False))
    counts = [len(c.get_paths()) for c in sheet.figure.findobj(PolyCollection)]
    assert counts.count(32) == 3
    assert counts.count(128) == 1, "the colour bar's"


def test_comparison_counts_what_entered_and_left(trained, tiny_model, photos):
    other = sdtps.analyse(tiny_model, *photos.values(), sdtps.Settings(sparse_ratio=0.25, beta=0.4))
    other = replace(other, weights=trained.weights)
    written = texts(compare_figure(trained, other, photos))
    for m in ("rgb", "nir", "tir"):
        a, b = set(trained[m].keep.tolist()), set(other[m].keep.tolist())
        assert f"+{len(b - a)} −{len(a - b)}, Jaccard {len(a & b) / len(a | b):.2f}" in written
    assert "ρ=0.5, β=0.25" in written
    assert "ρ=0.25, β=0.4" in written


def test_comparison_refuses_other_grids(trained):
    with pytest.raises(ValueError, match="different grids"):
        compare_figure(trained, replace(trained, grid=Grid(8, 16)), {})


def test_rank_list_has_three_rows_per_query_and_marks_right_and_wrong(photos):
    found = [RankedItem(photos, match, 0.1 * i) for i, match in enumerate((True, False, True))]
    sheet = rank_figure([RankedQuery(photos, found, "0001")] * 2)
    written = texts(sheet)
    assert written.count("RGB") == written.count("TIR") == 2
    assert written.count("✓ 0.00") == 2
    assert written.count("× 0.10") == 2
    images = sum(len(axes.images) for axes in sheet.figure.axes)
    assert images == 2 * 3 * 4
    with pytest.raises(ValueError, match="no query"):
        rank_figure([])


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"columns": ("nothing",)}, "There is no column 'nothing'"),
        ({"columns": ()}, "There is no column"),
        ({"width": "a4"}, "There is no width 'a4'"),
        ({"width": 200.0}, "width must lie"),
        ({"opacity": 2.0}, "opacity must lie"),
        ({"colormap": "rainbow"}, "There is no colormap"),
    ],
)
def test_wrong_options_are_one_sentence(options, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        FigureOptions(**options)


def test_no_window_system_is_asked_for():
    """Neither pyplot nor a display: a server has none."""
    drawing = "import sys, sdtps.export.figure as f; f.Sheet(1, 1).render('pdf')"
    program = f"{drawing}; sys.exit('matplotlib.pyplot' in sys.modules)"
    environment = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "MPLBACKEND")}
    assert subprocess.run([sys.executable, "-c", program], env=environment, check=False).returncode == 0


def test_a_png_is_bounded_in_pixels_before_it_is_drawn(trained, photos, monkeypatch):
    sheet = grid_figure(trained, photos, FigureOptions(columns=("input",), width=20))
    monkeypatch.setattr(sheet.figure, "savefig", lambda *_, **__: pytest.fail("it was drawn"))
    with pytest.raises(sdtps.SettingsError, match="megapixels") as refused:
        sheet.render("png", 600)
    assert sheet.width * sheet.height * refused.value.message.values["dpi"] ** 2 <= MAX_PIXELS


def test_columns_do_not_repeat():
    with pytest.raises(sdtps.SettingsError, match="each column once"):
        FigureOptions(columns=("kept", "input", "kept"))
