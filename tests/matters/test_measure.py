"""Replacements: the same number of patches in another choice, all else equal; once through the backbone, resumed."""

import json

import numpy as np
import pytest
import torch

from sdtps.algorithm.module import MultiModalSDTPS
from sdtps.algorithm.selectors import SelectiveInteraction, SoftSDTPS
from sdtps.checkpoints.load import random_model, save_checkpoint
from sdtps.cli.main import main
from sdtps.datasets import open_dataset
from sdtps.matters.measure import measure, plan_for
from sdtps.matters.replacements import Kind, Plan, random_order
from sdtps.matters.report import does_it_matter
from sdtps.retrieval.features import extract
from sdtps.support.errors import SettingsError
from sdtps.types import Settings
from tests.algorithm.test_selectors import DIM, PATCHES, shaken, tokens
from tests.conftest import tiny_vit_config
from tests.datasets import trees

SETTINGS = Settings()
RATIOS = (0.25,)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return open_dataset(trees.rgbnt201(tmp_path_factory.mktemp("data"), ids=4))


@pytest.fixture(scope="module")
def plan(data):
    return plan_for(data, SETTINGS, RATIOS, 2, ("importance",))


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return str(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="module")
def measured(tiny_model, data, plan, cache):
    return measure(tiny_model, data, "test", plan, batch=3, cache=cache)


@pytest.mark.parametrize(
    ("selector", "settings"),
    [
        (MultiModalSDTPS(DIM, PATCHES), Settings()),
        (MultiModalSDTPS(DIM, PATCHES, variant="paper"), Settings(variant="paper")),
        (SoftSDTPS(DIM, PATCHES), Settings(variant="soft")),
        (SelectiveInteraction(DIM, PATCHES, k=10), Settings(variant="sim")),
    ],
    ids=["final", "paper", "soft", "sim"],
)
def test_the_own_order_changes_nothing_and_another_one_does(selector, settings):
    shaken(selector)
    with torch.no_grad():
        evidence = selector.evidence(*tokens())
        own = selector.choose(evidence, settings)
        orders = {m: t.order for m, t in own.items()}
        again = selector.choose_ordered(evidence, settings, orders)
        other = selector.choose_ordered(evidence, settings, {m: o.flip(1) for m, o in orders.items()})
        whole = selector.choose_ordered(evidence, settings, orders, whole=True)
    for m, trace in own.items():
        if settings.variant != "paper":  # its second branch ranks by scores of its own
            torch.testing.assert_close(again[m].pooled, trace.pooled, atol=1e-5, rtol=1e-4)
        assert again[m].mask.sum() == trace.mask.sum() == other[m].mask.sum()
        assert not torch.allclose(other[m].pooled, trace.pooled, atol=1e-3)
        assert whole[m].mask.all()


def test_every_replacement_keeps_the_same_number_and_is_named_once(plan):
    rows = [r.row for r in plan.replacements()]
    assert rows.count(("random", 0.5)) == 2
    assert rows.count(("random", 0.25)) == 1
    assert {name for name, _ in rows} == {"as it is", "all", "random", "centre", "inverted", "importance"}


def test_as_it_is_has_the_features_of_the_index(measured, plan, tiny_model, data):
    number = next(i for i, r in enumerate(plan.replacements()) if r.kind is Kind.AS_IS)
    index = extract(tiny_model, data.listing("test").records, SETTINGS, batch=3)
    np.testing.assert_allclose(measured.features(number), index.features, atol=1e-5)
    variant = next(i for i, r in enumerate(plan.replacements()) if r.kind is Kind.VARIANT)
    other = extract(tiny_model, data.listing("test").records, Settings(variant="importance"), batch=3)
    np.testing.assert_allclose(measured.features(variant), other.features, atol=1e-5)


def test_the_backbone_runs_once_per_picture_and_not_at_all_for_other_ratios(
    tiny_model, data, plan, tmp_path, monkeypatch
):
    seen = []
    real = tiny_model.net.encode
    monkeypatch.setattr(tiny_model.net, "encode", lambda images, *a: seen.append(images.shape[1]) or real(images, *a))

    class Stop(Exception):
        pass

    def stop(done, total):
        if done >= 6:
            raise Stop

    with pytest.raises(Stop):
        measure(tiny_model, data, "test", plan, batch=3, cache=str(tmp_path), progress=stop)
    whole = measure(tiny_model, data, "test", plan, batch=3, cache=str(tmp_path))
    assert sum(seen) == 8
    other = Plan(SETTINGS, (0.75,), 1)
    measure(tiny_model, data, "test", other, batch=3, cache=str(tmp_path))
    assert sum(seen) == 8
    again = measure(tiny_model, data, "test", plan, batch=3, cache=str(tmp_path))
    np.testing.assert_array_equal(whole.moved, again.moved)


def test_a_random_draw_hangs_on_its_set_alone():
    a = random_order("a.jpg", "rgb", 0, 20)
    assert torch.equal(a, random_order("a.jpg", "rgb", 0, 20))
    assert sorted(a.tolist()) == list(range(20))
    others = [
        random_order("b.jpg", "rgb", 0, 20),
        random_order("a.jpg", "nir", 0, 20),
        random_order("a.jpg", "rgb", 1, 20),
    ]
    assert all(not torch.equal(a, other) for other in others)


def test_the_report_says_everything(tiny_model, data, plan, cache):
    report = does_it_matter(tiny_model, data, plan, batch=3, cache=cache)
    assert (report.sets, report.identities, report.labelled) == (8, 4, True)
    first, *others = report.rows
    assert (first.name, first.says) == ("as it is", None)
    assert all(row.says is not None and set(row.gain) == set(report.metrics) for row in others)
    whole = next(row for row in report.rows if row.kind is Kind.ALL)
    assert whole.scores["cosine"].value == pytest.approx(1.0)
    signs = {s.name for s in report.signs}
    assert {"effective", "spread:predictor", "fate:self"} <= signs
    assert all(np.isfinite(s.untrained) for s in report.signs)
    assert 0 < report.feature_share < 1
    assert "aggregation" in {m.values.get("part") for m in report.dead}  # random weights never moved
    json.dumps(report.as_dict())


def test_weights_that_use_no_selection_are_told_so(data, cache):
    bare = random_model(tiny_vit_config(predictor=False, aggregation=False), device="cpu")
    report = does_it_matter(bare, data, Plan(bare.settings, (), 1), batch=8, cache=cache)
    assert report.dead[0].code == "matters.dead.unused"
    assert {row.says.code for row in report.rows if row.says} == {"matters.same"}


def test_without_labels_the_retained_cosine_is_judged(tiny_model, tmp_path):
    trees.write_folders(tmp_path / "x", [f"p{i}.jpg" for i in range(4)], ("rgb", "nir", "tir"))
    dataset = open_dataset(tmp_path / "x")
    report = does_it_matter(tiny_model, dataset, Plan(SETTINGS, (), 1), cache=str(tmp_path / "c"))
    assert report.metrics == ("cosine",)
    whole = next(row for row in report.rows if row.kind is Kind.ALL)
    other = next(row for row in report.rows if row.kind is Kind.RANDOM)
    assert "image sets" in other.says
    # All patches are what the cosine is measured with: what is left of them is told, and nothing is worse.
    assert (whole.says.code, whole.gain) == ("matters.retains", {})
    assert f"{report.rows[0].scores['cosine'].value:.4f}" in whole.says


def test_queries_and_identities_are_those_with_a_match(tiny_model, tmp_path):
    """Somebody whom one camera saw is a distractor, and nothing rests on them."""
    root = trees.rgbnt201(tmp_path / "data", ids=3)
    for name in ("RGB", "NI", "TI"):
        (root / "RGBNT201" / "test" / name / "000201_cam1_0_00.jpg").unlink()
    report = does_it_matter(tiny_model, open_dataset(root), Plan(SETTINGS, (), 1), cache=str(tmp_path / "c"))
    assert (report.sets, report.queries, report.identities) == (5, 4, 2)
    assert "on 2 identities" in report.rows[1].says


def test_two_splits_are_counted_together(tiny_model, tmp_path):
    """Queries in a folder of their own: one bar over both, and what cannot be read is named wherever it is."""
    dataset = open_dataset(trees.rgbnt100(tmp_path / "data"))
    counts = [len(dataset.listing(split).records) for split in (dataset.query, dataset.gallery)]
    picture = dataset.listing(dataset.gallery).records[0].paths[0]
    picture.write_bytes(b"no picture")
    seen = []
    cache = str(tmp_path / "c")
    report = does_it_matter(
        tiny_model, dataset, Plan(SETTINGS, (), 1), batch=2, cache=cache, progress=lambda *told: seen.append(told)
    )
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert {total for _, total in seen} == {sum(counts)}
    assert seen[-1][0] == sum(counts)
    assert report.sets == sum(counts) - 1
    assert len(report.broken) == 1


def test_what_a_selector_keeps_is_counted_not_assumed(data, cache):
    """Signal's union has no sparse ratio: its number of patches is its own."""
    model = random_model(tiny_vit_config(variant="sim"), device="cpu")
    report = does_it_matter(model, data, Plan(model.settings, (), 1), batch=8, cache=cache)
    own, random = (next(row for row in report.rows if row.kind is kind) for kind in (Kind.AS_IS, Kind.RANDOM))
    assert own.kept == random.kept > model.net.backbone.grid.patches // 2
    assert f"Keeping {own.kept} chosen patches" in random.says


def test_the_command_writes_every_file_and_no_names_when_asked(data, tmp_path, capsys):
    weights = tmp_path / "secret-name.safetensors"
    save_checkpoint(random_model(tiny_vit_config(), device="cpu").net, weights, half=False)
    base = [
        "matters",
        str(data.root),
        "--weights",
        str(weights),
        "--seeds",
        "1",
        "--ratios",
        "--cache",
        str(tmp_path / "c"),
    ]
    assert main([*base, "--out", str(tmp_path / "out"), "--anonymous"]) == 0
    out = capsys.readouterr().out
    assert "not shown on 4 identities" in out or "no difference" in out
    for kind in ("pdf", "svg", "csv", "tex", "json"):
        content = (tmp_path / "out" / f"matters.{kind}").read_bytes()
        assert content
        assert b"secret-name" not in content
        assert data.name.encode() not in content
    assert main([*base, "--seeds", "0"]) == 1
    assert "between 1 and 1000" in capsys.readouterr().err


def test_a_selector_that_does_more_than_weigh_is_refused():
    class Turning(SoftSDTPS):
        def choose(self, evidence, settings):
            found = super().choose(evidence, settings)
            for trace in found.values():
                object.__setattr__(trace, "tokens", trace.tokens * 2)
            return found

    selector = shaken(Turning(DIM, PATCHES))
    evidence = selector.evidence(*tokens())
    with pytest.raises(SettingsError, match="cannot be replaced"):
        selector.choose_ordered(evidence, Settings(variant="soft"), {})
