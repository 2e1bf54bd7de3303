"""Names of variables, and values written back into a Pyomo model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, overload

import numpy as np
from pyomo.core.base.block import Block
from pyomo.core.base.var import Var


def load_values(model: Any, arrays: Mapping[str, np.ndarray]) -> None:
    """Set the variables of ``model`` that carry the names of ``arrays``; fixed ones stay."""
    for component in model.component_objects(Var, descend_into=Block):
        if component.name in arrays:
            for variable, value in zip(component.values(), np.ravel(arrays[component.name]), strict=True):
                if not variable.fixed:
                    variable.set_value(float(value), skip_validation=True)


class Names(Sequence[str]):
    """The names of Pyomo variables, and t[0], t[1], … for what stands behind them, up to ``n``.

    Each is made when somebody asks for it: it takes as long as all else that is read of a variable, and only errors and
    proofs show some.

    >>> import pyomo.environ as pyo
    >>> m = pyo.ConcreteModel(); m.x = pyo.Var([1, 2])
    >>> list(Names(tuple(m.x.values()), 3))
    ['x[1]', 'x[2]', 't[0]']
    """

    def __init__(self, variables: Sequence[Any], n: int | None = None) -> None:
        self._variables, self._n = variables, len(variables) if n is None else n

    def __len__(self) -> int:
        return self._n

    @overload
    def __getitem__(self, i: int) -> str: ...
    @overload
    def __getitem__(self, i: slice) -> list[str]: ...
    def __getitem__(self, i: int | slice) -> str | list[str]:
        places = range(self._n)[i]
        return self._name(places) if isinstance(places, int) else [self._name(k) for k in places]

    def _name(self, i: int) -> str:
        own = len(self._variables)
        return str(self._variables[i].name) if i < own else f"t[{i - own}]"
