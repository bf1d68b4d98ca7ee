"""Contributions of patches add up to the cosine, and the strongest ones carry it."""

from itertools import combinations, islice

import numpy as np
import pytest

import sdtps
from sdtps.checkpoints.load import random_model
from sdtps.datasets import open_dataset
from sdtps.models.feature import FusionConfig
from sdtps.pipeline import OpenSet
from sdtps.resources import PROJECT
from sdtps.retrieval.explain import Apart, cosine, explain, take_apart, to_win
from sdtps.types import Settings
from tests.conftest import tiny_vit_config

GALLERY = PROJECT / "assets" / "gallery"
PAIRS = 10
MODELS = {
    "embedded": (None, {}),
    "kept tokens alone": (tiny_vit_config(variant="first"), {}),
    "some channels left out": (tiny_vit_config(fusion=FusionConfig(left_out=5)), {}),
    "with experts": (tiny_vit_config(fusion=FusionConfig(("ori", "sdtps", "moe"), moe={"heads": 3})), {}),
    "normalised tokens": (tiny_vit_config(variant="open-source"), {}),
    "dual": (tiny_vit_config(variant="paper"), {}),
}


@pytest.fixture(scope="module")
def records():
    return open_dataset(GALLERY).listing("test").records[:5]


@pytest.fixture(scope="module", params=MODELS)
def aparts(request, records):
    config, _ = MODELS[request.param]
    model = sdtps.load_model() if config is None else random_model(config, seed=3, device="cpu")
    sets = [OpenSet.of(model, r.read(), r.cam, asked=False) for r in records]
    return [(s.analyse(), take_apart(s, model.settings)) for s in sets]


def test_contributions_add_up_to_the_cosine(aparts):
    for (_, a), (_, b) in islice(combinations(aparts, 2), PAIRS):
        found = explain(a, b)
        assert found.cosine == pytest.approx(cosine(a.feature, b.feature), abs=1e-9)
        assert sum(t.value for t in found.terms) == pytest.approx(found.cosine, abs=1e-5)
        for term in found.terms:
            if term.by_patch:
                assert found.pairs[term.modality].sum() == pytest.approx(term.value, abs=1e-9)


def test_the_feature_is_that_of_the_analysis_and_patches_make_nearly_all_of_it(aparts):
    for analysis, apart in aparts:
        np.testing.assert_allclose(apart.feature, analysis.feature, atol=1e-5)
        everything = [(m, i) for m in apart.places for i in range(len(apart.kept[m]))]
        left = apart.without(everything)
        for place in apart.places.values():
            if analysis.settings.variant in ("final", "first"):  # the others put more than patches into it
                np.testing.assert_allclose(left[place], 0.0, atol=1e-4 * np.abs(apart.feature).max())


def test_the_ten_strongest_beat_random_ones():
    """Removing the ten strongest kept patches lowers the cosine more than 95 % of random draws of ten do."""
    model = sdtps.load_model()
    records = open_dataset(GALLERY).listing("test").records[:5]
    aparts = [take_apart(OpenSet.of(model, r.read(), r.cam, asked=False), model.settings) for r in records]
    rng = np.random.default_rng(0)
    for a, b in combinations(aparts, 2):
        found = explain(a, b)
        kept = [(m, int(i)) for m in a.places for i in np.flatnonzero(a.kept[m])]
        value = {patch: found.by_patch(patch[0])[0][patch[1]] for patch in kept}
        strongest = sorted(kept, key=lambda patch: -value[patch])[:10]
        ours = cosine(a.without(strongest), b.feature)
        draws = [rng.permutation(len(kept))[:10] for _ in range(100)]
        theirs = [cosine(a.without([kept[i] for i in draw]), b.feature) for draw in draws]
        assert np.mean([ours < other for other in theirs]) > 0.95


def test_a_part_that_is_not_linear_is_named(records):
    config = tiny_vit_config(fusion=FusionConfig(("ori", "dgaf"), dgaf={"heads": 3}))
    model = random_model(config, seed=1, device="cpu")
    a, b = (take_apart(OpenSet.of(model, r.read()), model.settings) for r in records[:2])
    found = explain(a, b)
    assert a.whole == ("dgaf",)
    assert not found.pairs
    assert sum(t.value for t in found.terms) == pytest.approx(found.cosine, abs=1e-5)


def test_the_smallest_removal_is_found_and_enough():
    share = np.zeros((3, 2))
    share[:, 0] = [3.0, 1.0, 0.5]  # what speaks for the wrong one
    share[:, 1] = [0.0, 0.0, 2.0]
    query = Apart(
        share.sum(0), {"sdtps": slice(0, 2)}, {"rgb": slice(0, 2)}, {"rgb": share}, {"rgb": np.ones(3, bool)}, ()
    )
    right, wrong = np.array([0.0, 1.0]), np.array([1.0, 0.0])
    removed = to_win(query, right, wrong)
    assert removed == [("rgb", 0)]
    after = query.without(removed)
    assert cosine(after, right) > cosine(after, wrong)
    assert to_win(query, wrong, right) == []
    hopeless = Apart(np.array([9.0, 0.0]), query.parts, query.places, {"rgb": np.zeros((3, 2))}, query.kept, ())
    assert to_win(hopeless, right, wrong) is None


def test_soft_masks_are_taken_apart_too(records):
    model = random_model(tiny_vit_config(variant="soft"), seed=2, device="cpu")
    settings = Settings(variant="soft")
    a, b = (take_apart(OpenSet.of(model, r.read()), settings) for r in records[:2])
    found = explain(a, b)
    assert {t.modality for t in found.terms if t.by_patch} == {"rgb", "nir", "tir"}
    rest = [abs(found.pairs[m][-1]).sum() for m in found.pairs]
    assert max(rest) < 1e-5
