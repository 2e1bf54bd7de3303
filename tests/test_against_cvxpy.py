"""Small programs as one writes them on a first day, convex ones, beside CVXPY: the same optimal values."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.sparse as sp

import dcprog
from dcprog import DCProgram, MatrixConstraint, maximum
from dcprog.functions import (
    Entropy,
    GroupNorm,
    Hinge,
    Huber,
    L1Norm,
    LargestEigenvalue,
    LargestSum,
    Logistic,
    LogSumExp,
    MaxNorm,
    Norm2,
    NuclearNorm,
    QuadOverLin,
    SquaredHinge,
    SquaredNorm,
    SumExp,
)

cp = pytest.importorskip("cvxpy")

RNG = np.random.default_rng(1)
A = RNG.normal(size=(30, 6))
Y = np.sign(A[:, 0] + 0.5 * RNG.normal(size=30))
B = A @ RNG.normal(size=6) + 0.3 * RNG.normal(size=30)
P = RNG.normal(size=(10, 2))
F, MU = RNG.normal(size=(8, 8)), RNG.random(8)
Z = RNG.normal(size=(4, 5))
L = [M + M.T for M in RNG.normal(size=(3, 4, 4))]
CASES = {}


def case(make):
    CASES[make.__name__] = make
    return make


def model(n, lower=None, upper=None):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(n), bounds=(lower, upper))
    return m, cp.Variable(n)


def simplex(m, x):
    m.total = pyo.Constraint(expr=sum(m.x.values()) == 1)
    return [cp.sum(x) == 1, x >= 0]


def distances(m):
    return [Norm2()([m.x[0] - p[0], m.x[1] - p[1]]) for p in P]


def written_distances(m):
    return [pyo.sqrt((m.x[0] - p[0]) ** 2 + (m.x[1] - p[1]) ** 2) for p in P]


@case
def logistic_regression_with_group_lasso():
    m, x = model(6)
    g = Logistic()(-Y[:, None] * A, m.x) + 2 * GroupNorm([[0, 1], [2, 3], [4, 5]])(m.x)
    return m, g, cp.sum(cp.logistic(cp.multiply(-Y, A @ x))) + 2 * sum(cp.norm(x[2 * i : 2 * i + 2]) for i in range(3)), []


@case
def smallest_ball_by_a_maximum():
    m, x = model(2)
    return m, maximum(*distances(m)), cp.max(cp.hstack([cp.norm(x - p) for p in P])), []


@case
def smallest_ball_by_roots():
    m, x = model(2)
    return m, maximum(*written_distances(m)), cp.max(cp.hstack([cp.norm(x - p) for p in P])), []


@case
def smallest_ball_by_rows():
    m, x = model(2)
    m.r = pyo.Var(bounds=(0, None))
    m.inside = pyo.Constraint(range(len(P)), rule=lambda m, i: written_distances(m)[i] <= m.r)
    return m, m.r, cp.max(cp.hstack([cp.norm(x - p) for p in P])), []


@case
def geometric_median():
    m, x = model(2)
    return m, sum(written_distances(m)), sum(cp.norm(x - p) for p in P), []


@case
def chebyshev_centre():
    m, x = model(3, -10, 10)
    G, d = A[:12, :3], 1 + np.abs(B[:12])
    lengths = np.linalg.norm(G, axis=1)
    m.r, r = pyo.Var(), cp.Variable()
    m.rows = MatrixConstraint([G, lengths], [m.x, m.r], upper=d)
    return m, -m.r, -r, [G @ x + lengths * r <= d, cp.abs(x) <= 10]


@case
def largest_entropy():
    m, x = model(8, 0, 1)
    m.rows = MatrixConstraint(F[:2], m.x, lower=-0.1, upper=0.1)
    return m, Entropy()(m.x), -cp.sum(cp.entr(x)), [*simplex(m, x), cp.abs(F[:2] @ x) <= 0.1]


@case
def relative_entropy_written():
    m, x = model(8, 0, 1)
    q = MU / MU.sum()
    m.first = pyo.Constraint(expr=m.x[0] >= 0.5)
    g = sum(m.x[i] * pyo.log(m.x[i] / q[i]) for i in range(8))
    return m, g, cp.sum(cp.rel_entr(x, q)), [*simplex(m, x), x[0] >= 0.5]


@case
def robust_regression():
    m, x = model(6)
    return m, Huber(0.5)(A, m.x, -B), 0.5 * cp.sum(cp.huber(A @ x - B, 0.5)), []


@case
def least_absolute_deviations():
    m, x = model(6)
    return m, L1Norm()(A, m.x, -B), cp.norm1(A @ x - B), []


@case
def least_largest_deviation():
    m, x = model(6)
    return m, MaxNorm()(sp.csr_array(A), m.x, -B), cp.norm_inf(A @ x - B), []


@case
def square_root_lasso():
    m, x = model(6)
    return m, Norm2()(A, m.x, -B) + 0.3 * L1Norm()(m.x), cp.norm(A @ x - B) + 0.3 * cp.norm1(x), []


@case
def portfolio_with_a_norm():
    m, x = model(8, 0)
    m.risk = pyo.Constraint(expr=Norm2()(F, m.x) <= 1.2)
    return m, -sum(MU[i] * m.x[i] for i in range(8)), -MU @ x, [*simplex(m, x), cp.norm(F @ x) <= 1.2]


@case
def portfolio_with_a_variance():
    m, x = model(8, 0)
    S = F.T @ F
    m.risk = pyo.Constraint(expr=sum(S[i, j] * m.x[i] * m.x[j] for i in range(8) for j in range(8)) <= 1.44)
    return m, -sum(MU[i] * m.x[i] for i in range(8)), -MU @ x, [*simplex(m, x), cp.norm(F @ x) <= 1.2]


@case
def value_at_risk():
    m, x = model(6, 0)
    return m, LargestSum(4)(-A, m.x) / 4, cp.sum_largest(-A @ x, 4) / 4, simplex(m, x)


@case
def low_rank_denoising():
    m = pyo.ConcreteModel()
    m.X, X = pyo.Var(range(4), range(5)), cp.Variable((4, 5))
    g = 0.5 * SquaredNorm()(np.eye(20), m.X, -Z.ravel()) + 0.8 * NuclearNorm(columns=5)(m.X)
    return m, g, 0.5 * cp.sum_squares(X - Z) + 0.8 * cp.normNuc(X), []


@case
def least_largest_eigenvalue():
    m, x = model(2, -2, 2)
    entries = [[L[0][i, j] + L[1][i, j] * m.x[0] + L[2][i, j] * m.x[1] for j in range(4)] for i in range(4)]
    return m, LargestEigenvalue()(entries), cp.lambda_max(L[0] + L[1] * x[0] + L[2] * x[1]), [cp.abs(x) <= 2]


@case
def smooth_maximum_and_a_norm():
    m, x = model(6)
    return m, LogSumExp()(A, m.x, B) + 0.1 * Norm2()(m.x), cp.log_sum_exp(A @ x + B) + 0.1 * cp.norm(x), []


@case
def exponentials_written_and_groups():
    m, x = model(6)
    g = sum(pyo.exp(m.x[j] - 1) for j in range(6)) - 0.5 * sum(m.x.values()) + GroupNorm([[0, 1], [2, 3, 4], [5]])(m.x)
    norms = cp.norm(x[:2]) + cp.norm(x[2:5]) + cp.abs(x[5])
    return m, g, cp.sum(cp.exp(x - 1)) - 0.5 * cp.sum(x) + norms, []


@case
def fourth_powers_and_a_nuclear_norm():
    m, x = model(3)
    g = sum((m.x[i] - 1) ** 4 for i in range(3)) + NuclearNorm()([[m.x[0], m.x[1]], [m.x[1], m.x[2]]])
    X = cp.bmat([[x[0], x[1]], [x[1], x[2]]])
    return m, g, cp.sum(cp.power(x - 1, 4)) + cp.normNuc(X), []


@case
def geometric_program():
    m, x = model(3, -3, 3)
    m.row = pyo.Constraint(expr=pyo.log(pyo.exp(-m.x[2]) + pyo.exp(m.x[0] - m.x[2])) <= 0)
    g = pyo.log(pyo.exp(m.x[0] + m.x[1]) + pyo.exp(-2 * m.x[0] + 1) + pyo.exp(-m.x[1] + m.x[2]))
    rows = [cp.abs(x) <= 3, cp.log_sum_exp(cp.hstack([-x[2], x[0] - x[2]])) <= 0]
    return m, g, cp.log_sum_exp(cp.hstack([x[0] + x[1], -2 * x[0] + 1, -x[1] + x[2]])), rows


@case
def support_vector_machine():
    m, x = model(6)
    g = 0.5 * SquaredNorm()(m.x) + 3 * Hinge()(-Y[:, None] * A, m.x, np.ones(30))
    return m, g, 0.5 * cp.sum_squares(x) + 3 * cp.sum(cp.pos(1 - cp.multiply(Y, A @ x))), []


@case
def sparse_support_vector_machine():
    m, x = model(6)
    g = L1Norm()(m.x) + SquaredHinge()(-Y[:, None] * A, m.x, np.ones(30))
    return m, g, cp.norm1(x) + cp.sum_squares(cp.pos(1 - cp.multiply(Y, A @ x))), []


@case
def quadratic_over_linear():
    m, x = model(3)
    m.y, y = pyo.Var(bounds=(0.1, 5)), cp.Variable()
    m.row = pyo.Constraint(expr=sum(m.x.values()) + m.y == 4)
    return m, QuadOverLin()([m.x, m.y]) + m.y, cp.quad_over_lin(x, y) + y, [y >= 0.1, y <= 5, cp.sum(x) + y == 4]


@case
def compositions():
    m, x = model(2, -3, 3)
    g = maximum(m.x[0], 0) ** 2 + abs(m.x[1] - 1) ** 3 + pyo.exp(maximum(m.x[0] + m.x[1], 0)) - 2 * m.x[0]
    theirs = cp.square(cp.pos(x[0])) + cp.power(cp.abs(x[1] - 1), 3) + cp.exp(cp.pos(x[0] + x[1])) - 2 * x[0]
    return m, g, theirs, [cp.abs(x) <= 3]


@case
def square_of_a_norm():
    m, x = model(3)
    return m, Norm2()(m.x) ** 2 + Norm2()([m.x[0] - 1, m.x[1] - 2]), cp.sum_squares(x) + cp.norm(x[:2] - [1, 2]), []


@case
def exponential_of_a_norm():
    m, x = model(2)
    return m, pyo.exp(Norm2()([m.x[0] - 1, m.x[1]])) - 3 * m.x[0], cp.exp(cp.norm(x - [1, 0])) - 3 * x[0], []


@case
def maximum_of_functions():
    m, x = model(2)
    g = maximum(Norm2()(m.x), SumExp([[1, 0], [0, 1]])(m.x) - 1, m.x[0] + 2)
    return m, g, cp.maximum(cp.norm(x), cp.sum(cp.exp(x)) - 1, x[0] + 2), []


@case
def total_variation():
    m = pyo.ConcreteModel()
    m.x, x = pyo.Var(range(4), range(5)), cp.Variable((4, 5))
    steps = [
        pyo.sqrt((m.x[i + 1, j] - m.x[i, j]) ** 2 + (m.x[i, j + 1] - m.x[i, j]) ** 2) for i in range(3) for j in range(4)
    ]
    g = 0.5 * sum((m.x[i, j] - Z[i, j]) ** 2 for i in range(4) for j in range(5)) + 0.7 * sum(steps)
    theirs = [cp.norm(cp.hstack([x[i + 1, j] - x[i, j], x[i, j + 1] - x[i, j]])) for i in range(3) for j in range(4)]
    return m, g, 0.5 * cp.sum_squares(x - Z) + 0.7 * sum(theirs), []


@case
def softplus_far_out():
    m, x = model(6)
    margins = [-1000 * Y[i] * sum(A[i, j] * m.x[j] for j in range(6)) for i in range(10)]
    g = sum(pyo.log(1 + pyo.exp(z)) for z in margins) + 1000 * sum(v**2 for v in m.x.values())
    return m, g, cp.sum(cp.logistic(cp.multiply(-1000 * Y[:10], A[:10] @ x))) + 1000 * cp.sum_squares(x), []


@case
def norms_in_one_row():
    m, x = model(2)
    m.row = pyo.Constraint(expr=Norm2()(m.x) + Norm2()([m.x[0] - 1, m.x[1]]) ** 2 <= 3)
    return m, -m.x[0] - m.x[1], -x[0] - x[1], [cp.norm(x) + cp.sum_squares(x - [1, 0]) <= 3]


@pytest.mark.parametrize("name", CASES)
def test_same_value(name):
    m, g, objective, rows = CASES[name]()
    peer = cp.Problem(cp.Minimize(objective), rows)
    peer.solve(solver=cp.CLARABEL)
    result = dcprog.solve(DCProgram(m, g=g, h=0))
    assert result.success, result.messages
    assert result.objective == pytest.approx(peer.value, abs=2e-7, rel=2e-7)
    assert result.violation <= 1e-7
