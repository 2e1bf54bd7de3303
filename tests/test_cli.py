"""The command line: what it prints, where, and with which exit code."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import dcprog
from dcprog import algorithms, datasets
from dcprog.cli import main
from dcprog.models import FACTORIES, fsv

FILE = """
import neighbour
import numpy as np
import pyomo.environ as pyo
from dcprog import ConvexFunction, DCProgram

class Square(ConvexFunction):
    def value(self, x):
        return float(x @ x)
    def gradient(self, x):
        return 2 * x

def quartic(top=2.0):
    "x⁴ − (3x² + x)"
    print("chatter of the user's own")
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(0, top), initialize=1)
    return DCProgram(m, g=m.x**4, h=3 * m.x**2 + m.x, name="quartic")

def centre(X, y, size):
    "The point of a box nearest to the mean, less a square."
    m = pyo.ConcreteModel()
    m.w = pyo.Var(range(X.shape[1]), bounds=(-size, size), initialize=0.5)
    return DCProgram(m, g=sum((m.w[j] - X[:, j].mean()) ** 2 for j in m.w), h=0.5 * Square()(m.w))

def lying():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(2), bounds=(-1, 1), initialize=0.5)
    class Wrong(Square):
        def gradient(self, x):
            return -2 * x
    return DCProgram(m, g=0, h=Wrong()(m.x))

def empty():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(0, 1))
    m.c = pyo.Constraint(expr=m.x >= 2)
    return DCProgram(m, g=m.x, h=0)

def nothing():
    return 3

def broken(a=1):
    return a / neighbour.ZERO

def leaving():
    raise SystemExit(0)

def open_ended(**anything):
    return quartic(anything["top"])
"""


OWN_ALGORITHM = """
from dcprog.algorithms import Algorithm, register

@register
class Halves(Algorithm):
    name = "test-halves"
    def advance(self, state):
        found = self.minimise(self.subgradient(state.x), state.x)
        return self.next_state(state, found, (state.x + found.x) / 2)
"""
RING = """
import pyomo.environ as pyo
import dcprog

def ring():
    m = pyo.ConcreteModel()
    m.x = pyo.Var([0, 1], bounds=(-3, 3), initialize=0.5)
    m.ring = dcprog.DCConstraint(p=1, q=m.x[0] ** 2 + m.x[1] ** 2)
    return dcprog.DCProgram(m, g=m.x[0] ** 2 + 2 * m.x[1] ** 2, h=0)
"""


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """A file of a user, in the working directory, beside one that it imports."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "neighbour.py").write_text("ZERO = 0\n")
    (tmp_path / "mine.py").write_text(FILE)
    yield tmp_path
    sys.modules.pop("neighbour", None)


@pytest.fixture
def run(capsys):
    """main(words) → exit code, stdout, stderr."""

    def run(*words):
        code = main(words)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def as_object(out):
    assert out.count("\n") == 1
    return json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))


def test_the_readme_command(run):
    code, out, err = run("solve", "fsv")
    assert (code, err) == (0, "")
    assert "converged" in out
    assert "of 30: " in out


def test_json_says_what_python_says(run):
    code, out, err = run("solve", "fsv", "--set", "lam=0.2", "--solver", "highs", "--json")
    data = datasets.load("breast_cancer", standardise=True)
    result = dcprog.solve(fsv(data.X, data.y, lam=0.2), solver="highs")
    said = as_object(out)
    assert (code, err) == (0, "")
    assert said["objective"] == pytest.approx(result.objective, rel=1e-12)
    assert said["features"] == [n for n, w in zip(data.feature_names, result["w"], strict=True) if abs(w) > 1e-8]
    assert said["n_features"] == len(said["features"]) > 0
    expected = {"model": "fsv", "data": "breast_cancer", "algorithm": "dca", "solver": "highs", "status": "converged"}
    assert expected.items() <= said.items()
    assert said["iterations"] == result.iterations
    assert said["gap"] == pytest.approx(result.gap, abs=1e-9)
    assert {"compile", "build", "update", "solve", "verify", "total"} <= said["timings"].keys()


@pytest.mark.parametrize("model", FACTORIES)
def test_every_model_runs_on_a_file_of_the_user(run, tmp_path, model):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((24, 3))
    rows = [f"{a},{b},{c},{'yes' if a + b > 0 else 'no'}" for a, b, c in X]
    path = tmp_path / "points.csv"
    path.write_text("\n".join(["age,size,noise,ill", *rows]))
    code, out, _ = run("solve", model, "--data", str(path), "--json")
    said = as_object(out)
    assert code == 0
    assert said["data"] == "points"
    assert said["features"] is None or set(said["features"]) <= {"age", "size", "noise"}


def test_raw_and_standardised_differ(run):
    objective = [as_object(run("solve", "l1_svm", "--json", *raw)[1])["objective"] for raw in ([], ["--raw"])]
    assert objective[0] != pytest.approx(objective[1], rel=1e-3)


def test_a_factory_of_the_user(run, mine):
    code, out, err = run("solve", "mine.py:quartic", "--json")
    said = as_object(out)
    assert code == 0
    assert said["objective"] == pytest.approx(1.3008**4 - 3 * 1.3008**2 - 1.3008, abs=1e-4)
    assert said["data"] is said["features"] is said["n_features"] is None
    assert err == "chatter of the user's own\n"
    assert run("solve", f"{mine}/mine.py:quartic", "--set", "top=1")[0] == 0
    assert run("solve", "mine.py:open_ended", "--set", "top=1.5")[0] == 0


def test_a_file_of_the_user_brings_its_own_algorithm(run, mine):
    (mine / "own.py").write_text(OWN_ALGORITHM + FILE)
    try:
        for starts in ("1", "2"):
            code, out, err = run("solve", "own.py:quartic", "--algorithm", "test-halves", "--starts", starts, "--json")
            assert (code, as_object(out)["algorithm"]) == (0, "test-halves"), err
        assert run("solve", "own.py:quartic", "--algorithm", "test-halvs")[0] != 0
    finally:
        algorithms.ALGORITHMS.pop("test-halves", None)


def test_without_a_name_the_algorithm_is_the_one_that_solve_takes(run, mine):
    (mine / "ring.py").write_text(RING)
    code, out, err = run("solve", "ring.py:ring", "--json")
    assert (code, as_object(out)["algorithm"]) == (0, "penalty"), err


def test_the_point_is_printed(run, mine):
    code, out, _ = run("solve", "mine.py:quartic")
    (line,) = [line for line in out.splitlines() if line.startswith("  x =")]
    assert (code, float(line.split()[2])) == (0, pytest.approx(1.300840, abs=1e-5))
    assert as_object(run("solve", "mine.py:quartic", "--json")[1])["point"]["x"] == pytest.approx(1.300840, abs=1e-5)


def test_long_arrays_are_shortened_but_for_json(run, mine):
    words = ("solve", "mine.py:centre", "--set", "size=3", "--raw")
    said = as_object(run(*words, "--json")[1])["point"]["w"]
    assert len(said) == 30
    (line,) = [line for line in run(*words)[1].splitlines() if line.startswith("  w =")]
    first, _, rest = line.partition("…")
    assert [float(word) for word in first.split()[2:]] == pytest.approx(said[:6], rel=1e-5)
    assert rest.strip() == "(30)"


def test_a_factory_of_the_user_gets_the_data(run, mine):
    code, out, _ = run("solve", "mine.py:centre", "--set", "size=3", "--json", "--raw")
    assert code == 0
    assert as_object(out)["n_features"] == 30


def test_several_starts_of_a_users_own_class(run, mine):
    code, out, _ = run("solve", "mine.py:centre", "--set", "size=3", "--starts", "3", "--json")
    assert code == 0
    assert as_object(out)["status"] == "converged"


def test_exit_code_one_when_not_converged(run, mine):
    code, out, _ = run("solve", "fsv", "--max-iter", "1", "--json")
    assert (code, as_object(out)["status"]) == (1, "iteration_limit")
    code, out, _ = run("solve", "mine.py:empty", "--json")
    assert (code, as_object(out)["status"], as_object(out)["objective"]) == (1, "infeasible", None)
    assert as_object(out)["messages"]
    assert as_object(out)["point"] is None


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("solve fsw", "did you mean 'fsv'"),
        ("solve", "Missing argument"),
        ("sovle fsv", "No such command"),
        ("solve fsv --sovler highs", "--solver"),
        ("solve fsv --max-iter many", "--max-iter"),
        ("solve fsv --max-iter -1", "max_iter is -1"),
        ("solve fsv --tol -1", "tol is -1"),
        ("solve fsv --starts 0", "starts is 0"),
        ("solve fsv --set lamb=0.1", "did you mean 'lam'"),
        ("solve fsv --set lam", "NAME=VALUE"),
        ("solve fsv --set lam=2", "lam"),
        ("solve fsv --set lam=much", "lam"),
        ("solve fsv --solver higs", "did you mean 'highs'"),
        ("solve fsv --algorithm dcb", "did you mean 'dca'"),
        ("solve svm --algorithm sla", "SLA needs a concave f"),
        ("solve fsv --data breast_cancr", "did you mean 'breast_cancer'"),
        ("solve fsv --data none.csv", "No such file"),
        ("solve fsv --plot picture.xyz", "the ending has to be one of"),
        ("solve fsv --save nowhere/result", "no directory"),
        ("solve mine.py", "no function in it"),
        ("solve mine.py:quartik", "did you mean 'quartic'"),
        ("solve other.py:quartic", "no file other.py"),
        ("solve mine.py:quartic --data pima", "takes no data"),
        ("solve mine.py:centre", "add --set size="),
        ("solve mine.py:nothing", "returned int"),
        ("solve mine.py:broken", "ZeroDivisionError: division by zero (mine.py, line 44)"),
        ("solve mine.py:leaving", "SystemExit"),
        ("check fsw", "did you mean 'fsv'"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_two(run, mine, words, message):
    code, out, err = run(*words.split())
    assert (code, out) == (2, "")
    assert message in err
    assert err.startswith("dcprog: ")
    assert err.count("\n") == 1


def test_a_file_that_cannot_be_imported(run, mine):
    (mine / "bad.py").write_text("def f(:\n")
    code, out, err = run("solve", "bad.py:f")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "bad.py, line 1" in err


def test_check(run, mine):
    code, out, _ = run("check", "mine.py:quartic")
    assert code == 0
    checks, _, claims = out.partition("\nproved: ")
    assert all(line.startswith("ok") for line in checks.splitlines())
    assert claims.startswith("g is convex: ")
    code, out, _ = run("check", "mine.py:lying", "--json")
    said = as_object(out)
    assert (code, said["passed"]) == (1, False)
    assert "gradient of h against differences" in [c["statement"] for c in said["checks"] if not c["passed"]]


@pytest.mark.parametrize(
    ("command", "names"), [("solvers", ["highs", "ipopt"]), ("models", list(FACTORIES)), ("functions", ["SCAD"])]
)
def test_listings(run, command, names):
    code, out, _ = run(command)
    assert code == 0
    assert all(name in out for name in names)
    code, out, _ = run(command, "--json")
    rows = as_object(out)
    assert set(names) <= {row["name"] for row in rows}


def test_models_are_described(run):
    rows = {row["name"]: row for row in as_object(run("models", "--json")[1])}
    assert "lam=0.1" in rows["fsv"]["parameters"]
    assert all(row["description"] for row in rows.values())


def test_version_and_help(run):
    assert run("--version") == (0, f"dcprog {dcprog.__version__}\n", "")
    assert "solve" in run()[1]
    assert run("solve", "--help")[0] == 0


def test_plot_and_save(run, tmp_path):
    code, _, _ = run("solve", "fsv", "--plot", str(tmp_path / "run.png"), "--save", str(tmp_path / "run"))
    assert code == 0
    assert (tmp_path / "run.png").read_bytes().startswith(b"\x89PNG")
    assert dcprog.Result.load(tmp_path / "run").status == "converged"


def test_plot_without_matplotlib_names_the_extra(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    code, out, err = run("solve", "fsv", "--plot", "run.png")
    assert (code, out) == (2, "")
    assert "dcprog[plot]" in err


def test_help_loads_neither_pyomo_nor_numpy():
    code = "import sys; from dcprog.cli import main; main(['solve', '--help']); print(*sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert not {"pyomo", "numpy", "scipy", "sklearn"} & set(out.split())


def in_a_process(*words, **settings):
    return subprocess.run([sys.executable, "-m", "dcprog", *words], capture_output=True, text=True, check=False, **settings)


def test_as_a_module_and_as_a_script(tmp_path):
    by_module = in_a_process("--version", cwd=tmp_path)
    script = Path(sys.executable).with_name("dcprog")
    by_script = subprocess.run([script, "--version"], capture_output=True, text=True, check=True)
    assert by_module.stdout == by_script.stdout == f"dcprog {dcprog.__version__}\n"
    assert in_a_process("solve", "fsw", cwd=tmp_path).returncode == 2


def test_solvers_are_silent_on_stdout(mine):
    done = in_a_process("solve", "mine.py:quartic", "--solver", "ipopt", "--json", cwd=mine)
    assert as_object(done.stdout)["solver"] == "ipopt"
    assert done.stderr == "chatter of the user's own\n"


def test_a_terminal_without_greek_letters(tmp_path):
    done = in_a_process("models", cwd=tmp_path, env=os.environ | {"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0
    assert "Traceback" not in done.stderr


def test_a_live_line_on_a_terminal_only(tmp_path):
    pty = pytest.importorskip("pty")
    words = [sys.executable, "-m", "dcprog", "solve", "fsv", "--json"]
    leader, follower = pty.openpty()
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=follower, cwd=tmp_path, env=os.environ | {"TERM": "xterm"})
    os.close(follower)
    live = os.read(leader, 1_000_000).decode()
    os.close(leader)
    assert as_object(done.stdout.decode())["status"] == "converged"
    assert "iteration" in live
    assert in_a_process("solve", "fsv", "--json", cwd=tmp_path).stderr == ""
