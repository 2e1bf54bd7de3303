"""Python started in a clone finds all of dcprog there, models/ beside the package included."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
WHERE = "from importlib.util import find_spec; print(find_spec('dcprog').origin, find_spec('dcprog.models').origin)"
FSV = """
import dcprog
from dcprog import datasets, models
data = datasets.load("breast_cancer", standardise=True)
program = models.fsv(data.X[:60, :8], data.y[:60], lam=0.1)
"""


def started(place, *words, typed=""):
    """What ``python WORDS`` prints when it is started in ``place``, as by someone who has set no paths."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        [sys.executable, *words], cwd=place, env=variables, input=typed, capture_output=True, text=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """A copy of what matters, elsewhere than the one that may be installed as editable."""
    place = tmp_path_factory.mktemp("a clone")
    for name in ("dcprog", "models", "benchmarks"):
        shutil.copytree(ROOT / name, place / name, ignore=shutil.ignore_patterns("__pycache__"))
    return place


def files_of(place):
    return f"{place / 'dcprog' / '__init__.py'} {place / 'models' / '__init__.py'}\n"


def test_a_command_and_a_script_on_stdin(clone):
    assert started(clone, "-c", WHERE) == files_of(clone)
    assert started(clone, "-", typed=WHERE) == files_of(clone)


def test_the_prompt(clone):
    """Where notebooks started in the clone are, too: the working directory comes first on the path."""
    assert started(clone, "-i", "-q", typed=WHERE + "\n").endswith(files_of(clone))


def test_this_checkout():
    assert started(ROOT, "-c", WHERE) == files_of(ROOT)


def test_outside_it_is_the_installed_one(clone, tmp_path):
    assert str(clone) not in started(tmp_path, "-c", WHERE)


def test_every_model_is_found(clone):
    code = (
        "from dcprog.methods import kernel_svm; from dcprog import models; print(models.__file__); print(*models.FACTORIES)"
    )
    where, found = started(clone, "-c", code).splitlines()
    assert where == str(clone / "models" / "__init__.py")
    assert "fsv" in found.split()


def test_a_directory_that_an_older_layout_left_behind(clone, tmp_path):
    shutil.copytree(clone, tmp_path / "old")
    (tmp_path / "old" / "dcprog" / "models" / "__pycache__").mkdir(parents=True)
    assert started(tmp_path / "old", "-c", WHERE) == files_of(tmp_path / "old")


def test_modules_of_the_clone(clone):
    assert "converged" in started(clone, "-m", "dcprog", "solve", "fsv")


def test_every_benchmark_says_what_it_does(clone):
    """Without data sets, and without the peers that it may measure; in one process, since starting takes longest."""
    names = sorted(path.stem for path in (ROOT / "benchmarks").glob("[a-z]*.py"))
    assert len(names) > 10
    code = """
import contextlib, io, runpy, sys
for name in sys.argv[1:]:
    said = io.StringIO()
    sys.argv = [name, "--help"]
    with contextlib.redirect_stdout(said), contextlib.suppress(SystemExit):
        runpy.run_module(f"benchmarks.{name}", run_name="__main__")
    print(name, len(said.getvalue().strip()) > 0)
"""
    assert started(clone, "-c", code, *names).split() == [word for name in names for word in (name, "True")]


def test_workers_of_joblib(clone):
    code = FSV + "print({run['status'] for run in dcprog.solve(program, starts=3, seed=0, n_jobs=2).runs})"
    assert started(clone, "-c", code) == "{'converged'}\n"


def test_workers_of_multiprocessing(clone):
    code = """
import inspect, multiprocessing
if __name__ == "__main__":
    from dcprog.models import fsv
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.apply(inspect.getsourcefile, (fsv,)))
"""
    (clone / "several.py").write_text(code)
    assert started(clone, "several.py") == started(clone, "-m", "several") == f"{clone / 'models' / 'fsv.py'}\n"
