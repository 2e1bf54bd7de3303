"""Circles in a square, ways around discs, vehicles that keep apart, and the largest hexagon in a disc."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo
import scipy.sparse as sp

from benchmarks.dc_problems import Arrays, Problem, largest
from dcprog import DCConstraint, DCProgram, MatrixConstraint
from dcprog.functions import Each, L1Norm, Norm2


def differences(points: int, i: np.ndarray, j: np.ndarray) -> Any:
    """The matrix with cᵢ − cⱼ for each pair, two rows of each, for points in the plane one after the other."""
    k = len(i)
    columns = np.stack([2 * i, 2 * j, 2 * i + 1, 2 * j + 1], axis=1).ravel()
    return sp.csr_array((np.tile([1.0, -1.0], 2 * k), (np.repeat(np.arange(2 * k), 2), columns)), shape=(2 * k, 2 * points))


def packing(n: int) -> Problem:
    """The smallest square that holds n unit circles: min 2 max |cᵢₖ| + 2 with ‖cᵢ − cⱼ‖ ≥ 2. Shen, Diamond, Gu & Boyd,
    Disciplined convex-concave programming (2016), 5.1; optima of few circles are known (packomania.com)."""
    i, j = np.triu_indices(n, 1)
    D = differences(n, i, j)

    def ours() -> DCProgram:
        m = pyo.ConcreteModel()
        m.c = pyo.Var(range(n), [0, 1])
        m.half = pyo.Var(bounds=(1, None))
        one = np.ones((2 * n, 1))
        rows = sp.hstack([sp.eye_array(2 * n), -one]), sp.hstack([sp.eye_array(2 * n), one])
        m.above = MatrixConstraint(rows[0], [*m.c.values(), m.half], upper=-1.0)
        m.below = MatrixConstraint(rows[1], [*m.c.values(), m.half], lower=1.0)
        m.apart = DCConstraint(p=2.0, q=Each(Norm2(), 2)(D, m.c))
        return DCProgram(m, 2 * m.half, 0)

    def peer() -> tuple[Any, dict[str, Any]]:
        import cvxpy as cp

        c = cp.Variable((n, 2))
        apart = [cp.norm(c[a] - c[b], 2) >= 2 for a, b in zip(i, j, strict=True)]
        return cp.Problem(cp.Minimize(2 * cp.max(cp.abs(c)) + 2), apart), {"c": c}

    def start(rng: np.random.Generator) -> dict[str, np.ndarray]:
        c = rng.uniform(-1, 1, (n, 2)) * np.sqrt(n)
        return {"c": c, "half": np.abs(c).max() + 1}

    def judged(x: Arrays) -> tuple[float, float]:
        c = np.reshape(x["c"], (n, 2))
        return 2 * np.abs(c).max() + 2, largest(2 - np.linalg.norm(c[i] - c[j], axis=1))

    known = {10: 6.747441523, 50: 14.0100945, 200: np.nan}.get(n, np.nan)
    return Problem(f"circle packing, n = {n}", ours, peer, start, judged, known, times=100.0)


DISCS = np.array([[3.0, 3.0], [6.0, 2.0], [5.0, 6.0], [7.5, 5.5], [9.0, 8.0]])
RADII = np.array([1.3, 1.1, 1.5, 1.0, 1.1])
FROM, TO = np.array([0.0, 0.0]), np.array([10.0, 10.0])


def path_planning(segments: int = 50) -> Problem:
    """The shortest way from one corner to the other around five discs: n segments of length ≤ L/n, min L. The same, 5.4."""
    n = segments
    points = n + 1
    steps = differences(points, np.arange(1, points), np.arange(points - 1))
    to_discs = sp.kron(np.ones((len(DISCS), 1)), sp.eye_array(2 * points), format="csr")
    shift = -np.tile(DISCS[:, None, :], (1, points, 1)).ravel()
    apart = np.repeat(RADII, points)

    def ours() -> DCProgram:
        m = pyo.ConcreteModel()
        m.x = pyo.Var(range(points), [0, 1])
        m.L = pyo.Var(bounds=(0, None))
        for k in (0, 1):
            m.x[0, k].fix(FROM[k])
            m.x[n, k].fix(TO[k])
        length = sp.csr_array((np.full(n, 1 / n), (np.arange(n), np.zeros(n, dtype=int))), shape=(n, 1))
        m.steps = DCConstraint(p=Each(Norm2(), 2)(steps, m.x), q=Each()(length, m.L))
        m.outside = DCConstraint(p=apart, q=Each(Norm2(), 2)(to_discs, m.x, shift))
        return DCProgram(m, m.L, 0)

    def peer() -> tuple[Any, dict[str, Any]]:
        import cvxpy as cp

        x, L = cp.Variable((points, 2)), cp.Variable()
        rows = [x[0] == FROM, x[n] == TO]
        rows += [cp.norm(x[a + 1] - x[a]) <= L / n for a in range(n)]
        rows += [cp.norm(x[a] - DISCS[d]) >= RADII[d] for a in range(1, n) for d in range(len(DISCS))]
        return cp.Problem(cp.Minimize(L), rows), {"x": x, "L": L}

    def start(rng: np.random.Generator) -> dict[str, np.ndarray]:
        t = np.linspace(0, 1, points)[:, None]
        bend = rng.uniform(-4, 4)
        x = FROM + t * (TO - FROM) + bend * np.sin(np.pi * t) * np.array([1.0, -1.0]) + 0.01 * rng.normal(size=(points, 2))
        x[0], x[n] = FROM, TO
        return {"x": x, "L": np.linalg.norm(np.diff(x, axis=0), axis=1).max() * n}

    def judged(x: Arrays) -> tuple[float, float]:
        p = np.reshape(x["x"], (points, 2))
        away = [r - np.linalg.norm(p - c, axis=1) for c, r in zip(DISCS, RADII, strict=True)]
        longest = np.linalg.norm(np.diff(p, axis=0), axis=1).max() * n
        return longest, largest(*away, np.abs(p[0] - FROM), np.abs(p[n] - TO))

    return Problem(f"path around five discs, {n} segments", ours, peer, start, judged)


def vehicles(T: int = 100) -> Problem:
    """Two vehicles that keep 0.6 apart, with least thrust: min Σ‖u‖₁, x⁺ = Ax + Bu, |u| ≤ 0.5. The same, 5.5."""
    A = np.array([[1, 0, 0.1, 0], [0, 1, 0, 0.1], [0, 0, 0.95, 0], [0, 0, 0, 0.95]])
    B = np.array([[0, 0], [0, 0], [0.1, 0], [0, 0.1]])
    first = np.array([[0.5, 1, 0.5, 0.0], [0.5, 2.4, 0.5, 0.0]])
    last = np.array([[3.5, 2.4, 0.5, 0.0], [3.5, 1, 0.5, 0.0]])
    apart = 0.6
    # one column for each variable: positions and velocities of both vehicles at all times, then thrusts
    states, thrusts = 8 * T, 4 * (T - 1)
    shift = sp.eye_array(T - 1, T, k=1)
    dynamics = sp.kron(shift, sp.eye_array(8)) - sp.kron(sp.eye_array(T - 1, T), sp.block_diag([A, A]))
    rows = sp.hstack([dynamics, -sp.kron(sp.eye_array(T - 1), sp.block_diag([B, B]))]).tocsc()
    distances = sp.csr_array(sp.kron(sp.eye_array(T), np.hstack([np.eye(2, 4), -np.eye(2, 4)])))

    def ours() -> DCProgram:
        m = pyo.ConcreteModel()
        m.x = pyo.Var(range(states))
        m.u = pyo.Var(range(thrusts), bounds=(-0.5, 0.5))
        for k, value in enumerate(first.ravel()):
            m.x[k].fix(value)
        for k, value in enumerate(last.ravel()):
            m.x[states - 8 + k].fix(value)
        m.dynamics = MatrixConstraint(rows, [*m.x.values(), *m.u.values()], lower=0.0, upper=0.0)
        m.apart = DCConstraint(p=apart, q=Each(Norm2(), 2)(distances, m.x))
        return DCProgram(m, L1Norm()(m.u), 0)

    def peer() -> tuple[Any, dict[str, Any]]:
        import cvxpy as cp

        x, u = cp.Variable(states), cp.Variable(thrusts)
        held = [x[:8] == first.ravel(), x[states - 8 :] == last.ravel(), cp.abs(u) <= 0.5]
        held += [rows[:, :states] @ x + rows[:, states:] @ u == 0]
        held += [cp.norm(distances[2 * t : 2 * t + 2] @ x) >= apart for t in range(T)]
        return cp.Problem(cp.Minimize(cp.norm1(u)), held), {"x": x, "u": u}

    def start(rng: np.random.Generator) -> dict[str, np.ndarray]:
        t = np.linspace(0, 1, T)[:, None]
        x = (1 - t) * first.ravel() + t * last.ravel() + 0.1 * rng.normal(size=(T, 8))
        x[0], x[-1] = first.ravel(), last.ravel()
        return {"x": x.ravel(), "u": np.zeros(thrusts)}

    def judged(x: Arrays) -> tuple[float, float]:
        z = np.concatenate([x["x"].ravel(), x["u"].ravel()])
        gaps = np.linalg.norm((distances @ x["x"].ravel()).reshape(T, 2), axis=1)
        ends = np.abs(z[:8] - first.ravel()), np.abs(z[states - 8 : states] - last.ravel())
        return float(np.abs(x["u"]).sum()), largest(apart - gaps, np.abs(rows @ z), np.abs(x["u"]) - 0.5, *ends)

    return Problem(f"two vehicles, T = {T}", ours, peer, start, judged)


def hexagon(corners: int = 6) -> Problem:
    """The largest polygon in the unit disc: max t, t ≤ its area, which is neither convex nor concave; ½n sin(2π/n)."""
    n = corners
    i, j = np.arange(n), (np.arange(n) + 1) % n
    # the area is ½Σ(xᵢyⱼ − xⱼyᵢ) = ½c'Sc
    S = np.zeros((2 * n, 2 * n))
    for a, b in zip(i, j, strict=True):
        for r, s, v in ((2 * a, 2 * b + 1, 0.5), (2 * b, 2 * a + 1, -0.5)):
            S[r, s] += v
            S[s, r] += v
    values, vectors = np.linalg.eigh(S)
    plus, minus = ((np.sqrt(np.maximum(sign * values / 2, 0))[:, None] * vectors.T) for sign in (1, -1))

    def ours() -> DCProgram:
        m = pyo.ConcreteModel()
        m.c = pyo.Var(range(n), [0, 1])
        m.t = pyo.Var(bounds=(0, 4))
        m.inside = pyo.Constraint(range(n), rule=lambda m, k: m.c[k, 0] ** 2 + m.c[k, 1] ** 2 <= 1)
        area = 0.5 * sum(m.c[a, 0] * m.c[b, 1] - m.c[b, 0] * m.c[a, 1] for a, b in zip(i.tolist(), j.tolist(), strict=True))
        m.area = pyo.Constraint(expr=m.t <= area)  # a quadratic row as it stands
        return DCProgram(m, -m.t, 0)

    def peer() -> tuple[Any, dict[str, Any]]:
        import cvxpy as cp

        c, t = cp.Variable((n, 2)), cp.Variable()
        flat = cp.vec(c, order="C")
        area = t + cp.sum_squares(minus @ flat) <= cp.sum_squares(plus @ flat)
        return cp.Problem(cp.Maximize(t), [cp.norm(c, axis=1) <= 1, area, t >= 0]), {"c": c, "t": t}

    def start(rng: np.random.Generator) -> dict[str, np.ndarray]:
        angle = np.sort(rng.uniform(0, 2 * np.pi, n))
        c = 0.9 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
        return {"c": c, "t": np.array(max(0.5 * c.ravel() @ S @ c.ravel(), 0.0))}

    def judged(x: Arrays) -> tuple[float, float]:
        c = np.reshape(x["c"], (n, 2))
        return -float(x["t"]), largest(np.linalg.norm(c, axis=1) - 1, float(x["t"]) - 0.5 * c.ravel() @ S @ c.ravel())

    return Problem("largest hexagon in a disc", ours, peer, start, judged, known=-n / 2 * np.sin(2 * np.pi / n))
