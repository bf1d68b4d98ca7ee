"""An analysis in a notebook: short as text, interactive as HTML, and written by the ending of a file."""

import base64
import gzip
import re
import sys
import types
from pathlib import Path

import numpy as np
import pytest

import sdtps
from sdtps.bundle import read_bundle
from sdtps.export import notebook

SMALL = {"width": "cvpr-column", "columns": ("input", "self", "score", "predictor", "kept")}


@pytest.fixture(scope="module")
def analysis(tiny_model, photos):
    return sdtps.analyse(tiny_model, photos["rgb"], photos["nir"], photos["tir"])


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Few stops and columns: every further one costs the same work again."""
    monkeypatch.setattr(notebook, "RATIO_STRIDE", 19)
    monkeypatch.setattr("sdtps.export.supplement.PLANS", (((), (), ()),))
    monkeypatch.setattr("sdtps.export.supplement.RATIO_STRIDE", 19)


@pytest.fixture(scope="module")
def bundle(analysis, tmp_path_factory):
    return analysis.save(
        tmp_path_factory.mktemp("bundle") / "result.zip",
        width="cvpr-column",
        columns=("input", "self", "score", "kept"),
    )


def content_of(frame: str) -> str:
    """What the frame's script unpacks."""
    packed = re.search(r"atob\('([^']*)'\)", frame)[1]
    return gzip.decompress(base64.b64decode(packed)).decode()


def test_it_keeps_the_pictures_that_the_model_saw(analysis, photos):
    assert all(np.array_equal(analysis.pictures[m], photos[m]) for m in photos)


def test_as_text_it_says_what_is_kept_in_a_few_lines(analysis, tiny_model, photos):
    lines = repr(analysis).splitlines()
    assert len(lines) < 8
    assert lines[2].startswith("  rgb: 64 of 128 patches kept, threshold ")
    assert len(repr(analysis["rgb"])) < 120
    missing = sdtps.analyse(tiny_model, photos["rgb"], None, photos["tir"])
    assert "no picture: the model got zeros" in repr(missing).splitlines()[3]


def test_in_a_notebook_it_is_one_frame_below_a_megabyte_without_a_server(analysis):
    frame = analysis._repr_html_()
    assert frame.count("<iframe") == 1
    assert 'sandbox="allow-scripts"' in frame
    assert len(frame) <= 1_000_000
    assert '"' not in re.search(r'srcdoc="(.*)"></iframe>$', frame, re.DOTALL)[1]
    page = content_of(frame)
    assert '"sealed":true' in page
    assert not re.search(r"(src|href)=['\"]?https?:", page)


def test_fewer_stops_where_a_page_would_be_too_large(analysis, monkeypatch):
    small = len(notebook.page(analysis))
    monkeypatch.setattr(notebook, "MAX_BYTES", small - 1)
    assert len(notebook.page(analysis)) < small
    monkeypatch.setattr(notebook, "MAX_BYTES", 1000)
    monkeypatch.setattr(notebook, "_picture", lambda analysis: "a picture")
    assert notebook.page(analysis) == "a picture"


def test_save_writes_what_the_ending_says(analysis, bundle, tmp_path):
    again = read_bundle(bundle.read_bytes()).analysis
    assert np.array_equal(again["tir"].score, analysis["tir"].score)
    assert analysis.save(tmp_path / "figure.pdf", **SMALL).read_bytes()[:4] == b"%PDF"
    assert analysis.save(tmp_path / "page.html").read_text("utf-8").startswith("<!doctype html>")
    with pytest.raises(sdtps.InputError, match=r"'\.doc'"):
        analysis.save(tmp_path / "figure.doc")


def test_one_from_a_bundle_shows_its_figure_and_says_what_it_cannot_do(bundle, tmp_path, monkeypatch):
    again = read_bundle(bundle.read_bytes()).analysis
    sheet = again.figure(**SMALL)
    assert sheet._repr_png_()[1:4] == b"PNG"
    monkeypatch.setattr(notebook, "figure", lambda analysis: sheet)
    assert again._repr_html_().startswith("<img ")
    with pytest.raises(sdtps.InputError, match="no model at hand"):
        again.save(tmp_path / "page.html")


def test_show_displays_inside_a_kernel(analysis, monkeypatch):
    shown = []
    display = types.SimpleNamespace(HTML=lambda text: text, display=shown.append)
    python = types.SimpleNamespace(get_ipython=lambda: types.SimpleNamespace(kernel=object()), display=display)
    monkeypatch.setitem(sys.modules, "IPython", python)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    analysis.show(height=500)
    assert "height:500px" in shown[0]


def test_show_writes_a_page_elsewhere(analysis, monkeypatch, capsys):
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    analysis.show()
    path = Path(capsys.readouterr().out.removeprefix("written: ").strip())
    assert path.read_text("utf-8").startswith("<!doctype html>")
