"""Every example in the package's docstrings, in README.md and in docs/ runs and prints what it says."""

import doctest
import importlib
import pkgutil
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


@pytest.mark.parametrize("page", ["README.md", *sorted(str(p.relative_to(ROOT)) for p in ROOT.glob("docs/*.md"))])
def test_pages(page):
    failed, _ = doctest.testfile(str(ROOT / page), module_relative=False, optionflags=FLAGS, encoding="utf-8")
    assert failed == 0


def test_models_are_among_them():
    assert "dcprog.models.fsv" in MODULES
