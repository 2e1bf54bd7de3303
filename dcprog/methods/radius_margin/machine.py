"""A support vector machine with the hyperplane of the largest margin, ready to classify new points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dcprog.errors import DataError
from dcprog.learning.kernels import kernel_values, points
from dcprog.learning.rules import Classifier
from dcprog.learning.samples import check_data, dense
from dcprog.methods.radius_margin.bound import RadiusMargin, radius_margin, ridged, ridges_of_counted
from dcprog.methods.radius_margin.kernels import Kernel, as_kernel
from dcprog.methods.radius_margin.qps import spread
from dcprog.typing import Indices, Matrix, Vector


@dataclass(frozen=True, eq=False)
class Machine(Classifier):
    """sgn(Σᵢ yᵢαᵢ k(xᵢ, x) + b) over the support vectors xᵢ, and the radius–margin bound of the training points."""

    kernel: Kernel
    vectors: Matrix
    coefficients: Vector
    """yᵢαᵢ of the support vectors."""
    b: float
    support: Indices
    """Positions of the support vectors among the training points."""
    classes: tuple[Any, Any]
    bound: RadiusMargin

    @property
    def margin(self) -> float:
        """1/‖w‖."""
        return self.bound.margin

    @property
    def radius(self) -> float:
        """R of the sphere around the training points in feature space."""
        return self.bound.radius

    def decision_function(self, X: Any) -> Vector:
        """Σᵢ yᵢαᵢ k(xᵢ, x) + b for each row x: positive for the class that sorts last."""
        X = points("X", X)
        if X.shape[1] != self.vectors.shape[1]:
            raise DataError(f"X has {X.shape[1]} features, the machine was trained with {self.vectors.shape[1]}: pass those")
        values: Vector = kernel_values(self.kernel, X, self.vectors) @ self.coefficients + self.b
        return values


def train(X: Any, y: Any, kernel: Kernel | str, *, ridge: float = 1.0, solver: str = "auto") -> Machine:
    """The machine of the largest margin for the kernel k + ridge·I.

    Parameters
    ----------
    X, y : array_like
        Training points in rows, dense or sparse, and their labels of two kinds.
    kernel : Kernel or str
        One of :mod:`dcprog.methods.radius_margin.kernels`, or your own derived from ``Kernel``, or by name ``"linear"``,
        ``"polynomial"`` (of degree 2) or ``"gaussian"`` (of width 1).
    ridge : float
        1/λ ≥ 0 of the training errors, which cost λ/2 Σξᵢ²; 0 allows none.
    solver : str
        A QP solver by name (:func:`dcprog.solvers`), or ``"auto"``.

    >>> from dcprog.methods.radius_margin.kernels import Linear
    >>> machine = train([[0.0], [2.0], [5.0]], ["low", "high", "high"], Linear(), ridge=0)
    >>> machine.predict([[0.9], [1.1]]), round(machine.margin, 6), machine.support
    (array(['low', 'high'], dtype='<U4'), 1.0, array([0, 1]))
    """
    data, kernel = check_data(X, y), as_kernel(kernel)
    Z = dense(data.X)
    K = kernel_values(kernel, Z, Z)
    spread(K)  # raises if all points have one image, which the ridge would hide
    ridges, lift = ridges_of_counted(data, ridge)
    bound = radius_margin(ridged(K, ridges), data.y, solver=solver, lift=lift)
    s = bound.support
    return Machine(kernel, Z[s], bound.signed[s], bound.hyperplane.b, s, data.classes, bound)
