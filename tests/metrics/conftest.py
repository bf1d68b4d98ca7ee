"""One triplet through the tiny model, shared by the tests of the metrics."""

import pytest

import sdtps
from sdtps.images.read import prepare, read_triplet
from sdtps.pipeline import decide, encode


@pytest.fixture(scope="session")
def prepared(tiny_model, photos):
    return prepare(read_triplet(photos["rgb"], photos["nir"], photos["tir"]), tiny_model.net.backbone.input_size)


@pytest.fixture(scope="session")
def encoding(tiny_model, prepared):
    return encode(tiny_model, prepared)


@pytest.fixture(scope="session")
def analyse_at(tiny_model, encoding):
    """`analyse_at(beta=0.1)`: the triplet's analysis at other settings."""
    return lambda **values: decide(tiny_model, encoding, sdtps.Settings(**values))
