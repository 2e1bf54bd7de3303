"""All constraints evaluated at once are what each of them says by itself."""

import numpy as np
import pyomo.environ as pyo
from hypothesis import given
from hypothesis import strategies as st

from dcprog import DCProgram
from dcprog.convex.curved import Norms, Quadratics
from dcprog.functions import LogSumExp, Norm2


def problem(seed):
    """Norms, quadratic rows and others over the same variables, in an order of no meaning."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 6))
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(n), bounds=(-5, 5), initialize=0.3)
    m.rows = pyo.ConstraintList()
    for kind in rng.permutation([0, 0, 0, 1, 1, 2]).tolist():
        line = sum(float(a) * v for a, v in zip(rng.normal(size=n), m.x.values(), strict=True))
        if kind == 0:
            A = rng.normal(size=(int(rng.integers(1, 4)), n)) * 10.0 ** rng.integers(-3, 4)
            m.rows.add(Norm2()(A, m.x, A @ rng.normal(size=n)) + line <= 50)
        elif kind == 1:
            B = rng.normal(size=(n, n))
            Q = B @ B.T
            m.rows.add(sum(float(Q[i, j]) * m.x[i] * m.x[j] for i in m.x for j in m.x) + line <= 90)
        else:
            m.rows.add(LogSumExp()(m.x) + line <= 70)
    return DCProgram(m, 0, 0).compiled.subproblem, rng


@given(seed=st.integers(0, 10_000))
def test_values_gradients_and_sizes(seed):
    p, rng = problem(seed)
    assert {type(b) for b in p.curved.blocks} >= {Norms, Quadratics}
    for z in (rng.normal(size=p.n), np.zeros(p.n)):
        np.testing.assert_allclose(p.curved.values(z), [c.value(z) for c in p.constraints], atol=1e-9)
        np.testing.assert_allclose(p.curved.sizes(z), [c.size(z) for c in p.constraints], rtol=1e-9)
    z = rng.normal(size=p.n)
    np.testing.assert_allclose(p.curved.gradients(z).toarray(), [c.gradient(z) for c in p.constraints], rtol=1e-9, atol=1e-9)
    units = rng.uniform(0.1, 10, p.n)
    reach = [(c.gradient_size(z) * units).max() for c in p.constraints]
    np.testing.assert_allclose(p.curved.reach(z, units), reach, rtol=1e-9)


@given(seed=st.integers(0, 10_000))
def test_duals_minorants_and_their_pull(seed):
    p, rng = problem(seed)
    z, mu = rng.normal(size=p.n), -rng.exponential(size=len(p.constraints)) * rng.integers(0, 2, len(p.constraints))
    given_ = tuple(None if k is None or rng.uniform() < 0.3 else 2 * rng.normal(size=len(k.b)) for k in p.cones)
    alone = [None if k is None else k.dual(z, v) for k, v in zip(p.cones, given_, strict=True)]
    duals = p.curved.duals(z, given_)
    for one, other in zip(duals, alone, strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            np.testing.assert_allclose(one, other, rtol=1e-9)
            assert np.linalg.norm(one) <= 1 + 1e-12
    known = list(zip(p.constraints, p.cones, duals, strict=True))
    minorants = [row.value(z) if k is None else k.minorant(z, v) for row, k, v in known]
    np.testing.assert_allclose(p.curved.minorants(z, duals), minorants, rtol=1e-9, atol=1e-9)
    assert (p.curved.minorants(z, duals) <= p.curved.values(z) + 1e-9).all()
    pull = sum(w * (row.gradient(z) if k is None else k.slope(z, v)) for w, (row, k, v) in zip(mu, known, strict=True))
    sizes = [row.gradient_size(z) if k is None else k.slope_size(z, v) for row, k, v in known]
    np.testing.assert_allclose(p.curved.pull(z, mu, duals)[0], pull, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(p.curved.pull(z, mu, duals)[1], np.abs(mu) @ np.array(sizes), rtol=1e-9, atol=1e-9)


def test_a_problem_that_moves_keeps_what_was_computed_of_what_stays():
    p, _ = problem(0)
    known = p.curved, p.cones, p.problem_class
    other = p.moved(lower=p.lower - 1)
    assert (other.curved, other.cones, other.problem_class) == known
    fewer = p.moved(constraints=p.constraints[:2])
    assert fewer.curved.count == 2
