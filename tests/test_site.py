"""The documentation site in a real browser: pages render, formulas show, search finds, nothing comes from elsewhere.

A site that is built already is named by the environment variable DCPROG_SITE (``.ci/run`` does so); else it is built here.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import subprocess
import sys
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import browser as browsers
import pytest

ROOT = Path(__file__).parents[1]
NEEDED = ("mkdocs", "material", "mkdocstrings", "latex2mathml", "ziamath")
PAGES = {
    "": "dcprog",
    "tutorial/": "Ten minutes to a decomposition of your own",
    "guide/solve/": "Solve and stop",
    "models/fsv/": "FSV: Feature Selection concaVe",
    "algorithms/": "Algorithms, their assumptions and guarantees",
    "solvers/": "Solvers, and what auto takes",
    "guide/extending/": "Extend dcprog",
    "gallery/circle/": "The circle, Figure 1 of Neumann, Schnörr & Steidl (2005)",
    "reproduction/": "What the studies reproduce",
    "reference/functions/": "dcprog.functions",
    "changelog/": "Changelog",
}
MODELS = ("rlp", "svm", "l1_svm", "fsv", "l2_l1_svm", "l2_l0_svm", "quadratic", "alignment", "arom")


class Quiet(SimpleHTTPRequestHandler):
    """Serves files without a line for each on stderr."""

    def log_message(self, *_):
        """Nothing."""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The directory of the built site."""
    built = os.environ.get("DCPROG_SITE")
    if built:
        return Path(built)
    absent = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if absent:
        pytest.skip(f'no {", ".join(absent)}: python -m pip install ".[docs]"')
    directory = tmp_path_factory.mktemp("site") / "built"
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", ".ci/docs", str(directory)],
        cwd=ROOT, env={**os.environ, "PATH": path}, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return directory


@pytest.fixture(scope="module")
def address(site):
    """Where the site is served."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()


@pytest.fixture(scope="module")
def window(tmp_path_factory):
    """A browser's window."""
    missing = browsers.missing()
    if missing:
        pytest.skip(missing)
    with browsers.Browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.mark.parametrize("page", PAGES)
def test_a_page_renders_by_itself(window, address, page):
    window.console()
    window.open(address + page)
    assert PAGES[page] in window.run("return document.querySelector('h1').innerText")
    assert window.run("return [...document.images].filter(i => !i.complete || !i.naturalWidth).map(i => i.src)") == []
    asked = window.run("return performance.getEntriesByType('resource').map(e => e.name)")
    assert [url for url in asked if not url.startswith((address, "data:"))] == []
    assert window.console() == []


@pytest.mark.parametrize("model", MODELS)
def test_every_model_has_its_formula_and_a_picture(window, address, model):
    window.open(f"{address}models/{model}/")
    sizes = "return [...document.querySelectorAll('math')].map(m => [m.getBoundingClientRect().width, m.textContent])"
    formulas = window.run(sizes)
    assert formulas
    assert all(width > 0 for width, text in formulas if text)
    tall = "return Math.max(...[...document.querySelectorAll('.formula math')].map(m => m.getBoundingClientRect().height))"
    assert window.run(tall) > 25  # what stands below "min" is below it
    assert window.run("return document.querySelectorAll('figure img').length") >= 1


def test_formulas_have_their_font(window, address):
    window.open(address + "models/fsv/")
    loaded = "return [...document.fonts].filter(f => f.family.includes('Formulas')).map(f => f.status)"
    assert window.wait(lambda: window.run(loaded) == ["loaded"])
    assert "arithmatex" not in window.run("return document.body.innerHTML")


def test_search_finds_fsv(window, address):
    window.open(address)
    window.run("document.querySelector('label[for=__search]').click()")
    window.type("input[name=query]", "FSV")
    found = "return [...document.querySelectorAll('.md-search-result__item a')].map(a => a.href)"
    links = window.wait(lambda: window.run(found))
    assert any(link.startswith(address + "models/fsv/") for link in links)
    assert window.console() == []


def test_a_link_of_the_reference_leads_to_its_object(window, address):
    window.open(address + "reference/dcprog/")
    href = "return [...document.querySelectorAll('article a')].find(a => a.innerText === 'DCProgram').href"
    target = window.run(href)
    window.open(target)
    assert "DCProgram" in window.run("return document.getElementById(location.hash.slice(1)).innerText")
