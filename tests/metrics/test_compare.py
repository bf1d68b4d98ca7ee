from dataclasses import replace

import numpy as np
import pytest

import sdtps
from sdtps.checkpoints.load import random_model
from sdtps.images.read import read_triplet
from sdtps.metrics import across_variants, compare, sweep
from sdtps.metrics.compare import cosine
from sdtps.models.feature import FusionConfig
from sdtps.pipeline import OpenSet, analyse
from sdtps.variants import VARIANTS
from tests.conftest import tiny_vit_config


def test_an_analysis_against_itself(analyse_at):
    same = compare(analyse_at(), analyse_at())
    assert same.feature_cosine == pytest.approx(1.0)
    for change in same.modalities.values():
        assert len(change.entered) == len(change.left) == 0
        assert change.overlap.corrected == 1.0
        assert all(not d.any() for d in change.differences.values())


def test_entered_and_left_are_the_set_differences(analyse_at):
    a, b = analyse_at(beta=0.0), analyse_at(beta=0.5)
    change = compare(a, b).modalities["rgb"]
    assert set(change.entered) == set(b["rgb"].keep) - set(a["rgb"].keep)
    assert set(change.left) == set(a["rgb"].keep) - set(b["rgb"].keep)
    assert len(change.entered) == len(change.left) > 0
    assert change.differences["score"] == pytest.approx(b["rgb"].score - a["rgb"].score)
    assert not change.differences["self"].any(), "beta does not move the attention maps"


def test_settings_leave_the_global_half_alone(analyse_at):
    found = compare(analyse_at(), analyse_at(sparse_ratio=0.1))
    assert found.sdtps_cosine < 1.0
    assert found.sdtps_cosine != found.feature_cosine


def test_what_nobody_is_recognised_by_counts_nowhere(photos):
    model = random_model(tiny_vit_config(fusion=FusionConfig(left_out=8)), device="cpu")
    given, settings = (photos["rgb"], photos["nir"], photos["tir"]), sdtps.Settings()
    a, b = (analyse(model, *given, s) for s in (settings, replace(settings, sparse_ratio=0.1)))
    selected = model.net.part_slices["sdtps"]
    found = compare(a, b)
    assert found.sdtps_cosine == pytest.approx(cosine(a.feature[selected], b.feature[selected]))
    np.testing.assert_array_equal(np.concatenate([a.share(m) for m in ("rgb", "nir", "tir")]), a.feature[selected])
    nir = slice(selected.start + 40, selected.start + 80)
    assert found.modalities["nir"].pooled_cosine == pytest.approx(cosine(a.feature[nir], b.feature[nir]))
    opened = OpenSet.of(model, read_triplet(*given))
    assert sweep(opened, settings, "sparse_ratio", [0.1]).cosine["nir"][0] == pytest.approx(
        found.modalities["nir"].pooled_cosine
    )


def test_another_grid_has_no_patches_to_compare(analyse_at, photos):
    other = random_model(tiny_vit_config((128, 256)), device="cpu")
    found = compare(analyse_at(), analyse(other, photos["rgb"], photos["nir"], photos["tir"]))
    assert found.same_grid is False
    assert not found.modalities


def test_cosine_of_known_vectors():
    assert cosine(np.array([1.0, 0.0]), np.array([0.0, 2.0])) == 0.0
    assert cosine(np.array([1.0, 1.0]), np.array([-2.0, -2.0])) == pytest.approx(-1.0)
    assert np.isnan(cosine(np.zeros(2), np.ones(2)))
    assert np.isnan(cosine(np.ones(2), np.ones(3)))


def test_variants_side_by_side(opened, analyse_at):
    found = {r.name: r for r in across_variants(opened, sdtps.Settings())}
    assert list(found) == list(VARIANTS)
    assert "second predictor" in found["paper"].lacking
    assert found["paper"].analysis is None
    gumbel = found["complete-gumbel"].change
    assert all(c.overlap.jaccard == 1.0 for c in gumbel.modalities.values()), "the forward pass is that of final"
    assert gumbel.sdtps_cosine == pytest.approx(1.0)
    expected = set(analyse_at(variant="open-source")["tir"].keep) - set(analyse_at()["tir"].keep)
    assert set(found["open-source"].change.modalities["tir"].entered) == expected


def test_sweep_of_the_sparse_ratio(opened, analyse_at):
    person = analyse_at()["rgb"].mask
    found = sweep(opened, sdtps.Settings(), "sparse_ratio", [0.25, 0.5, 1.0], person=person)
    assert list(found.kept) == [32, 64, 128]
    assert list(found.tokens) == [12, 25, 25], "the weights have 25 rows"
    assert found.jaccard["rgb"] == pytest.approx([0.5, 1.0, 0.5])
    assert found.corrected["rgb"][1:] == pytest.approx([1.0, 0.0]), "half of everything is what chance gives"
    assert found.precision["rgb"] == pytest.approx([1.0, 1.0, 0.5])
    assert found.cosine["nir"][1] == pytest.approx(1.0)
    assert found.masks["tir"].sum(1).tolist() == [32, 64, 128]
    assert found.as_dict()["now"] == 0.5


def test_tau_moves_nothing_that_is_kept(opened):
    found = sweep(opened, sdtps.Settings(), "tau", [0.05, 1.0, 10.0])
    assert found.precision == {}
    for m in ("rgb", "nir", "tir"):
        assert found.jaccard[m].tolist() == [1.0] * 3
        assert found.cosine[m] == pytest.approx([1.0] * 3)


def test_sweep_leaves_out_missing_modalities_and_can_be_stopped(opened, without):
    found = sweep(without("nir"), sdtps.Settings(), "beta", [0.1])
    assert set(found.cosine) == {"rgb", "tir"}
    with pytest.raises(ValueError, match="no slider"):
        sweep(opened, sdtps.Settings(), "draws", [1])


def test_variants_as_plain_values(opened):
    found = {r.name: r.as_dict() for r in across_variants(opened, sdtps.Settings())}
    assert found["paper"]["change"] is None
    assert found["final"]["change"]["sdtps_cosine"] == pytest.approx(1.0)


def test_ranks_are_compared_where_scores_have_other_bounds(analyse_at):
    found = compare(analyse_at(), analyse_at(beta=0.5))
    assert not found.same_scale
    before, after = analyse_at()["nir"], analyse_at(beta=0.5)["nir"]
    best = int(after.keep[0])
    assert found.modalities["nir"].climbed[best] == before.rank[best]
    assert found.modalities["nir"].climbed.sum() == 0, "who climbs leaves others behind"
    same = compare(analyse_at(), analyse_at(sparse_ratio=0.25, tau=3.0))
    assert same.same_scale
    assert not same.modalities["nir"].climbed.any()
    assert not compare(analyse_at(), analyse_at(variant="open-source")).same_scale


def test_curves_that_are_arithmetic_are_not_drawn(opened, analyse_at):
    person = analyse_at()["rgb"].mask

    def telling(name, values, **more):
        return sweep(opened, sdtps.Settings(), name, values, **more).telling

    assert telling("sparse_ratio", [0.25, 0.5, 1.0], person=person) == ("precision", "cosine")
    assert telling("sparse_ratio", [0.25, 0.5, 1.0]) == ("cosine",)
    assert telling("beta", [0.0, 0.25, 0.5], person=person) == ("jaccard", "precision", "cosine")
    assert telling("aggr_ratio", [0.1, 0.4], person=person) == ("cosine",)
    assert telling("tau", [0.1, 1.0, 10.0], person=person) == ()
