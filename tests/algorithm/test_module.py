"""The module against the independent NumPy reference, for every variant and many shapes."""

import math

import numpy as np
import pytest
import torch

from sdtps.algorithm.module import MultiModalSDTPS
from sdtps.variants import SDTPS_VARIANTS, VARIANTS
from tests.algorithm import reference
from tests.conftest import random_tokens, shaken_module

SHAPES = [(64, 0.5, 0.4), (128, 0.5, 0.4), (128, 1.0, 0.4), (128, 0.001, 0.5), (196, 0.7, 0.5), (128, 0.3, 1.0)]


def assert_equals_reference(module, tokens, variant, **settings):
    patches, vectors = tokens
    weights = {k: v.double().numpy() for k, v in module.state_dict().items()}
    with torch.no_grad():
        traces = module(patches, vectors)
    for m, trace in traces.items():
        for b in range(len(trace.score)):
            want = reference.sample(
                {k: v[b].double().numpy() for k, v in patches.items()},
                {k: v[b].double().numpy() for k, v in vectors.items()},
                weights,
                m,
                variant,
                **settings,
            )
            got = {
                "raw_self": trace.raw_self_attention,
                "self": trace.self_attention,
                "score": trace.score,
                "keep": trace.keep,
                "drop": trace.drop,
                "extra_weights": trace.extra_weights,
                "weights": trace.aggregation_weights,
                "aggregated": trace.aggregated,
                "tokens": trace.tokens,
                "pooled": trace.pooled,
            }
            if variant != "open-source":
                got["predictor"] = trace.predictor
            if variant == "paper":
                got |= {"dense_keep": trace.dense_keep, "dense_weights": trace.dense_aggregation_weights}
            for name, tensor in got.items():
                np.testing.assert_allclose(tensor[b].numpy(), want[name], rtol=1e-6, atol=1e-9, err_msg=f"{m} {name}")
            for i, other in enumerate(reference.OTHERS[m]):
                np.testing.assert_allclose(trace.cross_attention[other][b], want["cross"][i], rtol=1e-6, atol=1e-9)
                np.testing.assert_allclose(trace.raw_cross_attention[other][b], want["raw_cross"][i], atol=1e-9)
            np.testing.assert_allclose(trace.extra[b, 0].numpy(), want["extra"], rtol=1e-6, atol=1e-9)
            mask = np.zeros(len(want["score"]), bool)
            mask[want["keep"]] = True
            np.testing.assert_array_equal(trace.mask[b].numpy(), mask)


@pytest.mark.parametrize("variant", SDTPS_VARIANTS)
@pytest.mark.parametrize(("patches", "sparse_ratio", "aggr_ratio"), SHAPES)
def test_every_variant_equals_the_reference(variant, patches, sparse_ratio, aggr_ratio):
    settings = {"sparse_ratio": sparse_ratio, "aggr_ratio": aggr_ratio, "beta": 0.25}
    module = shaken_module(32, patches, variant=variant, **settings)
    assert_equals_reference(module, random_tokens(2, patches, 32), variant, **settings)


@pytest.mark.parametrize("beta", [0.0, 0.1, 0.5])
def test_beta_mixes_as_equation_3_says(beta):
    module = shaken_module(32, 64, beta=beta)
    assert_equals_reference(
        module, random_tokens(1, 64, 32, seed=3), "final", sparse_ratio=0.5, aggr_ratio=0.4, beta=beta
    )


def test_fp32_stays_within_the_published_tolerance():
    double = shaken_module(64, 128)
    single = MultiModalSDTPS(64, 128).eval()
    single.load_state_dict({k: v.float() for k, v in double.state_dict().items()})
    patches, vectors = random_tokens(2, 128, 64)
    wide = double(patches, vectors)
    narrow = single({m: p.float() for m, p in patches.items()}, {m: g.float() for m, g in vectors.items()})
    for m in wide:
        torch.testing.assert_close(narrow[m].tokens.double(), wide[m].tokens, rtol=1e-4, atol=1e-5)
        assert torch.equal(narrow[m].keep, wide[m].keep)


def test_samples_of_a_batch_do_not_mix():
    module = shaken_module(32, 64)
    patches, vectors = random_tokens(3, 64, 32)
    together = module(patches, vectors)["nir"].tokens
    alone = module({m: p[1:2] for m, p in patches.items()}, {m: g[1:2] for m, g in vectors.items()})["nir"].tokens
    torch.testing.assert_close(together[1:2], alone, rtol=1e-12, atol=1e-12)


def test_equal_patches_are_kept_by_lowest_index_first():
    module = shaken_module(32, 128, dtype=torch.float32)
    patches, vectors = random_tokens(1, 128, 32, dtype=torch.float32)
    same = {m: p[:, :1].expand(-1, 128, -1).contiguous() for m, p in patches.items()}
    for trace in module(same, vectors).values():
        assert trace.keep[0].tolist() == list(range(64))
        assert trace.drop[0].tolist() == list(range(64, 128))
        assert torch.count_nonzero(trace.self_attention) == 0
        assert all(torch.count_nonzero(c) == 0 for c in trace.cross_attention.values())


def test_ties_inside_a_varied_map_follow_the_index():
    module = shaken_module(32, 64, dtype=torch.float32)
    patches, vectors = random_tokens(1, 64, 32, dtype=torch.float32)
    for p in patches.values():
        p[:, 40:] = p[:, :1]
    trace = module(patches, vectors)["rgb"]
    tied = [i for i in trace.keep[0].tolist() + trace.drop[0].tolist() if i == 0 or i >= 40]
    assert tied == [0, *range(40, 64)]


def test_keeping_everything_leaves_an_extra_token_of_exact_zeros():
    trace = shaken_module(32, 64, sparse_ratio=1.0)(*random_tokens(2, 64, 32))["tir"]
    assert trace.extra.shape == (2, 1, 32)
    assert torch.count_nonzero(trace.extra) == 0
    assert trace.extra_weights.shape == (2, 0)


def test_fewer_rows_are_the_first_rows():
    module = shaken_module(32, 128)
    patches, vectors = random_tokens(1, 128, 32)
    full = module(patches, vectors)["rgb"]
    module.aggr_ratio = 0.1
    fewer = module(patches, vectors)["rgb"]
    assert fewer.aggregated.shape[1] == 6 == fewer.rows_asked
    torch.testing.assert_close(fewer.aggregated, full.aggregated[:, :6])


def test_more_rows_than_the_weights_have_are_clamped_and_reported():
    module = shaken_module(32, 128)
    module.aggr_ratio = 0.8
    trace = module(*random_tokens(1, 128, 32))["rgb"]
    assert (trace.aggregated.shape[1], trace.rows_asked, module.rows) == (25, 51, 25)


def test_ratios_and_beta_change_without_rebuilding():
    module = shaken_module(32, 128)
    module.sparse_ratio, module.aggr_ratio, module.beta = 0.3, 0.4, 0.4
    assert_equals_reference(module, random_tokens(1, 128, 32), "final", sparse_ratio=0.3, aggr_ratio=0.4, beta=0.4)


@pytest.mark.parametrize(
    ("patches", "sparse", "aggr", "k", "rows"),
    [(128, 0.5, 0.4, 64, 25), (128, 0.6, 0.4, 77, 30), (128, 0.7, 0.5, 90, 44), (196, 0.5, 0.4, 98, 39)],
)
def test_published_counts(patches, sparse, aggr, k, rows):
    trace = shaken_module(16, patches, sparse_ratio=sparse, aggr_ratio=aggr)(*random_tokens(1, patches, 16))["rgb"]
    assert (trace.keep.shape[1], trace.aggregated.shape[1]) == (k, rows)


def test_state_dict_has_the_reference_names_and_shapes():
    state = MultiModalSDTPS(512, 128).state_dict()
    want = {}
    for m in reference.MODALITIES:
        want |= {
            f"{m}_sparse.score_predictor.0.weight": (128, 512),
            f"{m}_sparse.score_predictor.0.bias": (128,),
            f"{m}_sparse.score_predictor.2.weight": (1, 128),
            f"{m}_sparse.score_predictor.2.bias": (1,),
            f"{m}_aggr.scale": (1, 1, 1),
            f"{m}_aggr.weight.0.weight": (512,),
            f"{m}_aggr.weight.0.bias": (512,),
            f"{m}_aggr.weight.1.weight": (102, 512),
            f"{m}_aggr.weight.1.bias": (102,),
            f"{m}_aggr.weight.3.weight": (25, 102),
            f"{m}_aggr.weight.3.bias": (25,),
        }
    assert {k: tuple(v.shape) for k, v in state.items()} == want
    assert sum(math.prod(s) for s in want.values()) == 365_157


def test_rows_are_read_from_the_weights():
    trained = shaken_module(32, 128, sparse_ratio=0.7, aggr_ratio=0.5)
    module = MultiModalSDTPS(32, 128).double().eval()
    module.load_state_dict(trained.state_dict(), strict=True)
    assert module.rows == 44
    module.sparse_ratio, module.aggr_ratio = 0.7, 0.5
    patches, vectors = random_tokens(1, 128, 32)
    torch.testing.assert_close(module(patches, vectors)["rgb"].tokens, trained(patches, vectors)["rgb"].tokens)


def test_a_part_the_variant_does_not_use_may_be_absent():
    state = {k: v for k, v in shaken_module(32, 64).state_dict().items() if "_sparse." in k}
    first = MultiModalSDTPS(32, 64, variant="first").double().eval()
    first.load_state_dict(state, strict=True)
    assert first(*random_tokens(1, 64, 32))["rgb"].tokens.shape == (1, 33, 32)
    with pytest.raises(RuntimeError, match="rgb_aggr"):
        MultiModalSDTPS(32, 64).double().load_state_dict(state, strict=True)


def test_an_absent_part_comes_back_with_weights_that_have_it():
    whole = shaken_module(32, 64).state_dict()
    module = MultiModalSDTPS(32, 64, variant="first").double()
    module.load_state_dict({k: v for k, v in whole.items() if "_sparse." in k}, strict=True)
    module.load_state_dict(whole, strict=True)
    assert module.rows == 12


def test_what_the_weights_cannot_run_is_said():
    module = MultiModalSDTPS(32, 64)
    assert [v for v in SDTPS_VARIANTS if module.supports(VARIANTS[v])] == ["paper"]
    assert "second predictor" in module.supports(VARIANTS["paper"])
    assert MultiModalSDTPS(32, 64, variant="paper").supports(VARIANTS["paper"]) is None


def test_unknown_variant_lists_the_names():
    with pytest.raises(ValueError, match="open-source, paper, first, complete-gumbel, final, importance"):
        MultiModalSDTPS(32, 64, variant="newest")


def test_fp16_autocast_gives_fp32_scores_without_inf_or_nan():
    patches, vectors = random_tokens(2, 128, 64, dtype=torch.float16)
    for variant in SDTPS_VARIANTS:
        module = MultiModalSDTPS(64, 128, variant=variant).train()
        with torch.autocast("cpu", dtype=torch.float16):
            traces = module({m: 50 * p for m, p in patches.items()}, vectors)
        for trace in traces.values():
            for tensor in (trace.score, trace.decision, trace.tokens, trace.extra_weights):
                assert tensor.dtype == torch.float32
                assert torch.isfinite(tensor).all()


def test_same_input_same_bits():
    module = shaken_module(64, 128, dtype=torch.float32)
    patches, vectors = random_tokens(2, 128, 64, dtype=torch.float32)
    first, second = module(patches, vectors), module(patches, vectors)
    assert all(torch.equal(first[m].tokens, second[m].tokens) for m in first)
