"""Any solver that Pyomo's SolverFactory knows, as ``pyomo:<name>``.

    min ½z'Qz + c'z + φ(z)   subject to   row_lower ≤ A z ≤ row_upper,  ψ(z) ≤ 0,  lower ≤ z ≤ upper

The subproblem is written out once as a plain Pyomo model whose costs c are mutable parameters: between two solves nothing
else changes, and a persistent interface updates just these.
"""

from __future__ import annotations

import inspect
import shutil
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from dcprog.convex.answer import Answer, Claim
from dcprog.convex.problem import ConvexProblem, ProblemClass
from dcprog.convex.terms import QuadraticTerm
from dcprog.errors import unknown_name
from dcprog.solvers.adapters.qp import PROOF_SECONDS
from dcprog.solvers.base import Feature, Session, Solver
from dcprog.solvers.rays import proved
from dcprog.typing import Vector

CLAIMS = {
    "optimal": Claim.OPTIMAL,
    "globallyOptimal": Claim.OPTIMAL,
    "locallyOptimal": Claim.OPTIMAL,
    "infeasible": Claim.INFEASIBLE,
    "unbounded": Claim.UNBOUNDED,
    "maxTimeLimit": Claim.TIME_LIMIT,
}


class PyomoSolver(Solver):
    """The solver ``SolverFactory(name)``. What it can solve only itself can tell: it is given every problem.

    >>> import numpy as np, scipy.sparse as sp
    >>> problem = ConvexProblem(c=np.array([-1.0]), A=sp.csr_array([[2.0]]), row_lower=np.array([-np.inf]),
    ...                      row_upper=np.array([1.0]), lower=np.array([0.0]), upper=np.array([np.inf]))
    >>> answer = PyomoSolver("appsi_highs").open(problem, {}).solve(problem.c, None, None)
    >>> print(answer.claim.value, answer.z, answer.row_duals)
    optimal [0.5] [-0.5]
    """

    module = "pyomo"
    distribution = "pyomo"
    interruptible = True  # it is told the limit
    classes = frozenset(ProblemClass)
    features = Feature.DUALS | Feature.LINEAR_ROWS | Feature.NONLINEAR_ROWS

    def __init__(self, name: str) -> None:
        self.name = f"pyomo:{name}"  # type: ignore[misc]  # one class, many names
        self.install = f"install what Pyomo's SolverFactory({name!r}) looks for"  # type: ignore[misc]

    def available(self) -> bool:
        return bool(_factory(self.name).available(exception_flag=False))

    def missing(self, problem: ConvexProblem) -> str | None:
        return None if self.available() else f"Pyomo does not find it: {self.install}"

    def open(self, problem: ConvexProblem, options: Mapping[str, Any]) -> Session:
        return _Session(self.name, problem, options)


def _factory(name: str) -> Any:
    """SolverFactory(…), which takes the name of an executable as well, and complains of an unknown one only when used."""
    import pyomo.environ as pyo

    plain = name.removeprefix("pyomo:")
    known = sorted(n for n in pyo.SolverFactory if not n.startswith("_"))
    if plain.split(":")[0] not in known and shutil.which(plain) is None:
        raise unknown_name("Pyomo solver", plain, known)
    return pyo.SolverFactory(plain)


class _Session(Session):
    def __init__(self, name: str, problem: ConvexProblem, options: Mapping[str, Any]) -> None:
        self._name, self._problem, self._options = name, problem, dict(options)
        self._model = _model(problem)
        self._solver = _factory(name)

    def solve(self, c: Vector, start: Vector | None, time_limit: float | None) -> Answer:
        for cost, value in zip(self._model.c.values(), c.tolist(), strict=True):
            cost.set_value(value)
        if start is not None:
            for variable, value in zip(self._model.z.values(), start.tolist(), strict=True):
                variable.set_value(value, skip_validation=True)
        try:
            condition = self._run(time_limit)
        except Exception as error:  # a foreign solver may raise anything
            return Answer(Claim.FAILED, message=f"{type(error).__name__}: {error}")
        claim = CLAIMS.get(condition, Claim.FAILED)
        if claim is Claim.OPTIMAL:
            return self._optimal(condition)
        if claim in (Claim.INFEASIBLE, Claim.UNBOUNDED):  # what a foreign solver says is believed with a proof
            claim = proved(self._problem, c, start, PROOF_SECONDS) or Claim.FAILED
        return Answer(claim, message=condition)

    def _run(self, time_limit: float | None) -> str:
        """Solve, load what is optimal into the model, and return Pyomo's termination condition."""
        from pyomo.solvers.plugins.solvers.persistent_solver import PersistentSolver

        model = self._model
        # One that has raised may answer wrongly ever after (appsi_highs forgets the objective): it is not used again.
        solver, self._solver = self._solver or _factory(self._name), None
        (model.component("dual") or {}).clear()
        try:
            if isinstance(solver, PersistentSolver):  # the older ones have to be told
                if not solver.has_instance():
                    solver.set_instance(model)
                solver.set_objective(model.objective)
            results = solver.solve(model, **self._arguments(solver, time_limit))
            condition = str(results.solver.termination_condition)
            if CLAIMS.get(condition) is Claim.OPTIMAL:
                model.solutions.load_from(results)
        except Exception:
            if model.component("dual") is None:
                raise
            model.del_component("dual")  # some raise when they are asked for duals that they do not have
            return self._run(time_limit)
        self._solver = solver
        return condition

    def _arguments(self, solver: Any, time_limit: float | None) -> dict[str, Any]:
        """What this interface takes: those of contrib.solver and APPSI name their arguments, the older ones share a base."""
        from pyomo.opt.base.solvers import OptSolver

        named, older = inspect.signature(solver.solve).parameters, isinstance(solver, OptSolver)
        arguments: dict[str, Any] = {"tee": False, "load_solutions": False}
        if self._options:
            arguments["options"] = self._options
        clock = getattr(getattr(solver, "_solver_model", None), "getRunTime", None)
        if clock is not None:  # HiGHS counts from its first solve on, and keeps the last limit
            time_limit = clock() + (np.inf if time_limit is None else time_limit)
        if time_limit is not None and (older or "timelimit" in named):
            arguments["timelimit"] = time_limit
        return arguments

    def _optimal(self, message: str) -> Answer:
        """Pyomo's duals are derivatives of the optimal value by the right-hand side, as ours are."""
        p, model = self._problem, self._model
        z = np.array([0.0 if v.value is None else v.value for v in model.z.values()])  # None: appears nowhere
        duals = model.component("dual") or {}
        rows, psis = [duals.get(row) for row in model.rows.values()], [duals.get(psi) for psi in model.psi.values()]
        row_duals = np.zeros(p.m)
        if None not in rows:
            row_duals[list(model.rows)] = rows
        return Answer(
            claim=Claim.OPTIMAL,
            z=np.clip(z, p.lower, p.upper),
            row_duals=None if None in rows else row_duals,
            constraint_duals=None if None in psis else np.array(psis, dtype=float),
            message=message,
        )


def _model(problem: ConvexProblem) -> Any:
    """The subproblem as a plain Pyomo model, without free rows."""
    import pyomo.environ as pyo
    from pyomo.core.expr import LinearExpression

    A = sp.csr_array(problem.A)
    bounds, limits = _pairs(problem.lower, problem.upper), _pairs(problem.row_lower, problem.row_upper)

    m = pyo.ConcreteModel()
    m.z = pyo.Var(range(problem.n), bounds=lambda m, i: bounds[i])
    m.c = pyo.Param(range(problem.n), mutable=True, initialize=dict(enumerate(problem.c.tolist())))
    m.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    z = list(m.z.values())

    def row(m: Any, i: int) -> Any:
        part = slice(A.indptr[i], A.indptr[i + 1])
        body = LinearExpression(linear_coefs=A.data[part].tolist(), linear_vars=[z[j] for j in A.indices[part]])
        lower, upper = limits[i]
        return (body, upper) if lower == upper else (lower, body, upper)

    m.rows = pyo.Constraint([i for i, pair in enumerate(limits) if pair != (None, None)], rule=row)
    m.psi = pyo.Constraint(range(len(problem.constraints)), rule=lambda m, i: problem.constraints[i].expand(z, pyo) <= 0.0)
    objective = LinearExpression(linear_coefs=list(m.c.values()), linear_vars=z)
    if problem.Q is not None:
        objective = objective + QuadraticTerm(problem.Q).expand(z, pyo)
    if problem.smooth is not None:
        objective = objective + problem.smooth.expand(z, pyo)
    m.objective = pyo.Objective(expr=objective)
    return m


def _pairs(lower: Vector, upper: Vector) -> list[tuple[float | None, float | None]]:
    """Limits as Pyomo spells them: None where there is none."""
    low, high = ([v if np.isfinite(v) else None for v in values.tolist()] for values in (lower, upper))
    return list(zip(low, high, strict=True))


def known_to_pyomo() -> list[str]:
    """The names that Pyomo's SolverFactory has."""
    import pyomo.environ as pyo

    return [name for name in pyo.SolverFactory if not name.startswith("_")]
