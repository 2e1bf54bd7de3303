"""Template of an algorithm. Copy it, change ``advance``, run it:

python examples/templates/algorithm.py
"""

import numpy as np
import pyomo.environ as pyo

import dcprog
from dcprog.algorithms import Algorithm, State, register
from dcprog.functions import L1Norm


@register  # known by its name from here on
class ManySlopes(Algorithm):
    """DCA that tries several u ∈ ∂h(xᵏ) where h has a kink, and takes the step after which f is least.

    xᵏ⁺¹ = argmin {f(y(u)) : u ∈ U}, y(u) ∈ argmin {g(y) − ⟨u, y⟩ : y ∈ C}, with U ⊂ ∂h(xᵏ) made of gradients of h close by.
    DCA takes one u, and ends where that one brings nothing: at a maximum of −h, for example.

    The base class has the start, the loop, the certificate, limits and solvers; an algorithm says what the next state is.
    ``check`` refuses programs that it is not made for, ``needs`` names what the solver has to offer, ``default_rule``
    says when it stops, and ``begin`` forgets what it remembers of earlier states.
    """

    name = "many-slopes"
    tried = 8
    near = 1e-7

    def advance(self, state: State) -> State:
        solutions = [self.minimise(u, state.x) for u in self.slopes(state.x)]  # verified, or the run ends
        return self.next_state(state, min(solutions, key=lambda solution: self.f(solution.x)))  # refuses a rise of f

    def slopes(self, x: np.ndarray) -> list[np.ndarray]:
        """Different elements of ∂h(x): that of DCA, and gradients at points z close by which support h at x, too."""
        h = self.program.compiled.h
        found = [self.subgradient(x)]
        for direction in np.random.default_rng(0).normal(size=(self.tried, len(x))):
            z = x + self.near * (1 + np.abs(x)) * direction
            u = h.gradient(z)
            supports = h.value(x) - h.value(z) - u @ (x - z) <= 1e-15 * (1 + abs(h.value(x)))
            if np.isfinite(u).all() and supports and not any(np.allclose(u, other, atol=1e-5) for other in found):
                found.append(u)
        return found


def program(n: int) -> dcprog.DCProgram:
    """½‖x‖² − ‖x‖₁ on a box: critical at 0, least at the 2ⁿ points of ±1, where it is −n/2."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(n), bounds=(-3, 3), initialize=0.0)
    return dcprog.DCProgram(m, g=sum(m.x[j] ** 2 for j in m.x) / 2, h=L1Norm()(m.x))


if __name__ == "__main__":
    for n in (1, 2, 5):
        stays, leaves = (dcprog.solve(program(n), algorithm=name) for name in ("dca", "many-slopes"))
        assert (stays.status, abs(stays.objective) <= 1e-9) == ("converged", True), stays
        assert (leaves.status, abs(leaves.objective + n / 2) <= 1e-6) == ("converged", True), leaves
        assert dcprog.testing.criticality(program(n), leaves.x) <= 1e-6
    # Where h is smooth there is one slope, and the algorithm is DCA.
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(2), bounds=(-3, 2), initialize=1)
    smooth = dcprog.DCProgram(m, g=sum(m.x[j] ** 4 for j in m.x), h=m.x[0] ** 2 + (m.x[0] - m.x[1]) ** 2)
    dcprog.testing.assert_lockstep(dcprog.DCA(smooth), ManySlopes(smooth))
    print("ManySlopes leaves the critical point that DCA stays at, and is DCA where h is smooth")
