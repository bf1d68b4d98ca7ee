"""The model that ships: whole, small, and looking at the person on the shipped examples."""

import json
from functools import partial
from itertools import combinations

import numpy as np
import pytest
from PIL import Image

import sdtps
from sdtps.images.masks import patch_share, people_patches
from sdtps.images.read import read_triplet
from sdtps.metrics import auc, correlation, precision
from sdtps.metrics.faithfulness import pooled
from sdtps.metrics.removal import measure_removal, random_orders
from sdtps.pipeline import OpenSet
from sdtps.resources import CHECKPOINTS, EMBEDDED, PROJECT

EXAMPLES = PROJECT / "assets" / "examples"
NAMES = [e["name"] for e in json.loads((EXAMPLES / "examples.json").read_text(encoding="utf-8"))]
BLIND = {"black-rgb": "rgb", "saturated-nir": "nir", "flat-tir": "tir"}  # nothing to see there, by design


@pytest.fixture(scope="module")
def model():
    return sdtps.load_model(device="cpu")


@pytest.fixture(scope="module")
def seen(model):
    """(example, modality) → trace and the patches that people cover at least half."""
    found = {}
    for name in NAMES:
        paths = [EXAMPLES / name / f"{m}.png" for m in ("rgb", "nir", "tir")]
        analysis = sdtps.analyse(model, *paths, sdtps.Settings(sparse_ratio=0.3))
        mask = np.asarray(Image.open(EXAMPLES / name / "mask.png")) > 32
        people = patch_share(mask, analysis.grid) >= 0.5
        for m in ("rgb", "nir", "tir"):
            if BLIND.get(name) != m:
                found[name, m] = (analysis[m], people)
    return found


def test_weights_are_whole_and_small(model):
    assert model.weights.complete
    assert EMBEDDED.stat().st_size <= 40e6
    assert model.net.backbone.grid == sdtps.Grid(16, 8)


def test_the_card_is_about_this_file(model):
    card = (CHECKPOINTS / "README.md").read_text(encoding="utf-8")
    assert model.weights.sha256 in card
    assert "Apache" in (CHECKPOINTS / "NOTICE").read_text(encoding="utf-8")


def test_kept_patches_lie_on_people(seen):
    share = np.mean([precision(people, trace.keep) for trace, people in seen.values()])
    area = np.mean([people.mean() for _, people in seen.values()])
    assert share > 0.9 > 2 * area


def test_every_map_finds_people_and_none_is_a_copy_of_another(seen):
    maps = {
        "predictor": lambda t: t.predictor,
        "self": lambda t: t.self_attention,
        "cross 1": lambda t: next(iter(t.cross_attention.values())),
        "cross 2": lambda t: list(t.cross_attention.values())[1],
    }
    for name, pick in maps.items():
        assert np.mean([auc(people, pick(trace)) for trace, people in seen.values()]) > 0.8, name
    for (one, first), (other, second) in combinations(maps.items(), 2):
        alike = np.mean([correlation(first(trace), second(trace)) for trace, _ in seen.values()])
        assert alike < 0.98, (one, other)  # the card says why so much is allowed


def test_every_slider_position_is_within_the_weights(model):
    paths = [EXAMPLES / NAMES[0] / f"{m}.png" for m in ("rgb", "nir", "tir")]
    analysis = sdtps.analyse(model, *paths, sdtps.Settings(sparse_ratio=1.0, aggr_ratio=1.0))
    assert analysis["rgb"].aggregation_weights.shape == (128, 128)
    assert analysis.notes == ()


def test_the_maps_follow_the_picture(model):
    """Mirrored pictures give mirrored scores, nearly; a position prior would not move."""
    paths = [EXAMPLES / NAMES[0] / f"{m}.png" for m in ("rgb", "nir", "tir")]
    plain = sdtps.analyse(model, *paths)["tir"].score.reshape(16, 8)
    mirrored = sdtps.analyse(model, *(np.asarray(Image.open(p))[:, ::-1] for p in paths))["tir"].score.reshape(16, 8)
    assert correlation(plain.ravel(), mirrored[:, ::-1].ravel()) > 0.9


def test_the_selection_beats_chance_where_it_should(model):
    """By true removal, towards the feature of the whole picture; the model card has the whole table."""
    settings, orders = sdtps.Settings(), random_orders(128, 60, 0)
    insertion, deletion = [], []
    for name in NAMES:
        triplet = read_triplet(*(EXAMPLES / name / f"{m}.png" for m in ("rgb", "nir", "tir")))
        opened = OpenSet.of(model, triplet)
        analysis, evidence = opened.analyse(settings), opened.evidence(settings.variant)
        people = people_patches(EXAMPLES / name / "mask.png", model.net.backbone.input_size, analysis.grid)
        for m in ("rgb", "nir", "tir"):
            order = np.concatenate([analysis[m].keep, analysis[m].drop])
            found = measure_removal(
                partial(pooled, model.net.sdtps, evidence, m, settings), order, analysis[m].kept, orders, people
            )
            insertion.append(found["whole"].insertion.above)
            deletion.append(found["whole"].deletion.below)
    assert np.mean(insertion) >= 0.8
    assert np.mean(deletion) >= 0.8
