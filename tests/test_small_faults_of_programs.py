"""What mutation testing found that no test looked at, from decompositions to several starts, as general statements."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.sparse as sp
from test_decompose import assert_convex, assert_identity

import dcprog
from dcprog import DCProgram, maximum
from dcprog.convex.answer import Answer, Claim
from dcprog.convex.certificate import completed, verify
from dcprog.convex.polish import snapped
from dcprog.convex.problem import ConvexProblem
from dcprog.convex.terms import LinearTerm, QuadraticTerm, SmoothSum
from dcprog.errors import CapabilityError
from dcprog.functions.continued import CURVES, Continued, stretches
from dcprog.program.curvature.elementary import ELEMENTARY, ranges
from dcprog.program.curvature.intervals import Interval
from dcprog.program.decompose.splitter import FACTORS
from dcprog.program.decompose.univariate import _range
from dcprog.program.expressions import take_apart
from dcprog.solvers import registry
from dcprog.solvers.base import Feature
from dcprog.solvers.rays import is_empty
from dcprog.solvers.reductions.squares import Squares

NUMPY = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh"}
FUNCTIONS = {
    "exp": pyo.exp,
    "exp of minus": lambda t: pyo.exp(-t),
    "log": lambda t: pyo.log(t + 9),
    "root": lambda t: pyo.sqrt(t + 9),
    "reciprocal": lambda t: 1 / (t + 9),
    "cube": lambda t: t**3,
    "sin": pyo.sin,
    "tanh": pyo.tanh,
    "kink": lambda t: abs(t - 1),
    "maximum": lambda t: maximum(t, 2 - t, 0.5),
    "product": lambda t: t * (3 - t),
}
"""Of an inner function that is neither convex nor concave, with values in [−4, 4]."""
INNER = {"a saddle": lambda m: m.x * m.y + 1.5, "a sine": lambda m: 2 * pyo.sin(3 * m.x) - m.y**2 / 4 + 0.7}


@pytest.fixture
def m():
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(bounds=(-1, 2)), pyo.Var(bounds=(0.25, 1))
    return m


@pytest.mark.parametrize("inner", INNER)
@pytest.mark.parametrize("outer", FUNCTIONS)
def test_constants_inside_and_outside_are_kept(m, outer, inner):
    """±φ(t + c) + c′ for both signs: no constant is lost or counted twice on the way through a composition."""
    for sign in (1.0, -2.0):
        expression = sign * FUNCTIONS[outer](INNER[inner](m)) + 5.25
        found = dcprog.decompose(expression, over=m)
        assert_identity(m, found, expression)
        assert_convex(m, found.g)
        assert_convex(m, found.h)


@pytest.mark.parametrize("p", [1, 2])
def test_quotients_without_a_numerator(m, p):
    expression = 1 / (m.y**p * (m.x + 2)) + m.x * m.y
    found = dcprog.decompose(expression, over=m)
    assert_identity(m, found, expression)


@pytest.mark.parametrize(
    ("name", "stretch"), [("sin", (-np.pi, 0.0)), ("cos", (np.pi / 2, 3 * np.pi / 2)), ("atan", (-np.inf, 0.0))]
)
def test_the_range_of_a_convex_function_has_its_values(name, stretch):
    """On random intervals, those on its continuation included; the bound below is where the tangents at the ends meet."""
    f, rng = Continued(name, *stretch), np.random.default_rng(0)
    for _ in range(30):
        lower, upper = np.sort(rng.uniform(-7, 7, 2))
        low, high = _range(f, lower, upper)
        values = np.array([f.value(np.array([t])) for t in np.linspace(lower, upper, 400)])
        slopes = [float(f.gradient(np.array([t]))[0]) for t in (lower, upper)]
        assert low <= values.min() + 1e-12
        assert values.max() <= high <= values.max() + 1e-9
        below = max(-slopes[0], slopes[1], 0.0) * (upper - lower)  # no tangent falls by more on the way
        assert low >= min(values[0], values[-1]) - below - 1e-9


def test_a_witness_checks_the_expression_and_not_its_own_excess(m):
    """Of a function that is not convex it holds; of affine and of convex ones it does not, whatever it says of itself."""
    witness = dcprog.curvature(m.x * m.y, over=m).witness
    against = witness.against
    assert witness.check()
    for other in (3 * m.x - m.y + 2, 1e8 * m.x, (m.x**2 + m.y**2) * (1 if against == "convexity" else -1)):
        assert not replace(witness, _expression=other).check()


@pytest.mark.parametrize("lowest", [0.0, -1.0, 1.0])
def test_the_best_of_several_starts_has_the_least_value(lowest):
    """4 − x² on [−1, 2] has minima at both ends, and the first start ends at the worse one. Relative to a least value of 0
    no other value is near."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(-1, 2), initialize=-0.5)
    result = dcprog.solve(DCProgram(m, g=4 + lowest, h=m.x**2), algorithm="dca", starts=6, seed=0, n_jobs=1)
    assert result.objective == lowest
    assert {run["objective"] for run in result.runs} == {lowest, lowest + 3.0}


@pytest.mark.parametrize("name", sorted(CURVES))
def test_stretches_cover_an_interval_and_each_has_its_sign(name):
    """sign · φ has no negative second difference on a stretch, and the next one begins where it ends."""
    rng = np.random.default_rng(1)
    for _ in range(10):
        lower, upper = np.sort(rng.uniform(-8, 8, 2))
        found = stretches(name, lower, upper)
        assert found[0][0] <= lower
        assert found[-1][1] >= upper
        assert all(one[1] == other[0] for one, other in pairwise(found))
        for a, b, sign in found:
            t = np.linspace(max(a, lower), min(b, upper), 50)
            phi = sign * getattr(np, NUMPY.get(name, name))(t)
            assert (np.diff(phi, 2) >= -1e-12).all()


@pytest.mark.parametrize(("bounds", "taken"), [((0, None), True), ((-1, None), True), ((0.5, None), False), ((0, 9), False)])
def test_squares_below_a_variable_with_bounds_of_its_own(bounds, taken):
    """x² ≤ t with t ≥ 0.5: t is not x² where x² is less. Whoever solves it, the answer is that of arithmetic."""
    m = pyo.ConcreteModel()
    m.x, m.t = pyo.Var(initialize=0.5), pyo.Var(bounds=bounds, initialize=1)
    m.square = pyo.Constraint(expr=m.x**2 <= m.t)
    program = DCProgram(m, g=m.t - 0.2 * m.x, h=0)
    assert (Squares().missing(program.compiled.subproblem) is None) == taken
    least = 0.5 - 0.2 * np.sqrt(0.5) if bounds[0] == 0.5 else -0.01
    assert dcprog.solve(program).objective == pytest.approx(least, abs=1e-7)


def test_snapped_answers_move_by_no_more_than_the_distance_that_is_allowed():
    """To 0 and to bounds, and what is farther from both does not move."""
    rng, n = np.random.default_rng(2), 200
    bounds = rng.choice([-1.0, 0.0, 2.0, np.inf], n)
    none = np.zeros(0)
    problem = ConvexProblem(np.zeros(n), sp.csr_array((0, n)), none, none, np.full(n, -np.inf), bounds)
    targets = np.where(rng.random(n) < 0.5, 0.0, np.where(np.isinf(bounds), 0.0, bounds))
    z = targets + rng.uniform(-2e-6, 2e-6, n)
    after = snapped(problem, Answer(Claim.OPTIMAL, z, none), near=1e-6).z
    near = np.abs(z - targets) <= 1e-6
    assert 50 < near.sum() < 150
    assert np.array_equal(after[near], targets[near])
    assert np.array_equal(after[~near], z[~near])


def test_products_of_many_factors():
    """More than are grouped in every way."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(FACTORS + 1), bounds=(0.5, 1.5))
    expression = -pyo.prod(m.x.values())
    found = dcprog.decompose(expression, over=m)
    assert_identity(m, found, expression)


@pytest.mark.parametrize("shift", [0.0, 1.5])
def test_squares_of_roots_are_multiplied_out(shift):
    """Their slopes at 0 are infinite, so that no tangent there is of use, and √x·√y is concave."""
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(bounds=(0, 2)), pyo.Var(bounds=(0, 3))
    expression = (pyo.sqrt(m.x) - 2 * pyo.sqrt(m.y) + shift) ** 2
    found = dcprog.decompose(expression, over=m)
    assert_identity(m, found, expression)
    assert_convex(m, found.g)
    assert_convex(m, found.h)


@pytest.mark.parametrize("seed", range(5))
def test_answers_without_multipliers_are_completed_and_given_ones_are_kept(seed):
    """Of an LP with a known solution and known duals y: c = A'y between the bounds, more at the lower ones."""
    rng, rows, columns = np.random.default_rng(seed), 4, 7
    A = rng.standard_normal((rows, columns))
    z = np.where(np.arange(columns) < rows, rng.uniform(1, 2, columns), 0.0)
    y = rng.uniform(0.5, 2.0, rows)
    c = A.T @ y + np.where(z > 0, 0.0, rng.uniform(0.5, 1.0, columns))
    limits, free = (A @ z, np.full(rows, np.inf)), (np.zeros(columns), np.full(columns, np.inf))
    problem = ConvexProblem(np.zeros(columns), sp.csc_array(A), *limits, *free)
    silent = Answer(Claim.OPTIMAL, z, None)
    assert completed(problem, c, silent).row_duals == pytest.approx(y)
    assert verify(problem, c, silent).holds(1e-9)
    other = rng.uniform(0.5, 2.0, rows)
    assert np.array_equal(completed(problem, c, Answer(Claim.OPTIMAL, z, other)).row_duals, other)
    assert not verify(problem, c, Answer(Claim.OPTIMAL, z, other)).holds()


@pytest.mark.parametrize("name", sorted({*ELEMENTARY, "sin", "cos", "tan"}))
def test_ranges_of_elementary_functions_and_of_their_derivatives(name):
    """φ, φ′ and φ″ at points of an interval lie in the three ranges, and those of a short interval hold little else."""
    rng = np.random.default_rng(3)
    low, high = ELEMENTARY[name].domain if name in ELEMENTARY else (-1.4, 1.4)
    low, high = max(low, -3.0) + 0.05, min(high, 3.0) - 0.05
    phi = (lambda t: t * np.log(t)) if name == "x log x" else getattr(np, NUMPY.get(name, name))
    for width in (1.0, 1e-7):
        for _ in range(20):
            a = rng.uniform(low, high - width * (high - low) / 2)
            b = a + width * (high - low) / 2
            found = ranges(name, Interval(np.array(a), np.array(b)))
            for t in np.linspace(a, b, 5):
                e = 1e-4
                known = phi(t), (phi(t + e) - phi(t - e)) / (2 * e), (phi(t + e) - 2 * phi(t) + phi(t - e)) / e**2
                for one, value in zip(found, known, strict=True):
                    noise = 1e-4 * (1 + abs(value) ** 2)
                    assert one.lower - noise <= value <= one.upper + noise
                    assert width == 1.0 or (value - noise - 1e-3 <= one.lower and one.upper <= value + noise + 1e-3)


ROOTS = {
    "a named expression": lambda m: m.named,
    "twice one": lambda m: 2 * m.named + m.x**2,
    "a half of one": lambda m: m.named / 2 + 1.0,
    "a sum in a product": lambda m: 3 * (m.x**2 + (m.y - 1) ** 2 / 4) + m.named,
}


@pytest.mark.parametrize("of", ROOTS)
def test_roots_of_sums_of_squares_are_norms_in_any_notation(m, of):
    m.named = pyo.Expression(expr=(m.x - m.y) ** 2 + m.y**2)
    expression = pyo.sqrt(ROOTS[of](m))
    parts = take_apart(expression, {id(m.x): 0, id(m.y): 1}, 2)
    (norm,) = parts.functions
    assert not parts.tapes
    for x in np.random.default_rng(4).uniform(0.25, 1, (5, 2)):
        m.x.value, m.y.value = x
        assert norm.weight * norm.function.value(x[norm.indices]) == pytest.approx(pyo.value(expression), rel=1e-12)


def test_bounds_that_the_proof_of_a_row_rests_on_hold_in_every_program_of_a_family():
    """−log x is convex for x > 0, which y ≥ 0 and x ≥ y + 1 imply: no solver may go where it has no value."""
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(initialize=3), pyo.Var(bounds=(0, 5), initialize=1)
    m.row = pyo.Constraint(expr=m.x >= m.y + 1)
    m.curved = pyo.Constraint(expr=-pyo.log(m.x) <= 5)
    compiled = dcprog.Family(m).program(g=m.x + m.y, h=0).compiled
    assert compiled.lower == pytest.approx([1, 0])
    assert compiled.subproblem.lower == pytest.approx([1, 0])


def disc(n, x, y):
    """(x₁ − x)² + (x₂ − y)² ≤ 1 in R^n."""
    Q = sp.diags_array(np.r_[2.0, 2.0, np.zeros(n - 2)], format="csc")
    return SmoothSum([QuadraticTerm(Q), LinearTerm(np.arange(2), np.array([-2.0 * x, -2.0 * y]), x * x + y * y - 1.0)], n)


@pytest.mark.parametrize("distance", [0.5, 1.8, 2.2, 5.0])
def test_two_discs_have_a_common_point_if_their_centres_are_near(distance):
    """Each of them alone is never empty, so that no point of one of them is a sign that both have one."""
    for angle in np.random.default_rng(5).uniform(0, 2 * np.pi, 5):
        n, none = 3, np.zeros(0)
        two = (disc(n, 0.0, 0.0), disc(n, distance * np.cos(angle), distance * np.sin(angle)))
        problem = ConvexProblem(
            np.zeros(n), sp.csr_array((0, n)), none, none, np.full(n, -9.0), np.full(n, 9.0), constraints=two
        )
        assert is_empty(problem) == (distance > 2)


@pytest.mark.parametrize("feature", [Feature.NONE, Feature.DUALS, Feature.VERTEX, Feature.DUALS | Feature.VERTEX])
def test_solvers_that_are_asked_offer_what_is_needed(feature):
    """And those that offer it are asked as without the need, in the same order."""
    n = 4
    problem = ConvexProblem(
        np.ones(n), sp.csc_array(np.ones((1, n))), np.ones(1), np.full(1, 9.0), np.zeros(n), np.full(n, np.inf)
    )
    able = [solver.name for solver in registry.chain("auto", problem) if feature in solver.features]
    assert [solver.name for solver in registry.chain("auto", problem, feature)] == able
    assert able[0] == "highs"
    for name in {"piqp", "clarabel"} - set(able):
        with pytest.raises(CapabilityError, match=f"solver '{name}' cannot solve this: it does not offer"):
            registry.chain(name, problem, feature)


def test_powers_are_written_as_powers(m):
    proof = str(dcprog.curvature(m.x**2 + m.y**4, over=m).proof)
    assert "x^2" in proof
    assert "y^4" in proof
