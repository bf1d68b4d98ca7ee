"""A selector of one's own from a file: the documented example is run, and what cannot be used is one sentence."""

import os
import re
from pathlib import Path

import numpy as np
import pytest
import torch

import sdtps
from sdtps.algorithm.selector import SELECTORS
from sdtps.algorithm.selector_file import load_selector
from sdtps.export.batch import Task
from sdtps.export.batch.cluster import Worker
from sdtps.export.rendering import Over
from sdtps.images.read import Fit
from sdtps.panels import table
from sdtps.retrieval.engine import _Worker
from sdtps.variants import VARIANTS

DOCUMENT = Path(__file__).parents[1] / "docs" / "selectors.md"


def code_of(document: Path) -> str:
    """The one Python example of a document."""
    (code,) = re.findall(r"```python[^\n]*\n(.*?)```", document.read_text(), re.DOTALL)
    return code


@pytest.fixture
def example(tmp_path):
    """The documented example as a file; what it registers is forgotten afterwards."""
    path = tmp_path / "longest.py"
    path.write_text(code_of(DOCUMENT))
    known = set(VARIANTS)
    yield path
    for name in set(VARIANTS) - known:
        VARIANTS.pop(name)
        SELECTORS.pop(name, None)


def test_the_documented_example_runs_beside_any_weights(example, tiny_model, photos):
    (selector,) = load_selector(example)
    assert len(example.read_text().splitlines()) < 150
    settings = sdtps.Settings(0.25, variant="longest", knobs={"mix": 0.0})
    trace = sdtps.analyse(tiny_model, *photos.values(), settings)["rgb"]
    assert selector.variant.name == "longest"
    assert trace.kept == 32
    assert set(trace.keep) == set(np.argsort(-trace.token_norm, kind="stable")[:32])
    np.testing.assert_allclose(trace.maps["length"], trace.token_norm / trace.token_norm.max(), rtol=1e-5)
    with pytest.raises(ValueError, match="already"):
        load_selector(example)


def test_a_worker_of_a_cluster_runs_the_file_too(example, tiny_model, monkeypatch):
    for name in ("PANELS", "HEAT_PANELS"):
        monkeypatch.setattr(table, name, dict(getattr(table, name)))

    class Weights:
        def load(self, _device):
            assert "longest" in SELECTORS  # before the weights, which may be this selector's
            return tiny_model

    task = Task(sdtps.Settings(), Fit.STRETCH, 1, Over.of("lines", None))
    worker = Worker(Weights(), "cpu", torch.get_num_threads(), task, [str(example)])
    assert worker.model.net.supports(VARIANTS["longest"]) is None


def test_a_worker_of_a_long_measurement_does_so_as_well(example, tiny_model, monkeypatch):
    for name in ("PANELS", "HEAT_PANELS"):
        monkeypatch.setattr(table, name, dict(getattr(table, name)))

    class Weights:
        def load(self, _device):
            return tiny_model

    _Worker(Weights(), "cpu", torch.get_num_threads(), lambda *_: None, os.getcwd(), [str(example)])
    assert "longest" in SELECTORS


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "no Python file"),
        ("x = 1\n", "registers no selector"),
        ("1 / 0\n", "could not be run .ZeroDivisionError"),
    ],
)
def test_a_file_that_cannot_be_used_is_one_sentence(content, sentence, tmp_path):
    path = tmp_path / "mine.py"
    if content is not None:
        path.write_text(content)
    with pytest.raises(ValueError, match=sentence):
        load_selector(path)
