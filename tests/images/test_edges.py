import base64
import io

import numpy as np
import pytest
from PIL import Image

from sdtps.images.edges import LINE_SHARE, RELIEF_ALPHA, edge_mask, layer_url, line_drawing, relief

SIZE = (256, 128)


def person(bright: float = 1.0) -> np.ndarray:
    """A box before a plain wall, with grain, as bright as asked."""
    picture = np.full((*SIZE, 3), 60.0)
    picture[60:200, 40:90] = 180
    picture += np.random.default_rng(0).normal(0, 3, picture.shape)
    return np.clip(picture * bright, 0, 255).astype(np.uint8)


def test_lines_run_along_the_outline_and_nowhere_else():
    lines = edge_mask(person())
    near = np.zeros(SIZE, bool)
    for row, col in ((slice(57, 63), slice(37, 93)), (slice(197, 203), slice(37, 93)),
                     (slice(57, 203), slice(37, 43)), (slice(57, 203), slice(87, 93))):  # fmt: skip
        near[row, col] = True
    assert lines[near].sum() > 300, "most of an outline of 380 pixels"
    assert lines[~near].sum() <= 0.05 * lines.sum(), "grain is no line"


def test_lines_are_thin_and_leave_the_map_free():
    layer = line_drawing(person())
    lines = layer[..., 0] > 0
    assert lines.mean() <= LINE_SHARE
    assert (layer[..., 1] > 0).mean() < 0.2
    blocks = lines[:-2, :-2] & lines[1:-1, 1:-1] & lines[2:, 2:] & lines[2:, :-2] & lines[:-2, 2:]
    assert not blocks.any(), "nowhere three pixels wide"
    assert layer[~lines][..., 0].max() == 0, "the halo is dark"


@pytest.mark.parametrize("bright", [0.5, 0.1])
def test_a_night_picture_has_the_lines_of_the_day(bright):
    day, night = edge_mask(person()), edge_mask(person(bright))
    assert (day & night).sum() > 0.7 * day.sum()


def test_a_picture_without_contrast_has_no_lines():
    for level in (0, 128, 255):
        empty = np.full((*SIZE, 3), level, np.uint8)
        assert not line_drawing(empty).any()
        assert not relief(empty).any()


def test_relief_is_at_most_a_tenth_of_black_or_white():
    layer = relief(person())
    assert layer.shape == (128, 64, 2)
    assert 0 < layer[..., 1].max() <= RELIEF_ALPHA * 255 + 0.5
    assert set(np.unique(layer[..., 0])) <= {0, 255}


@pytest.mark.parametrize("size", [(64, 32), (1, 1), (3, 200), (128, 256)])
def test_any_size_has_a_drawing(size):
    picture = np.random.default_rng(1).integers(0, 255, (*size, 3)).astype(np.uint8)
    assert line_drawing(picture).shape == (*size, 2)
    assert relief(picture).ndim == 3


def test_a_layer_travels_without_loss():
    layer = line_drawing(person())
    sent = np.asarray(Image.open(io.BytesIO(base64.b64decode(layer_url(layer).partition(",")[2]))))
    assert np.array_equal(sent[..., 3], layer[..., 1])
    assert np.array_equal(sent[..., 0][layer[..., 1] > 0], layer[..., 0][layer[..., 1] > 0])
    assert len(layer_url(layer)) < 4000
