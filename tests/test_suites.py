"""Public non-convex quadratic programs: what is called converged is critical, and nothing is better than the best known."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pyomo.environ as pyo
import pytest
from pyomo.repn import generate_standard_repn

import dcprog
from dcprog import DCProgram
from dcprog.functions import Quadratic
from dcprog.testing import criticality

HOME = Path(__file__).parents[2] / "shared" / "suites"
pytestmark = pytest.mark.skipif(not (HOME / "load.py").is_file(), reason="the suites are not beside the clone")


def suites():
    spec = importlib.util.spec_from_file_location("suites", HOME / "load.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def as_dc_program(problem):
    """g = f + ρ/2‖x‖², h = ρ/2‖x‖² for a quadratic f over linear rows; None if it is no such problem."""
    m = problem.model()
    sign = 1 if problem.sense == "min" else -1
    repn = generate_standard_repn(sign * m.obj.expr, quadratic=True)
    rows = [generate_standard_repn(c.body) for c in m.component_data_objects(pyo.Constraint)]
    if repn.nonlinear_expr is not None or not repn.quadratic_vars or not all(r.is_linear() for r in rows):
        return None
    m.obj.deactivate()
    variables = list(m.component_data_objects(pyo.Var))
    at = {id(v): i for i, v in enumerate(variables)}
    Q = np.zeros((len(variables), len(variables)))
    for (a, b), q in zip(repn.quadratic_vars, repn.quadratic_coefs, strict=True):
        Q[at[id(a)], at[id(b)]] += q
        Q[at[id(b)], at[id(a)]] += q
    rho = max(0.0, -float(np.linalg.eigvalsh(Q)[0])) * 1.001 + 1e-9
    linear = sum(c * v for c, v in zip(repn.linear_coefs, repn.linear_vars, strict=True)) + repn.constant
    shift = Quadratic(rho * np.eye(len(variables)))(variables)
    return DCProgram(m, g=Quadratic(Q + rho * np.eye(len(variables)))(variables) + linear, h=shift), sign


def test_quadratic_programs_of_minlplib_end_in_critical_points():
    tried = converged = 0
    for problem in suites().minlplib():
        stated = as_dc_program(problem)
        if stated is None:
            continue
        program, sign = stated
        result = dcprog.solve(program, time_limit=20)
        tried += 1
        if not result.success:
            continue
        converged += 1
        scale = max(1.0, abs(result.objective))
        assert criticality(program, result.x) <= 1e-5 * scale, problem.name
        assert problem.gap(sign * result.objective) >= -1e-5, problem.name
    assert tried > 30
    assert converged >= 0.98 * tried


def test_box_constrained_quadratic_programs():
    for name, Q, c, best in list(suites().boxqp())[::6]:
        n = len(c)
        m = pyo.ConcreteModel()
        m.x = pyo.Var(range(n), bounds=(0, 1), initialize=0.5)
        rho = max(0.0, float(np.linalg.eigvalsh(Q)[-1])) + 1e-6  # maximise ½x'Qx + c'x
        program = DCProgram(
            m,
            g=Quadratic(rho * np.eye(n) - Q)(m.x) - sum(c[i] * m.x[i] for i in range(n)),
            h=Quadratic(rho * np.eye(n))(m.x),
        )
        result = dcprog.solve(program)
        assert result.success, name
        assert criticality(program, result.x) <= 1e-6 * abs(result.objective), name
        assert -result.objective <= best + 1e-6 * abs(best), name
