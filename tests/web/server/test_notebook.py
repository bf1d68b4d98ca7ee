"""The page from a notebook: it answers, may be framed by notebooks, ends without ending anything else."""

import socket
import sys
import types
import urllib.request

import httpx
import pytest
import uvicorn
from gradio import http_server
from IPython.core.formatters import DisplayFormatter

import sdtps
from tests.attack import requests
from tests.attack.target import Target


@pytest.fixture(scope="module")
def page(tiny_model):
    live = sdtps.launch(tiny_model, inline=False, height=640)
    yield live
    live.close()


def test_it_answers_here_and_notebooks_may_frame_it(page):
    with urllib.request.urlopen(page.url, timeout=30) as answer:
        policy = answer.headers["Content-Security-Policy"]
        assert answer.status == 200
    ancestors = policy.split("frame-ancestors ")[1].split(";")[0].split()
    assert {"'self'", "http://localhost:*", "vscode-webview:", "https://colab.research.google.com"} <= set(ancestors)
    assert "*" not in ancestors
    assert f'src="{page.url}"' in page._frame()
    assert "height:640px" in page._frame()


def test_it_has_the_same_door_as_a_server(page):
    target = Target(page.url)
    assert requests.rebinding(target) is None
    assert requests.foreign_origin(target) is None
    assert requests.simple_posts(target) is None
    assert httpx.get(f"{page.url}/health").json()["status"] == "ok"
    assert http_server.uvicorn is uvicorn, "other pages of the kernel have their own"


def test_its_end_frees_the_port_and_nothing_else(tiny_model):
    live = sdtps.launch(tiny_model, inline=False)
    live.close()
    live.close()  # twice is once
    with socket.socket() as probe, pytest.raises(ConnectionError):
        probe.connect(("127.0.0.1", live.port))
    assert repr(live) == "<SDTPS Lens, closed>"
    assert "iframe" not in live._frame()


def test_it_is_shown_below_the_cell_and_by_colab_s_own_way(page, monkeypatch, capsys):
    shown = []
    display = types.SimpleNamespace(HTML=lambda text: text, display=shown.append)
    python = types.SimpleNamespace(get_ipython=lambda: object(), display=display)
    monkeypatch.setitem(sys.modules, "IPython", python)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    page.show()
    assert page.url in shown[0]
    frames = types.SimpleNamespace(serve_kernel_port_as_iframe=lambda port, height: shown.append((port, height)))
    for name, module in (("google", object()), ("google.colab", object()), ("google.colab.output", frames)):
        monkeypatch.setitem(sys.modules, name, module)
    page.show()
    assert shown[1] == (page.port, "640")


def test_a_cell_that_ends_with_it_shows_one_page(page):
    """`launch()` has shown it; its value is a line of text."""
    assert set(DisplayFormatter().format(page)[0]) == {"text/plain"}


def test_in_a_script_it_says_where_it_is(page, monkeypatch, capsys):
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    page.show()
    assert page.url in capsys.readouterr().out
