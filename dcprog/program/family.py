"""One Pyomo model, compiled once, and programs on it with other functions: same model, other numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, ParamSpec, Protocol, TypeVar, cast

import numpy as np

from dcprog.errors import DataError
from dcprog.program.convex_model import ConvexModel
from dcprog.program.dc_program import DCProgram, Derived, check_meaning

P = ParamSpec("P")
F = TypeVar("F", bound="Family")


class Family(ConvexModel):
    """A Pyomo model compiled once. :meth:`program` declares g and h on it; only these are compiled then.

    Constraints, bounds and start values are read here: later changes of them have no effect, and which variables are fixed
    must not change. Parameters in g and h count with the values that they have when a program is made.

    Parameters
    ----------
    model : pyomo.environ.ConcreteModel
        Its variables and constraints give C. It carries no objective.
    derived, interpret
        As for :class:`DCProgram`: what a solution means. A program may have its own.
    assume_convex : sequence of Pyomo constraints, optional
        Non-linear, non-quadratic constraints that you declare convex.

    Examples
    --------
    >>> import dcprog, pyomo.environ as pyo
    >>> m = pyo.ConcreteModel(); m.x = pyo.Var(bounds=(0, 2), initialize=1)
    >>> family = Family(m)
    >>> walk = dcprog.path(lambda a: family.program(g=m.x**4, h=a * m.x**2), a=[2, 4])
    >>> [round(float(result["x"]), 4) for result in walk]
    [1.0, 1.4142]
    """

    def __init__(
        self,
        model: Any,
        *,
        derived: Derived | None = None,
        interpret: Callable[[Mapping[str, np.ndarray]], Any] | None = None,
        assume_convex: Iterable[Any] = (),
    ) -> None:
        check_meaning(derived, interpret)
        super().__init__(model, assume_convex)
        self.derived, self.interpret = derived, interpret

    def program(
        self,
        g: Any,
        h: Any,
        name: str = "",
        *,
        derived: Derived | None = None,
        stop_on: Iterable[str] | None = None,
        tol: float | None = None,
        interpret: Callable[[Mapping[str, np.ndarray]], Any] | None = None,
    ) -> DCProgram:
        """Minimise g − h over the model; the arguments are those of :class:`DCProgram`."""
        self.compiled.check_unchanged()
        derived, interpret = self.derived if derived is None else derived, self.interpret if interpret is None else interpret
        return DCProgram(self, g, h, name, derived=derived, stop_on=stop_on, tol=tol, interpret=interpret)


class SharingFactory(Protocol[P, F]):
    """A factory of programs that share what its function ``family`` makes."""

    __name__: str
    family: Callable[..., F]

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> DCProgram: ...


def of_family(family: Callable[..., F]) -> Callable[[Callable[P, DCProgram]], SharingFactory[P, F]]:
    """Marks a factory whose programs share a model along a path: ``family``, which becomes its attribute of that name, makes
    the model from the factory's data and those of its parameters that shape the model.

    The factory has to take what ``family`` returns in the place of the data.

    >>> import pyomo.environ as pyo
    >>> def segment(width):
    ...     m = pyo.ConcreteModel(); m.x = pyo.Var(bounds=(0, width), initialize=1)
    ...     return Family(m)
    >>> @of_family(segment)
    ... def valley(width, a=1.0):
    ...     family = width if isinstance(width, Family) else segment(width)
    ...     return family.program(g=family.model.x**2, h=a * family.model.x)
    >>> import dcprog
    >>> [round(result.objective, 6) for result in dcprog.path(valley, 3.0, a=[2.0, 4.0])]
    [-1.0, -4.0]
    """
    if not callable(family):
        raise DataError(f"family is {family!r}: pass a function of the data that returns a Family")

    def mark(factory: Callable[P, DCProgram]) -> SharingFactory[P, F]:
        marked = cast(SharingFactory[P, F], factory)
        marked.family = family
        return marked

    return mark
