"""DCA with DC constraints: what its theorems say, known optima, and what it says where there is no answer."""

import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_dc_constraints import distances, plane

import dcprog
from dcprog import DCA, DCConstraint, DCProgram, testing
from dcprog.algorithms import Penalty
from dcprog.errors import DataError
from dcprog.functions import Norm2
from dcprog.functions.each import Each
from dcprog.functions.losses import SquaredNorm


def packing(n, seed, factor=1.0, unit=1.0):
    """n unit circles in the smallest square: min half side; and a random start."""
    rng = np.random.default_rng(seed)
    pairs = [(i, j) for i in range(n) for j in range(i)]
    m = pyo.ConcreteModel()
    m.c = pyo.Var(range(n), [0, 1])
    m.side = pyo.Var(bounds=(0, None))
    m.apart = DCConstraint(p=2.0 * unit, q=Each(Norm2(), 2)(distances(n, pairs), m.c))
    m.inside = pyo.Constraint(range(n), [0, 1], [-1, 1], rule=lambda m, i, k, s: s * m.c[i, k] + unit <= m.side)
    start = {"c": unit * rng.uniform(-3, 3, (n, 2)), "side": 5.0 * unit}
    return DCProgram(m, factor * m.side, 0), start


def random_program(seed):
    """A quadratic over discs that may not be entered, some of which contain the start."""
    rng = np.random.default_rng(seed)
    m = plane(rng.uniform(-2, 2, 2))
    a = rng.normal(size=2)
    centres = rng.uniform(-2, 2, size=(3, 2))
    m.discs = DCConstraint(
        range(3), rule=lambda m, i: (rng.uniform(0.1, 0.8), sum((m.x[k] - centres[i, k]) ** 2 for k in (0, 1)))
    )
    return DCProgram(m, sum((m.x[k] - a[k]) ** 2 for k in (0, 1)), 0.3 * m.x[0] ** 2)


@given(seed=st.integers(0, 10_000))
def test_feasible_once_is_feasible_for_ever_and_f_falls(seed):
    algorithm = Penalty(random_program(seed))
    before = None
    for state in algorithm:
        feasible = algorithm.is_feasible(state.x)
        if before is not None and before[1]:
            assert feasible
            assert state.f <= before[0].f + 1e-9 * (1 + abs(before[0].f))
        before = state, feasible
    assert str(algorithm.status) == "converged", algorithm.messages


@given(seed=st.integers(0, 10_000))
def test_the_merit_function_falls_in_each_step(seed):
    """f + Σ τ max(p − q, 0) with the weights of that step."""
    algorithm = Penalty(random_program(seed))
    before = used = None
    for state in algorithm:
        if before is not None:
            weights, algorithm.weights = algorithm.weights, used
            assert algorithm.merit(state.x) <= algorithm.merit(before) + 1e-7 * (1 + abs(state.f))
            algorithm.weights = weights
        before, used = state.x, algorithm.weights.copy()


@given(seed=st.integers(0, 10_000))
def test_multipliers_satisfy_kkt(seed):
    program = random_program(seed)
    result = dcprog.solve(program)
    assert (result.status, result.stationarity) == ("converged", "kkt")
    rows, x, c = program.compiled.dc, result.x, program.compiled
    multipliers = result.multipliers["discs"]
    assert (multipliers >= -1e-9).all()
    slack = rows.q.values(x) - rows.p.values(x)
    assert (slack >= -1e-7).all()
    assert abs(multipliers @ slack) <= 1e-5
    residual = c.g.gradient(x) - c.h.gradient(x) + rows.p.pulled(x, multipliers) - rows.q.pulled(x, multipliers)
    inside = (x > c.lower + 1e-6) & (x < c.upper - 1e-6)
    assert np.abs(residual[inside]).max(initial=0.0) <= 2e-3 * (1 + multipliers.max())
    assert testing.criticality(program, x) <= 1e-6
    assert result.rebuilds == 0


def test_where_q_is_zero_it_is_dca():
    def model():
        m = plane((0.2, 0.1))
        return m, m.x[0] ** 2 + m.x[1] ** 2 - m.x[0], (m.x[0] - 2) ** 2 + m.x[1] ** 2

    m, disc, h = model()
    m.disc = DCConstraint(p=disc, q=2.0)
    n, disc_n, h_n = model()
    n.disc = pyo.Constraint(expr=disc_n <= 2.0)
    one = Penalty(DCProgram(m, m.x[0] ** 2, h), solver="ipopt")
    other = DCA(DCProgram(n, n.x[0] ** 2, h_n), solver="ipopt")
    assert testing.assert_lockstep(one, other, tol=1e-6, objective_only=True) > 3


@pytest.mark.parametrize(("n", "known"), [(2, 1 + np.sqrt(2) / 2), (3, 1 + (np.sqrt(2) + np.sqrt(6)) / 4)])
def test_circles_in_a_square(n, known):
    """The known optima of two and three unit circles, from the best of 20 starts."""
    program, _ = packing(n, 0)
    found = [dcprog.solve(program, x0=packing(n, seed)[1]) for seed in range(20)]
    assert {str(r.status) for r in found} <= {"converged", "infeasible_stationary"}
    assert min(r.objective for r in found if r.violation <= 1e-9) == pytest.approx(known, abs=1e-7)
    assert {r.rebuilds for r in found} == {0}


def test_ten_circles_from_several_starts_at_once():
    program, start = packing(10, 3)
    result = dcprog.solve(program, x0=start, starts=4, seed=1, n_jobs=1)
    assert result.success
    assert result.violation <= 1e-9
    assert len(result.runs) == 4


@pytest.mark.parametrize(("factor", "unit"), [(1e-10, 1.0), (1e10, 1.0), (1.0, 1e-6), (1.0, 1e6)])
def test_units_and_factors_change_nothing(factor, unit):
    plain, scaled = packing(4, 5), packing(4, 5, factor, unit)
    one, other = (dcprog.solve(program, x0=start) for program, start in (plain, scaled))
    assert one.status == other.status == "converged"
    assert other.objective / (factor * unit) == pytest.approx(one.objective, rel=1e-5)
    assert other.violation <= 1e-6 * unit


def test_an_equation_is_followed_along_its_curve():
    """min y on the circle, from (1, 0): both halves linearised leave that point alone."""
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(initialize=1), pyo.Var(initialize=0)
    m.circle = pyo.Constraint(expr=m.x**2 + m.y**2 == 1)
    result = dcprog.solve(DCProgram(m, m.y, 0))
    assert result.status == "converged"
    assert result["y"] == pytest.approx(-1, abs=1e-6)
    assert result.violation <= 1e-7
    assert result.multipliers["circle"] == pytest.approx([0.5], abs=1e-4)  # ∇y + λ·2y = 0


def test_a_stationary_point_of_the_violation_is_called_so():
    m = plane((0.0, 0.0))
    m.ring = DCConstraint(p=1, q=m.x[0] ** 2 + m.x[1] ** 2)
    result = dcprog.solve(DCProgram(m, (m.x[0] - 0.5) ** 2, 0), x0=[0.0, 0.0])
    assert result.status in ("converged", "infeasible_stationary")
    m = plane((0.0, 0.0))
    m.ring = DCConstraint(p=1, q=m.x[0] ** 2 + m.x[1] ** 2)
    result = dcprog.solve(DCProgram(m, m.x[0] ** 2 + m.x[1] ** 2, 0), x0=[0.0, 0.0])
    assert result.status == "infeasible_stationary"
    assert result.violation == pytest.approx(1.0)
    assert not result.success
    assert "starts" in result.messages[-1]


def test_where_no_point_is_feasible_the_least_violation_is_kept():
    m = plane((1.0, 0.0))
    m.far = DCConstraint(p=100, q=m.x[0] ** 2 + m.x[1] ** 2)  # the corners of the box are at 18
    result = dcprog.solve(DCProgram(m, m.x[0], 0))
    assert result.status == "infeasible_stationary"
    assert 82 - 1e-6 <= result.violation <= 91 + 1e-6


def test_complementarity_has_no_multipliers():
    """x ≥ 0, y ≥ 0, x'y = 0: a point of least distance to (1, 2), or an honest word."""
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(bounds=(0, 5), initialize=1), pyo.Var(bounds=(0, 5), initialize=1)
    m.either = DCConstraint(p=(m.x + m.y) ** 2, q=m.x**2 + m.y**2)  # 2xy ≤ 0
    result = dcprog.solve(DCProgram(m, (m.x - 1) ** 2 + (m.y - 2) ** 2, 0), max_iter=200)
    assert result.status in ("converged", "stalled", "iteration_limit")
    assert result.violation <= 1e-4
    if result.success:
        assert min(result["x"], result["y"]) <= 1e-3


@pytest.mark.parametrize("rule", ["geometric", "dca2"])
def test_both_rules_of_the_weight_end_feasible(rule):
    program, start = packing(5, 1)
    result = dcprog.solve(program, x0=start, algorithm=Penalty(rule=rule))
    assert result.success
    assert result.violation <= 1e-9


@given(seed=st.integers(0, 10_000))
def test_ccp_is_that_of_lipp_and_boyd(seed):
    """argmin f̂ + τΣsᵢ with τ ← µτ, by another solver, from the same first weights."""
    program = random_program(seed)
    rows, c = program.compiled.dc, program.compiled
    algorithm = Penalty(program, rule="ccp", growth=2.0)
    weights = x = None
    for state in algorithm:
        if state.iteration > 4:
            break
        if x is not None:
            u, q, slopes = c.h.gradient(x), rows.q.values(x), [rows.q.pulled(x, e) for e in np.eye(3)]
            tau, at, p = weights, x, rows.p.values(x)

            def penalised(y, u=u, q=q, slopes=slopes, tau=tau, at=at, p=p):
                return c.g.value(y) - u @ y + tau @ np.maximum(p - q - slopes @ (y - at), 0.0)

            assert penalised(state.x) <= min(
                penalised(np.clip(state.x + 1e-3 * np.array([np.cos(t), np.sin(t)]), -3, 3)) for t in np.arange(0, 6.3, 0.3)
            ) + 1e-9 * (1 + abs(penalised(state.x)))
            weights = 2.0 * weights
        else:
            weights = algorithm.first_weights.copy()
        x = state.x
        np.testing.assert_allclose(algorithm.weights, weights)


@pytest.mark.parametrize("start", range(3))
def test_boosted_steps_end_where_others_do(start):
    program, x0 = packing(4, start)
    plain, boosted = (dcprog.solve(program, x0=x0, algorithm=Penalty(boosted=b)) for b in (False, True))
    assert plain.success
    assert boosted.success
    assert boosted.violation <= 1e-9


@pytest.mark.parametrize("factor", [1e-8, 1.0, 1e8])
def test_rows_in_other_units_are_the_same_rows(factor):
    """Least squares outside of a ball, which a secular equation solves; extrapolation makes it a few dozen subproblems."""
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(60, 8)), rng.normal(size=60)
    values, V = np.linalg.eigh(X.T @ X)
    b, low, high = V.T @ X.T @ y, 0.0, values[0]
    for _ in range(200):
        mu = (low + high) / 2
        low, high = (mu, high) if np.linalg.norm(b / (values - mu)) < 4 else (low, mu)
    known = np.sum((X @ V @ (b / (values - low)) - y) ** 2)
    m = pyo.ConcreteModel()
    m.w = pyo.Var(range(8))
    m.large = DCConstraint(p=4.0 * factor, q=Norm2()(factor * np.eye(8), m.w))
    result = dcprog.solve(DCProgram(m, SquaredNorm()(X, m.w, -y), 0), x0=V @ (b / (values - low)) + 1.0)
    assert (result.status, result.stationarity) == ("converged", "kkt")
    assert result.objective == pytest.approx(known, rel=1e-6)
    assert result.violation <= 1e-6 * factor
    assert result.iterations <= 60
    assert result.rebuilds == 0


def test_an_entry_beside_its_bound_hides_no_kkt_point():
    """max x'Sx on the sphere with x ≥ 0: interior points leave 1e-9 in place of 0, and equations have no interior."""
    rng = np.random.default_rng(7)
    B = rng.normal(size=(12, 24))
    S = B @ B.T / 24 + 0.5
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(12), bounds=(0, None))
    m.sphere = DCConstraint(p=SquaredNorm()(m.x), q=1, equation=True)
    for seed in range(3):
        start = np.abs(np.random.default_rng(seed).normal(size=12))
        program = DCProgram(m, 0, SquaredNorm()(np.linalg.cholesky(S).T, m.x))
        result = dcprog.solve(program, x0={"x": start / np.linalg.norm(start)})
        assert (result.status, result.stationarity) == ("converged", "kkt")
        x = result["x"]
        assert abs(x @ x - 1) <= 1e-9
        residual = S @ x - (x @ S @ x) * x  # 0 where x > 0, ≤ 0 where x = 0
        assert np.abs(residual[x > 0]).max() <= 1e-4
        assert residual[x == 0].max(initial=0.0) <= 1e-4
        assert result.rebuilds == 0


def test_variables_without_a_value_do_not_start_where_q_is_flat():
    m = pyo.ConcreteModel()
    m.x = pyo.Var([0, 1], bounds=(-3, 3))
    m.ring = DCConstraint(p=1, q=m.x[0] ** 2 + m.x[1] ** 2)
    assert dcprog.solve(DCProgram(m, m.x[0] ** 2 + m.x[1] ** 2, 0)).success


def test_limits_keep_the_best_point():
    program, start = packing(10, 2)
    result = dcprog.solve(program, x0=start, max_iter=2)
    assert result.status == "iteration_limit"
    assert np.isfinite(result.violation)
    assert dcprog.solve(program, x0=start, time_limit=1e-3).status in ("time_limit", "converged")


@pytest.mark.parametrize("settings", [{"growth": 1.0}, {"weight": 0.0}, {"rule": "other"}])
def test_parameters_are_checked(settings):
    with pytest.raises(DataError):
        Penalty(**settings)


def dispersion(n):
    """n points of the unit square, as far apart as can be: max t with ‖cᵢ − cⱼ‖² ≥ t."""
    m = pyo.ConcreteModel()
    m.c, m.t = pyo.Var(range(n), [0, 1], bounds=(0, 1)), pyo.Var(bounds=(0, 2))
    pairs = [(i, j) for i in range(n) for j in range(i)]
    m.apart = DCConstraint(pairs, rule=lambda m, i, j: (m.t, sum((m.c[i, k] - m.c[j, k]) ** 2 for k in (0, 1))))
    return DCProgram(m, -m.t, 0)


def test_points_that_coincide_are_parted_again():
    """cᵢ = cⱼ and t = 0 is a KKT point, whatever the others are; the best of four starts is the known optimum."""
    program = dispersion(9)
    found = []
    for seed in range(4):
        start = {"c": np.random.default_rng(seed).uniform(size=(9, 2)), "t": 0.1}
        found.append(dcprog.solve(program, x0=start))
        assert (found[-1].status, found[-1].stationarity) == ("converged", "kkt")
        c = found[-1]["c"].reshape(9, 2)
        nearest = min(np.sum((c[i] - c[j]) ** 2) for i in range(9) for j in range(i))
        assert -found[-1].objective <= nearest + 1e-6
    assert min(r.objective for r in found) == pytest.approx(-0.25, abs=1e-6)


def test_who_has_left_the_feasible_points_goes_back():
    """Six points on the circle: small weights lead from t = 0, which is feasible, to points that coincide at t = 1, where no
    direction reduces the violation. What is returned is feasible, so it is not called infeasible."""
    rng = np.random.default_rng(1)
    m = pyo.ConcreteModel()
    m.c, m.t = pyo.Var(range(6), [0, 1], bounds=(-1, 1)), pyo.Var(bounds=(0, 2), initialize=0.1)
    for v in m.c.values():
        v.set_value(rng.uniform(-1, 1))
    m.o = pyo.Objective(expr=-m.t)
    m.on = pyo.Constraint(range(6), rule=lambda m, i: m.c[i, 0] ** 2 + m.c[i, 1] ** 2 == 1)
    pairs = [(i, j) for i in range(6) for j in range(i)]
    m.apart = pyo.Constraint(pairs, rule=lambda m, i, j: sum((m.c[i, k] - m.c[j, k]) ** 2 for k in (0, 1)) >= m.t)
    result = dcprog.solve(m)
    assert result.violation <= 1e-6
    assert result.status != "infeasible_stationary"
    assert result.objective >= -1 - 1e-6


def test_squares_of_kinks_are_part_of_the_slope():
    """HS 15 from (−2, 1), whose Rosenbrock function is split with max(y, 0)²: 306.5 at (½, 2) is a KKT point."""
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(initialize=-2, bounds=(None, 0.5)), pyo.Var(initialize=1)
    m.o = pyo.Objective(expr=100 * (m.y - m.x**2) ** 2 + (1 - m.x) ** 2)
    m.one, m.other = pyo.Constraint(expr=m.x * m.y >= 1), pyo.Constraint(expr=m.x + m.y**2 >= 0)
    result = dcprog.solve(m, algorithm="penalty")
    assert (result.status, result.stationarity) == ("converged", "kkt")
    assert result.objective == pytest.approx(306.5, rel=1e-6)


def test_a_feasible_point_is_all_that_is_wanted():
    """‖Aₖx‖ = yₖ with f = 0: the run ends at the first feasible point, before solvers are asked for digits of nothing."""
    rng = np.random.default_rng(2)
    M, x = rng.normal(size=(36, 8)), rng.uniform(size=8)
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(8))
    sizes = np.linalg.norm((M @ x).reshape(-1, 2), axis=1)
    m.sizes = DCConstraint(p=Each(Norm2(), 2)(M, m.x), q=sizes, equation=True)
    program = DCProgram(m, 0, 0)
    for seed in range(3):
        result = dcprog.solve(program, x0=x + 0.3 * np.random.default_rng(seed).normal(size=8))
        assert (result.status, result.stationarity) == ("converged", "kkt")
        assert np.abs(np.linalg.norm((M @ result.x).reshape(-1, 2), axis=1) - sizes).max() <= 1e-6
    assert dcprog.solve(program, x0=x).iterations == 0
