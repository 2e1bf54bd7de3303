"""What the convex functions refuse, each time in one sentence that names the argument, what came and what to do."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.sparse as sp

import dcprog.functions as fn
from dcprog.errors import ConvexityError, DataError, ModelError

A = np.random.default_rng(7).normal(size=(6, 4))
b = np.ones(6)
NAN, INF = float("nan"), float("inf")
INDEFINITE = [[1.0, 2.0], [2.0, 1.0]]


@pytest.mark.parametrize("bad", [0, -1, NAN, INF, "five", None])
@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("alpha", lambda x: fn.Exponential(alpha=x)),
        ("eps", lambda x: fn.Logarithmic(eps=x)),
        ("eps", lambda x: fn.Lp(eps=x)),
        ("p", lambda x: fn.Lp(p=x)),
        ("theta", lambda x: fn.CappedL1(theta=x)),
        ("lam", lambda x: fn.SCAD(lam=x)),
        ("a", lambda x: fn.SCAD(lam=1, a=x)),
        ("lam", lambda x: fn.MCP(lam=x)),
        ("gamma", lambda x: fn.MCP(lam=1, gamma=x)),
    ],
)
def test_bad_parameters_are_named(name, make, bad):
    with pytest.raises(DataError, match=rf"^{name} has to be a number .*, got {bad!r}: pass for example {name}="):
        make(bad)


@pytest.mark.parametrize(
    "make", [lambda: fn.Lp(p=1), lambda: fn.SCAD(lam=1, a=2), lambda: fn.Quadratic([[1]], constant=NAN)]
)
def test_ends_of_ranges_are_refused(make):
    with pytest.raises(DataError, match="has to be a number"):
        make()


@pytest.mark.parametrize("make", [fn.Quadratic, fn.LogSumExp, fn.SumExp, fn.PiecewiseMaximum])
@pytest.mark.parametrize(
    ("bad", "says"),
    [
        ([[NAN]], "finite, got 1 entries"),
        ([[INF, 1], [1, -INF]], "finite, got 2 entries"),
        (sp.csr_array([[NAN, 0], [0, 1]]), "finite, got 1 entries"),
        ([1.0, 2.0], r"matrix .* got shape \(2,\)"),
        (np.empty((0, 3)), r"got shape \(0, 3\)"),
        ([["x"]], "has to hold numbers, got list"),
    ],
)
def test_bad_matrices_are_refused(make, bad, says):
    with pytest.raises(DataError, match=says):
        make(bad)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: fn.LogSumExp(A, [1, 2]), r"b has to be a vector of 6 numbers, got shape \(2,\)"),
        (lambda: fn.LogSumExp(b=[]), "b has to be a vector"),
        (lambda: fn.LogSumExp(b=[1, NAN]), "b has to be finite, got nan at position 1"),
        (lambda: fn.SumExp(A, b, weights=[1]), "weights has to be a vector of 6 numbers"),
        (lambda: fn.SumExp(None), "A has to be a matrix"),
        (lambda: fn.PiecewiseMaximum(A, np.eye(6)), r"b has to be a vector of 6 numbers, got shape \(6, 6\)"),
        (lambda: fn.PiecewiseMaximum(None), "A has to be a matrix"),
        (lambda: fn.L1Norm(2.0), r"weights has to be a vector of numbers, got shape \(\)"),
        (lambda: fn.Quadratic(np.ones((2, 3))), "Q has to be square"),
        (lambda: fn.Quadratic([[1, 1], [0, 1]]), "Q has to be symmetric, .*pass \\(Q \\+ Q'\\)/2"),
        (lambda: fn.Quadratic(sp.csr_array([[1.0, 1.0], [0.0, 1.0]])), "Q has to be symmetric"),
        (lambda: fn.Quadratic(np.eye(2), q=[1, 2, 3]), "q has to be a vector of 2 numbers"),
    ],
)
def test_bad_shapes_and_entries_are_refused(make, says):
    with pytest.raises(DataError, match=says):
        make()


@pytest.mark.parametrize(
    "make",
    [
        lambda: fn.Quadratic(INDEFINITE),
        lambda: fn.Quadratic(sp.csr_array(INDEFINITE)),
        lambda: fn.Quadratic(np.diag([1, -1e-3])),
        lambda: fn.SumExp(A, weights=[1, 1, -1, 1, 1, 1]),
        lambda: fn.L1Norm([1, -1]),
    ],
)
def test_what_is_not_convex_is_refused(make):
    with pytest.raises(ConvexityError, match="other side of g − h"):
        make()


@pytest.mark.parametrize("kind", [sp.csr_array, lambda Q: Q.toarray()], ids=["sparse", "dense"])
def test_convexity_is_decided_beyond_the_sizes_where_eigenvalues_are_cheap(kind):
    n = 1200
    chain = sp.diags_array([-np.ones(n - 1), 2 * np.ones(n), -np.ones(n - 1)], offsets=[-1, 0, 1])  # λ ∈ (0, 4)
    loop = sp.coo_array(chain + sp.coo_array(([-1.0, -1.0], ([0, n - 1], [n - 1, 0])), shape=(n, n)))  # least eigenvalue 0
    swap = sp.block_array([[None, sp.eye_array(n // 2)], [sp.eye_array(n // 2), None]])  # no pivot on the diagonal
    for Q in (chain, loop):
        assert fn.Quadratic(kind(Q)).strong_convexity == 0
    for Q in (chain - 1e-4 * sp.eye_array(n), loop - 1e-6 * sp.eye_array(n), swap):
        with pytest.raises(ConvexityError, match="positive semidefinite"):
            fn.Quadratic(kind(Q))


def test_rounding_errors_of_a_gram_matrix_are_forgiven():
    X = np.random.default_rng(0).normal(size=(5, 60)) * 1e3
    Q = X.T @ X  # rank 5: 55 eigenvalues are 0 up to rounding, of both signs
    Q[0, 1] *= 1 + 1e-13
    assert np.linalg.eigvalsh(Q)[0] < 0
    f = fn.Quadratic(Q)
    assert f.strong_convexity == 0
    assert (f.Q == f.Q.T).all()


def test_remainder_wants_a_separable_penalty():
    with pytest.raises(ModelError, match=r"separable penalty, got L1MinusL2\(\)"):
        fn.Remainder(fn.L1MinusL2())


@pytest.mark.parametrize(
    "f", [fn.Quadratic(np.eye(2)), fn.LogSumExp(A[:, :2]), fn.PiecewiseMaximum(A[:, :2]), fn.L1Norm([1, 2])]
)
def test_binding_to_the_wrong_number_of_variables_is_refused(f):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(3), initialize=1)
    with pytest.raises(ModelError, match="takes 2 variables, got 3"):
        f(m.x)
    assert pyo.value(f(m.x[0], m.x[1])) == f.value(np.ones(2))


def test_a_table_in_lists_is_the_matrix_that_it_looks_like():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(4), initialize={0: 1.0, 1: -2.0, 2: 0.5, 3: 3.0})
    at = np.array([1.0, -2.0, 0.5, 3.0])
    for given in (A, A.tolist(), tuple(map(tuple, A)), sp.csr_array(A)):
        assert pyo.value(fn.Norm2()(given, m.x, b)) == pytest.approx(np.linalg.norm(A @ at + b))


@pytest.mark.parametrize(
    "given",
    [
        lambda x: (A[0], x, 1.0),  # one linear form, as NumPy gives a row
        lambda x: (A[0].tolist(), x),
        lambda x: (x, np.ones(4)),
        lambda x: (x, [1, 2, 3, 4]),
        lambda x: ([[1, 2], [3]], x),
        lambda x: (A.astype(object), x),
    ],
)
def test_numbers_alone_are_no_components(given):
    """They were taken as so many constants: Huber()(a, x, b) was Σ ℓ(aⱼ) + Σ ℓ(xⱼ) + ℓ(b) in place of ℓ(a'x + b)."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(4), initialize=1.0)
    with pytest.raises(ModelError, match=r"f\(A, x, b\) takes a matrix"):
        fn.Huber()(*given(m.x))


def test_constants_beside_variables_are_components():
    m = pyo.ConcreteModel()
    m.x = pyo.Var([0, 1], initialize=2.0)
    for given in ((m.x, 1), (1, m.x), ([m.x[0], m.x[1], 1.0],), (np.array([m.x[0], 1.0, m.x[1]], dtype=object),)):
        assert pyo.value(fn.Norm2()(*given)) == pytest.approx(3.0)
