"""Signs, phases and filters: boolean least squares, phase retrieval, and an FIR filter with a lower bound on |H|."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo
import scipy.sparse as sp

from benchmarks.dc_problems import Arrays, Problem, largest
from dcprog import DCConstraint, DCProgram
from dcprog.functions import Each, Norm2, SquaredNorm


def boolean_least_squares(n: int = 100) -> Problem:
    """min ‖Ax − y‖ with xᵢ² = 1: Shen, Diamond, Gu & Boyd (2016), 5.2."""
    rng = np.random.default_rng(1)
    A = rng.normal(size=(n, n))
    signs = np.where(rng.uniform(size=n) < 0.5, -1.0, 1.0)
    y = A @ signs + np.sqrt(n / 10) * rng.normal(size=n)

    def ours() -> DCProgram:
        m = pyo.ConcreteModel()
        m.x = pyo.Var(range(n))
        m.sign = pyo.Constraint(range(n), rule=lambda m, i: m.x[i] ** 2 == 1)
        return DCProgram(m, SquaredNorm()(A, m.x, -y), 0)

    def peer() -> tuple[Any, dict[str, Any]]:
        import cvxpy as cp

        x = cp.Variable(n)
        return cp.Problem(cp.Minimize(cp.norm(A @ x - y)), [cp.square(x) == 1]), {"x": x}

    def start(rng: np.random.Generator) -> dict[str, np.ndarray]:
        return {"x": rng.normal(size=n)}

    def judged(x: Arrays) -> tuple[float, float]:
        return float(np.linalg.norm(A @ x["x"] - y)), largest(np.abs(x["x"] ** 2 - 1))

    return Problem(f"boolean least squares, n = {n}", ours, peer, start, judged)


def phase_retrieval(n: int) -> Problem:
    """A complex x with |aₖ*x| = yₖ for 3n measurements, up to a phase. The same, 5.7."""
    rng = np.random.default_rng(2)
    m_rows = 3 * n
    a = rng.normal(size=(m_rows, n, 2)) / np.sqrt(2)
    M = np.zeros((2 * m_rows, 2 * n))  # x = (real parts, imaginary parts)
    M[0::2, :n], M[0::2, n:] = a[..., 0], a[..., 1]
    M[1::2, :n], M[1::2, n:] = -a[..., 1], a[..., 0]
    true = rng.uniform(size=2 * n)
    size = np.linalg.norm((M @ true).reshape(-1, 2), axis=1)
    pairs = sp.csr_array(M)

    def ours() -> DCProgram:
        m = pyo.ConcreteModel()
        m.x = pyo.Var(range(2 * n))
        m.sizes = DCConstraint(p=Each(Norm2(), 2)(pairs, m.x), q=size, equation=True)
        return DCProgram(m, 0, 0)

    def peer() -> tuple[Any, dict[str, Any]]:
        import cvxpy as cp

        x = cp.Variable(2 * n)
        rows = [cp.norm(M[2 * k : 2 * k + 2] @ x) == size[k] for k in range(m_rows)]
        return cp.Problem(cp.Minimize(0), rows), {"x": x}

    def start(rng: np.random.Generator) -> dict[str, np.ndarray]:
        return {"x": rng.uniform(size=2 * n)}

    def judged(x: Arrays) -> tuple[float, float]:
        return 0.0, largest(np.abs(np.linalg.norm((M @ x["x"]).reshape(-1, 2), axis=1) - size))

    return Problem(f"phase retrieval, n = {n}", ours, peer, start, judged, known=0.0)


def fir_filter(taps: int = 10, frequencies: int = 100) -> Problem:
    """|H(ω)| between 0.9 and 1.1 where it is to pass, as small as possible where it is to stop. The same, 5.8."""
    omega = np.linspace(0, np.pi, frequencies)
    through, stop = frequencies // 2 - 15, frequencies // 2
    angles = omega[:, None] * np.arange(taps)
    E = np.stack([np.cos(angles), np.sin(angles)], axis=1).reshape(-1, taps)
    low, high = E[: 2 * through], E[: 2 * stop]
    rest, count = E[2 * stop :], frequencies - stop
    ones = sp.csr_array(np.ones((count, 1)))

    def ours() -> DCProgram:
        m = pyo.ConcreteModel()
        m.h = pyo.Var(range(taps))
        m.U = pyo.Var(bounds=(0, None))
        m.least = DCConstraint(p=0.9, q=Each(Norm2(), 2)(low, m.h))
        m.most = DCConstraint(p=Each(Norm2(), 2)(high, m.h), q=1.1)
        m.stopped = DCConstraint(p=Each(Norm2(), 2)(rest, m.h), q=Each()(ones, m.U))
        return DCProgram(m, m.U, 0)

    def peer() -> tuple[Any, dict[str, Any]]:
        import cvxpy as cp

        h, U = cp.Variable(taps), cp.Variable()
        rows = [cp.norm(E[2 * k : 2 * k + 2] @ h) >= 0.9 for k in range(through)]
        rows += [cp.norm(E[2 * k : 2 * k + 2] @ h) <= (1.1 if k < stop else U) for k in range(frequencies)]
        return cp.Problem(cp.Minimize(U), rows), {"h": h, "U": U}

    def start(rng: np.random.Generator) -> dict[str, np.ndarray]:
        return {"h": rng.normal(size=taps), "U": np.array(1.0)}

    def judged(x: Arrays) -> tuple[float, float]:
        H = np.linalg.norm((E @ x["h"]).reshape(-1, 2), axis=1)
        return float(H[stop:].max()), largest(0.9 - H[:through], H[:stop] - 1.1)

    return Problem(f"FIR filter, {taps} taps", ours, peer, start, judged)
