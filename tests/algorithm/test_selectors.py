"""Soft SDTPS and Signal's selective interaction against a float64 reference, and the protocol of all selectors."""

import numpy as np
import pytest
import torch

from sdtps.algorithm.module import MultiModalSDTPS
from sdtps.algorithm.selector import SELECTORS, Selector, register
from sdtps.algorithm.selectors import SelectiveInteraction, SoftSDTPS
from sdtps.algorithm.trace import trace_of
from sdtps.types import Settings
from sdtps.variants import VARIANTS, Group, MapSpec, Variant
from tests.algorithm.selector_reference import MODALITIES, selective_interaction, soft_sdtps

DIM, PATCHES, BATCH = 32, 60, 2


def tokens(seed=0):
    g = torch.Generator().manual_seed(seed)
    patches = {m: torch.randn(BATCH, PATCHES, DIM, generator=g) for m in MODALITIES}
    return patches, {m: torch.randn(BATCH, DIM, generator=g) for m in MODALITIES}


def shaken(selector):
    """Weights pushed away from their first values, so that a forgotten affine or bias shows."""
    g = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for p in {id(p): p for p in selector.parameters()}.values():
            p += 0.1 * torch.randn(p.shape, generator=g)
    return selector.eval()


def numpy_inputs(selector, patches, vectors, sample):
    weights = {k: v.double().numpy() for k, v in selector.state_dict().items()}
    tokens, globals_ = ({m: t[m][sample].double().numpy() for m in MODALITIES} for t in (patches, vectors))
    return weights, tokens, globals_


@pytest.mark.parametrize("options", [{}, {"shared": True}, {"attention": False}], ids=["q/k", "shared", "cosine"])
@pytest.mark.parametrize(("rho", "knobs"), [(0.7, {}), (0.31, {"mask_tau": 0.1}), (0.5, {"hard": 1.0})])
def test_soft_sdtps_is_its_equations(options, rho, knobs):
    selector = shaken(SoftSDTPS(DIM, PATCHES, **options))
    patches, vectors = tokens()
    with torch.no_grad():
        traces = selector(patches, vectors, Settings(rho, variant="soft", knobs=knobs))
    for i in range(BATCH):
        inputs = numpy_inputs(selector, patches, vectors, i)
        attention, hard = options.get("attention", True), bool(knobs.get("hard"))
        want = soft_sdtps(*inputs, rho, tau=knobs.get("mask_tau", 0.3), attention=attention, hard=hard)
        for m, trace in traces.items():
            np.testing.assert_allclose(trace.score[i], want[m]["score"], atol=1e-5)
            np.testing.assert_allclose(trace.maps["weight"][i], want[m]["mask"], atol=1e-5)
            np.testing.assert_allclose(trace.pooled[i], want[m]["pooled"], atol=1e-5)
            np.testing.assert_allclose(trace.numbers["mixing"][i], want[m]["mixing"], atol=1e-5)
            np.testing.assert_allclose(trace.self_attention[i], want[m]["maps"][0], atol=1e-4)
            mask = want[m]["mask"]
            np.testing.assert_allclose(trace.numbers["effective"][i], mask.sum() ** 2 / (mask**2).sum(), rtol=1e-4)
            assert (trace.weights is None) is hard


def test_a_soft_mask_drops_nothing_and_keep_is_a_guide():
    patches, vectors = tokens()
    trace = shaken(SoftSDTPS(DIM, PATCHES))(patches, vectors, Settings(0.5, variant="soft"))["rgb"]
    assert (trace.weights > 0).all()
    assert trace.tokens.shape == (BATCH, PATCHES, DIM)
    assert trace.keep.shape == (BATCH, PATCHES // 2)
    lightest = trace.weights.gather(1, trace.keep).amin(1)
    assert (lightest >= trace.weights.gather(1, trace.drop).amax(1)).all()


def test_shared_attention_is_stored_under_all_of_its_names():
    state = SoftSDTPS(DIM, PATCHES, shared=True).state_dict()
    assert torch.equal(state["rgb_shared_attn.q_proj.weight"], state["rgb_cross_tir.q_proj.weight"])
    assert len(state) == len(SoftSDTPS(DIM, PATCHES).state_dict()) + 3 * 4
    SoftSDTPS(DIM, PATCHES, shared=True).load_state_dict(state, strict=True)


@pytest.mark.parametrize(("k", "ratio"), [(4, None), (20, None), (60, None), (10, 0.75), (20, 0.3), (7, 0.5)])
def test_selective_interaction_is_its_equations(k, ratio):
    selector = shaken(SelectiveInteraction(DIM, PATCHES, k=k, keep_ratio=ratio or 0.0))
    patches, vectors = tokens(3)
    with torch.no_grad():
        traces = selector(patches, vectors)
    for i in range(BATCH):
        want = selective_interaction(*numpy_inputs(selector, patches, vectors, i), k, keep_ratio=ratio)
        for j, (m, trace) in enumerate(traces.items()):
            assert np.array_equal(trace.mask[i], want["mask"][m])
            if ratio is None:
                assert np.array_equal((trace.groups[i] & 1) > 0, want["intra"][m])
                assert np.array_equal((trace.groups[i] & 2) > 0, want["inter"][m])
            else:
                assert trace.counts[i] == int(PATCHES * ratio)
            np.testing.assert_allclose(trace.pooled[i], want["result"][j], atol=2e-5)
            np.testing.assert_allclose(trace.numbers["leak"][i], want["leak"][j], atol=1e-5)
            rows = slice(j * PATCHES, (j + 1) * PATCHES)
            np.testing.assert_allclose(trace.maps["attention"][i], want["attention"][rows], atol=1e-5)


def test_sizes_that_vary_are_told_by_the_mask_and_one_by_one():
    patches, vectors = tokens(3)
    trace = shaken(SelectiveInteraction(DIM, PATCHES, k=8))(patches, vectors)["rgb"]
    assert trace.counts[0] != trace.counts[1]
    with pytest.raises(ValueError, match="keep different numbers"):
        _ = trace.keep
    for i in range(BATCH):
        one = trace.sample(i)
        assert set(one.keep[0].tolist()) == set(trace.mask[i].nonzero().flatten().tolist())
        scores = one.score[0][one.keep[0]]
        assert (scores[:-1] >= scores[1:]).all()


def test_a_knob_is_as_told_then_as_trained_then_its_default():
    selector = SelectiveInteraction(DIM, PATCHES, k=5)
    assert selector.knob(Settings(variant="sim"), "k") == 5
    assert selector.knob(Settings(variant="sim", knobs={"k": 9}), "k") == 9
    assert SelectiveInteraction(DIM, PATCHES).knob(Settings(variant="sim"), "k") == VARIANTS["sim"].knob("k").default


@pytest.mark.parametrize(("knobs", "sentence"), [({"k": 0}, "between 1 and 256"), ({"colour": 1}, "has no colour")])
def test_knobs_are_checked_with_the_settings(knobs, sentence):
    with pytest.raises(ValueError, match=sentence):
        Settings(variant="sim", knobs=knobs)


def test_knobs_of_another_selector_are_left_behind():
    settings = Settings(variant="sim", knobs={"k": 9})
    assert Settings(**(settings.as_dict() | {"variant": "final"})).knobs == {}
    assert settings.as_dict()["knobs"] == {"k": 9.0}
    assert "knobs" not in Settings().as_dict()


@pytest.mark.parametrize("name", ["soft", "sim"])
def test_all_patches_left_is_the_whole_and_fewer_are_less(name):
    selector = shaken(SELECTORS[name](DIM, PATCHES))
    patches, vectors = ({m: t[:1] for m, t in part.items()} for part in tokens())
    settings = Settings(variant=name, knobs={"k": 256} if name == "sim" else {})
    with torch.no_grad():
        evidence = selector.evidence(patches, vectors)
        traces = selector.choose(evidence, settings)
        every = torch.arange(PATCHES).expand(2, -1)
        torch.testing.assert_close(selector.feature_of(evidence, "nir", every, settings)[1:], traces["nir"].pooled)
        few = selector.feature_of(evidence, "nir", every[:, :5], settings)
    assert not torch.allclose(few[:1], traces["nir"].pooled)


def test_weights_of_one_selector_cannot_run_another():
    assert "another selector" in MultiModalSDTPS(DIM, PATCHES).supports(VARIANTS["soft"])
    assert "another selector" in SoftSDTPS(DIM, PATCHES).supports(VARIANTS["final"])
    assert SoftSDTPS(DIM, PATCHES).supports(VARIANTS["soft"]) is None


def test_every_map_that_a_variant_names_is_in_its_trace():
    patches, vectors = tokens()
    fields = {"self", "cross1", "cross2", "predictor", "score", "kept", "aggregation", "soft", "frequency"}
    for name in ("soft", "sim"):
        trace = shaken(SELECTORS[name](DIM, PATCHES))(patches, vectors)["rgb"]
        named = {spec.name for spec in VARIANTS[name].maps}
        assert named - fields == set(trace.maps)


def test_a_further_selector_registers_its_name_once():
    class Longest(Selector):
        variant = Variant(
            "longest-test",
            "test",
            "Keeps the longest tokens.",
            selector="longest-test",
            reads=("sparse_ratio",),
            maps=(MapSpec("length", Group.EVIDENCE, "|p|", "norm(p)"),),
        )
        weightless = True

        def choose(self, evidence, settings):
            found = {}
            for m, e in evidence.items():
                length = e.patches.norm(dim=-1)
                kept = length >= length.quantile(1 - settings.sparse_ratio, dim=1, keepdim=True)
                found[m] = trace_of(
                    e, score=length, kept=kept, tokens=e.patches * kept[..., None], maps={"length": length}
                )
            return found

    try:
        register(Longest)
        patches, vectors = tokens()
        trace = Longest(DIM, PATCHES)(patches, vectors, Settings(0.5, variant="longest-test"))["tir"]
        assert trace.keep.shape == (BATCH, PATCHES // 2)
        with pytest.raises(ValueError, match="already"):
            register(Longest)
    finally:
        SELECTORS.pop("longest-test", None)
        VARIANTS.pop("longest-test", None)
