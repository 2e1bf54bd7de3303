"""One suite over every solver name that is installed: objective, feasibility, stationarity, complementarity.

The optimality conditions are evaluated here anew, without the package's own certificate, which has tests of its own below.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import MAKERS

import dcprog
from dcprog.convex.answer import Claim
from dcprog.convex.certificate import verify
from dcprog.models import fsv, l1_svm, l2_l0_svm, l2_l1_svm, rlp, svm
from dcprog.solvers import registry
from dcprog.solvers.adapters.highs import Highs, HighsSession
from dcprog.solvers.dispatch import Dispatcher

PYOMO = {"pyomo:highs": ("LP", "QP"), "pyomo:appsi_highs": ("LP",)}
"""What Pyomo's own interfaces to HiGHS take; they do not say so themselves."""
NAMES = [s.name for s in dcprog.available_solvers() if s.available] + list(PYOMO)


def samples(seed, n=30, d=6):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = np.sign(X[:, 0] - X[:, 1] + 0.7 * rng.standard_normal(n))
    y[:2] = 1, -1
    return X, y


PROBLEMS = {
    "fsv": lambda seed: fsv(*samples(seed), lam=0.1),
    "fsv, paper form": lambda seed: fsv(*samples(seed), lam=0.1, form="paper"),
    "fsv, wide": lambda seed: fsv(*samples(seed, 12, 40), lam=0.1),
    "l1 svm": lambda seed: l1_svm(*samples(seed), lam=0.05),
    "rlp": lambda seed: rlp(*samples(seed)),
    "svm": lambda seed: svm(*samples(seed), lam=0.1),
    "l2-l1": lambda seed: l2_l1_svm(*samples(seed), mu=20.0, nu=0.1),
    "l2-l0": lambda seed: l2_l0_svm(*samples(seed), mu=20.0, nu=0.1),
    "l2-l0, wide": lambda seed: l2_l0_svm(*samples(seed, 12, 40), mu=20.0, nu=0.1),
    **MAKERS,
}


def subproblem_of(name, seed):
    compiled = PROBLEMS[name](seed).compiled
    x = np.clip(np.where(np.isnan(compiled.values), 0, compiled.values), compiled.lower, compiled.upper)
    return compiled.subproblem, compiled.cost(compiled.h.gradient(x)), compiled.lift(x)


def conditions(problem, c, z, y, mu):
    """Largest violations of primal feasibility, stationarity with signs, and complementarity."""
    activity = problem.A @ z
    reduced = problem.gradient(z, c) - problem.A.T @ y
    psi = np.array([f.value(z) for f in problem.constraints])
    for multiplier, f in zip(mu, problem.constraints, strict=True):
        reduced = reduced - multiplier * f.gradient(z)
    infeasible = max(
        np.max(problem.lower - z, initial=0),
        np.max(z - problem.upper, initial=0),
        np.max(problem.row_lower - activity, initial=0),
        np.max(activity - problem.row_upper, initial=0),
        np.max(psi, initial=0),
    )
    signs, products = 0.0, 0.0
    for multiplier, low, high in (
        (reduced, z - problem.lower, problem.upper - z),
        (y, activity - problem.row_lower, problem.row_upper - activity),
    ):
        slack = np.where(multiplier > 0, low, high)
        signs = max(signs, np.abs(multiplier[np.isinf(slack)]).max(initial=0))
        products = max(products, np.abs(multiplier * np.where(np.isinf(slack), 0, slack)).max(initial=0))
    return infeasible, signs, products


def declared_pairs():
    """Every installed solver with every problem that it declares it can solve."""
    for problem_name in PROBLEMS:
        problem = subproblem_of(problem_name, seed=1)[0]
        for name in NAMES:
            if registry.get(name).missing(problem) is None and str(problem.problem_class) in PYOMO.get(
                name, ("LP", "QP", "NLP")
            ):
                yield name, problem_name


@pytest.mark.parametrize(("solver_name", "problem_name"), list(declared_pairs()))
def test_optimality_conditions(solver_name, problem_name):
    solver = registry.get(solver_name)
    problem, c, start = subproblem_of(problem_name, seed=1)
    reference = Dispatcher(problem).solve(c, start)
    answer = solver.open(problem, {}).solve(c, start, None)
    assert answer.claim is Claim.OPTIMAL, answer.message
    best = problem.value(reference.z, c)
    assert problem.value(answer.z, c) == pytest.approx(best, abs=1e-6 * (1 + abs(best)))
    if answer.row_duals is not None or problem.m == 0:
        y = np.zeros(0) if problem.m == 0 else answer.row_duals
        mu = answer.constraint_duals if problem.constraints else ()
        infeasible, signs, products = conditions(problem, c, answer.z, y, mu)
        assert infeasible <= 1e-6
        assert signs <= 1e-5 * (1 + np.abs(c).max())
        assert products <= 1e-5 * (1 + abs(best))


@pytest.mark.parametrize("problem_name", ["fsv", "fsv, wide", "l2-l0", "l2-l0, wide"])
@given(seed=st.integers(0, 1000))
def test_a_changed_cost_is_solved_as_if_it_were_the_first(problem_name, seed):
    """Warm starts, working sets and active sets change the way, not the value."""
    problem, c, start = subproblem_of(problem_name, seed)
    rng = np.random.default_rng(seed)
    costs = [c * np.where(c > 0, rng.uniform(0.2, 3.0, len(c)), 1.0) for _ in range(3)]
    for solver in registry.capable(problem):
        if solver.name in ("columns", "highs-dual", "active-set", "highs"):
            session = solver.open(problem, {})
            for cost in costs:
                warm = session.solve(cost, start, None)
                assert warm.claim is Claim.OPTIMAL
                best = problem.value(Dispatcher(problem, "piqp").solve(cost).z, cost)
                assert problem.value(warm.z, cost) == pytest.approx(best, abs=1e-7 * (1 + abs(best)))
                assert verify(problem, cost, warm).holds()


@pytest.mark.parametrize("problem_name", ["fsv", "fsv, wide", "fsv, paper form"])
@pytest.mark.parametrize("solver_name", ["highs", "columns", "highs-dual"])
@given(seed=st.integers(0, 1000))
def test_a_session_that_is_rewound_is_where_it_was(problem_name, solver_name, seed):
    """No pivot is needed at a bookmark, whatever was solved, and whichever columns were added, in between."""
    problem, c, start = subproblem_of(problem_name, seed)
    solver = registry.get(solver_name)
    if solver.missing(problem):
        return
    session = solver.open(problem, {})
    first = session.solve(c, start, None)
    session.bookmark()
    rng = np.random.default_rng(seed)
    session.solve(c * np.where(c > 0, rng.uniform(0.01, 5.0, len(c)), 1.0), start, None)
    session.rewind()
    again = session.solve(c, start, None)
    assert again.iterations == 0
    assert problem.value(again.z, c) == pytest.approx(problem.value(first.z, c), abs=1e-9)


@pytest.mark.parametrize("solver_name", ["highs", "columns", "highs-dual", "clarabel", "piqp", "ipopt"])
def test_dca_reaches_the_same_objective_with_every_solver(solver_name):
    program = fsv(*samples(3), lam=0.2)
    if not registry.get(solver_name).available():
        pytest.skip(f"{solver_name} is not installed")
    assert dcprog.solve(program, solver=solver_name).objective == pytest.approx(dcprog.solve(program).objective, abs=1e-6)


@given(seed=st.integers(0, 1000), kind=st.sampled_from(["z", "y"]))
def test_the_certificate_rejects_what_is_not_optimal(seed, kind):
    problem, c, start = subproblem_of("l2-l1", seed)
    answer = registry.get("piqp").open(problem, {}).solve(c, start, None)
    assert verify(problem, c, answer).holds()
    rng = np.random.default_rng(seed)
    if kind == "z":
        wrong = replace(answer, z=answer.z + 1e-3 * rng.standard_normal(len(answer.z)))
    else:
        wrong = replace(answer, row_duals=answer.row_duals * 1.01 + 1e-3)
    assert not verify(problem, c, wrong).holds()


def test_the_certificate_finds_multipliers_where_a_solver_gives_none():
    problem, c, start = subproblem_of("svm", 5)
    answer = registry.get("piqp").open(problem, {}).solve(c, start, None)
    assert verify(problem, c, replace(answer, row_duals=None)).holds()
    feasible = replace(answer, z=start, row_duals=None)
    assert not verify(problem, c, feasible).holds()


class Liar(Highs):
    """HiGHS, but the point is moved after it was found."""

    name = "liar"

    def open(self, problem, options):
        class Session(HighsSession):
            def solve(self, c, start, time_limit):
                answer = super().solve(c, start, time_limit)
                return replace(answer, z=answer.z + 0.01)

        return Session(problem, options)


@pytest.fixture
def liar():
    registry.register(Liar())
    yield "liar"
    registry._registered.clear()


def test_a_claim_that_does_not_hold_escalates_and_the_result_says_so(liar):
    program = fsv(*samples(2), lam=0.1)
    result = dcprog.solve(program, solver=liar)
    assert result.success
    assert result.solver != liar
    assert result.objective == pytest.approx(dcprog.solve(program).objective)
    assert "liar: its claim does not hold (primal" in result.messages[0]
    assert all(m.startswith("iteration 1: liar") for m in result.messages)  # with more care, too, but in iteration 2 no more


def test_options_reach_the_solver():
    program = fsv(*samples(2, 60, 20), lam=0.1)
    assert dcprog.solve(program, solver="highs", solver_options={"simplex_strategy": 1}).success
    with pytest.raises(dcprog.errors.CapabilityError, match="HiGHS does not take the option nonsense"):
        dcprog.solve(program, solver="highs", solver_options={"nonsense": 1})


def test_scipy_refuses_what_would_take_it_minutes():
    rng = np.random.default_rng(0)
    program = l2_l0_svm(rng.standard_normal((30, 1500)), np.repeat([1, -1], 15))
    with pytest.raises(dcprog.errors.CapabilityError, match="up to 2000 variables and rows"):
        dcprog.solve(program, solver="scipy")
