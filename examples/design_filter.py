"""A filter with ten taps: as quiet as possible where it is to stop, and between 0.9 and 1.1 where it is to pass.

The lower bound 0.9 − |H(ω)| ≤ 0 is what makes it a DC program: min U with |H(ω)| ≤ U for the frequencies that are stopped.
Shen, Diamond, Gu & Boyd, Disciplined convex-concave programming (2016), 5.8.

    python examples/design_filter.py [filter.png]        (the picture needs matplotlib: pip install matplotlib)
"""

import sys

import numpy as np
import pyomo.environ as pyo

import dcprog
from dcprog.functions import Each, Norm2

TAPS, FREQUENCIES = 10, 60

omega = np.linspace(0, np.pi, FREQUENCIES)
through, stop = FREQUENCIES * 35 // 100, FREQUENCIES // 2
angles = omega[:, None] * np.arange(TAPS)
E = np.stack([np.cos(angles), np.sin(angles)], axis=1).reshape(-1, TAPS)  # H(ω) as two real rows
gain = Each(Norm2(), 2)

m = pyo.ConcreteModel()
m.h = pyo.Var(range(TAPS))
m.U = pyo.Var(bounds=(0, None))
m.least = dcprog.DCConstraint(p=0.9, q=gain(E[: 2 * through], m.h))
m.most = dcprog.DCConstraint(p=gain(E[: 2 * stop], m.h), q=1.1)
m.stopped = dcprog.DCConstraint(p=gain(E[2 * stop :], m.h), q=Each()(np.ones((FREQUENCIES - stop, 1)), m.U))
program = dcprog.DCProgram(m, g=m.U, h=0, name="filter")

result = dcprog.solve(program, x0={"h": np.random.default_rng(0).normal(size=TAPS), "U": 1.0})
print(result)
H = np.linalg.norm((E @ result["h"]).reshape(-1, 2), axis=1)
print(f"least gain that passes {H[:through].min():.4f}, largest that is stopped {H[stop:].max():.4f}")


def picture(path):
    """|H| with its limits."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print(f"no {path}: pictures need matplotlib, python -m pip install matplotlib")
        return

    figure = Figure(figsize=(6, 3.4), layout="constrained")
    axes = figure.subplots()
    axes.plot(omega, H, ".-")
    axes.plot(omega[:through], np.full(through, 0.9), "k--", omega[:stop], np.full(stop, 1.1), "k--")
    axes.plot(omega[stop:], np.full(FREQUENCIES - stop, result["U"]), "k--")
    axes.set(xlabel="ω", ylabel="|H(ω)|", ylim=(0, 1.2))
    figure.savefig(path, dpi=150)
    print(f"drawn: {path}")


if len(sys.argv) > 1:
    picture(sys.argv[1])
