"""What mutation testing found that no test looked at: parts that others cover up, each against a formula."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.sparse as sp

from dcprog import DCConstraint, DCProgram
from dcprog.convex.answer import Answer, Claim
from dcprog.convex.certificate import value_size, verify
from dcprog.convex.change import Change
from dcprog.convex.problem import ConvexProblem
from dcprog.convex.tape import UNARY, Operation, Tape, TapeBatch
from dcprog.convex.terms import LinearTerm, QuadraticTerm, SmoothSum
from dcprog.errors import ConvexityError
from dcprog.functions import Norm2
from dcprog.program.claims import Samples, _in_c
from dcprog.program.sampling import midpoint_violation
from dcprog.solvers.dispatch import Dispatcher
from dcprog.solvers.rays import recession_ray

NAMES = {"asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "asinh": np.arcsinh, "acosh": np.arccosh}
NAMES |= {"atanh": np.arctanh, "reciprocal": np.reciprocal, "abs": np.abs}


@pytest.mark.parametrize("name", sorted(UNARY))
def test_every_operation_in_numpy_and_in_pyomo(name):
    """The value of the tape, and the expression that it is written out as for plain Pyomo solvers."""
    x = 1.5 if name == "acosh" else 0.4
    expected = NAMES.get(name) or getattr(np, name)
    tape = TapeBatch([Tape((0,), (), (Operation(name, (0,)),), 2.0)])
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=x)
    assert tape.value(np.array([x])) == pytest.approx(2 * expected(x), rel=1e-14)
    assert pyo.value(tape.expand([m.x], pyo)) == pytest.approx(2 * expected(x), rel=1e-14)


@pytest.mark.parametrize(("signs", "down"), [((1, 1), False), ((1, -1), True), ((-1, 1), True), ((-1, -1), True)])
def test_one_kink_that_bends_down_is_enough(signs, down):
    """± |x| ± |y|: two kinks in one tape."""
    steps = [("abs", (0,)), ("product", (4, 2)), ("abs", (1,)), ("product", (6, 3)), ("sum", (5, 7))]
    operations = tuple(Operation(*step) for step in steps)
    tape = TapeBatch([Tape((0, 1), tuple(map(float, signs)), operations, 1.0)])
    z = np.array([3.0, -2.0])
    assert tape.value(z) == signs[0] * 3 + signs[1] * 2
    assert tape.bends_down(z) == down


def box(cost, lower=0.0, upper=2.0):
    n = len(cost)
    none = np.zeros(0)
    return ConvexProblem(np.array(cost, float), sp.csr_array((0, n)), none, none, np.full(n, lower), np.full(n, upper))


def test_the_gap_counts_what_each_column_gives_away():
    """Cost (3, −1) on [0, 2]², at z = (½, 1): 3·½ and 1·1 could be had, relative to the size of the value."""
    problem = box([3, -1])
    z = np.array([0.5, 1.0])
    residuals = verify(problem, problem.c, Answer(Claim.OPTIMAL, z, np.zeros(0), np.zeros(0)))
    assert residuals.gap == pytest.approx((3 * 0.5 + 1 * 1) / value_size(problem, problem.c, z, problem.units()))
    assert verify(problem, problem.c, Answer(Claim.OPTIMAL, np.array([0.0, 2.0]), np.zeros(0), np.zeros(0))).gap == 0


def test_points_are_paired_with_their_neighbours():
    """Of six points only the last two have a midpoint at which −x² is above the chord."""
    points = np.array([[1.0], [1.0], [2.0], [2.0], [0.0], [4.0]])
    a, b, excess = midpoint_violation(lambda x: -(float(x[0]) ** 2), points)
    assert (a.item(), b.item(), excess) == (0.0, 4.0, 4.0)
    assert midpoint_violation(lambda x: -(float(x[0]) ** 2), points[:4]) is None


@pytest.mark.parametrize(
    ("x", "inside"), [((0, 0), True), ((2, 0), True), ((2, 1), False), ((-2, -1), False), ((3, -2), False)]
)
def test_points_of_c_keep_rows_and_bounds(x, inside):
    """−2 ≤ x + y ≤ 2, |x|, |y| ≤ 2.5."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(2), bounds=(-2.5, 2.5), initialize=0.0)
    m.row = pyo.Constraint(expr=(-2, m.x[0] + m.x[1], 2))
    samples = Samples(DCProgram(m, g=m.x[0], h=0).compiled)
    assert _in_c(samples, np.array([[0.0, 0.0], x], float)) == inside


@pytest.mark.parametrize(("cost", "falls"), [(-1.5, True), (-1.0, False), (-0.5, False)])
def test_a_ray_weighs_linear_cost_and_smooth_part_alike(cost, falls):
    """cost·x + x over x ≥ 0, of which the second part is among the smooth terms."""
    problem = replace(box([cost], upper=np.inf), smooth=SmoothSum([LinearTerm([0], [1.0])], 1))
    ray = recession_ray(problem, problem.c, np.zeros(1))
    assert ray is None if not falls else ray.item() > 0


def test_a_ray_keeps_to_where_squares_among_smooth_terms_are_flat():
    """(x − y)² − x over x, y ≥ 0 falls along (1, 1), which is not where −x falls most."""
    Q = sp.csr_array(2 * np.array([[1.0, -1.0], [-1.0, 1.0]]))
    problem = replace(box([-1, 0], upper=np.inf), smooth=SmoothSum([QuadraticTerm(Q)], 2))
    x, y = recession_ray(problem, problem.c, np.zeros(2))
    assert x == pytest.approx(y)
    assert x > 0


@pytest.mark.parametrize("solver", ["piqp", "clarabel"])
def test_a_diagonal_that_comes_and_goes_opens_a_solver_anew_once(solver):
    """The first change gives Q another pattern, which stays from then on."""
    rng = np.random.default_rng(0)
    Q = sp.csc_array(np.diag([2.0, 0.0, 0.0, 1.0]))  # Q of the other columns has no entries yet
    none = np.zeros(0)
    problem = ConvexProblem(rng.normal(size=4), sp.csc_array((0, 4)), none, none, np.full(4, -1.0), np.ones(4), Q)
    dispatcher = Dispatcher(problem, solver, fallback=False)
    for diagonal in (None, 1.0, None, 3.0, None, 0.5):
        d = np.zeros(4) if diagonal is None else np.full(4, diagonal)
        dispatcher.change(Change() if diagonal is None else Change(diagonal=d))
        c, curvature = rng.normal(size=4), Q.diagonal() + d
        best = np.where(curvature > 0, np.clip(-c / np.maximum(curvature, 1e-9), -1, 1), -np.sign(c))
        np.testing.assert_allclose(dispatcher.solve(c).z, best, atol=1e-5)
    assert dispatcher.rebuilds == 1


@pytest.mark.parametrize(("h", "words"), [("x", "along x[0]"), ("both", "in the direction (0.707, 0.707) of these")])
def test_a_witness_says_in_which_direction(h, words):
    m = pyo.ConcreteModel()
    m.x = pyo.Var([0, 1], bounds=(-1, 1), initialize=0.5)
    concave = {"x": -(m.x[0] ** 4), "both": -((m.x[0] + m.x[1]) ** 4)}[h]
    with pytest.raises(ConvexityError) as error:
        DCProgram(m, g=concave, h=0)
    assert words in str(error.value)


@pytest.mark.parametrize("side", ["p", "q"])
@pytest.mark.parametrize("what", ["abs", "Norm2()"])
def test_convex_functions_are_not_subtracted_in_a_dc_constraint(side, what):
    m = pyo.ConcreteModel()
    m.x = pyo.Var([0, 1], bounds=(-1, 1), initialize=0.5)
    convex = {"abs": abs(m.x[0]), "Norm2()": Norm2()(m.x)}[what]
    m.row = DCConstraint(**{"p": m.x[0], "q": m.x[1], side: m.x[0] ** 2 - 2 * convex})
    with pytest.raises(ConvexityError, match=re.escape(what) + r" has the negative coefficient -2.* other side"):
        DCProgram(m, g=m.x[0], h=0)


@pytest.mark.parametrize("exponent", [-40, -3, 3, 40])
def test_residuals_do_not_depend_on_the_factor_of_the_objective(exponent):
    """Powers of two round nothing, so that the residuals are the same numbers."""
    rng = np.random.default_rng(2)
    A, factor = sp.csr_array(rng.normal(size=(5, 8))), 2.0**exponent
    inside = A @ rng.uniform(0, 1, 8)
    P = rng.normal(size=(8, 8))
    one = ConvexProblem(rng.normal(size=8), A, inside - 1, inside + 1, np.zeros(8), np.full(8, 2.0), sp.csc_array(P @ P.T))
    other = replace(one, c=factor * one.c, Q=factor * one.Q)
    found = Dispatcher(one, "piqp", fallback=False).solve(one.c)
    for share in (0.0, 1e-9, 1e-4):
        z = found.z * (1 + share * rng.normal(size=8))
        y = found.row_duals * (1 + share * rng.normal(size=5)) + share * rng.normal(size=5)
        pair = [verify(p, p.c, Answer(Claim.OPTIMAL, z, f * y)) for p, f in ((one, 1.0), (other, factor))]
        assert pair[0] == pair[1]
        assert share < 1e-4 or max(pair[0].primal, pair[0].dual, pair[0].gap) > 1e-6
