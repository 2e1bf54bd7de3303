"""Solvers of convex problems, opened by name: ``available_solvers()`` lists them.

``adapters`` has the foreign ones, ``reductions`` our own, one file each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dcprog.solvers.available import SolverInfo as SolverInfo
    from dcprog.solvers.available import available_solvers as available_solvers

__all__ = ["SolverInfo", "available_solvers"]


def __getattr__(name: str) -> Any:
    """Imported on first use."""
    if name in __all__:
        from dcprog.solvers import available

        return getattr(available, name)
    raise AttributeError(f"module 'dcprog.solvers' has no attribute {name!r}")
