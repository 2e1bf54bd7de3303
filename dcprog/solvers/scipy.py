"""SciPy's minimisers for smooth convex problems: L-BFGS-B on a box, trust-constr beyond.

Byrd, Lu, Nocedal & Zhu (1995) and Byrd, Hribar & Nocedal (1999).
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from dcprog._typing import Sparse, Vector
from dcprog.errors import unknown_name
from dcprog.solvers._qp import rows_of
from dcprog.solvers.base import Answer, Claim, Feature, Session, Solver
from dcprog.subproblem import ProblemClass, Subproblem

LBFGSB = {"maxcor": 20, "ftol": 0.0, "gtol": 1e-9, "maxiter": 50_000, "maxfun": 100_000, "maxls": 20}
TRUST = {
    "gtol": 1e-9, "xtol": 1e-14, "barrier_tol": 1e-10, "maxiter": 3000, "initial_constr_penalty": 1.0,
    "initial_tr_radius": 1.0, "initial_barrier_parameter": 0.1, "initial_barrier_tolerance": 0.1,
    "factorization_method": None, "sparse_jacobian": True, "verbose": 0,
}  # fmt: skip
"""All options of the two methods that make sense with exact derivatives, at their values here."""

ENDLESS = 1e12
"""A value this many times below the first one is taken for a fall without end."""


class SciPy(Solver):
    """L-BFGS-B on a box, ended by Newton steps on the free variables; trust-constr with any further constraint.

    The latter is an interior-point method written in Python: take it for small problems, and Ipopt where there is one.
    """

    name = "scipy"
    module = "scipy"
    distribution = "scipy"
    install = "pip install scipy"
    classes = frozenset({ProblemClass.QP, ProblemClass.NLP})
    features = Feature.WARM_START | Feature.DUALS | Feature.LINEAR_ROWS | Feature.NONLINEAR_ROWS

    def open(self, problem: Subproblem, options: Mapping[str, Any]) -> Session:
        fixed = problem.lower == problem.upper
        box = not problem.constraints and not len(rows_of(problem, fixed).kept)
        return BoxSession(problem, options) if box else TrustSession(problem, options)


class BoxSession(Session):
    pass


class TrustSession(Session):
    def __init__(self, problem: Subproblem, options: Mapping[str, Any]) -> None:
        from scipy.optimize import Bounds, LinearConstraint, NonlinearConstraint

        self.problem, self.options = problem, TRUST | dict(options)
        fixed = problem.lower == problem.upper
        self.rows = rows_of(problem, fixed)
        self.bounds = Bounds(np.where(fixed, -np.inf, problem.lower), np.where(fixed, np.inf, problem.upper))
        self.constraints = []
        if len(self.rows.lower):
            self.constraints.append(LinearConstraint(self.rows.K, self.rows.lower, self.rows.upper))
        psi = problem.constraints
        if psi:
            self.constraints.append(NonlinearConstraint(
                lambda z: np.array([p.value(z) for p in psi]), -np.inf, 0.0,
                jac=lambda z: sp.csr_array(np.array([p.gradient(z) for p in psi])),
                hess=lambda z, v: sum((w * p.hessian(z) for w, p in zip(v, psi)), sp.csr_array((problem.n, problem.n))),
            ))

    def solve(self, c, start, time_limit):
        from scipy.optimize import minimize
        p=self.problem
        z0=np.clip(np.zeros(p.n) if start is None else start,p.lower,p.upper)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            o=dict(self.options); gt,bt=o["gtol"],o["barrier_tol"]; o["gtol"]=0.
            def cb(intermediate_result):
                s=intermediate_result; self.log.append((s.optimality,s.constr_violation,s.get("barrier_parameter",0.),s.tr_radius))
                if s.optimality<=gt and s.constr_violation<=gt and s.get("barrier_parameter",0.)<=bt: raise StopIteration
            self.log=[]
            r=minimize(lambda z:p.value(z,c),z0,jac=lambda z:p.gradient(z,c),hess=p.hessian,method="trust-constr",bounds=self.bounds,constraints=self.constraints,options=o,callback=cb)
        self.r=r
        v=list(r.v); row=self.rows.duals(-v.pop(0)) if len(self.rows.lower) else np.zeros(p.m)
        con=-v.pop(0) if p.constraints else np.zeros(0)
        return Answer(Claim.OPTIMAL if r.status in (1,2,3) else Claim.FAILED,r.x,row,con,str(r.message),r.nit)
