"""`analyse_tokens`: tokens of anybody's model give the numbers that the same tokens give through a checkpoint."""

import numpy as np
import pytest
import torch

import sdtps
from sdtps.algorithm.selectors.soft import SoftSDTPS
from tests.conftest import random_tokens, shaken_module

NAMES = ("rgb", "nir", "tir")


@pytest.fixture(scope="module")
def tokens():
    patches, vectors = random_tokens(1, 128, 64, dtype=torch.float32)
    return patches, vectors


def test_the_same_tokens_through_a_model_give_the_same_numbers(tiny_model, photos):
    from sdtps.pipeline import OpenSet

    opened = OpenSet.of(tiny_model, sdtps.read_triplet(*photos.values()))
    patches, vectors = opened.encode().encoded
    expected = opened.analyse()
    found = sdtps.analyse_tokens(patches, vectors, tiny_model.net, grid=(16, 8), pictures=list(photos.values()))
    for m in NAMES:
        assert np.array_equal(found[m].score, expected[m].score)
        assert np.array_equal(found[m].keep, expected[m].keep)
        assert np.array_equal(found[m].aggregation_weights, expected[m].aggregation_weights)
        assert np.array_equal(found.pictures[m], photos[m])
    assert found.notes == ()
    assert np.array_equal(found.feature, expected.feature)


def test_the_module_s_own_ratios_are_the_default_and_it_stays_as_it_is(tokens):
    module = shaken_module(64, 128, dtype=torch.float32, sparse_ratio=0.25, beta=0.1).train()
    torch.manual_seed(3)
    expected = torch.rand(2)
    torch.manual_seed(3)
    found = sdtps.analyse_tokens(*tokens, module)
    assert torch.equal(torch.rand(2), expected)
    assert module.training
    assert (found.settings.sparse_ratio, found.settings.beta, found["nir"].kept) == (0.25, 0.1, 32)
    with torch.no_grad():
        assert np.allclose(found["tir"].score, module.eval()(*tokens)["tir"].score[0], atol=1e-6)


def test_arrays_without_a_batch_and_without_a_module_rank_by_the_maps(tokens, monkeypatch):
    monkeypatch.setattr("sdtps.export.notebook.RATIO_STRIDE", 19)
    patches, vectors = ({m: t[0].numpy() for m, t in part.items()} for part in tokens)
    found = sdtps.analyse_tokens(patches, vectors)
    assert found.grid == sdtps.Grid(16, 8)
    assert found["rgb"].predictor is None
    assert [getattr(note, "code", None) for note in found.notes] == ["tokens.grid", "tokens.no_pictures"]
    assert found._repr_html_().startswith("<iframe")


def test_a_soft_selector_drops_nothing(tokens):
    found = sdtps.analyse_tokens(*tokens, SoftSDTPS(64, 128).eval(), grid=(8, 16))
    assert found["rgb"].soft
    assert tuple(found.grid) == (8, 16)


@pytest.mark.parametrize(
    ("change", "options", "sentence"),
    [
        (lambda p, v: p.pop("nir"), {}, "no patches for nir"),
        (lambda p, v: p.update(rgb=p["rgb"].repeat(2, 1, 1)), {}, "give one image set"),
        (lambda p, v: p.update(rgb=p["rgb"][:, :100]), {}, "differ in number or channels"),
        (lambda p, v: v.update(tir=v["tir"] * float("nan")), {}, "not finite"),
        (lambda p, v: None, {"grid": (12, 8)}, "96 patches, and there are 128"),
        (lambda p, v: None, {"module": shaken_module(32, 128, dtype=torch.float32)}, "32 channels, and these have 64"),
    ],
)
def test_what_does_not_fit_is_refused_in_a_sentence(tokens, change, options, sentence):
    patches, vectors = dict(tokens[0]), dict(tokens[1])
    change(patches, vectors)
    with pytest.raises(sdtps.InputError, match=sentence):
        sdtps.analyse_tokens(patches, vectors, **options)
