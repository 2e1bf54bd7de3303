"""``python -m benchmarks`` runs all of them and writes one table."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def started(out, *words, **variables):
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--quick", "--out", str(out), *words],
        cwd=ROOT,
        env=os.environ | variables,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    return done.returncode, done.stdout


@pytest.fixture(scope="module")
def benchmarks():
    """The package, which is no part of dcprog's install."""
    sys.path.insert(0, str(ROOT))
    try:
        import benchmarks.__main__
        import benchmarks.rows
    finally:
        sys.path.remove(str(ROOT))
    return benchmarks


def test_one_table_with_ratios_and_what_is_left_out(tmp_path):
    """On synthetic points one runs, and one that needs a data set says so where there is none."""
    (tmp_path / "empty").mkdir()
    here = {"DCPROG_DATA": str(tmp_path / "empty"), "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    code, printed = started(tmp_path / "out", "--only", "weston2003", "selectors", **here)
    assert code == 0, printed
    found = json.loads((tmp_path / "out" / "table.json").read_text(encoding="utf-8"))
    assert {(line["benchmark"], line["method"]) for line in found["lines"]} == {
        ("weston2003", "SVM"),
        ("weston2003", "CORR"),
    }
    for line in found["lines"]:
        published = {"SVM": 33.8, "CORR": 23.58}[line["method"]]
        assert line["ratio"] == pytest.approx(line["value"] / published)
        assert 5 < line["value"] < 60
    assert list(found["left_out"]) == ["selectors"]
    assert "sonar" in found["left_out"]["selectors"]
    table = (tmp_path / "out" / "table.md").read_text(encoding="utf-8")
    assert table in printed
    assert sum(row.startswith("| weston2003 |") for row in table.splitlines()) == 2
    assert "- selectors: left out: " in table
    assert "published" in (tmp_path / "out" / "weston2003.txt").read_text(encoding="utf-8")


def test_nothing_that_runs_is_an_error(tmp_path):
    (tmp_path / "empty").mkdir()
    here = {"DCPROG_DATA": str(tmp_path / "empty"), "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    assert started(tmp_path / "out", "--only", "selectors", **here)[0] == 1


def test_every_benchmark_is_run(benchmarks):
    helpers = {"ipopt_peer", "peers", "rows"}
    files = {path.stem for path in (ROOT / "benchmarks").glob("[a-z]*.py")} - helpers
    assert set(benchmarks.__main__.QUICK) == set(benchmarks.__main__.FULL) == set(benchmarks.rows.READERS) == files


def test_ratios_are_to_the_reference_of_the_same_case(benchmarks):
    rows = [
        {"problem": "a", "method": "by hand", "seconds": 6.0},
        {"problem": "a", "method": "auto", "seconds": 2.0},
        {"problem": "b", "method": "auto", "seconds": 1.0},
        {"problem": "b", "method": "gave up", "seconds": float("nan")},
    ]
    lines = list(benchmarks.rows.READERS["alignment"](rows))
    assert [(line.case, line.method, line.ratio, line.reference) for line in lines] == [
        ("a", "by hand", 3.0, "auto"),
        ("a", "auto", None, ""),
        ("b", "auto", None, ""),
    ]
