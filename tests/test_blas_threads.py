"""One BLAS thread while solvers run, and afterwards as many as before, whoever came and went meanwhile.

In processes of their own: the tests run on one thread, from which nobody could see that it stays so.
"""

import os
import subprocess
import sys

import pytest

BEGIN = """
import threading
from concurrent.futures import ThreadPoolExecutor
import dcprog
from dcprog.machine.threads import blas_threads, one_thread, solver_loaded
from threadpoolctl import threadpool_info
dcprog.DCProgram, dcprog.solve
def threads(): return [lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"]
before = threads()
if 2 not in before: print("one thread only"); raise SystemExit
"""
OVERLAP = """
second_came, first_went = threading.Event(), threading.Event()
def first():
    with one_thread():
        assert second_came.wait(10)
    first_went.set()
    return threading.get_ident()
def second():
    with one_thread():
        second_came.set()
        assert first_went.wait(10)
        return set(threads())
with ThreadPoolExecutor(2) as crew:  # whose threads live on
    went = crew.submit(first)
    assert crew.submit(second).result() == {1}, "the first to go takes the limit from the second"
    assert went.result()
    assert threads() == before, threads()
with one_thread():
    assert set(threads()) == {1}, "the main thread has lost control"
assert threads() == before, threads()
"""
NESTED = """
with one_thread(), blas_threads(10.0), one_thread():
    assert set(threads()) == {1}
assert threads() == before, threads()
"""
NEW_SOLVER = """
with one_thread():
    solver_loaded("one that nobody has seen")
    with one_thread():
        assert set(threads()) == {1}
    assert set(threads()) == {1}
assert threads() == before, threads()
"""
ERROR = """
try:
    with one_thread():
        1 / 0
except ZeroDivisionError:
    pass
assert threads() == before, threads()
"""
THEIRS = """
from threadpoolctl import threadpool_limits
with threadpool_limits(1, user_api="blas"):
    with one_thread():
        assert set(threads()) == {1}
    assert set(threads()) == {1}, "a user's own limit stays"
assert threads() == before, threads()
"""
FOUR = """
import pyomo.environ as pyo
def program():
    m = pyo.ConcreteModel(); m.x = pyo.Var(range(30), bounds=(-1, 2), initialize=0.3)
    m.cut = pyo.Constraint(expr=sum(m.x[i] for i in range(30)) <= 20)
    return dcprog.DCProgram(m, g=sum(m.x[i]**4 for i in range(30)), h=sum(3*m.x[i]**2 for i in range(30)))
programs = [program() for _ in range(4)]
dcprog.solve(program())
before = threads()
with ThreadPoolExecutor(4) as crew:
    list(crew.map(lambda p: [dcprog.solve(p) for _ in range(5)], programs))
    assert threads() == before, threads()
assert threads() == before, threads()
"""

CASES = {"overlap": OVERLAP, "nested": NESTED, "error": ERROR, "theirs": THEIRS, "new solver": NEW_SOLVER, "four": FOUR}


def test_the_number_of_threads_is_as_before():
    """One case after the other in one process: each has to leave the threads as it found them."""
    what = "".join(f'print("{name}")\n{code}' for name, code in CASES.items())
    two = {**os.environ, "OPENBLAS_NUM_THREADS": "2", "OMP_NUM_THREADS": "2", "MKL_NUM_THREADS": "2"}
    done = subprocess.run([sys.executable, "-c", BEGIN + what], env=two, timeout=120, capture_output=True, text=True)
    if "one thread only" in done.stdout:
        pytest.skip("this BLAS has one thread only")
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"
    assert done.stdout.splitlines() == list(CASES)
