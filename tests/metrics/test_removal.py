import numpy as np
import pytest
import torch

import sdtps
from sdtps.algorithm.selection import kept_count
from sdtps.algorithm.trace import Branch, Evidence
from sdtps.metrics.removal import compare_curve, measure_removal, percentile, random_orders, set_sizes
from sdtps.variants import VARIANTS, get_variant
from tests.algorithm import reference
from tests.conftest import random_tokens, shaken_module

N = 32


@pytest.mark.parametrize("variant", [v for v in VARIANTS if v != "paper"])
def test_removal_is_the_stage_run_on_the_tokens_that_are_left(variant):
    """Against the NumPy reference, which is handed the remaining tokens only."""
    module = shaken_module(24, N, variant=variant, sparse_ratio=0.5, aggr_ratio=0.5)
    patches, vectors = random_tokens(1, N, 24)
    weights = {k: v.detach().numpy() for k, v in module.state_dict().items()}
    settings = sdtps.Settings(sparse_ratio=0.5, aggr_ratio=0.5, variant=variant)
    evidence = module.evidence(patches, vectors)["rgb"]
    keep = torch.tensor([[5, 1, 30, 12, 7]])
    found = module.keep_only(evidence, keep, settings).pooled[0].detach().numpy()
    p, rows = patches["rgb"][0].numpy()[keep[0].numpy()], int(N * 0.5 * 0.5)
    tokens = p
    if get_variant(variant).needs_aggregation:
        logits = reference.weight_network(p, weights, "rgb_aggr.weight.").T[:rows] * weights["rgb_aggr.scale"].item()
        if variant == "importance":
            score = module.decide(evidence, settings).score[0].detach().numpy()[keep[0].numpy()]
            logits = logits + np.log(reference.softmax(score) + 1e-8)[None]
        tokens = reference.softmax(logits) @ p
    tokens = np.concatenate([tokens, np.zeros((1, 24))])
    if variant == "open-source":
        tokens = np.concatenate([vectors["rgb"].numpy(), tokens])
        tokens = tokens / np.maximum(np.linalg.norm(tokens, axis=-1, keepdims=True), 1e-12)
    assert found == pytest.approx(tokens.mean(0), abs=1e-9)


def test_keeping_the_kept_gives_the_aggregated_tokens_of_the_selection():
    module = shaken_module(24, N)
    patches, vectors = random_tokens(1, N, 24)
    settings = sdtps.Settings()
    evidence = module.evidence(patches, vectors)["nir"]
    trace = module.decide(evidence, settings)
    again = module.keep_only(evidence, trace.keep, settings)
    assert torch.allclose(again.aggregated, trace.aggregated)
    assert not again.extra.any()


def signal_evidence(person: np.ndarray, dim: int = 24, background: float = 0.0):
    """Tokens of one kind on the person and noise elsewhere; no networks, so that tokens are averaged as they are."""
    rng = np.random.default_rng(3)
    tokens = np.where(person[:, None], np.ones(dim), background * rng.normal(size=(len(person), dim)))
    patches = torch.from_numpy(tokens.astype(np.float32))[None]
    nothing = torch.zeros(1, len(person))
    return Evidence(
        patches, patches.mean(1), nothing, {"a": nothing, "b": nothing}, nothing, {"a": nothing, "b": nothing},
        (Branch(nothing, None),),
    )  # fmt: skip


def test_a_selection_that_is_the_person_scores_one():
    """The person's patches alone have the person's feature from the first patch on; the rest has nothing of it."""
    person = np.arange(N) < 10
    module, settings = shaken_module(24, N, dtype=torch.float32), sdtps.Settings(variant="first", sparse_ratio=10 / N)
    order = np.arange(N)
    found = measure_removal(
        pooled(module, signal_evidence(person, background=1.0), settings), order, 10, random_orders(N, 50, 0), person
    )
    removal = found["person"]
    assert removal.retained.kept == pytest.approx(1.0)
    assert removal.retained.kept_percentile == 1.0
    assert removal.retained.dropped < 0.5
    inside = (removal.insertion.share > 0) & (removal.insertion.share <= 10 / N)
    assert removal.insertion.cosine[inside] == pytest.approx(1.0)
    assert removal.insertion.above
    assert removal.deletion.below
    backwards = measure_removal(
        pooled(module, signal_evidence(person, background=1.0), settings),
        order[::-1].copy(),
        10,
        random_orders(N, 50, 0),
        person,
    )
    assert backwards["person"].insertion.below


def test_where_background_is_nothing_both_targets_agree():
    person = np.arange(N) < 10
    module, settings = shaken_module(24, N, dtype=torch.float32), sdtps.Settings(variant="first")
    found = measure_removal(
        pooled(module, signal_evidence(person), settings), np.arange(N), 16, random_orders(N, 20, 0), person
    )
    assert found["whole"].insertion.cosine == pytest.approx(found["person"].insertion.cosine, abs=1e-6)


def test_a_random_order_lies_inside_the_band_95_percent_of_the_time(tiny_model, opened):
    evidence = opened.evidence("final")["rgb"]
    settings = sdtps.Settings()
    randoms = random_orders(128, 400, 0)
    module = tiny_model.net.sdtps
    found = measure_removal(pooled(module, evidence, settings), np.arange(128), 64, randoms)["whole"]
    low, high = found.insertion.area_low, found.insertion.area_high
    # Fresh orders, measured in one go as if they were the chance of another run.
    trials = random_orders(128, 400, 1)
    fresh = [measure_area(module, evidence, settings, trials[i : i + 100]) for i in range(0, 400, 100)]
    inside = np.mean([(low <= a) & (a <= high) for a in np.concatenate(fresh)])
    # Binomial spread of the trials and of the band's own quantiles: about 1.6 %.
    assert 0.90 < inside < 0.99


def pooled(module, evidence, settings):
    """What the module makes of each patch set alone."""
    return lambda keep: module.keep_only(evidence, keep, settings).pooled


def measure_area(module, evidence, settings, orders):
    sizes = set_sizes(128, 64)
    full = module.keep_only(evidence, torch.arange(128)[None], settings).pooled
    rows = [np.zeros(len(orders))]
    with torch.inference_mode():
        for size in sizes:
            pooled = module.keep_only(evidence, torch.from_numpy(orders[:, :size].copy()), settings).pooled
            rows.append(torch.cosine_similarity(pooled, full).numpy())
    return np.trapezoid(np.stack(rows, 1), np.concatenate([[0], sizes]) / 128, axis=1)


def test_ends_of_the_curves(tiny_model, opened):
    evidence = opened.evidence("final")["tir"]
    order = random_orders(128, 1, 5)[0]
    found = measure_removal(
        pooled(tiny_model.net.sdtps, evidence, sdtps.Settings()), order, 64, random_orders(128, 10, 0)
    )["whole"]
    for curve, first, last in ((found.insertion, 0.0, 1.0), (found.deletion, 1.0, 0.0)):
        assert (curve.share[0], curve.share[-1]) == (0.0, 1.0)
        assert (curve.cosine[0], curve.cosine[-1]) == pytest.approx((first, last))
        assert (np.diff(curve.share) > 0).all()
        assert (curve.low <= curve.middle).all()
        assert (curve.middle <= curve.high).all()


@pytest.mark.parametrize(("kept", "dropped"), [(128, False), (1, True)])
def test_all_kept_and_one_kept(tiny_model, opened, kept, dropped):
    evidence = opened.evidence("final")["rgb"]
    settings = sdtps.Settings(sparse_ratio=kept / 128)
    assert kept_count(128, settings.sparse_ratio) == kept
    found = measure_removal(
        pooled(tiny_model.net.sdtps, evidence, settings), np.arange(128), kept, random_orders(128, 5, 0)
    )["whole"].retained
    assert np.isnan(found.dropped) == (not dropped)
    if kept == 128:
        assert found.kept == pytest.approx(1.0)


def test_a_mask_without_the_person_leaves_one_target(tiny_model, opened):
    evidence = opened.evidence("final")["rgb"]
    found = measure_removal(
        pooled(tiny_model.net.sdtps, evidence, sdtps.Settings()),
        np.arange(128),
        64,
        random_orders(128, 3, 0),
        np.zeros(128, bool),
    )
    assert set(found) == {"whole"}


def test_percentile_counts_ties_half():
    assert percentile(2.0, np.array([1.0, 2.0, 3.0, 4.0])) == 0.375
    assert np.isnan(percentile(float("nan"), np.ones(2)))


def test_area_of_a_known_curve():
    share = np.array([0.0, 0.5, 1.0])
    curve = compare_curve(share, np.array([0.0, 1.0, 1.0]), np.array([[0.0, 0.5, 1.0], [0.0, 0.0, 1.0]]))
    assert curve.area == pytest.approx(0.75)
    assert curve.percentile == 1.0
    assert curve.above
    assert curve.as_dict()["above"] is True
