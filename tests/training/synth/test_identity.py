"""A person keeps their clothes from camera to camera."""

import numpy as np

from sdtps.training.synth import identity_of, sample
from sdtps.training.synth.camera import camera_of
from sdtps.training.synth.staging import set_stage
from sdtps.training.synth.types import MAIN_OWNER, PARTS, Part

LASTING = ("TOP", "BOTTOM", "SHOE", "BAG", "HAIR")


def test_materials_persist_across_views() -> None:
    who = identity_of(4, seed=1)
    tables = [set_stage(np.random.default_rng(view), who, 0.1, frozenset()).table for view in range(4)]
    for name in LASTING:
        label = MAIN_OWNER * PARTS + Part[name]
        reflectance = np.stack([table.values[label, :4] for table in tables])
        assert np.ptp(reflectance, axis=0).max() == 0
        heat = np.array([table.values[label, 4] for table in tables])
        assert np.ptp(heat) < 0.3


def test_relative_warmth_persists() -> None:
    who = identity_of(9, seed=1)
    tables = [set_stage(np.random.default_rng(view), who, 0.1, frozenset()).table for view in range(3)]
    top, bag = MAIN_OWNER * PARTS + Part.TOP, MAIN_OWNER * PARTS + Part.BAG
    gaps = [float(table.values[top, 4] - table.values[bag, 4]) for table in tables]
    assert max(gaps) - min(gaps) < 0.05


def test_people_differ() -> None:
    colours = {identity_of(pid).materials["TOP"].rgb for pid in range(40)}
    assert len(colours) == 40
    kinds = {identity_of(pid).bag.kind for pid in range(200)}
    assert {"backpack", "handbag", "tote", "shopping", "crossbody", "belly", "suitcase"} <= kinds


def test_dyes_often_turn_bright_in_the_near_infrared() -> None:
    tops = [identity_of(pid).materials["TOP"] for pid in range(200)]
    dark = [top for top in tops if sum(top.rgb) / 3 < 0.05]
    bright = [top for top in dark if top.nir > 0.3]
    assert 0.25 < len(bright) / len(dark) < 0.8


def test_cameras_keep_their_style_and_cycle_with_the_view() -> None:
    assert camera_of(2, 0) is camera_of(2, 0)
    assert camera_of(1, 0).horizon != camera_of(2, 0).horizon
    assert [sample(0, view).cam for view in (0, 1, 2, 3, 4)] == [1, 2, 3, 4, 1]
