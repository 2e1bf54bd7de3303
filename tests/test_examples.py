"""Every example runs, and shows what it promises."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
PROMISES = {
    "design_filter.py": ["filter: converged", "least gain that passes 0.9000"],
    "few_assets.py": ["k =  2: converged,  2 assets", "x'y = 0: "],
    "largest_polygons.py": ["6 corners: converged, area 2.598076"],
    "pack_circles.py": ["ten circles: converged", "sides from ten starts: 6."],
    "plan_paths.py": ["two vehicles: converged", "(converged), 14."],
    "recover_signals.py": ["phase retrieval: converged", "0 differ", "sparse recovery: converged"],
    "vectors_on_a_sphere.py": ["‖x‖₁ ≤ 1.80: converged", "component: converged"],
    "own_decomposition.py": ["quartic: converged", "at (3, -1)", "ok    solvers agree"],
    "prove_sla_is_dca.py": ["the same iterates"],
    "select_features.py": ["linear SVM, all features", "% right, 4 features"],
    "swap_solvers.py": ["highs", "clarabel", "ipopt", "cannot solve this", "its claim does not hold"],
}


def printed(name):
    words = [sys.executable, str(EXAMPLES / name)]
    with tempfile.TemporaryDirectory() as elsewhere:
        done = subprocess.run(
            words, cwd=elsewhere, env=os.environ | {"MPLBACKEND": "Agg"}, capture_output=True, text=True, check=False
        )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.glob("*.py")))
def test_example(name):
    said = printed(name)
    assert said
    assert "FAIL" not in said
    assert [words for words in PROMISES.get(name, []) if words not in said] == []
    if name == "swap_solvers.py":
        check_that_all_solvers_agree(said)


def check_that_all_solvers_agree(said):
    tables = said.split("DCProgram(")[1:]
    assert tables
    for table in tables:
        values = [float(line.split("f = ")[1].split()[0]) for line in table.splitlines() if line.startswith("  ")]
        assert len(values) >= 4
        assert max(values) - min(values) <= 1e-6 * max(values)


def test_what_is_promised_is_of_examples():
    assert set(PROMISES) <= {path.name for path in EXAMPLES.glob("*.py")}
