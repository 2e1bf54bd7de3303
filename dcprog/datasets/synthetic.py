"""The generators as data sets with a name: which size and seed they have unless told otherwise."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dcprog.datasets import generators
from dcprog.datasets.generators import Samples
from dcprog.errors import unknown_name


@dataclass(frozen=True)
class Synthetic:
    """A generator, the number of samples that its paper draws, and the features they have."""

    make: Callable[..., Samples]
    n: int
    d: int
    title: str
    source: str

    def draw(self, parameters: dict[str, Any]) -> Samples:
        """Samples of seed 0 in the paper's number; ``parameters`` are those of the generator, and take precedence."""
        known = list(inspect.signature(self.make).parameters)
        for name in parameters:
            if name not in known:
                raise unknown_name(f"parameter of {self.make.__name__}", name, known)
        return self.make(**{"n": self.n, "seed": 0, **parameters})


_2001, _2003, _NEUMANN, _FORTUNA = "Weston et al. 2001", "Weston et al. 2003", "Neumann et al. 2005", "Fortuna & Capson 2005"
SYNTHETIC: dict[str, Synthetic] = {
    "weston_linear": Synthetic(generators.weston_linear, 50, 202, "six relevant features, redundant", _2001),
    "weston_nonlinear": Synthetic(generators.weston_nonlinear, 50, 52, "two relevant features, not linear", _2001),
    "sparse_polynomial": Synthetic(generators.sparse_polynomial, 100, 10, "the sign of x₁x₂ + x₃", _2003),
    "circle": Synthetic(generators.circle, 64, 2, "inside and outside of a circle", _NEUMANN),
    "chess_board": Synthetic(generators.chess_board, 64, 2, "a board of four fields", _NEUMANN),
    "organs": Synthetic(generators.organs, 1000, 650, "histograms, in place of the CT scans", _NEUMANN),
    "difficult": Synthetic(generators.difficult, 50, 30, "two stretched normal classes", _FORTUNA),
    "banana": Synthetic(generators.banana, 50, 100, "two banana-shaped classes", _FORTUNA),
    "highleyman": Synthetic(generators.highleyman, 50, 100, "two normal classes, one narrow", _FORTUNA),
    "lithuanian": Synthetic(generators.lithuanian, 50, 100, "two arcs", _FORTUNA),
}
