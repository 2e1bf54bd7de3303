"""The tool for mutation testing: it makes the faults that it says, tries them, and tells killed from survived."""

from __future__ import annotations

import ast
import json
import os
import shutil
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = '''"""Words with 1 < 2."""
def clip(x: "1 + 1", low=0.0):
    """Not x > 3 either."""
    if x < low:
        return low
    if not x:
        raise ValueError(f"{x + 1}")
    found[0] = max(x, 2) and x
    return x ** 2
'''
TEST = """
from toy.sums import total
def test_total(): assert total([1, 2]) == 3
def test_only_runs_it(): total([])
def test_of_a_clock(): assert total([]) == 1
"""


@pytest.fixture(scope="module")
def mutate():
    """The package, which is no part of dcprog's install."""
    sys.path.insert(0, str(ROOT))
    try:
        import tools.mutate.mutants
        import tools.mutate.swap
        import tools.mutate.trial
        import tools.mutate.workshop
    finally:
        sys.path.remove(str(ROOT))
    return tools.mutate


def test_every_kind_of_fault_is_made_and_words_are_left_alone(mutate):
    found = {(m.kind, m.line, m.before, m.after) for m in mutate.mutants.mutants("clip.py", SOURCE)}
    assert found == {
        ("constant", 2, "0.0", "1.0"),
        ("comparison", 4, "x < low", "(x <= low)"),
        ("comparison", 4, "x < low", "(x >= low)"),
        ("sign", 6, "not x", "(x)"),
        ("dropped", 7, 'raise ValueError(f"{x + 1}")', "pass"),
        ("dropped", 8, "found[0] = max(x, 2) and x", "pass"),
        ("constant", 8, "0", "1"),
        ("extreme", 8, "max(x, 2)", "(min(x, 2))"),
        ("constant", 8, "2", "3"),
        ("logic", 8, "max(x, 2) and x", "(max(x, 2) or x)"),
        ("return", 9, "return x ** 2", "return None"),
        ("arithmetic", 9, "x ** 2", "(x * 2)"),
        ("constant", 9, "2", "3"),
    }


@pytest.mark.parametrize(
    "path", ["dcprog/convex/certificate.py", "dcprog/program/curvature/second_derivatives.py", "dcprog/algorithms/base.py"]
)
def test_faults_compile_differ_and_have_keys_of_their_own(mutate, path):
    source = (ROOT / path).read_text(encoding="utf-8")
    found = mutate.mutants.mutants(path, source)
    assert len(found) > 50
    assert len({m.key for m in found}) == len(found)
    original = ast.dump(ast.parse(source))
    for mutant in found:
        assert ast.dump(ast.parse(mutant.applied(source))) != original, mutant


def test_keys_do_not_depend_on_lines(mutate):
    one, two = (mutate.mutants.mutants("clip.py", "\n" * blank + SOURCE) for blank in (0, 7))
    assert [m.key for m in one] == [m.key for m in two]


@pytest.fixture
def toy(tmp_path, mutate):
    """A package with a test in a workshop of its own, and the map that measuring it would give."""
    home = tmp_path / "workshop"
    (home / "site" / "toy").mkdir(parents=True)
    (home / "site" / "toy" / "__init__.py").touch()
    (home / "site" / "toy" / "sums.py").write_text(
        "def total(x):\n    return sum(x) + 0\n\n\ndef unused(x):\n    return -x\n"
    )
    shutil.copytree(ROOT / "tools", home / "tree" / "tools")
    (home / "tree" / "tests").mkdir()
    (home / "tree" / "tests" / "test_sums.py").write_text(TEST)
    (home / "tree" / "pytest.ini").write_text("[pytest]\n")
    names = [f"tests/test_sums.py::{name}" for name in ("test_total", "test_only_runs_it", "test_of_a_clock")]
    blocks = [[2, 2, 0, [0, 1, 2]], [6, 6, 1, []]]
    digest = mutate.workshop.digest
    files = {"toy/sums.py": {"digest": digest(home / "site" / "toy" / "sums.py"), "blocks": blocks}}
    tests = {path.name: digest(path) for path in (home / "tree" / "tests").glob("*.py")}
    (home / "map.json").write_text(json.dumps({"names": names, "files": files, "tests": tests}))
    for kind in ("rescued", "alone"):
        (home / f"{kind}.json").write_text(json.dumps({name: [kind == "rescued", 0.01, []] for name in names}))
    return home


@pytest.mark.skipif(not hasattr(os, "fork"), reason="runs of tests are forks")
def test_a_fault_that_a_test_notices_is_killed_and_another_survives(mutate, toy):
    source = toy / "site" / "toy" / "sums.py"
    text = source.read_text()
    bench = mutate.trial.Bench(toy, 0, mutate.workshop.Lines(toy))
    outcomes = {}
    for mutant in mutate.mutants.mutants("toy/sums.py", text):
        verdict = mutate.trial.tried(mutant, bench, 60.0)
        outcomes[mutant.kind, mutant.line] = verdict.outcome
        assert (bench.site / "toy" / "sums.py").read_text() == text, "the fault is taken out again"
        if verdict.outcome == "killed":
            assert "test_total" in verdict.by
    bench.close()
    assert outcomes["return", 2] == outcomes["constant", 2] == "killed"
    assert outcomes["arithmetic", 2] == "survived", "sum(x) − 0 is the same"
    assert outcomes["sign", 6] == "not covered", "no test runs the line"
    assert bench.shaky == {"tests/test_sums.py::test_of_a_clock"}, "it fails without a fault, so its failure says nothing"


@pytest.mark.skipif(sys.version_info < (3, 11), reason="codes do not know their qualified names")
def test_functions_that_are_imported_already_get_the_fault(mutate, tmp_path, monkeypatch):
    path = tmp_path / "counted.py"
    text = "def outer(x):\n    def inner(y):\n        return (y\n                + 1)\n    return inner(x)\n"
    text += "\n\ndef other():\n    return 5\n"
    path.write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    import counted

    kept = counted.outer
    assert mutate.swap.swap(str(path), text, text.replace("y\n                + 1", "y - 1"))
    assert (kept(3), counted.other()) == (2, 5)
    assert not mutate.swap.swap(str(path), text, text.replace("def other", "def another")), "there is no such function"
