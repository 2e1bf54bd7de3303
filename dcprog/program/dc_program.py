"""DCProgram: what a researcher declares, checked on entry."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from dcprog.convex.terms import LinearTerm
from dcprog.errors import ConvexityError, DataError, DomainError, unknown_name
from dcprog.functions.checks import is_number
from dcprog.program.compile import Compiled, Slot
from dcprog.program.convex_model import ConvexModel
from dcprog.program.describe import described
from dcprog.program.expressions import Parts
from dcprog.program.plain import plain_model
from dcprog.program.points import generic_point
from dcprog.program.sampling import sample_box
from dcprog.typing import Mask, Vector

Derived = Mapping[str, Callable[[Mapping[str, np.ndarray]], np.ndarray]]
"""Further arrays by name, computed from those of the variables."""

SAMPLES = 32
SEEDS = 8
"""How many starts are tried for one at which g and h are finite."""


class DCProgram:
    """Minimise g(x) − h(x), g and h convex, over the convex set C given by a Pyomo model.

    The model is read once, here. Fixed variables and parameters count with the values they have now.

    Parameters
    ----------
    model : pyomo.environ.ConcreteModel
        Its variables and constraints give C. It carries no objective. For several programs on one model see
        :class:`~dcprog.Family`.
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
    assume_convex : sequence of Pyomo constraints, optional
        Non-linear, non-quadratic constraints that you declare convex.
    interpret : callable, optional
        What a solution means: turns the arrays of a result into ``result.classifier``, such as a classifier.
    strict : bool
        Refuse what is only assumed to be convex: a ConvexityError says which claim has no proof.

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
        assume_convex: Iterable[Any] = (),
        interpret: Callable[[Mapping[str, np.ndarray]], Any] | None = None,
        strict: bool = False,
    ) -> None:
        if tol is not None and not (is_number(tol) and 0 <= tol < np.inf):
            raise DataError(f"tol is {tol!r}: pass a number ≥ 0, or None for the default")
        check_meaning(derived, interpret)
        shared = model if isinstance(model, ConvexModel) else ConvexModel(model, assume_convex)
        if shared is model and assume_convex != ():
            raise DataError(
                f"assume_convex is {assume_convex!r}, but a family's constraints were read before: pass it to Family"
            )
        began = time.perf_counter()
        self.model: Any = shared.model
        self.name = name or ("" if self.model.name == "unknown" else self.model.name)
        self.g, self.h = g, h
        self.sense = 1
        """−1 where the model maximises h − g: results report the objective in the model's own sense."""
        self.origin: Any = None
        """What the program was made of, where :func:`dcprog.from_pyomo` made it."""
        self.derived: Derived = dict(derived or {})
        self.interpret = interpret
        self.tol = tol
        self.compiled: Compiled = shared.compiled.with_functions(g, h)
        self.stop_on = None if stop_on is None else _names(stop_on)
        for variable in set(self.derived) & set(self.compiled.slots):
            raise DataError(f"derived has {variable!r}, which is a variable of the model: give it another name")
        for variable in self.stop_on or ():
            if variable not in self.names:
                raise unknown_name("variable", variable, self.names)
        _check_domain(self.compiled)
        for letter, parts in (("g", self.compiled.g_parts), ("h", self.compiled.h_parts)):
            _check_weights(parts, letter)
        found = shared.check_functions(self.compiled)
        self.compiled = self.compiled.within(found.implied)
        self._assumptions, self._proofs = (*shared.assumptions, *found.assumptions), (*shared.proofs, *found.proofs)
        if strict and self._assumptions:
            raise ConvexityError(
                f"strict=True, but {'; '.join(self._assumptions)}: write it in functions whose convexity is proved (see "
                "dcprog.curvature), bound its variables, or leave strict out"
            )
        self.compile_seconds = shared.compile_seconds + time.perf_counter() - began

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What is taken as convex without a proof: sampled, or declared by you, and not refuted.

        >>> import dcprog, pyomo.environ as pyo
        >>> class Mine(dcprog.ConvexFunction):
        ...     def value(self, x): return float(x @ x)
        ...     def gradient(self, x): return 2 * x
        >>> m = pyo.ConcreteModel(); m.x = pyo.Var(bounds=(-1, 1), initialize=0.5)
        >>> DCProgram(m, g=pyo.exp(m.x), h=Mine()(m.x)).assumptions
        ('h is convex: sampled at 108 points of C, not proved',)
        """
        return self._assumptions

    @property
    def proofs(self) -> tuple[str, ...]:
        """Why g, h and the constraints are convex, where that is proved.

        >>> import pyomo.environ as pyo
        >>> m = pyo.ConcreteModel(); m.x = pyo.Var(bounds=(0, 1), initialize=0.5)
        >>> print(DCProgram(m, g=m.x**3, h=0).proofs[0])
        g is convex: x^3: the 3-th power is convex on [0, 1]; x in [0, 1]
        """
        return self._proofs

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
        """A starting point as a vector: from a vector, or from a mapping of names to arrays over the model's own values.

        In a mapping a Pyomo variable may stand for its name. Variables without a value that h depends on get one that is
        special in no way, see :func:`dcprog.program.points.generic_point`; the others get 0, or the bound next to it.
        """
        n = self.compiled.n
        if isinstance(x0, Mapping):
            x = self._completed()
            for name, values in x0.items():
                x = self._overwritten(x, getattr(name, "name", name), values)
        else:
            x = _floats("x0", x0, f"pass {n} numbers, or a dict by name").ravel()
            if x.shape != (n,):
                raise DataError(f"x0 has {x.size} entries, but the program has {n} variables: pass {n}, or a dict by name")
        if not np.isfinite(x).all():
            raise DataError("x0 has NaN or infinite entries: pass finite numbers, or leave x0 out")
        return x

    @property
    def undecided(self) -> Mask:
        """The variables without a value whose start matters: the subgradient of h, or of a row, changes with them."""
        curved = [t.support for t in self.compiled.h.terms if not isinstance(t, LinearTerm)]
        matters = np.zeros(self.compiled.n, dtype=bool)
        matters[np.concatenate(curved or [np.empty(0, dtype=np.int64)])] = True
        if self.compiled.dc is not None:
            matters[self.compiled.dc.q.places[1]] = True
        return matters & np.isnan(self.compiled.values)

    def _completed(self) -> Vector:
        """The model's own values, else generic ones at which g and h are finite, else 0 where that changes nothing."""
        c = self.compiled
        unset = np.isnan(c.values)
        plain = np.where(unset, np.clip(0.0, c.lower, c.upper), c.values)
        if not unset.any():
            return plain
        for which in (self.undecided, unset):
            for seed in range(SEEDS):
                x = np.where(which, generic_point(c.lower, c.upper, seed), plain)
                with np.errstate(all="ignore"):
                    if np.isfinite([c.g.value(x), c.h.value(x)]).all():
                        return x
                if not which.any():
                    break
        return plain

    def _overwritten(self, x: Vector, name: Any, values: Any) -> Vector:
        if name not in self.compiled.slots:
            raise unknown_name("variable", name, self.compiled.slots)
        slot = self.compiled.slots[name]
        given = _floats(f"x0[{name!r}]", values, f"pass numbers of shape {slot.shape}, or a single one")
        try:
            entries = np.broadcast_to(given, slot.shape).ravel()
        except ValueError:
            raise DataError(f"x0[{name!r}] has shape {np.shape(values)}, expected {slot.shape} or a single number") from None
        free = slot.positions >= 0
        x[slot.positions[free]] = entries[free]
        return x

    def describe(self) -> str:
        """g, h and the rows as text, with the rule behind each part where dcprog found it, and what is proved or assumed.

        >>> import dcprog, pyomo.environ as pyo
        >>> m = pyo.ConcreteModel(); m.x = pyo.Var(bounds=(0, 1), initialize=0.5)
        >>> print(DCProgram(m, g=m.x**4, h=m.x**2, name="quartic").describe())
        quartic: min g − h over 1 variables, NLP subproblems
          g = x**4
          h = x**2
        ...
        """
        return described(self)

    def to_pyomo(self) -> Any:
        """A copy of the model for any Pyomo solver, with g − h as its objective ``dc_objective``, or with its own where it
        had one; vectorised functions are written out.

        >>> import pyomo.environ as pyo
        >>> m = pyo.ConcreteModel(); m.x = pyo.Var(bounds=(0, 1), initialize=0.5)
        >>> print(DCProgram(m, g=m.x**4, h=m.x**2).to_pyomo().dc_objective.expr)
        x**4 - x**2
        """
        return plain_model(self.model, self.g, self.h, has_objective=self.origin is not None)

    def __repr__(self) -> str:
        c = self.compiled
        kind = c.subproblem.problem_class
        return f"DCProgram({self.name!r}: {c.n} variables, {c.subproblem.m} rows, {kind} subproblems)"


def check_meaning(derived: Any, interpret: Any) -> None:
    """What a solution means: functions of its arrays."""
    if interpret is not None and not callable(interpret):
        raise DataError(f"interpret is {interpret!r}: pass a function of the result's arrays, or None")
    if not isinstance(derived or {}, Mapping) or not all(map(callable, (derived or {}).values())):
        raise DataError(f"derived is {derived!r}: pass a mapping of names to functions of the variables' arrays")


def _names(variables: Any) -> tuple[Any, ...]:
    """Names of variables, given as one or several names or Pyomo variables."""
    several = isinstance(variables, Iterable) and not isinstance(variables, str) and not hasattr(variables, "name")
    return tuple(getattr(v, "name", v) for v in (variables if several else [variables]))


def _floats(name: str, values: Any, advice: str) -> Vector:
    """A new array of real numbers."""
    try:
        given = np.array(values)
        if given.dtype.kind not in "biufO":
            raise TypeError(f"{given.dtype} is no type of real numbers")
        return given.astype(float)
    except (OverflowError, TypeError, ValueError) as error:
        raise DataError(f"{name} does not hold real numbers ({error}): {advice}") from None


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
            at = bound.indices
            outside = at[bound.function.outside(compiled.lower[at], compiled.upper[at])]
            if outside.size:
                i = outside[0]
                limit = float(bound.function.domain_lower)
                raise DomainError(
                    f"{bound.function!r} in {letter} is {_where(limit)}, but {variables[i].name} lies between "
                    f"{compiled.lower[i]} and {compiled.upper[i]}: give it a lower bound, or a linear form of it other ones"
                )
    if not compiled.feasible_set.is_box or not compiled.h_parts.tapes:
        return
    centre = _centre(compiled)
    corners = [np.where(np.isfinite(b), b, centre) for b in (compiled.lower, compiled.upper)]
    for x in [*corners, *sample_box(compiled.lower, compiled.upper, centre, SAMPLES, np.random.default_rng(0))]:
        if np.isfinite(compiled.g.value(x)) and not np.isfinite(compiled.h.value(x)):
            where = ", ".join(f"{v.name} = {value:g}" for v, value in zip(variables[:4], x, strict=False))
            raise DomainError(f"h is not finite at {where}, a point of C where g is: bound the variables away from it")


def _where(limit: float) -> str:
    return f"defined from {limit:g} upwards" if np.isfinite(limit) else "not defined everywhere"


def _check_weights(parts: Parts, letter: str) -> None:
    """Kinks and convex functions are added, not subtracted."""
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


def _centre(compiled: Compiled) -> Vector:
    start = np.where(np.isnan(compiled.values), 0.0, compiled.values)
    return np.clip(start, compiled.lower, compiled.upper)
