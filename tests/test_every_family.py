"""Small random files of every family through all that one can do with weights: commands, exports, measures."""

import base64
import gzip
import json
from dataclasses import replace

import numpy as np
import pytest
import torch

import sdtps
from sdtps.cli.main import main
from sdtps.export import positions, supplement
from sdtps.export.bundle import read_bundle, write_bundle
from sdtps.export.figure import grid_figure
from sdtps.export.payload import merge, model_card, moving, still, tables
from sdtps.export.positions import placed
from sdtps.images.read import read_triplet
from sdtps.metrics.compare import across_variants, compare
from sdtps.metrics.faithfulness import measure_faithfulness
from sdtps.metrics.gradients import triplet_gradients
from sdtps.metrics.provenance import patch_provenance
from sdtps.metrics.summary import summary
from sdtps.metrics.sweep import sweep
from sdtps.panels import maps_of, panels_of
from sdtps.pipeline import OpenSet
from sdtps.resources import EXAMPLES
from sdtps.runs.reader import read_maps, read_run
from sdtps.runs.replay import open_epoch
from sdtps.runs.series import curves
from sdtps.types import MODALITIES
from sdtps.variants import get_variant
from tests.checkpoints.checkpoint_files import saved
from tests.checkpoints.family_files import family_state
from tests.datasets import trees

# One of each kind: the other names of the table differ in how they are read, not in what is done with them.
KINDS = ("sdtps", "demo", "soft", "soft dgaf", "sdtps dgaf", "frca dgaf", "parallel", "signal", "signal vehicles")

PICTURES = [str(next(EXAMPLES.glob("*/rgb.png")).with_name(f"{m}.png")) for m in ("rgb", "nir", "tir")]


@pytest.fixture(scope="module", params=KINDS)
def path(request, tmp_path_factory):
    return saved(tmp_path_factory.mktemp("weights"), family_state(request.param))


@pytest.fixture(scope="module")
def opened(path):
    return OpenSet.of(sdtps.load_model(path, "cpu"), read_triplet(*PICTURES), camera=1)


@pytest.fixture(scope="module")
def analysis(opened):
    return opened.analyse()


def test_every_panel_of_the_variant_has_numbers_or_is_absent(analysis, opened):
    shown = merge(still(analysis, opened.prepared.pixels), moving(analysis, matrix=True))
    json.dumps(shown)
    json.dumps(model_card(opened.model, "x"))
    assert {v["name"] for v in tables()["variants"]} >= {"soft", "sim"}
    variant = get_variant(analysis.settings.variant)
    for m, trace in analysis.traces.items():
        maps = maps_of(trace, m)
        named = [spec.name for spec in variant.maps if spec.name != "kept"]
        assert all(maps[name] is not None for name in named)
        for name in named:
            low, high = shown["ranges"][name]
            assert low <= maps[name].min() <= maps[name].max() <= high + 1e-6
        assert shown["modalities"][m]["kept"] == trace.kept


def test_a_soft_mask_is_never_painted_as_a_choice(analysis):
    panels = panels_of(analysis.settings.variant)
    soft = analysis["rgb"].soft
    assert soft is get_variant(analysis.settings.variant).soft
    assert ("kept" in panels) is not soft
    assert ("weight" in panels) is soft
    if soft:
        assert analysis["rgb"].effective > analysis["rgb"].kept


def test_a_bundle_holds_every_number(analysis, opened, tmp_path):
    path = tmp_path / "a.zip"
    path.write_bytes(write_bundle(analysis, opened.prepared.pixels))
    again = read_bundle(path).analysis
    assert again.settings == analysis.settings
    assert np.array_equal(again.feature, analysis.feature)
    assert again.fusion.keys() == analysis.fusion.keys()
    for m, trace in analysis.traces.items():
        assert trace.maps.keys() == again[m].maps.keys()
        assert trace.numbers.keys() == again[m].numbers.keys()
        assert np.array_equal(again[m].keep, trace.keep)
        for name in ("weights", "groups"):
            a, b = getattr(trace, name), getattr(again[m], name)
            assert (a is None and b is None) or np.array_equal(a, b)


def test_figure_and_page_without_a_server(analysis, opened, monkeypatch):
    monkeypatch.setattr(positions, "PLANS", ((4, 2),))  # a few stops are enough to look at
    monkeypatch.setattr(supplement, "PLANS", supplement.PLANS[-1:])
    sheet = grid_figure(analysis, opened.prepared.pixels)
    words = [text.get_text() for text in sheet.figure.texts]
    assert any(text.startswith("Picture") for text in words)
    assert ("Weight" in words) is analysis["rgb"].soft
    page = supplement.write_supplement(opened, analysis)
    if get_variant(analysis.settings.variant).selector == "sdtps":
        assert '"positions":null' in page
        return
    data = json.loads(page.partition("type='application/json'>")[2].partition("</script>")[0].replace("<\\/", "</"))
    axes = [(name, stops) for name, stops in data["positions"]["axes"]]
    listed = json.loads(gzip.decompress(base64.b64decode(data["positions"]["content"])))
    assert len(listed) == np.prod([len(stops) for _, stops in axes]) > 8
    last = placed(analysis.settings, {name: stops[-1] for name, stops in axes})
    assert listed[-1] == json.loads(json.dumps(moving(opened.analyse(last))))
    assert all(stops == data["config"]["steps"][name] for name, stops in axes)


def test_what_is_measured_on_one_set(analysis, opened):
    summary(analysis)
    found = patch_provenance(analysis, "nir", 5)
    parts = sum(part.share for part in found.parts)
    if found.parts:
        assert parts == pytest.approx(found.score, abs=1e-5)
    trace = analysis["nir"]
    assert (found.weight is None) is not trace.soft
    assert (found.group is None) is (trace.groups is None)
    faith = measure_faithfulness(opened, orders=3)
    assert faith.weighed is trace.soft
    curve = faith.removal["rgb"]["whole"].insertion
    assert curve.cosine[-1] == pytest.approx(1.0, abs=1e-4)
    assert compare(analysis, analysis).feature_cosine == pytest.approx(1.0)
    results = {r.name: r for r in across_variants(opened, analysis.settings)}
    assert results[analysis.settings.variant].lacking is None
    assert len([r for r in results.values() if r.lacking]) > 0
    routes = triplet_gradients(opened, analysis.settings).flows
    other = get_variant(analysis.settings.variant).selector != "sdtps"
    assert all(flow.lacking for flow in routes) is (other or not opened.model.net.sdtps.rows)


def test_a_training_of_it_is_recorded_and_played_or_refused_clearly(opened, tmp_path):
    net, folder = opened.model.net, tmp_path / "run"
    if net.sdtps.empty:
        with pytest.raises(ValueError, match="has no selector"):
            sdtps.Recorder(folder, net)
        return
    with sdtps.Recorder(folder, net, probe=[PICTURES]) as recorder:
        loss = sum(t.pooled.square().sum() for t in net.sdtps(*_tokens(net)).values())
        loss.backward()
        recorder.step(loss=loss)
        recorder.epoch(0)
    net.zero_grad()
    run, live = read_run(folder), sdtps.analyse(opened.model, *PICTURES, recorder.settings)
    assert run.scalar("grad/patches")[0] > 0
    for m, watched in read_maps(folder, 0, 0).items():
        assert np.array_equal(watched.kept, live[m].mask)
        weights = live[m].weights if live[m].soft else live[m].maps.get("attention")
        if weights is not None:
            assert watched.aggregation == pytest.approx(weights, abs=1e-3)
    if live["rgb"].groups is not None:  # the choice of SIM needs its weights once more
        with pytest.raises(ValueError, match="a recorded epoch has neither"):
            open_epoch(run, 0)
        return
    played = open_epoch(run, 0).analyse(replace(recorder.settings, sparse_ratio=0.3))
    live = sdtps.analyse(opened.model, *PICTURES, replace(recorder.settings, sparse_ratio=0.3))
    assert played["nir"].score == pytest.approx(live["nir"].score, abs=1e-5)
    assert np.array_equal(played["tir"].keep, live["tir"].keep)
    assert "effective_aggregated" in {s.name for s in curves(run)}


def _tokens(net):
    """Random tokens that ask for a gradient: patches and global vectors by modality."""
    drawn = torch.Generator().manual_seed(0)
    n, dim = net.backbone.grid.patches, net.backbone.dim
    return [
        {m: torch.randn(2, *shape, generator=drawn, requires_grad=True) for m in MODALITIES}
        for shape in ((n, dim), (dim,))
    ]


def test_each_slider_that_a_variant_reads_can_be_swept(opened, analysis):
    variant = get_variant(analysis.settings.variant)
    for name in (*(n for n in variant.reads if n != "tau"), *(k.name for k in variant.knobs)):
        knob = variant.knob(name)
        values = [0.3, 0.4] if knob is None else [knob.low, (knob.low + knob.high) / 2]
        assert len(sweep(opened, analysis.settings, name, values).cosine["rgb"]) == 2


def test_commands(path, analysis, tmp_path, capsys):
    folder = trees.rgbnt201(tmp_path, ids=2)
    given = ["--weights", str(path), "--device", "cpu"]
    assert main(["weights", str(path)]) == 0
    feature = analysis.weights.facts["feature"]
    assert f"test feature [{', '.join(feature)}]" in capsys.readouterr().out
    assert main(["inspect", *PICTURES, *given]) == 0
    out = capsys.readouterr().out
    assert ("effective number" in out) is analysis["rgb"].soft
    assert ("by its own modality" in out) is (analysis["rgb"].groups is not None)
    assert main(["figure", *PICTURES, *given, "--out", str(tmp_path / "a.svg")]) == 0
    assert main(["bundle", *PICTURES, *given, "--out", str(tmp_path / "a.zip")]) == 0
    assert main(["batch", str(folder), *given, "--out", str(tmp_path / "batch"), "--split", "test"]) == 0
    assert main(["index", str(folder), *given]) == 0
    capsys.readouterr()
    assert main(["evaluate", str(folder), *given, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["feature"] == feature


def test_a_knob_from_the_command_line(tmp_path, capsys):
    path = saved(tmp_path, family_state("signal"))
    command = ["inspect", *PICTURES, "--weights", str(path), "--device", "cpu", "--json"]
    assert main([*command, "--knob", "k=3"]) == 0
    few = json.loads(capsys.readouterr().out)
    assert few["settings"]["knobs"]["k"] == 3
    assert main([*command, "--knob", "k=500"]) == 1
    assert "k must lie between 1 and 256" in capsys.readouterr().err


def test_a_selector_from_the_command_line(tmp_path, capsys, monkeypatch):
    from sdtps import panels
    from sdtps.algorithm.selector import SELECTORS
    from sdtps.variants import VARIANTS
    from tests.test_selector_files import DOCUMENT, code_of

    for known in (SELECTORS, VARIANTS, panels.PANELS, panels.HEAT_PANELS):
        for name, value in list(known.items()):
            monkeypatch.setitem(known, name, value)  # what the file adds is undone with the rest
    path = tmp_path / "longest.py"
    path.write_text(code_of(DOCUMENT))
    try:
        assert main(["inspect", *PICTURES, "--device", "cpu", "--selector", str(path), "--variant", "longest"]) == 0
        assert "keeps 64 of 128 patches" in capsys.readouterr().out
    finally:
        for known in (SELECTORS, VARIANTS):
            known.pop("longest", None)
        for known in (panels.PANELS, panels.HEAT_PANELS):
            known.pop("length", None)
