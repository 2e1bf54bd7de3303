"""FSV with hard margins, Problem 2 of Weston, Elisseeff, Schölkopf & Tipping (2003)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyomo.environ as pyo

from dcprog.functions import Exponential, OfSum
from dcprog.learning.rules import LinearRule
from dcprog.learning.samples import check_data, check_positive
from dcprog.program.dc_program import DCProgram
from dcprog.program.matrix_constraint import MatrixConstraint


def separating_fsv(X: Any, y: Any, alpha: float = 5.0) -> DCProgram:
    """min e'(e − e^(−α|w|)) subject to D(Xw + be) ≥ e: few features that separate the classes, which have to be separable.

    w = p − q and |w| = p + q with p, q ≥ 0. Runs end by the steps of v = |w|. Every iteration is a linear program.

    >>> import numpy as np, dcprog
    >>> X, y = np.array([[0.0, 1.0], [1.0, -1.0], [2.0, -1.0], [3.0, 1.0]]), [-1, -1, 1, 1]
    >>> result = dcprog.solve(separating_fsv(X, y))
    >>> result["w"].round(6), float(result["b"].round(6))
    (array([2., 0.]), -3.0)
    """
    check_positive(alpha=alpha)
    data = check_data(X, y)
    signed = data.signed
    m = pyo.ConcreteModel()
    m.p = pyo.Var(range(data.d), bounds=(0, None), initialize=0.5)
    m.q = pyo.Var(range(data.d), bounds=(0, None), initialize=0.5)
    m.b = pyo.Var(initialize=0.0)
    m.margin = MatrixConstraint([signed, -signed, data.y[:, None]], [m.p, m.q, m.b], lower=1.0)
    derived = {"w": lambda a: a["p"] - a["q"], "v": lambda a: a["p"] + a["q"]}

    def interpret(arrays: Mapping[str, np.ndarray]) -> LinearRule:
        return LinearRule(arrays["w"], float(arrays["b"]), data.classes, data.names)

    h = OfSum(Exponential(alpha))(m.p, m.q)
    return DCProgram(m, g=0, h=h, name="separating_fsv", derived=derived, interpret=interpret, stop_on=["v"])
