"""Solvers of convex subproblems, one file each, opened by name.

The package can be called: ``dcprog.solvers()`` lists every name with its problem classes, version, availability, and what to
install.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dcprog.solvers.available import SolverInfo


class _Listing(ModuleType):
    def __call__(self) -> list[SolverInfo]:
        from dcprog.solvers.available import solvers

        return solvers()


sys.modules[__name__].__class__ = _Listing
