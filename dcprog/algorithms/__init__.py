"""Algorithms by name. Each is an iterator of states; :func:`dcprog.solve` drives it to a result."""

from dcprog.algorithms.base import Algorithm
from dcprog.algorithms.dca import DCA
from dcprog.algorithms.sla import SLA
from dcprog.errors import unknown_name

ALGORITHMS: dict[str, type[Algorithm]] = {cls.name: cls for cls in (DCA, SLA)}


def get(name: str) -> type[Algorithm]:
    """The algorithm called ``name``."""
    if name not in ALGORITHMS:
        raise unknown_name("algorithm", name, ALGORITHMS)
    return ALGORITHMS[name]


__all__ = ["ALGORITHMS", "DCA", "SLA", "Algorithm", "get"]
