"""The floor plan: nothing imports to its right. `scripts/floor_plan.py` draws it from the same reading of the code."""

import pytest

from scripts.floor_plan import LAYERS, PICTURE, imports, layer_of, picture, violations


def test_nothing_imports_to_its_right() -> None:
    assert violations(imports()) == []


def test_every_module_has_a_place() -> None:
    assert sorted({module for module, _ in imports() if layer_of(module) is None}) == []


def test_every_place_has_a_module() -> None:
    used = {layer_of(module) for pair in imports() for module in pair}
    assert [name for name in LAYERS if LAYERS.index(name) not in used] == []


@pytest.mark.parametrize(
    ("importer", "imported"),
    [
        ("sdtps.types", "sdtps.algorithm.module"),
        ("sdtps.pipeline", "sdtps.web.session.backend"),
        ("sdtps.export.supplement", "sdtps.web.server.page"),
        ("sdtps.web.session.backend", "sdtps.web.server.page"),
        ("sdtps.web.server.page", "sdtps.training.trainer"),
        ("sdtps.export.batch.run", "sdtps.training.recipe"),
    ],
)
def test_an_import_against_the_plan_is_found(importer: str, imported: str) -> None:
    assert violations([(importer, imported)]) == [(importer, imported)]


@pytest.mark.parametrize(
    ("importer", "imported"),
    [
        ("sdtps.web.server.page", "sdtps.web.session.backend"),
        ("sdtps.export.supplement", "sdtps.web.static"),
        ("sdtps.cli.train", "sdtps.training.trainer"),
        ("sdtps.metrics.compare", "sdtps.metrics.overlap"),
    ],
)
def test_an_import_to_the_left_is_none(importer: str, imported: str) -> None:
    assert violations([(importer, imported)]) == []


def test_the_picture_is_what_the_code_says() -> None:
    assert PICTURE.read_text(encoding="utf-8") == picture(), "run: python -m scripts.floor_plan"
