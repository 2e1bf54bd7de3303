"""The solver `l1-newton`: certified answers to the subproblems of ℓ1 models, and others refused in words."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from l1_programs import random_points, seeds, subproblem

import dcprog
from dcprog.convex.answer import Claim
from dcprog.convex.certificate import verify
from dcprog.convex.problem import ConvexProblem
from dcprog.datasets import generators
from dcprog.errors import CapabilityError
from dcprog.models import fsv, l1_svm, l2_l1_svm, rlp
from dcprog.solvers.reductions.l1_newton import L1Newton


@pytest.mark.parametrize("form", ["split", "paper"])
@pytest.mark.parametrize("model", [partial(fsv, lam=0.1), partial(l1_svm, lam=0.2)], ids=["fsv", "l1_svm"])
def test_models_have_the_objectives_of_highs(model, form):
    X, y = generators.weston_linear(40, d=15, seed=3)
    program = model(X / X.std(axis=0), y, form=form)
    ours, other = dcprog.solve(program, solver="l1-newton"), dcprog.solve(program, solver="highs")
    assert {state.solver for state in ours.history if state.solver} == {"l1-newton"}
    assert ours.objective == pytest.approx(other.objective, abs=1e-6)


@given(seeds, st.sampled_from(["split", "paper"]))
def test_answers_are_certified(seed, form):
    """By the residuals that the engine recomputes from the arrays, at two costs in a row."""
    problem, rng = subproblem(form, seed), np.random.default_rng(seed)
    session = L1Newton().open(problem, {})
    free = np.isinf(problem.lower)
    for _ in range(2):
        c = np.where(free, 0.0, rng.exponential(1.0, problem.n))
        answer = session.solve(c, None, None)
        assert answer.claim is Claim.OPTIMAL
        assert verify(problem, c, answer).holds()


def test_rows_stated_the_other_way_round_are_the_same_problem():
    problem = subproblem("paper")
    turned = replace(problem, A=-problem.A, row_lower=-problem.row_upper, row_upper=-problem.row_lower)
    c = np.where(np.isinf(problem.lower), 0.0, 1.0)
    first, second = (L1Newton().open(p, {}).solve(c, None, None) for p in (problem, turned))
    assert second.z == pytest.approx(first.z, abs=1e-9)
    assert second.row_duals == pytest.approx(-first.row_duals, abs=1e-9)


def test_a_small_change_of_the_costs_is_solved_from_where_the_last_solution_was():
    X, y = generators.weston_linear(100, d=20, seed=0)
    problem = fsv(X / X.std(axis=0), y).compiled.subproblem
    session = L1Newton().open(problem, {})
    c = np.where(np.isinf(problem.lower), 0.0, 1.0)
    cold = session.solve(c, None, None)
    warm = session.solve(c * (1 + 1e-6), None, None)
    assert warm.iterations < cold.iterations / 2


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"upper": 1.0}, "free or ≥ 0"),
        ({"row_upper": 5.0}, "equations or rows with two"),
        ({"Q": sp.eye_array(38, format="csc")}, "QP"),
    ],
)
def test_what_is_no_l1_program_is_refused_in_words(change, words):
    problem = subproblem()
    arrays = {key: value if key == "Q" else np.full_like(getattr(problem, key), value) for key, value in change.items()}
    assert words in L1Newton().missing(replace(problem, **arrays))
    assert L1Newton().missing(problem) is None


def test_programs_without_weights_and_quadratic_ones_are_refused_by_name():
    X, y = random_points(0, 12, 3)
    with pytest.raises(CapabilityError, match=r"l1-newton.*QP.*these can: .*piqp"):
        dcprog.solve(l2_l1_svm(X, y), solver="l1-newton")
    with pytest.raises(CapabilityError, match=r"w = p − q.*these can: .*highs"):
        dcprog.solve(rlp(X, y), solver="l1-newton")


def test_problems_without_a_solution_are_called_by_their_name():
    problem = subproblem()
    c = np.where(np.isinf(problem.lower), 0.0, 1.0)
    session = L1Newton().open(problem, {})
    assert session.solve(-c, None, None).claim is Claim.UNBOUNDED
    assert session.solve(c, None, 0.0).claim is Claim.TIME_LIMIT
    X = np.array([[0.0], [1.0], [2.0]])
    B = np.array([1.0, -1.0, 1.0])[:, None] * X
    hard = ConvexProblem(
        c=np.array([1.0, 1.0, 0.0]),
        A=sp.csc_array(np.hstack([B, -B, [[1.0], [-1.0], [1.0]]])),
        row_lower=np.ones(3),
        row_upper=np.full(3, np.inf),
        lower=np.array([0.0, 0.0, -np.inf]),
        upper=np.full(3, np.inf),
    )
    assert L1Newton().open(hard, {}).solve(hard.c, None, None).claim is Claim.INFEASIBLE
