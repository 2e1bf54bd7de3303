"""Template of a stopping rule. Copy it, change the class, run it:

python examples/templates/stopping_rule.py
"""

from dataclasses import dataclass

import pyomo.environ as pyo

import dcprog
from dcprog import MaxIter, Status
from dcprog.algorithms.result import State
from dcprog.algorithms.stopping import StoppingRule


@dataclass(frozen=True)
class Target(StoppingRule):
    """f is at most ``value``: good enough.

    :meth:`check` looks at one state. A rule with a memory gives :meth:`start`, too, which begins a run. CONVERGED means
    "stop here"; whether the point is critical is for the certificate to say, so that the run ends as ``converged`` only if
    it holds, and else as ``stopped_by_rule``. A limit returns its own status, as ``MaxIter`` does.
    """

    value: float

    def check(self, state: State) -> Status | None:
        return Status.CONVERGED if state.f <= self.value else None


if __name__ == "__main__":
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(0, 2), initialize=0.1)
    quartic = dcprog.DCProgram(m, g=m.x**4, h=3 * m.x**2 + m.x)
    early = dcprog.solve(quartic, stop=Target(-2) | MaxIter(100))
    assert early.status == "stopped_by_rule", early.status
    assert early.objective <= -2 < early.history[-2].f, "it stops at the first point that is good enough"
    never = dcprog.solve(quartic, stop=Target(-100) | MaxIter(3))
    assert (never.status, never.iterations) == ("iteration_limit", 3), "and combines with other rules"
    print(f"Target stops after {early.iterations} iterations, at f = {early.objective:.4f}")
