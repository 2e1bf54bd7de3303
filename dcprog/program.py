"""DCProgram: what a researcher declares, checked on entry."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from dcprog._typing import Vector
from dcprog.compile import Compiled, Slot, compile_program
from dcprog.convexity import is_positive_semidefinite, midpoint_violation, sample_box
from dcprog.errors import ConvexityError, DataError, DomainError, ModelError, unknown_name
from dcprog.expressions import Parts
from dcprog.result import Derived
from dcprog.smooth import FunctionTerm, QuadraticTerm, SmoothSum, SmoothTerm
from dcprog.tape import batch

SAMPLES = 32


class DCProgram:
    """Minimise g(x) − h(x), g and h convex, over the convex set C given by a Pyomo model.

    The model is read once, here. Fixed variables and parameters count with the values they have now.

    Parameters
    ----------
    model : pyomo.environ.ConcreteModel
        Its variables and constraints give C. It carries no objective.
    g, h : Pyomo expression, vectorised function bound to variables, or sums of both
        The two convex functions. ``abs(…)`` and :func:`dcprog.maximum` may be added in; so may numbers.
    name : str
        Shown in results.
    derived : mapping of str to callable, optional
        Further arrays of the result, each computed from the mapping of the variables' arrays.
    stop_on : sequence of str, optional
        Names of the variables or derived arrays that the stopping rule looks at by default; all variables otherwise.
    tol : float, optional
        Default tolerance of the stopping rule.
    convex : sequence of Pyomo constraints, optional
        Non-linear, non-quadratic constraints that you declare convex.
    rule : callable, optional
        What a solution means: turns the arrays of a result into ``result.rule``, such as a classifier.
    like : DCProgram, optional
        A program on the same, unchanged model: only g and h are compiled anew.

    Examples
    --------
    x⁴ − (3x² + x) on [0, 2]:

    >>> import dcprog, pyomo.environ as pyo
    >>> m = pyo.ConcreteModel(); m.x = pyo.Var(bounds=(0, 2), initialize=1)
    >>> program = DCProgram(m, g=m.x**4, h=3 * m.x**2 + m.x, name="quartic")
    >>> result = dcprog.solve(program)
    >>> print(result.status, result["x"].round(4))
    converged 1.3008
    """

    def __init__(
        self,
        model: Any,
        g: Any,
        h: Any,
        name: str = "",
        *,
        derived: Derived | None = None,
        stop_on: Iterable[str] | None = None,
        tol: float | None = None,
        convex: Iterable[Any] = (),
        rule: Callable[[Mapping[str, np.ndarray]], Any] | None = None,
        like: DCProgram | None = None,
    ) -> None:
        began = time.perf_counter()
        if not hasattr(model, "component_data_objects"):
            raise ModelError(
                f"expected a Pyomo ConcreteModel, got {type(model).__name__}: pass the model first, then g and h"
            )
        self.model, self.name = model, name or ("" if model.name == "unknown" else model.name)
        self.derived: Derived = dict(derived or {})
        self.rule = rule
        self.tol = tol
        base = like.compiled if like is not None and like.model is model else None
        self.compiled: Compiled = compile_program(model, g, h, convex) if base is None else base.with_functions(g, h)
        self.stop_on = None if stop_on is None else tuple(stop_on)
        for variable in self.stop_on or ():
            if variable not in self.names:
                raise unknown_name("variable", variable, self.names)
        _check_domain(self.compiled)
        for letter, parts in (("g", self.compiled.g_parts), ("h", self.compiled.h_parts)):
            _check_convex(self.compiled, parts, letter)
        self.compile_seconds = time.perf_counter() - began

    def value(self, x: Vector) -> float:
        """f(x) = g(x) − h(x)."""
        return self.compiled.g.value(x) - self.compiled.h.value(x)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the variables and of the derived arrays."""
        return (*self.compiled.slots, *self.derived)

    def read(self, name: str, x: Vector) -> np.ndarray:
        """The array called ``name`` at x."""
        if name in self.compiled.slots:
            return self.compiled.slots[name].read(x)
        if name in self.derived:
            return np.asarray(self.derived[name](_Arrays(self.compiled.slots, x)))
        raise unknown_name("variable", name, self.names)

    def arrays(self, x: Vector) -> dict[str, np.ndarray]:
        """All arrays by name at x."""
        return {name: self.read(name, x) for name in self.names}

    def vector(self, x0: Any) -> Vector:
        """A starting point as a vector: from a vector, or from a mapping of names to arrays over the model's own values."""
        n = self.compiled.n
        if isinstance(x0, Mapping):
            x = np.where(np.isnan(self.compiled.values), 0.0, self.compiled.values)
            for name, values in x0.items():
                x = self._overwritten(x, name, values)
        else:
            x = np.array(x0, dtype=float).ravel()
            if x.shape != (n,):
                raise DataError(f"x0 has {x.size} entries, but the program has {n} variables: pass {n}, or a dict by name")
        if not np.isfinite(x).all():
            raise DataError("x0 has NaN or infinite entries: pass finite numbers, or leave x0 out")
        return x

    def _overwritten(self, x: Vector, name: str, values: Any) -> Vector:
        if name not in self.compiled.slots:
            raise unknown_name("variable", name, self.compiled.slots)
        slot = self.compiled.slots[name]
        try:
            entries = np.broadcast_to(np.asarray(values, dtype=float), slot.shape).ravel()
        except ValueError:
            raise DataError(f"x0[{name!r}] has shape {np.shape(values)}, expected {slot.shape} or a single number") from None
        free = slot.positions >= 0
        x[slot.positions[free]] = entries[free]
        return x

    def __repr__(self) -> str:
        c = self.compiled
        kind = c.subproblem.problem_class
        return f"DCProgram({self.name!r}: {c.n} variables, {c.subproblem.m} rows, {kind} subproblems)"


class _Arrays(Mapping[str, np.ndarray]):
    """The variables' arrays at x, read when asked for."""

    def __init__(self, slots: Mapping[str, Slot], x: Vector) -> None:
        self._slots, self._x = slots, x

    def __getitem__(self, name: str) -> np.ndarray:
        return self._slots[name].read(self._x)

    def __iter__(self) -> Iterator[str]:
        return iter(self._slots)

    def __len__(self) -> int:
        return len(self._slots)


def _check_domain(compiled: Compiled) -> None:
    """Functions are defined on all of C; where C is a box, h is finite wherever g is."""
    variables = compiled.variables
    for letter, parts in (("g", compiled.g_parts), ("h", compiled.h_parts)):
        for bound in parts.functions:
            outside = bound.indices[compiled.lower[bound.indices] < bound.function.domain_lower]
            if outside.size:
                i = outside[0]
                raise DomainError(
                    f"{bound.function!r} in {letter} is defined from {bound.function.domain_lower} upwards, but "
                    f"{variables[i].name} may go down to {compiled.lower[i]}: give it a lower bound"
                )
    if not compiled.feasible_set.is_box or not compiled.h_parts.tapes:
        return
    centre = _centre(compiled)
    corners = [np.where(np.isfinite(b), b, centre) for b in (compiled.lower, compiled.upper)]
    for x in [*corners, *sample_box(compiled.lower, compiled.upper, centre, SAMPLES, np.random.default_rng(0))]:
        if np.isfinite(compiled.g.value(x)) and not np.isfinite(compiled.h.value(x)):
            where = ", ".join(f"{v.name} = {value:g}" for v, value in zip(variables[:4], x, strict=False))
            raise DomainError(f"h is not finite at {where}, a point of C where g is: bound the variables away from it")


def _check_convex(compiled: Compiled, parts: Parts, letter: str) -> None:
    """Quadratic forms exactly; expressions and users' own functions by sampling; our own functions are convex by proof."""
    for kink in parts.kinks:
        if kink.weight < 0:
            what = "abs" if kink.is_abs else "maximum"
            raise ConvexityError(
                f"{what} has the negative coefficient {kink.weight} in {letter}: move it to the other function"
            )
    for bound in parts.functions:
        if bound.weight < 0:
            raise ConvexityError(
                f"{bound.function!r} has the negative coefficient {bound.weight} in {letter}: move it to the other function"
            )
    Q = parts.Q(parts.n)
    foreign = [b for b in parts.functions if not type(b.function).__module__.startswith("dcprog.")]
    curved = parts.tapes or foreign or (letter == "h" and parts.kinks)
    if Q is not None and not curved and not is_positive_semidefinite(Q):
        raise ConvexityError(f"the quadratic part of {letter} has a negative eigenvalue, so {letter} is not convex")
    if not (curved or parts.kinks):
        return
    terms: list[SmoothTerm] = [] if Q is None else [QuadraticTerm(Q)]
    terms += batch([*parts.tapes, *(k.tape for k in parts.kinks)])
    terms += [FunctionTerm(b.function, b.indices, b.weight) for b in foreign]
    centre = _centre(compiled)
    points = sample_box(compiled.lower, compiled.upper, centre, SAMPLES, np.random.default_rng(0))
    violation = midpoint_violation(SmoothSum(terms, compiled.n).value, points)
    if violation is not None:
        a, b, excess = violation
        raise ConvexityError(
            f"{letter} is not convex: between {_short(a)} and {_short(b)} its value at the midpoint exceeds the mean of the "
            f"values at the ends by {excess:.3g}"
        )


def _centre(compiled: Compiled) -> Vector:
    start = np.where(np.isnan(compiled.values), 0.0, compiled.values)
    return np.clip(start, compiled.lower, compiled.upper)


def _short(x: Vector) -> str:
    shown = ", ".join(f"{v:.3g}" for v in x[:4])
    return f"({shown}{', …' if len(x) > 4 else ''})"
