"""Algorithms as a new user writes them, from docs/algorithms.md and CONTRIBUTING.md: public names, at most 40 lines."""

import inspect
import re

import numpy as np
import pyomo.environ as pyo
import pytest
from strategies import MAKERS, concave_on_polytope

import dcprog
from dcprog.algorithms import ALGORITHMS, Algorithm, register
from dcprog.functions import L1Norm, Quadratic
from dcprog.testing import assert_lockstep, criticality


class LineSearch(Algorithm):
    """DCA with Armijo's rule beyond its step: the first t of 8, 4, 2, 1 where f falls by a share of what 1 brings."""

    name = "test-line-search"

    def __init__(self, program=None, *, share=0.1, **settings):
        self.share = share
        super().__init__(program, **settings)

    def advance(self, state):
        solution = self.minimise(self.subgradient(state.x), state.x)
        step = solution.x - state.x
        brings = state.level - self.f(solution.x)
        room = self.reach(state.x, step, 8.0) if step.any() else 1.0
        for t in (8.0, 4.0, 2.0):
            if t <= room and self.f(self.along(state.x, step, t)) <= state.level - (1 + self.share * (t - 1)) * brings:
                return self.next_state(state, solution, self.along(state.x, step, t))
        return self.next_state(state, solution)


class Anderson(Algorithm):
    """The fixed-point map x ↦ y(x) of DCA, mixed over its last values (Walker & Ni, 2011), where that lowers f; else DCA."""

    name = "test-anderson"

    def __init__(self, program=None, *, memory=4, **settings):
        self.memory = memory
        super().__init__(program, **settings)

    def begin(self, state):
        self.points, self.images = [], []

    def advance(self, state):
        solution = self.minimise(self.subgradient(state.x), state.x)
        self.points, self.images = [*self.points, state.x][-self.memory :], [*self.images, solution.x][-self.memory :]
        if len(self.points) < 2:
            return self.next_state(state, solution)
        residuals = np.array(self.images) - np.array(self.points)
        differences, moves = np.diff(residuals, axis=0).T, np.diff(self.images, axis=0).T
        mixed = solution.x - moves @ np.linalg.lstsq(differences, residuals[-1], rcond=1e-10)[0]
        way = mixed - solution.x
        t = self.reach(solution.x, way, 1.0) if way.any() else 0.0
        there = self.along(solution.x, way, t)
        return self.next_state(state, solution, there if self.f(there) < self.f(solution.x) else None)


class RandomBlocks(Algorithm):
    """Block-coordinate DCA: the variables outside of a random half are held at xᵏ."""

    name = "test-random-blocks"
    moves = frozenset({"lower", "upper"})  # of the subproblem, so that a solver is taken that changes them in place

    def begin(self, state):
        if state.iteration == 0:
            self.random = np.random.default_rng(0)

    def advance(self, state):
        block = self.random.random(len(state.x)) < 0.5
        free = np.where(block, np.inf, 0.0)
        solution = self.minimise(self.subgradient(state.x), state.x, self.within(state.x - free, state.x + free))
        return self.next_state(state, solution)


class ProximalBundle(Algorithm):
    """The last slopes of h, each a linearisation from below: g − ⟨uᵢ, ·⟩ + ρ/2‖· − xᵏ‖² is solved for each, the best f is
    taken, and ρ falls where the first one was not the best."""

    name = "test-bundle"
    moves_diagonal = True

    def begin(self, state):
        self.slopes, self.rho = [], self.curvature(state)

    def advance(self, state):
        self.slopes = [self.subgradient(state.x), *self.slopes][:3]
        bent = self.curved(self.rho)
        found = [self.minimise(u + self.rho * state.x, state.x, bent) for u in self.slopes]
        best = min(found, key=lambda solution: self.f(solution.x))
        self.rho *= 1.0 if best is found[0] else 0.5
        return self.next_state(state, best)


class TrustRegion(Algorithm):
    """DCA within |x − xᵏ| ≤ Δ, which doubles when a step ends at its boundary."""

    name = "test-trust-region"
    moves = frozenset({"lower", "upper"})

    def begin(self, state):
        self.radius = 0.1 * self.sizes(state.x) + 1e-3

    def advance(self, state):
        region = self.within(state.x - self.radius, state.x + self.radius)
        solution = self.minimise(self.subgradient(state.x), state.x, region)
        self.radius *= np.where(np.abs(solution.x - state.x) >= 0.99 * self.radius, 2.0, 1.0)
        return self.next_state(state, solution)


class Incremental(Algorithm):
    """h = Σ hᵢ with slopes kept (stochastic DCA of Le Thi, Le, Phan & Tran): one of them, at random, is looked at anew."""

    name = "test-incremental"

    def __init__(self, program=None, *, parts=(), **settings):
        self.parts = parts
        super().__init__(program, **settings)

    def begin(self, state):
        self.random, self.slopes = np.random.default_rng(0), [part.gradient(state.x) for part in self.parts]

    def ceiling(self, state):
        return np.inf  # f may rise: it falls in expectation

    def advance(self, state):
        i = self.random.integers(len(self.parts))
        self.slopes[i] = self.parts[i].gradient(state.x)
        return self.next_state(state, self.minimise(sum(self.slopes), state.x))


OWN = [LineSearch, Anderson, RandomBlocks, ProximalBundle, TrustRegion]


@pytest.mark.parametrize("kind", [*OWN, Incremental])
def test_forty_lines_without_a_private_name(kind):
    source = inspect.getsource(kind)
    assert len(source.splitlines()) <= 40
    assert not re.search(r"[.]_[a-z]", source)
    assert "compiled" not in source


@pytest.mark.parametrize("kind", OWN)
@pytest.mark.parametrize("make", [MAKERS["LP"], MAKERS["QP"], concave_on_polytope])
def test_they_end_at_critical_points_with_the_engines_certificate(kind, make):
    program = make(3)
    result = dcprog.solve(program, algorithm=kind)
    assert result.success, result
    assert result.algorithm == kind.name
    assert criticality(program, result.x) <= 2e-6 * (1 + abs(result.objective) + abs(result.history[-1].g))
    f = [record.f for record in result.history]
    assert max(np.diff(f)) <= 1e-6 * (1 + abs(f[0]))


@pytest.mark.parametrize("kind", [RandomBlocks, TrustRegion, ProximalBundle])
@pytest.mark.parametrize("make", [MAKERS["LP"], MAKERS["QP"]])
def test_changes_are_made_in_place(kind, make):
    result = dcprog.solve(make(5), algorithm=kind)
    assert result.success, result
    assert result.rebuilds == 0, result.messages


def test_the_incremental_one_comes_to_the_least_of_a_sum():
    rng = np.random.default_rng(1)
    parts = [Quadratic(np.diag(rng.uniform(0.1, 0.4, 3)), q=rng.normal(size=3)) for _ in range(5)]
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(3), bounds=(-9, 9), initialize=1.0)
    program = dcprog.DCProgram(m, g=2 * sum(m.x[i] ** 2 for i in m.x), h=sum(part(m.x) for part in parts))
    result = dcprog.solve(program, algorithm=Incremental(parts=parts))
    assert result.success, result
    assert result.objective == pytest.approx(dcprog.solve(program).objective, abs=1e-7)


def test_anderson_and_the_line_search_pay_on_a_long_way():
    m = pyo.ConcreteModel()
    m.x = pyo.Var([1, 2], initialize=4.0)
    x, y = m.x[1], m.x[2]
    program = dcprog.DCProgram(m, g=2 * x**2 + 2 * y**2 + x * y / 5 + x, h=1.7 * x**2 + 1.8 * y**2)
    dca, *others = (
        dcprog.solve(program, algorithm=kind, stop=dcprog.Step(1e-6)) for kind in (dcprog.DCA, Anderson, LineSearch)
    )
    for result in others:
        assert 2 * result.iterations <= dca.iterations
        np.testing.assert_allclose(result.x, dca.x, atol=1e-3)


def test_a_trust_region_that_never_binds_is_dca():
    class Wide(TrustRegion):
        def begin(self, state):
            self.radius = np.full(len(state.x), np.inf)

    program = MAKERS["QP"](2)
    stop = dcprog.MaxIter(6)
    assert assert_lockstep(dcprog.DCA(program, stop=stop), Wide(program, stop=stop), tol=1e-6) >= 2


def test_a_registered_one_is_known_by_name_and_in_workers():
    try:
        register(LineSearch)
        m = pyo.ConcreteModel()
        m.x = pyo.Var(range(2), bounds=(-3, 3), initialize=0.3)
        program = dcprog.DCProgram(m, g=sum(m.x[j] ** 2 for j in m.x), h=L1Norm()(m.x))
        result = dcprog.solve(program, algorithm="test-line-search", starts=3, seed=0, n_jobs=2)
        assert result.objective == pytest.approx(-0.5)
        assert len(result.runs) == 3
        assert all(run["status"] == "converged" for run in result.runs), result.runs
    finally:
        ALGORITHMS.pop("test-line-search", None)
