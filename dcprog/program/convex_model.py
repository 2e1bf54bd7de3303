"""A Pyomo model that was read once: what the programs on it share."""

from __future__ import annotations

import time
from collections.abc import Iterable
from functools import partial
from typing import Any

from dcprog.errors import ModelError
from dcprog.program.claims import Finding, Samples, check_functions, check_set, together
from dcprog.program.compile import Compiled, CompiledModel, compile_model
from dcprog.program.dc_claims import check_dc


class ConvexModel:
    """The convex set C of a Pyomo model as arrays, checked to be convex. Nothing in it changes afterwards.

    ``convex`` lists the non-linear, non-quadratic constraints that the user declares convex.
    """

    def __init__(self, model: Any, assume_convex: Iterable[Any] = ()) -> None:
        began = time.perf_counter()
        if isinstance(model, type) or not hasattr(model, "component_data_objects"):
            raise ModelError(
                f"expected a Pyomo ConcreteModel, got {type(model).__name__}: pass the model first, then g and h"
            )
        self.model = model
        self.compiled = self._compile(model, assume_convex)
        self.points = Samples(partial(self.compiled.with_functions, 0, 0))
        found = self._check()
        self.compiled = self.compiled.within(found.implied)
        self.assumptions = found.assumptions
        """What is taken as convex without a proof."""
        self.proofs = found.proofs
        """Why the constraints are convex."""
        self.compile_seconds = time.perf_counter() - began

    def _compile(self, model: Any, assume_convex: Iterable[Any]) -> CompiledModel:
        return compile_model(model, assume_convex)

    def _check(self) -> Finding:
        """What is proved and assumed of the constraints."""
        blocks = self.compiled.dc.blocks
        if not self.compiled.feasible_set.constraints and not blocks:
            return Finding()  # a polyhedron
        return together(check_set(self.points), check_dc(self.points, blocks))

    def check_functions(self, compiled: Compiled) -> Finding:
        """What is proved and assumed of g and h on this model."""
        return check_functions(compiled, self.points)
