"""Kernel-target alignment: the program is the paper's (12), its solutions are critical, it selects the right features."""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import dcprog
from dcprog.learning.kernels import ChiSquare, Gaussian, elementary_distances, kernel_matrix
from dcprog.models.alignment import alignment, alignment_written_out

RNG = np.random.default_rng(11)
D = 3
X = RNG.normal(size=(14, D)).round(3)
Y = np.array([1, -1, 1, 1, -1, 1, -1, 1, 1, -1, 1, 1, -1, -1])
HISTOGRAMS = RNG.poisson(40, size=(14, D)).astype(float)
KERNELS = {"gaussian": X, "chi2": HISTOGRAMS}
over_kernels = pytest.mark.parametrize("kernel", KERNELS)
weights = st.lists(st.floats(0, 1), min_size=D, max_size=D).map(np.array)
sampled = settings(max_examples=25, deadline=None)

SOLVERS = {"auto": {}, "scipy": {}, "ipopt": {}, "ipopt, limited memory": {"hessian_approximation": "limited-memory"}}
over_solvers = pytest.mark.parametrize("solver", SOLVERS)


def solve(program, solver="auto", **settings):
    return dcprog.solve(program, solver=solver.partition(",")[0], solver_options=SOLVERS[solver], **settings)


def chess_board(seed, n=64, d=4):
    """Fig. 2, right: (y + 1)/2 = (⌊x₁/2⌋ mod 2) ⊕ (⌊x₂/2⌋ mod 2), and d − 2 features of noise."""
    x = np.random.default_rng(seed).uniform(0, 4, (n, d))
    field = np.floor(x[:, :2] / 2).astype(int) % 2
    return x, 2 * (field[:, 0] ^ field[:, 1]) - 1


def moons(n=60, d=8, seed=3):
    """Two features that matter, the others noise: a problem with bounds active on both sides."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d))
    return x, np.where(x[:, 0] ** 2 + x[:, 1] ** 2 > 1.4, 1, -1)


def projected_gradient(program, theta):
    """θ − P(θ − ∇f(θ)) for the box: zero exactly at critical points of f, active bounds included."""
    gradient = program.compiled.g.gradient(theta) - program.compiled.h.gradient(theta)
    return theta - np.clip(theta - gradient, 0, 1)


# --- the objective ----------------------------------------------------------------------------------------------------


@over_kernels
@sampled
@given(theta=weights, lam=st.floats(0, 0.95), alpha=st.floats(0.5, 9))
def test_objective_is_equation_12(kernel, theta, lam, alpha):
    data = KERNELS[kernel]
    y_n = np.where(Y > 0, 1 / (Y > 0).sum(), -1 / (Y < 0).sum())
    K = kernel_matrix(elementary_distances(kernel, D), data, data, theta)
    expected = -(1 - lam) / 2 * y_n @ K @ y_n + lam / D * (1 - np.exp(-alpha * theta)).sum()
    assert alignment(data, Y, lam, alpha, kernel).value(theta) == pytest.approx(expected, abs=1e-13)


@over_kernels
@sampled
@given(theta=weights)
def test_alignment_is_the_distance_of_class_centres_in_feature_space(kernel, theta):
    """Equation (11), with feature vectors φ(xᵢ) made from the kernel: rows of VΛ^½ for K = VΛV'."""
    data = KERNELS[kernel]
    values, V = np.linalg.eigh(kernel_matrix(elementary_distances(kernel, D), data, data, theta))
    assert values[0] > -1e-12
    phi = V * np.sqrt(np.maximum(values, 0))
    distance = np.sum((phi[Y > 0].mean(axis=0) - phi[Y < 0].mean(axis=0)) ** 2)
    assert -2 * alignment(data, Y, 0.0, kernel=kernel).value(theta) == pytest.approx(distance, abs=1e-12)


@over_kernels
def test_boundary_values(kernel):
    """Section 3.2.2: yₙ'K_θyₙ is 0 at θ = 0 and tends to 1/n₊ + 1/n₋ for θ → ∞."""
    program = alignment(KERNELS[kernel], Y, 0.0, kernel=kernel)
    assert program.value(np.zeros(D)) == pytest.approx(0, abs=1e-15)
    assert -2 * program.value(np.full(D, 1e9)) == pytest.approx(1 / 8 + 1 / 6, rel=1e-12)


@over_kernels
@sampled
@given(theta=weights)
def test_both_terms_lie_between_zero_and_one(kernel, theta):
    data = KERNELS[kernel]
    match = -alignment(data, Y, 0.0, kernel=kernel).value(theta)
    assert -1e-14 <= match <= 1
    penalty = (alignment(data, Y, 0.5, kernel=kernel).value(theta) + match / 2) / 0.5
    assert -1e-14 <= penalty <= 1


@over_kernels
@sampled
@given(theta=weights, lam=st.sampled_from([0.0, 0.3, 0.9]))
def test_written_out_in_pyomo_it_is_the_same(kernel, theta, lam):
    ours, plain = (make(KERNELS[kernel][:8], Y[:8], lam, kernel=kernel) for make in (alignment, alignment_written_out))
    for a, b in ((ours.compiled.g, plain.compiled.g), (ours.compiled.h, plain.compiled.h)):
        assert a.value(theta) == pytest.approx(b.value(theta), abs=1e-10)
        np.testing.assert_allclose(a.gradient(theta), b.gradient(theta), atol=1e-10)
        np.testing.assert_allclose(a.hessian(theta).toarray(), b.hessian(theta).toarray(), atol=1e-10)


def test_both_forms_are_solved_to_the_same_point():
    ours, plain = (dcprog.solve(make(X, Y, 0.2), solver="ipopt") for make in (alignment, alignment_written_out))
    assert ours.objective == pytest.approx(plain.objective, abs=1e-10)
    np.testing.assert_allclose(ours["theta"], plain["theta"], atol=1e-6)


def test_labels_may_be_any_two_and_their_order_does_not_matter():
    theta = np.array([0.2, 0.9, 0.4])
    expected = alignment(X, Y, 0.1).value(theta)
    assert alignment(X, np.where(Y > 0, "a", "b"), 0.1).value(theta) == pytest.approx(expected, abs=1e-15)
    assert alignment(sp.csr_array(X), Y, 0.1).value(theta) == pytest.approx(expected, abs=1e-15)


def test_an_own_kernel_by_its_elementary_distances():
    width = elementary_distances("gaussian", D).sigma
    own = alignment(X, Y, 0.3, kernel=lambda x, z: (x - z) ** 2 / (2 * width**2))
    theta = np.array([0.2, 0.9, 0.4])
    assert own.value(theta) == pytest.approx(alignment(X, Y, 0.3).value(theta), abs=1e-13)
    assert dcprog.solve(own).objective == pytest.approx(dcprog.solve(alignment(X, Y, 0.3)).objective, abs=1e-9)


def test_distances_may_be_fewer_than_features():
    """One weight for a group of features: here {1, 2} together, 3 alone."""
    groups = lambda x, z: np.stack([((x - z)[..., :2] ** 2).sum(-1), (x - z)[..., 2] ** 2], axis=-1)
    assert dcprog.solve(alignment(X, Y, 0.1, kernel=groups))["theta"].shape == (2,)


# --- its solutions ----------------------------------------------------------------------------------------------------


@over_solvers
@pytest.mark.parametrize("lam", [0.0, 0.1, 0.6])
def test_descent_to_a_critical_point(solver, lam):
    program = alignment(*moons(), lam)
    result = solve(program, solver, tol=1e-9)
    f = [record.f for record in result.history]
    assert result.success
    assert result["theta"].shape == (8,)
    assert all(b <= a + 1e-12 for a, b in pairwise(f))
    assert np.abs(projected_gradient(program, result["theta"])).max() < 1e-6
    assert not result.messages


def test_the_test_problem_has_active_bounds_on_both_sides():
    theta = solve(alignment(*moons(), 0.1))["theta"]
    assert theta.min() < 1e-8
    assert theta.max() > 1 - 1e-8


@pytest.mark.parametrize("lam", [0.0, 0.1, 0.6])
def test_solvers_agree(lam):
    program = alignment(*moons(), lam)
    objectives = [solve(program, solver).objective for solver in SOLVERS]
    assert np.ptp(objectives) < 1e-8


def test_defaults_of_the_paper():
    program = alignment(X, Y, 0.1)
    np.testing.assert_array_equal(program.compiled.values, np.full(D, 0.5))
    assert (program.tol, program.stop_on, program.name) == (1e-3, ("theta",), "alignment")
    steps = [record.step for record in dcprog.solve(program).history[1:]]
    assert steps[-1] <= 1e-3 < min(steps[:-1], default=1)


@pytest.mark.parametrize("seed", range(4))
def test_chess_board(seed):
    """Fig. 2: only relevant feature sets, never noise; {1, 2} as long as the penalty lets anything be selected.

    A class spread over two fields has ‖φ̄‖² ≈ ½, so the alignment stays below 1 and (12) is below f(0) = 0 only for λ < ½.
    """
    x, y = chess_board(seed)
    chosen = {
        lam: np.flatnonzero(dcprog.solve(alignment(x, y, lam, sigma=1.0))["theta"] > 1e-2).tolist()
        for lam in np.arange(10) / 10
    }
    assert all(chosen[lam] == [0, 1] for lam in (0.0, 0.1, 0.2, 0.3, 0.4))
    assert all(selected in ([0, 1], []) for selected in chosen.values())


def test_warm_start_along_lambda_ends_at_critical_points_too():
    x, y = moons()
    theta = None
    for lam in (0.0, 0.1, 0.2, 0.3):
        program = alignment(x, y, lam)
        theta = dcprog.solve(program, x0=theta, tol=1e-9)["theta"]
        assert np.abs(projected_gradient(program, theta)).max() < 1e-6


# --- input at the edge, and beyond ------------------------------------------------------------------------------------


def test_a_constant_feature_is_discarded():
    x, y = moons()
    x[:, 5] = 7.0
    assert dcprog.solve(alignment(x, y, 0.1))["theta"][5] < 1e-8


def test_identical_points_of_both_classes_leave_nothing_to_align():
    result = dcprog.solve(alignment(np.ones((4, 2)), [1, 1, -1, -1], 0.1))
    assert result.success
    assert result.objective == pytest.approx(0, abs=1e-9)
    assert result["theta"].max() < 1e-8


def test_one_point_per_class():
    """f(θ) = −(1 − λ)(1 − e^(−θ/2σ²)): as far apart as it goes."""
    result = dcprog.solve(alignment([[0.0], [1.0]], [0, 1], 0.0))
    assert result["theta"] == pytest.approx([1.0], abs=1e-8)
    assert result.objective == pytest.approx(np.exp(-2) - 1, abs=1e-9)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"X": -HISTOGRAMS, "kernel": "chi2"}, "features ≥ 0"),
        ({"sigma": 0.0}, "sigma > 0"),
        ({"sigma": -1.0}, "sigma > 0"),
        ({"kernel": "chi2", "X": HISTOGRAMS, "sigma": 1.0}, "leave it out"),
        ({"kernel": "gaus"}, "did you mean 'gaussian'"),
        ({"kernel": lambda x, z: x - z}, "finite and ≥ 0"),
        ({"lam": 1.0}, "[0, 1)"),
        ({"lam": -0.1}, "[0, 1)"),
        ({"lam": np.nan}, "[0, 1)"),
        ({"alpha": 0.0}, "> 0"),
        ({"alpha": -5.0}, "> 0"),
        ({"y": np.ones(14)}, "class"),
        ({"y": Y[:5]}, "label"),
        ({"X": np.where(X > 1, np.nan, X)}, "NaN"),
    ],
)
@pytest.mark.parametrize("make", [alignment, alignment_written_out])
def test_bad_input(make, changes, says):
    arguments = {"X": X, "y": Y, "lam": 0.1} | changes
    with pytest.raises(ValueError) as error:  # noqa: PT011 (the message is what is tested)
        make(**arguments)
    assert says in str(error.value)


# --- the paper's data -------------------------------------------------------------------------------------------------


def standardised(name):
    folder = os.environ.get("DCPROG_DATA")
    if not folder:
        pytest.skip("the data sets are not here: set DCPROG_DATA to the directory of their CSV files")
    table = np.loadtxt(Path(folder) / f"{name}.csv", delimiter=",", skiprows=1)
    x, scale = table[:, :-1], table[:, :-1].std(axis=0)
    return (x - x.mean(axis=0)) / np.where(scale > 0, scale, 1), table[:, -1]


@pytest.mark.parametrize("name", ["wpbc60", "ionosphere"])
def test_real_data(name):
    x, y = standardised(name)
    results = [solve(alignment(x, y, 0.3), solver) for solver in SOLVERS]
    assert all(r.success and not r.messages for r in results)
    assert max(r.history[-1].dual_residual for r in results) < 1e-6
    assert np.ptp([r.objective for r in results]) < 1e-8


def test_the_kernels_are_the_named_ones():
    assert elementary_distances("gaussian", D) == Gaussian(np.sqrt(D) / 2)
    assert elementary_distances("chi2", D) == ChiSquare(2**-11)
