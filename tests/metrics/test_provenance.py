import numpy as np
import pytest

import sdtps
from sdtps.metrics import effective_number, norm_scores, patch_provenance, token_provenance


@pytest.mark.parametrize("variant", ["final", "open-source", "importance"])
def test_parts_add_up_to_the_score(analyse_at, variant):
    analysis = analyse_at(variant=variant, beta=0.2)
    for patch in (0, 40, 127):
        found = patch_provenance(analysis, "nir", patch)
        assert sum(p.share for p in found.parts) == pytest.approx(float(analysis["nir"].score[patch]), abs=1e-6)
    names = [p.name for p in found.parts]
    assert names == (["self", "rgb", "tir"] if variant == "open-source" else ["predictor", "self", "rgb", "tir"])


def test_weights_are_those_of_equation_3(analyse_at):
    parts = patch_provenance(analyse_at(beta=0.1), "rgb", 5).parts
    assert [p.weight for p in parts] == pytest.approx([0.8, 0.2, 0.1, 0.1])
    assert parts[1].raw == pytest.approx(float(analyse_at()["rgb"].raw_self_attention[5]))


@pytest.mark.parametrize("name", ["sparse_ratio", "beta"])
def test_the_flip_stop_flips_and_no_nearer_stop_does(analyse_at, name):
    settings = {"sparse_ratio": 0.5, "beta": 0.25}
    analysis = analyse_at(**settings)
    flipping = 0
    for patch in range(0, 128, 9):
        found = patch_provenance(analysis, "rgb", patch)
        stop = found.flips[name]
        step = 0.01 if stop is None or stop > settings[name] else -0.01
        last = stop if stop is not None else {"sparse_ratio": 1.0, "beta": 0.5}[name]
        for i in range(1, round(abs(last - settings[name]) / 0.01) + 1):
            value = round(settings[name] + i * step, 2)
            kept = bool(analyse_at(**(settings | {name: value}))["rgb"].mask[patch])
            assert (kept != found.kept) == (value == stop)
        flipping += stop is not None
    assert flipping > 0


def test_the_best_patch_never_flips_out_by_the_sparse_ratio(analyse_at):
    analysis = analyse_at()
    best = patch_provenance(analysis, "tir", int(analysis["tir"].keep[0]))
    assert best.rank == 0
    assert best.flips["sparse_ratio"] is None


def test_beta_cannot_flip_a_sum_of_cosines(analyse_at):
    assert patch_provenance(analyse_at(variant="open-source"), "rgb", 3).flips["beta"] is None


def test_margins_at_the_cut(analyse_at):
    trace = analyse_at()["rgb"]
    analysis = analyse_at()
    last, first = int(trace.keep[-1]), int(trace.drop[0])
    gap = float(trace.score[last]) - float(trace.score[first])
    assert patch_provenance(analysis, "rgb", last).margin == pytest.approx(gap)
    assert patch_provenance(analysis, "rgb", first).margin == pytest.approx(-gap)


def test_when_everything_is_kept_there_is_no_margin(analyse_at):
    found = patch_provenance(analyse_at(sparse_ratio=1.0), "rgb", 3)
    assert np.isnan(found.margin)
    assert found.kept
    assert found.extra_weight == 0.0


def test_one_kept_patch(analyse_at):
    analysis = analyse_at(sparse_ratio=0.001)
    kept = [p for p in range(128) if patch_provenance(analysis, "rgb", p).kept]
    assert kept == [int(analysis["rgb"].keep[0])]


def test_tokens_of_a_patch_are_the_column_of_the_matrix(analyse_at):
    analysis = analyse_at()
    trace = analysis["rgb"]
    kept = patch_provenance(analysis, "rgb", int(trace.keep[7]))
    assert np.array_equal(kept.tokens, trace.aggregation_weights[:, 7])
    assert kept.token_total == pytest.approx(float(trace.aggregation_total[kept.patch]), rel=1e-5)
    dropped = patch_provenance(analysis, "rgb", int(trace.drop[2]))
    assert not dropped.tokens.any()
    assert dropped.extra_weight == pytest.approx(float(trace.extra_weights[2]))


def test_kept_in_names_the_modalities(analyse_at):
    analysis = analyse_at()
    found = patch_provenance(analysis, "rgb", 64).kept_in
    assert found == {m: bool(analysis[m].mask[64]) for m in ("rgb", "nir", "tir")}


def test_a_missing_modality_is_marked(without):
    analysis = without("tir").analyse(sdtps.Settings())
    found = patch_provenance(analysis, "rgb", 9)
    assert found.kept_in["tir"] is None
    assert {p.name: p.from_missing for p in found.parts} == {
        "predictor": False, "self": False, "nir": False, "tir": True,
    }  # fmt: skip


def test_token_sources_are_its_row(analyse_at):
    analysis = analyse_at()
    trace = analysis["nir"]
    found = token_provenance(analysis, "nir", 2)
    assert found.weights.sum() == pytest.approx(1.0, abs=1e-5)
    assert found.sources[0] == trace.keep[trace.aggregation_weights[2].argmax()]
    assert set(found.sources) <= set(trace.keep)


def test_no_such_patch_or_token(analyse_at):
    with pytest.raises(ValueError, match="no patch 128"):
        patch_provenance(analyse_at(), "rgb", 128)
    with pytest.raises(ValueError, match="no aggregated token 25"):
        token_provenance(analyse_at(), "rgb", 25)


def test_effective_number():
    assert effective_number(np.ones(7)) == pytest.approx(7)
    assert effective_number(np.array([0.0, 3.0, 0.0])) == pytest.approx(1)
    assert effective_number(np.array([0.5, 0.5, 0.0, 0.0])) == pytest.approx(2)
    assert np.isnan(effective_number(np.zeros(3)))


def test_a_large_norm_stands_out_and_equal_norms_do_not():
    norms = np.concatenate([np.linspace(9, 11, 50), [60.0]])
    scores = norm_scores(norms)
    assert scores[-1] > 3.5
    assert np.abs(scores[:-1]).max() < 3.5
    assert not norm_scores(np.ones(8)).any()
