"""Template of a convex function. Copy it, change the class, run it:

python examples/templates/function.py
"""

import numpy as np
import pyomo.environ as pyo
import scipy.sparse as sp

import dcprog
from dcprog.functions import ConvexFunction, Epigraph
from dcprog.functions.checks import number


class Excess(ConvexFunction):
    """Σⱼ max(xⱼ − θ, 0): by how much the components exceed θ.

    A function in h needs :meth:`value` and :meth:`gradient`. One that has kinks, as this one, may stand in g, too, if it
    gives an :meth:`epigraph`; a smooth one gives ``hessian`` instead. Say what is not the default: ``smooth``,
    ``separable``, ``domain_lower``, ``strong_convexity``, ``dimension``.
    """

    smooth = False
    separable = True

    def __init__(self, theta: float) -> None:
        self.theta = number("theta", theta, -np.inf, such_as=1.0)

    def value(self, x):
        return float(np.maximum(x - self.theta, 0).sum())

    def gradient(self, x):
        """At a kink one element of ∂f, always the same: here 0."""
        return (x > self.theta).astype(float)

    def epigraph(self, n):
        """f(x) = min {c't : A x + B t ≤ b}: the sum of t with x − t ≤ θ and −t ≤ 0."""
        eye, none = sp.eye_array(n, format="csr"), sp.csr_array((n, n))
        b = np.concatenate([np.full(n, self.theta), np.zeros(n)])
        return Epigraph(A=sp.vstack([eye, none], "csr"), B=sp.vstack([-eye, -eye], "csr"), b=b, c=np.ones(n))


def program(excess):
    """Excess in g, a square in h: a concave fall that the excess stops."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(3), bounds=(-1, 4), initialize={0: 0.5, 1: 1.5, 2: 3.0})
    return dcprog.DCProgram(m, g=5 * excess(m), h=sum(m.x[j] ** 2 for j in m.x) / 2, name="excess")


if __name__ == "__main__":
    ours = program(lambda m: Excess(theta=1.0)(m.x))
    # The contract of a DC program with it: convexity, gradients against differences, descent, a critical limit, and that
    # all solvers find the same value, which is where a wrong epigraph shows.
    dcprog.testing.check_program(ours).raise_if_failed()
    # The same function written down in Pyomo: both programs have to walk through the same points.
    written = program(lambda m: sum(dcprog.maximum(m.x[j] - 1, 0) for j in m.x))
    shared = dcprog.testing.assert_lockstep(dcprog.DCA(ours, solver="highs"), dcprog.DCA(written, solver="highs"))
    print(f"Excess keeps the contract, and agrees with its formula in {shared} iterates")
