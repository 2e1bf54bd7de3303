"""Algorithms by name. Each is an iterator of states; :func:`dcprog.solve` drives it to a result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dcprog.algorithms.accelerated import Accelerated
from dcprog.algorithms.base import Algorithm
from dcprog.algorithms.boosted import Boosted
from dcprog.algorithms.dca import DCA
from dcprog.algorithms.dstationary import DStationary
from dcprog.algorithms.escaping import Escaping
from dcprog.algorithms.inertial import Inertial
from dcprog.algorithms.penalty import Penalty
from dcprog.algorithms.proximal import Proximal
from dcprog.algorithms.result import State
from dcprog.algorithms.sla import SLA
from dcprog.algorithms.tangents import Tangents
from dcprog.errors import DataError, unknown_name
from dcprog.program.dc_program import DCProgram

ALGORITHMS: dict[str, type[Algorithm]] = {
    cls.name: cls for cls in (DCA, SLA, Boosted, Accelerated, Inertial, Proximal, DStationary, Escaping, Penalty, Tangents)
}


def get(name: str) -> type[Algorithm]:
    """The algorithm called ``name``."""
    if name not in ALGORITHMS:
        raise unknown_name("algorithm", name, ALGORITHMS)
    return ALGORITHMS[name]


def register(cls: type[Algorithm]) -> type[Algorithm]:
    """Make an algorithm of your own known by its ``name``, here and on the command line; usable as a decorator.

    >>> @register
    ... class Twin(DCA):
    ...     name = "twin"
    >>> get("twin") is Twin
    True
    """
    if not (isinstance(cls, type) and issubclass(cls, Algorithm)):
        raise DataError(f"got {cls!r}, expected a class derived from dcprog.algorithms.Algorithm")
    if not isinstance(getattr(cls, "name", None), str):
        raise DataError(f'{cls.__name__} has no name: give it one, as in name = "mine"')
    ALGORITHMS[cls.name] = cls
    return cls


def choose(program: DCProgram) -> str:
    """What ``"auto"`` takes: the penalty method where there are DC constraints, else DCA. In the program of a plain model,
    whose decomposition nobody chose, tangents of the DC constraints come before the penalty, and DCA leaves critical points.
    """
    if program.compiled.dc is not None:
        return Penalty.name if program.origin is None else Tangents.name
    return DCA.name if program.origin is None else Escaping.name


def maker(algorithm: Any) -> Callable[..., Algorithm]:
    """What makes the algorithm of a program and settings: ``algorithm`` is a name, a class or an instance."""
    if isinstance(algorithm, Algorithm):
        return algorithm.on
    if isinstance(algorithm, type) and issubclass(algorithm, Algorithm):
        return algorithm
    if isinstance(algorithm, str):
        return get(algorithm)
    raise DataError(f"algorithm is {algorithm!r}: pass a name such as 'dca', a class derived from Algorithm, or an instance")


__all__ = [
    "ALGORITHMS",
    "DCA",
    "SLA",
    "Accelerated",
    "Algorithm",
    "Boosted",
    "DStationary",
    "Escaping",
    "Inertial",
    "Penalty",
    "Proximal",
    "State",
    "get",
    "maker",
    "register",
]
