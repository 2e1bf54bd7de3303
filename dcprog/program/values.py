"""Values written back into a Pyomo model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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
