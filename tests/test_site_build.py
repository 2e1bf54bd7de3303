"""What the hooks of the documentation site do, on small sites: blocks are run, and what does not hold fails the build."""

from __future__ import annotations

import importlib
import logging
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HOOKS = ROOT / "docs" / "hooks"
for needed in ("mkdocs", "material", "mkdocstrings", "latex2mathml", "ziamath"):
    pytest.importorskip(needed, reason=f'no {needed}: python -m pip install ".[docs]"')

from mkdocs.commands.build import build  # noqa: E402
from mkdocs.config import load_config  # noqa: E402
from mkdocs.exceptions import Abort  # noqa: E402


@pytest.fixture
def hook(monkeypatch):
    """A hook as a module, by its name."""
    monkeypatch.syspath_prepend(str(HOOKS))
    before = set(sys.modules)
    yield importlib.import_module
    for name in {path.stem for path in HOOKS.glob("*.py")} - before:
        sys.modules.pop(name, None)


@pytest.fixture
def site_of(tmp_path):
    """Builds a site of one page as the real one is built, and returns its HTML."""

    def built(text):
        (tmp_path / "docs").mkdir()
        (tmp_path / "docs" / "index.md").write_text(text, encoding="utf-8")
        (tmp_path / "mkdocs.yml").write_text(
            f"INHERIT: {ROOT / 'mkdocs.yml'}\ndocs_dir: docs\nsite_dir: site\n"
            "plugins: [search]\nnav: [index.md]\nextra_css: []\n"
            f"hooks: [{HOOKS / 'blocks.py'}, {HOOKS / 'formulas.py'}]\n"
        )
        build(load_config(str(tmp_path / "mkdocs.yml")))
        return (tmp_path / "site" / "index.html").read_text(encoding="utf-8")

    yield built
    logging.getLogger("mkdocs").handlers.clear()


def test_blocks_share_their_names_and_show_what_they_print(site_of):
    page = site_of("# A\n\n```python\nx = 20\n```\n\ntext\n\n```python\nprint('twice', 2 * x)\n```\n")
    assert "twice 40" in page


def test_a_picture_stands_where_its_block_is(site_of, tmp_path):
    pytest.importorskip("matplotlib")
    code = "from matplotlib.figure import Figure\nfigure = Figure()\nfigure.subplots().plot([1, 2])\n"
    page = site_of(f"# A\n\n```python picture A line.\n{code}```\n")
    assert "<figcaption>A line.</figcaption>" in page.replace("<p>", "").replace("</p>", "").replace("\n", "")
    assert (tmp_path / "site" / "pictures" / "index-1.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("block", "why"),
    [
        ("```python\n1 / 0\n```", "ZeroDivisionError"),
        ("```python\n>>> 1 + 1\n3\n```", "Expected"),
        ("```python picture Nothing.\nx = 1\n```", "figure called figure"),
    ],
)
def test_a_block_that_fails_stops_the_build_and_says_where(site_of, caplog, block, why):
    with pytest.raises(Abort):
        site_of(f"# A\n\ntext\n\n{block}\n")
    assert "index.md" in caplog.text
    assert "line 5" in caplog.text
    assert why in caplog.text


@pytest.mark.parametrize("link", ["[x](absent.md)", "[x](#absent)", "[x](index.md#absent)", "![x](absent.png)"])
def test_a_broken_link_or_anchor_fails_the_build(site_of, link):
    with pytest.raises(Abort, match="strict"):
        site_of(f"# A\n\n{link}\n")


def test_a_formula_is_mathml_with_the_set_below_min(site_of, tmp_path):
    page = site_of("# A\n\n$$\n\\min_{x} |x|\n$$\n\nand $x^2$.\n")
    assert page.count("<math") == 2
    assert "<munder><mo" in page
    assert (tmp_path / "site" / "assets" / "formulas.ttf").stat().st_size > 100_000


def test_links_to_files_of_the_repository_lead_to_their_pages(hook):
    for_site = hook("sources").for_site
    text = "[a](docs/tutorial.md#state-it) [b](examples/circle.py) [c](LICENSE) [d](https://x.org) [e](absent.md)"
    assert for_site(text, "README.md", "changelog.md") == (
        "[a](tutorial.md#state-it) [b](gallery/circle.md) c [d](https://x.org) [e](absent.md)"
    )
    assert for_site("[a](../models.md)", "docs/guide/solve.md", "guide/solve.md") == "[a](../models.md)"


def test_examples_in_docstrings_become_blocks(hook):
    fenced = hook("docstrings").fenced
    assert fenced("Says.\n\n>>> 1\n1\n\nMore.") == "Says.\n\n\n```pycon\n>>> 1\n1\n```\n\nMore."
    assert "Examples\n--------\n```pycon" in fenced("Parameters\n----------\nx : int\n    One.\n\n>>> 1\n1")


def test_a_role_that_names_nothing_is_refused(hook):
    docstrings = hook("docstrings")
    assert "dcprog.algorithms.run.solve" in docstrings.ROLE.sub(docstrings.linked, "see :func:`dcprog.solve`")
    with pytest.raises(ValueError, match="does not exist"):
        docstrings.ROLE.sub(docstrings.linked, "see :func:`dcprog.solved`")


def test_the_reference_has_every_public_name_once(hook):
    reference = hook("reference")
    pages = {room: reference.page(room) for room in reference.ROOMS}
    directives = [line for text in pages.values() for line in text.splitlines() if line.startswith("::: ")]
    assert len(directives) == len(set(directives))
    for home in reference.exported("dcprog").values():
        assert any(home == d[4:] or home.startswith(d[4:] + ".") for d in directives), home
