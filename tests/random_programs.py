"""Random DC programs on polytopes, written in any units: x = D v, rows times R, f times a plus b, variables permuted."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyomo.environ as pyo

import dcprog
from dcprog import DCProgram
from dcprog.functions import Exponential

KINDS = ("lp", "qp", "nlp", "kinks", "quartic", "penalty")


@dataclass(frozen=True)
class Units:
    """How a program is written down; its solutions do not depend on it."""

    factor: float = 1.0
    constant: float = 0.0
    column: float = 1.0
    spread: float = 1.0
    """Columns and rows are multiplied by random powers up to this factor, each by its own."""
    row: float = 1.0
    permuted: bool = False
    proximal: float = 0.0
    """ρ/2‖x‖² is added to both g and h."""


RESCALINGS = {
    "f × 1e-10": Units(factor=1e-10),
    "f × 1e10": Units(factor=1e10),
    "f × 1e-8": Units(factor=1e-8),
    "f + 1e9": Units(constant=1e9),
    "x in units of 1e-6": Units(column=1e-6),
    "x in units of 1e6": Units(column=1e6),
    "rows and columns scaled": Units(spread=1e3, row=1e4),
    "permuted": Units(permuted=True),
}


@dataclass(frozen=True, eq=False)
class RandomProgram:
    """The numbers of a program; :meth:`build` writes it down."""

    seed: int
    kind: str
    n: int
    lower: np.ndarray = field(repr=False)
    upper: np.ndarray = field(repr=False)
    A: np.ndarray = field(repr=False)
    b: np.ndarray = field(repr=False)
    x0: np.ndarray = field(repr=False)

    @classmethod
    def draw(cls, seed: int) -> RandomProgram:
        """Program number ``seed``; its start is feasible."""
        rng = np.random.default_rng(seed)
        kind, n = KINDS[seed % len(KINDS)], int(rng.integers(2, 7))
        x0 = rng.uniform(-1.0, 1.0, n)
        rows = int(rng.integers(0, n + 2))
        A = np.round(rng.standard_normal((rows, n)), 2)
        lower, upper = np.full(n, -3.0), np.full(n, 3.0)
        if kind not in ("lp", "kinks") and rng.random() < 0.3:
            lower, upper = np.full(n, -np.inf), np.full(n, np.inf)
        if kind == "penalty":
            lower, x0 = np.zeros(n), np.abs(x0)
        return cls(seed, kind, n, lower, upper, A, A @ x0 + rng.uniform(0.1, 2.0, rows), x0)

    def build(self, units: Units = Units()) -> tuple[DCProgram, np.ndarray, np.ndarray]:
        """The program, its start, and D with x = D v for the variables in the program's order."""
        rng = np.random.default_rng([self.seed, 1])
        D = units.column * units.spread ** rng.uniform(-1.0, 1.0, self.n)
        R = units.row ** rng.uniform(-1.0, 1.0, len(self.b))
        order = self._order(units)
        m = pyo.ConcreteModel()
        m.v = pyo.Var(range(self.n))
        at = np.argsort(order)
        x = [D[i] * m.v[int(at[i])] for i in range(self.n)]
        for i in range(self.n):
            v = m.v[int(at[i])]
            v.setlb(None if np.isinf(self.lower[i]) else self.lower[i] / D[i])
            v.setub(None if np.isinf(self.upper[i]) else self.upper[i] / D[i])
        m.rows = pyo.ConstraintList()
        for i in rng.permutation(len(self.b)) if units.permuted else range(len(self.b)):
            m.rows.add(sum(R[i] * self.A[i, j] * x[j] for j in range(self.n)) <= R[i] * self.b[i])
        g, h = self.functions(x, m, D[order])
        proximal = 0.5 * units.proximal * sum(v**2 for v in x) if units.proximal else 0
        program = DCProgram(m, units.factor * (g + proximal) + units.constant, units.factor * (h + proximal))
        return program, (self.x0 / D)[order], D[order]

    def in_original_order(self, x: np.ndarray, units: Units) -> np.ndarray:
        """A point of the program in ``units``, its variables as they were drawn."""
        original = np.empty(self.n)
        original[self._order(units)] = x
        return original

    def _order(self, units: Units) -> np.ndarray:
        return np.random.default_rng([self.seed, 3]).permutation(self.n) if units.permuted else np.arange(self.n)

    def functions(self, x: list, m: pyo.ConcreteModel, D: np.ndarray) -> tuple:
        """g and h on the expressions ``x``."""
        rng = np.random.default_rng([self.seed, 2])
        n = self.n
        c, p, q = (np.round(rng.standard_normal(n), 2) for _ in range(3))
        linear = sum(c[i] * x[i] for i in range(n))
        squares = sum(v**2 for v in x)
        form = sum(p[i] * x[i] for i in range(n)) ** 2
        rho = float(rng.uniform(0.2, 0.9))
        if self.kind == "lp":
            return linear, rho * squares + 0.3 * form
        if self.kind == "qp":
            return squares + form + linear, rho * squares + 0.5 * abs(sum(q[i] * x[i] for i in range(n)))
        if self.kind == "nlp":
            bend = 0.5 * (1.0 - rho) / max(float(p @ p), 0.1)  # f stays coercive where x is free
            return squares + sum(pyo.exp(p[i] * x[i]) for i in range(n)) + linear, rho * squares + bend * form
        if self.kind == "kinks":
            pieces = dcprog.maximum(linear, sum(q[i] * x[i] for i in range(n)) + 0.5, -1.0)
            return pieces + 0.7 * abs(form_root(p, x) - 0.3), 0.4 * rho * squares
        if self.kind == "quartic":
            return sum(v**4 for v in x) + linear, (1.0 + rho) * squares
        return squares + linear, self.penalty(m, D, rho)

    def penalty(self, m: pyo.ConcreteModel, D: np.ndarray, rho: float):
        """h = ρ Σ (e^(−5xᵢ) − 1 + 5xᵢ), vectorised where the units allow it."""
        if np.allclose(D, 1.0):
            return rho * Exponential(alpha=5.0)(m.v) + 0
        return rho * sum(pyo.exp(-5.0 * d * m.v[i]) - 1 + 0 * m.v[i] for i, d in enumerate(D))


def form_root(p: np.ndarray, x: list):
    """p'x."""
    return sum(p[i] * x[i] for i in range(len(x)))
