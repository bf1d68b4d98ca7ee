"""The README's Python examples run, and its pictures exist."""

import re

import pytest

from sdtps.resources import PROJECT

ROOT = PROJECT
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("code", re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL))
def test_example_runs(code, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    exec(compile(code, "README.md", "exec"), {})
    assert "Grid(rows=16, cols=8)" in capsys.readouterr().out


def test_local_links_lead_somewhere():
    links = re.findall(r"\]\(((?!http)[^)#]+)\)", TEXT)
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_every_variant_is_explained():
    from sdtps import VARIANTS

    assert all(f"`{name}`" in TEXT for name in VARIANTS)
