"""A figure says what it cannot show, marks thresholds, and its colours are those of its bars."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.text import Text

import sdtps
from scripts.colour_truth import figure_panels, read_panel
from sdtps.datasets.examples import find_examples
from sdtps.export.figure import FigureOptions, grid_figure, style
from sdtps.images.read import prepare


@pytest.fixture(scope="module")
def trained(tiny_model, photos):
    analysis = sdtps.analyse(tiny_model, *photos.values())
    return replace(analysis, weights=replace(analysis.weights, trained=True, missing=()))


def texts(sheet) -> list[str]:
    return [t.get_text() for t in sheet.figure.findobj(Text) if t.get_text()]


def without(analysis, modality):
    traces = dict(analysis.traces)
    traces[modality] = replace(traces[modality], missing=True)
    return replace(analysis, traces=traces)


@pytest.mark.parametrize(("over", "most"), [("lines", 2), ("relief", 3)])
@pytest.mark.parametrize("example", ["day", "night"])
def test_every_heat_panel_has_the_colours_of_its_bar(trained, example, over, most):
    pictures = prepare(find_examples()[example].triplet, (256, 128)).pixels
    found = [read_panel(shown, trained.grid) for shown in figure_panels(trained, pictures, over)]
    assert len(found) >= 20
    assert max(f.distance for f in found) < most
    assert max(f.error for f in found) < 0.08


def test_a_blended_figure_is_far_from_its_bars_and_says_so(trained, photos):
    found = [read_panel(shown, trained.grid) for shown in figure_panels(trained, photos, "blend")]
    assert np.mean([f.distance for f in found]) > 10
    mixed = style.WORDS["en"]["mixed"]
    assert any(mixed in line for line in texts(grid_figure(trained, photos, FigureOptions(over="blend"))))
    assert any(mixed in line for line in texts(grid_figure(trained, photos, FigureOptions(opacity=0.5))))
    assert not any(mixed in line for line in texts(grid_figure(trained, photos)))


@pytest.mark.parametrize("scale", ["shared", "map"])
def test_the_threshold_of_each_modality_is_printed(trained, photos, scale):
    written = texts(grid_figure(trained, photos, FigureOptions(columns=("score",), scale=scale)))
    for trace in trained.traces.values():
        assert f"threshold {style.short(trace.threshold)}" in written


def test_a_flat_map_is_said_to_be_flat(trained, photos):
    even = np.full(trained.grid.patches, 0.25, np.float32)
    traces = {m: replace(t, predictor=even) for m, t in trained.traces.items()}
    flat = replace(trained, traces=traces)
    for scale in ("shared", "map"):
        written = texts(grid_figure(flat, photos, FigureOptions(columns=("predictor",), scale=scale)))
        assert written.count("flat\n≈ 0.25") == 3


@pytest.mark.parametrize(("gone", "scale"), [("rgb", "shared"), ("nir", "map"), ("tir", "shared")])
def test_a_missing_modality_is_one_strip_and_marks_the_maps_that_compare_with_it(trained, photos, gone, scale):
    options = FigureOptions(columns=("input", "cross1", "cross2"), scale=scale, width="cvpr-column")
    whole = grid_figure(trained, photos, options)
    sheet = grid_figure(without(trained, gone), photos | {gone: None}, options)
    assert texts(sheet).count(style.WORDS["en"]["missing"]) == 1
    assert texts(sheet).count(f"to {gone.upper()}: no picture") == 2
    assert sheet.height < 0.8 * whole.height
    assert sheet.render("pdf").startswith(b"%PDF")
