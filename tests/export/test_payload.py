"""The payload: the numbers of the analysis to the bit, and ranges that say what they are."""

import base64
import io
import json
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

import sdtps
from sdtps.checkpoints.load import random_model
from sdtps.export import payload, rendering
from sdtps.images.encode import photo_url
from sdtps.images.read import prepare, read_triplet
from sdtps.models.reid import ModelConfig
from sdtps.support.messages import Message, as_note

SIZE = (64, 32)


@pytest.fixture(scope="module")
def model():
    options = {"timm_options": {"depth": 1, "embed_dim": 24, "num_heads": 2}}
    return random_model(ModelConfig("vit", "vit_tiny_patch16_224", SIZE, options), seed=3, device="cpu")


@pytest.fixture(scope="module")
def images():
    rng = np.random.default_rng(5)
    return [rng.integers(0, 255, (*SIZE, 3), dtype=np.uint8) for _ in range(3)]


def unpack(text: str, kind: str = "<f4") -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), kind)


def test_arrays_survive_to_the_bit(model, images) -> None:
    analysis = sdtps.analyse(model, *images)
    sent = json.loads(json.dumps(payload.merge(
        payload.still(analysis, prepare(read_triplet(*images), SIZE).pixels), payload.moving(analysis, matrix=True)
    )))  # fmt: skip
    assert sent["schema"] == payload.SCHEMA
    assert sent["grid"] == {"rows": 4, "cols": 2}
    for m in ("rgb", "nir", "tir"):
        trace, shown = analysis[m], sent["modalities"][m]
        np.testing.assert_array_equal(unpack(shown["maps"]["score"]), trace.score)
        np.testing.assert_array_equal(unpack(shown["maps"]["self"]), trace.self_attention)
        np.testing.assert_array_equal(unpack(shown["maps"]["predictor"]), trace.predictor)
        np.testing.assert_array_equal(unpack(shown["rank"], "<i4"), trace.rank)
        np.testing.assert_array_equal(unpack(shown["maps"]["aggregation"]), trace.aggregation_total)
        (branch,) = shown["matrix"]["branches"]
        weights = unpack(branch["weights"]).reshape(shown["matrix"]["rows"], -1)
        np.testing.assert_array_equal(weights, trace.aggregation_weights)
        first, second = sdtps.Modality(m).others
        assert shown["others"] == [first, second]
        np.testing.assert_array_equal(unpack(shown["maps"]["cross2"]), trace.cross_attention[second])
        assert shown["cut"] == trace.score[trace.keep[-1]]
        assert shown["photo"].startswith("data:image/webp;base64,")


def test_photographs_travel_without_loss() -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (64, 32, 3), dtype=np.uint8)
    content = base64.b64decode(photo_url(pixels).partition(",")[2])
    np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(content))), pixels)


def test_ranges_are_the_maps_own_or_shared(model, images) -> None:
    analysis = sdtps.analyse(model, *images, sdtps.Settings(beta=0.1))
    sent = payload.moving(analysis)
    for m in ("rgb", "nir", "tir"):
        score = analysis[m].score
        assert sent["modalities"][m]["ranges"]["score"] == [score.min(), score.max()]
    assert sent["ranges"]["score"] == pytest.approx([0, 1.2])
    assert sent["ranges"]["predictor"] == [0, 1]
    assert sent["ranges"]["aggregation"][1] == max(analysis[m].aggregation_total.max() for m in ("rgb", "nir", "tir"))


def test_counts_and_mix(model, images) -> None:
    sent = payload.moving(sdtps.analyse(model, *images, sdtps.Settings(sparse_ratio=0.3, beta=0.2)))
    assert (sent["counts"]["patches"], sent["counts"]["kept"]) == (8, 3)
    assert sent["mix"] == {"predictor": pytest.approx(0.6), "self": 0.4, "cross": 0.2, "cosines": False}
    cosines = payload.moving(sdtps.analyse(model, *images, sdtps.Settings(variant="open-source")))
    assert cosines["mix"]["cosines"] is True
    assert cosines["mix"]["predictor"] == 0


def test_the_matrix_travels_only_when_asked(model, images) -> None:
    sent = payload.moving(sdtps.analyse(model, *images))
    assert sent["modalities"]["rgb"]["matrix"] is None


def test_two_branches_add_up_to_the_total(images) -> None:
    options = {"timm_options": {"depth": 1, "embed_dim": 24, "num_heads": 2}}
    config = ModelConfig("vit", "vit_tiny_patch16_224", SIZE, options, variant="paper")
    analysis = sdtps.analyse(random_model(config, device="cpu"), *images, sdtps.Settings(variant="paper"))
    matrix = payload.moving(analysis, matrix=True)["modalities"]["rgb"]["matrix"]
    assert len(matrix["branches"]) == 2
    total = np.zeros((matrix["rows"], analysis.grid.patches), np.float32)
    for branch in matrix["branches"]:
        total[:, unpack(branch["keep"], "<i4")] += unpack(branch["weights"]).reshape(matrix["rows"], -1)
    np.testing.assert_allclose(total.sum(0), analysis["rgb"].aggregation_total, rtol=1e-6)
    np.testing.assert_array_equal(total.max(1), unpack(matrix["token_max"]))


def test_a_missing_modality_has_no_photo(model, images) -> None:
    triplet = read_triplet(images[0], None, images[2])
    analysis = sdtps.analyse_triplet(model, triplet)
    sent = payload.still(analysis, prepare(triplet, SIZE).pixels)
    assert sent["modalities"]["nir"]["photo"] is None
    assert sent["modalities"]["nir"]["missing"] is True


def test_notes_keep_code_and_values() -> None:
    inner = Message("input.rotated", "Turned.")
    note = as_note(Message("input.of", "{modality}: {note}", modality="RGB", note=inner))
    assert note["text"] == "RGB: Turned."
    assert note["values"]["note"]["code"] == "input.rotated"
    assert as_note("plain")["code"] is None


def test_colour_tables() -> None:
    for name in rendering.COLOUR_MAPS:
        table = rendering.colour_table(name)
        assert table.shape == (256, 3)
        assert table.dtype == np.uint8
    assert tuple(rendering.colour_table("viridis")[0]) == (68, 1, 84)
    middle = rendering.colour_table("diverging")[127].astype(int)
    assert middle.min() > 230, "zero looks like nothing on the diverging map"


def test_importing_the_package_loads_neither_matplotlib_nor_gradio() -> None:
    code = "import sys, sdtps, sdtps.panels; print([m for m in ('matplotlib', 'gradio') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"
