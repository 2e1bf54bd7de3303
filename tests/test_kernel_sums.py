"""Kernel sums are what their formula says, whichever way they are computed, and keep the promises of a convex function."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from dcprog.errors import DataError, UnknownNameError
from dcprog.learning import kernel_sums
from dcprog.learning.kernel_sums import BlockSum, GaussianSum, kernel_sum
from dcprog.learning.kernels import ChiSquare, Gaussian, elementary_distances, kernel_matrix

D = 3
RNG = np.random.default_rng(5)
X, Z = RNG.uniform(0, 3, (7, D)).round(2), RNG.uniform(0, 3, (5, D)).round(2)
X[2] = X[1]  # identical points within a set …
Z[0] = X[3]  # … and between the sets
X[:, 2] = Z[:, 2] = 0.0  # a constant feature; for χ² the case 0/0


def laplacian(x, z):
    return np.abs(x - z)


def grouped(x, z):
    """Two distances of three features: K need not be d."""
    square = (x - z) ** 2
    return np.stack([square[..., :2].sum(axis=-1), square[..., 2]], axis=-1)


WAYS = {
    "gaussian, products": lambda X, Z=None: GaussianSum(Gaussian(0.8), X, Z),
    "gaussian, blocks": lambda X, Z=None: BlockSum(Gaussian(0.8), X, Z),
    "chi2": lambda X, Z=None: BlockSum(ChiSquare(0.5), X, Z),
    "chi2, recomputed": lambda X, Z=None: BlockSum(ChiSquare(0.5), X, Z, memory=0),
    "laplacian": lambda X, Z=None: BlockSum(laplacian, X, Z),
    "grouped": lambda X, Z=None: BlockSum(grouped, X, Z),
}
SUMS = {f"{name}, {sets}": way(X, *other) for name, way in WAYS.items() for sets, other in [("pairs", [Z]), ("one set", [])]}
over_sums = pytest.mark.parametrize("f", SUMS.values(), ids=SUMS.keys())
weights = st.lists(st.one_of(st.just(0.0), st.floats(0, 1)), min_size=D, max_size=D).map(np.array)
sampled = settings(max_examples=30, deadline=None)


def elementary(distances, x, z):
    """The elementary distances once more, one feature at a time, as the paper prints them."""
    if isinstance(distances, Gaussian):
        return [(a - b) ** 2 / (2 * distances.sigma**2) for a, b in zip(x, z, strict=True)]
    if isinstance(distances, ChiSquare):
        return [distances.rho * (a - b) ** 2 / (a + b) if a + b else 0.0 for a, b in zip(x, z, strict=True)]
    return list(distances(x, z))


def double_loop(f, theta):
    """Value, gradient and Hessian by their definition."""
    K = len(theta)
    value, gradient, hessian = 0.0, np.zeros(K), np.zeros((K, K))
    for x in f.X:
        for z in f.Z:
            dist = elementary(f.distances, x, z)
            kernel = math.exp(-sum(t * c for t, c in zip(theta, dist, strict=True)))
            value += kernel
            for k in range(K):
                gradient[k] -= kernel * dist[k]
                for l in range(K):
                    hessian[k, l] += kernel * dist[k] * dist[l]
    return value, gradient, hessian


@over_sums
@sampled
@given(theta=weights)
def test_equals_the_double_loop(f, theta):
    theta = theta[: f.dimension]
    value, gradient, hessian = double_loop(f, theta)
    assert f.value(theta) == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(f.gradient(theta), gradient, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(f.hessian(theta), hessian, rtol=1e-12, atol=1e-12)
    v = np.arange(1.0, f.dimension + 1)
    np.testing.assert_allclose(f.hessian_product(theta, v), hessian @ v, rtol=1e-12, atol=1e-12)


@over_sums
def test_derivatives_against_differences(f):
    theta, step = np.array([0.3, 0.7, 0.45])[: f.dimension], 1e-5
    for k in range(f.dimension):
        e = step * np.eye(f.dimension)[k]
        assert f.gradient(theta)[k] == pytest.approx(
            (f.value(theta + e) - f.value(theta - e)) / (2 * step), rel=1e-7, abs=1e-8
        )
        column = (f.gradient(theta + e) - f.gradient(theta - e)) / (2 * step)
        np.testing.assert_allclose(f.hessian(theta)[:, k], column, rtol=1e-7, atol=1e-8)


@over_sums
@sampled
@given(a=weights, b=weights, t=st.floats(0, 1))
def test_convex(f, a, b, t):
    a, b = a[: f.dimension], b[: f.dimension]
    chord = t * f.value(a) + (1 - t) * f.value(b)
    assert f.value(t * a + (1 - t) * b) <= chord * (1 + 1e-12)
    assert f.value(b) >= f.value(a) + f.gradient(a) @ (b - a) - 1e-11
    assert np.linalg.eigvalsh(f.hessian(a))[0] >= -1e-11


@over_sums
def test_at_zero_all_pairs_count_one_and_at_infinity_only_equal_points(f):
    K = f.dimension
    assert f.value(np.zeros(K)) == pytest.approx(len(f.X) * len(f.Z), rel=1e-14)
    equal = sum(bool(np.array_equal(x, z)) for x in f.X for z in f.Z)
    assert equal == (7 + 2 if f.one_set else 1)
    assert f.value(np.full(K, 1e6)) == pytest.approx(equal, rel=1e-9)


@over_sums
def test_the_kernel_matrix_sums_to_it(f):
    theta = np.array([0.9, 0.0, 0.2])[: f.dimension]
    assert kernel_matrix(f.distances, f.X, f.Z, theta).sum() == pytest.approx(f.value(theta), rel=1e-13)


@over_sums
def test_written_out_it_is_the_same(f):
    theta = np.array([0.3, 0.7, 0.45])[: f.dimension]
    assert f.expand(list(theta), math.exp, math.log) == pytest.approx(f.value(theta), rel=1e-13)


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS.keys())
def test_one_set_is_the_set_against_itself(way):
    one, two, theta = way(X), way(X, X), np.array([0.4, 0.2, 0.6])
    theta = theta[: one.dimension]
    assert one.value(theta) == pytest.approx(two.value(theta), rel=1e-13)
    np.testing.assert_allclose(one.gradient(theta), two.gradient(theta), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(one.hessian(theta), two.hessian(theta), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("Z", [None, Z], ids=["one set", "pairs"])
@pytest.mark.parametrize("memory", [0, 200, 1e9])
@pytest.mark.parametrize("block", [1, 13, 40])
def test_blocks_of_any_size_kept_or_not_give_the_same(monkeypatch, block, memory, Z):
    theta = np.array([0.4, 0.0, 0.6])
    whole = BlockSum(ChiSquare(0.5), X, Z)
    monkeypatch.setattr(kernel_sums, "BLOCK", block)
    cut = BlockSum(ChiSquare(0.5), X, Z, memory=memory)
    assert len(cut._rows) > len(whole._rows)
    assert sum(D.nbytes for D in cut._kept) <= memory
    assert cut.value(theta) == pytest.approx(whole.value(theta), rel=1e-13)
    np.testing.assert_allclose(cut.gradient(theta), whole.gradient(theta), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(cut.hessian(theta), whole.hessian(theta), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(
        GaussianSum(Gaussian(1), X, Z).hessian(theta), BlockSum(Gaussian(1), X, Z).hessian(theta), atol=1e-12
    )


@over_sums
def test_one_evaluation_serves_value_gradient_and_hessian(monkeypatch, f):
    calls = []
    evaluate = type(f)._evaluate
    monkeypatch.setattr(type(f), "_evaluate", lambda self, x: calls.append(x) or evaluate(self, x))
    theta = np.array([0.31, 0.12, 0.77])[: f.dimension]
    f.value(theta)
    f.gradient(theta)[:] = 7.0  # the caller's copy
    assert not (f.gradient(theta) == 7.0).any()
    f.value(theta.copy())
    f.hessian(theta)
    assert len(calls) == 1
    theta[0] = 0.5  # the same array, another point
    assert f.value(theta) == pytest.approx(double_loop(f, theta)[0], rel=1e-12)
    assert len(calls) == 2


def test_products_are_taken_only_where_they_are_exact():
    """Two clusters a million widths apart: multiplied-out squares would lose the distances inside a cluster."""
    inside = np.array([[0.0], [0.5], [1.0]])
    far = np.vstack([inside, inside + 1e6])
    f, theta = kernel_sum(Gaussian(1.0), far), np.array([0.7])
    assert isinstance(f, BlockSum)
    assert f.value(theta) == pytest.approx(2 * kernel_sum(Gaussian(1.0), inside).value(theta), rel=1e-9)
    assert abs(GaussianSum(Gaussian(1.0), far).value(theta) / f.value(theta) - 1) > 1e-7
    # … while a common offset costs nothing, since points are centred
    moved = kernel_sum(Gaussian(1.0), inside + 2.0**30)
    assert isinstance(moved, GaussianSum)
    assert moved.value(theta) == kernel_sum(Gaussian(1.0), inside).value(theta)
    assert isinstance(kernel_sum(ChiSquare(), inside), BlockSum)


def test_discarded_features_cost_nothing_and_change_nothing():
    theta = np.array([0.5, 0.0, 0.2])
    wild = X.copy()
    wild[:, 1] = 1e30
    for distances in (Gaussian(1.0), ChiSquare(1.0)):
        np.testing.assert_allclose(
            kernel_matrix(distances, wild, Z, theta), kernel_matrix(distances, X, Z, theta), rtol=1e-14
        )
        assert (kernel_matrix(distances, X, Z, np.zeros(D)) == 1).all()
        assert kernel_matrix(distances, X[:0], Z, theta).shape == (0, 5)


def test_sparse_points():
    theta = np.array([0.5, 0.1, 0.2])
    assert kernel_sum(Gaussian(1.0), sp.csr_array(X), sp.csr_array(Z)).value(theta) == kernel_sum(Gaussian(1.0), X, Z).value(
        theta
    )


def test_default_width_is_half_the_root_of_the_dimension():
    assert elementary_distances("gaussian", 9) == Gaussian(1.5)
    assert elementary_distances("gaussian", 9, sigma=0.2) == Gaussian(0.2)
    assert elementary_distances("chi2", 9) == ChiSquare(2**-11)
    assert elementary_distances(laplacian, 9) is laplacian


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Gaussian(0.0), "sigma > 0, got 0.0"),
        (lambda: Gaussian(math.nan), "sigma > 0, got nan"),
        (lambda: ChiSquare(-1.0), "rho > 0"),
        (lambda: elementary_distances("chi2", 3, sigma=1.0), "leave it out"),
        (lambda: kernel_sum(ChiSquare(), -X), "features ≥ 0, got -"),
        (lambda: kernel_sum(ChiSquare(), X, -Z), "features ≥ 0"),
        (lambda: kernel_matrix(ChiSquare(), X, -Z, np.ones(D)), "features ≥ 0"),
        (lambda: kernel_sum(Gaussian(1.0), np.full((2, 2), np.nan)), "X has to be finite"),
        (lambda: kernel_sum(Gaussian(1.0), X, Z[:, :2]), "X has 3 features and Z has 2"),
        (lambda: kernel_sum(Gaussian(1.0), np.array([[1e200], [-1e200]])), "finite and ≥ 0"),
        (lambda: kernel_sum(lambda x, z: x - z, X), "finite and ≥ 0"),
        (lambda: kernel_sum(lambda x, z: np.sqrt(x * 0 - 1e-9), X), "finite and ≥ 0"),
        (lambda: kernel_sum(lambda x, z: ((x - z) ** 2).sum(axis=-1), X), "got shape (1, 1)"),
        (lambda: kernel_sum(lambda x, z: np.ones(3), X), "let them broadcast"),
    ],
)
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_bad_input(make, says):
    with pytest.raises(DataError) as error:
        make()
    assert says in str(error.value)


def test_unknown_kernel():
    with pytest.raises(UnknownNameError, match="did you mean 'gaussian'"):
        elementary_distances("gausian", 3)
