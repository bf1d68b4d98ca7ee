"""One image set in front of the tiny model, shared by the tests of the metrics."""

import pytest

import sdtps
from sdtps.images.read import read_triplet
from sdtps.pipeline import OpenSet


@pytest.fixture(scope="session")
def opened(tiny_model, photos):
    return OpenSet.of(tiny_model, read_triplet(photos["rgb"], photos["nir"], photos["tir"]))


@pytest.fixture(scope="session")
def analyse_at(opened):
    """`analyse_at(beta=0.1)`: the set's analysis at other settings."""
    return lambda **values: opened.analyse(sdtps.Settings(**values))


@pytest.fixture(scope="session")
def without(opened):
    """`without("nir")`: the same set with a modality missing."""
    return lambda *missing: opened.with_pixels(
        {m: None if m in missing else p for m, p in opened.prepared.pixels.items()}
    )
