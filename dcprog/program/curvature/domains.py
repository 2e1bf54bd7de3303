"""What a node asks of its arguments so that it has a value."""

from __future__ import annotations

import numpy as np

from dcprog.program.curvature import elementary
from dcprog.program.curvature.enclosures import has_pole
from dcprog.program.curvature.nodes import Node


def demanded(node: Node) -> list[tuple[Node, float, float]]:
    """The arguments with the interval that they have to lie in; an empty one stands for a pole at 0."""
    if node.kind == "product":
        bad = [(b, p) for b, p in node.factors if has_pole(b, p)]
        return [(b, 0.0, 0.0 if float(p).is_integer() else np.inf) for b, p in bad]
    low, high = elementary.ELEMENTARY[node.data].domain if node.data in elementary.ELEMENTARY else (-np.inf, np.inf)
    return [(node.args[0], low, high)]
