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


def stacked(part, axis: int = 0):
    return torch.stack([part[m] for m in NAMES], axis)


@pytest.mark.parametrize(
    "given",
    [
        stacked,  # (3, 1, N, C) and (3, 1, C)
        lambda part: stacked(part, 1),  # (1, 3, N, C) and (1, 3, C)
        lambda part: stacked(part)[:, 0].numpy(),  # (3, N, C) and (3, C)
        lambda part: [part[m][0] for m in NAMES],
        lambda part: tuple(part[m].numpy() for m in NAMES),
        lambda part: dict(zip(("TI", "RGB", "NI"), (part["tir"], part["rgb"], part["nir"]), strict=True)),
        lambda part: [part[m][0].tolist() for m in NAMES],
    ],
)
def test_stacks_sequences_and_other_names_are_the_same_tokens(tokens, given):
    expected = sdtps.analyse_tokens(*tokens, grid=(16, 8))
    found = sdtps.analyse_tokens(*map(given, tokens), grid=(16, 8))
    for m in NAMES:
        assert np.array_equal(found[m].score, expected[m].score)


@pytest.mark.parametrize(
    ("patches", "sentence"),
    [
        (torch.ones(2, 3, 128, 64), r"of the shape \(2, 3, 128, 64\)"),
        (torch.ones(3, 2, 128, 64), r"rgb have the shape \(2, 128, 64\); give one image set"),
        (torch.ones(128, 64), r"three in this order, also stacked; these are of the shape \(128, 64\)"),
        ([torch.ones(128, 64)] * 2, "these are a list"),
        (None, "these are a NoneType"),
        (["a", "b", "c"], "rgb are no tensor or array of numbers"),
    ],
)
def test_what_is_no_image_set_is_refused_in_a_sentence(tokens, patches, sentence):
    with pytest.raises(sdtps.InputError, match=sentence):
        sdtps.analyse_tokens(patches, tokens[1])


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
