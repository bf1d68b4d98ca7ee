"""Colours that mean their value: neutral zero, flat maps, dropped darker than kept; Python and the page by one rule."""

import re

import numpy as np
import pytest

from scripts.colour_truth import delta_e, lab
from sdtps.datasets.examples import find_examples
from sdtps.export import rendering
from sdtps.export.rendering import Over, brightness, colour_table, colours_of, dim, dimmed_to, painted, spread_mask
from sdtps.images.edges import line_drawing
from sdtps.images.read import prepare
from sdtps.types import Grid
from sdtps.web.static import STATIC

GRID = Grid(16, 8)


def test_lab_knows_its_landmarks():
    assert lab(np.array([255, 255, 255])) == pytest.approx([100, 0, 0], abs=0.01)
    assert lab(np.array([255, 0, 0])) == pytest.approx([53.24, 80.09, 67.20], abs=0.02)
    assert delta_e(np.array([0, 0, 0]), np.array([255, 255, 255])) == pytest.approx(100, abs=0.01)


def test_what_lies_over_a_map_when_something_is_left_out():
    assert Over.of(None, None) == Over("lines", 0.65)
    assert Over.of(None, 0.4) == Over("blend", 0.4), "an opacity alone means blending"
    assert Over.of("relief", 0.4).name == "relief"
    assert "mixed with the photograph" in str(Over("blend"))
    with pytest.raises(ValueError, match="There is no over 'fog'"):
        Over.of("fog", None)
    with pytest.raises(ValueError, match="opacity must lie"):
        Over.of("lines", 1.5)


@pytest.mark.parametrize("limit", [0.0, 0.3])
def test_zero_is_neutral_in_a_diverging_map(limit):
    (colour,) = colours_of(np.zeros(1, np.float32), (-limit, limit), colour_table("diverging"))
    lightness, a, b = lab(colour)
    assert lightness > 95
    assert abs(a) < 1.5
    assert abs(b) < 1.5


def test_an_empty_range_is_no_deep_blue_and_a_flat_map_is_grey():
    values = np.full(4, 0.2, np.float32)
    table = colour_table("viridis")
    assert not np.array_equal(colours_of(values, (0.2, 0.2), table)[0], table[0])
    flat = colours_of(values, (0.0, 1.0), table, flat=True)
    assert np.array_equal(flat, np.broadcast_to(rendering.NEUTRAL, (4, 3)))


@pytest.mark.parametrize("example", list(find_examples()))
def test_dropped_is_darker_than_kept_in_every_example(example):
    for m, pixels in prepare(find_examples()[example].triplet, (256, 128)).pixels.items():
        levels = brightness(pixels, GRID)
        for mask in (levels < np.median(levels), levels >= np.median(levels)):  # the dark half kept is the hard case
            luma = dim(pixels, mask, GRID) @ rendering.LUMA
            kept = spread_mask(mask, GRID, pixels.shape)
            if luma[kept].mean() > 1:  # a black picture has nothing to darken
                assert luma[~kept].mean() < 0.75 * luma[kept].mean(), (example, m)


def test_a_dark_person_before_a_bright_wall_is_still_the_brighter_one():
    assert dimmed_to(np.array([True, False]), np.array([20, 200], np.float32)) == pytest.approx(0.05)
    assert dimmed_to(np.array([True, True]), np.array([20, 200], np.float32)) == rendering.DIM_MOST


def test_only_blending_changes_the_colours_of_a_map():
    pixels = prepare(find_examples()["day"].triplet, (256, 128)).pixels["rgb"]
    colours = colour_table("viridis")[np.linspace(0, 255, GRID.patches).astype(int)]
    squares = rendering.spread(colours, GRID, pixels.shape)
    far = {over: delta_e(painted(pixels, colours, GRID, Over(over)), squares) for over in rendering.OVER}
    free = line_drawing(pixels)[..., 1] == 0
    assert far["lines"][free].max() == 0
    assert far["lines"].mean() < 8
    assert far["relief"].mean() < 3
    assert far["blend"].mean() > 15


def test_the_page_paints_by_the_same_numbers():
    paint = (STATIC / "js" / "grid" / "paint.js").read_text()
    colours = (STATIC / "js" / "core" / "colours.js").read_text()
    assert f"DIM_MOST = {rendering.DIM_MOST};" in paint
    assert f"DIM_AGAINST = {rendering.DIM_AGAINST};" in paint
    assert "SHADE = 'rgb({}, {}, {})'".format(*rendering.SHADE) in paint
    assert "NEUTRAL = [{}, {}, {}]".format(*rendering.NEUTRAL) in colours
    assert f"MIDDLE = {rendering.MIDDLE};" in colours
    choices = re.search(r"over: \[(.*?)\]", (STATIC / "js" / "core" / "link.js").read_text())
    assert choices is not None
    assert re.findall(r"'(\w+)'", choices[1]) == list(rendering.OVER)
