"""Every example in the package's docstrings and on its pages runs, and prints what it says."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import dcprog
import dcprog.models

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
ROOT = Path(__file__).parents[1]
MODULES = sorted(
    {
        info.name
        for package in (dcprog, dcprog.models)  # an editable install keeps dcprog.models elsewhere
        for info in pkgutil.walk_packages(package.__path__, package.__name__ + ".")
    }
    - {"dcprog.__main__"}
)


@pytest.mark.parametrize("name", ["dcprog", *MODULES])
def test_docstrings(name):
    failed, _ = doctest.testmod(importlib.import_module(name), optionflags=FLAGS)
    assert failed == 0


def test_models_are_among_them():
    assert "dcprog.models.fsv" in MODULES


@pytest.mark.parametrize("page", sorted(str(p.relative_to(ROOT)) for p in [ROOT / "README.md", *ROOT.glob("docs/*.md")]))
def test_pages(page, tmp_path, monkeypatch):
    """Blocks of Python run from top to bottom; those with prompts print what they show."""
    monkeypatch.chdir(tmp_path)  # some write files
    text = (ROOT / page).read_text(encoding="utf-8")
    names = {}
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        if ">>>" not in block:
            exec(block, names)
    failed, _ = doctest.testfile(str(ROOT / page), module_relative=False, optionflags=FLAGS, encoding="utf-8", globs=names)
    assert failed == 0


@pytest.mark.parametrize("page", ["README.md", "CHANGELOG.md"])
def test_links_lead_somewhere(page):
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", (ROOT / page).read_text(encoding="utf-8"))
    assert [target for target in targets if not (ROOT / target).exists()] == []


def test_the_readme_solver_table_is_the_registry():
    from dcprog.convex.problem import ProblemClass
    from dcprog.solvers.registry import everything, names

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    solvers = list(everything())
    for kind in ProblemClass:
        order = sorted((s.ranks[kind], s.name) for s in solvers if kind in s.ranks)
        assert f"| {kind.value} | {', '.join(name for _, name in order)}" in text
    assert [name for name in names() if f"`{name}`" not in text] == []
