"""What the displays share: axes with room for their labels, ranges with a margin, errors that name what came."""

from __future__ import annotations

from typing import Any

import numpy as np

from dcprog.errors import DataError, MissingExtraError
from dcprog.typing import Vector

POINTS = 72.0
"""Points, the unit of font sizes, in an inch."""


def new_axes(width: float = 7.0, height: float = 4.0) -> Any:
    """Axes of a figure that no window shows, to be saved with ``axes.figure.savefig(…)``; sizes in inches."""
    require_matplotlib()
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained").add_subplot()


def require_matplotlib() -> None:
    """MissingExtraError if matplotlib is not installed."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise MissingExtraError("plots need matplotlib, which is not installed: pip install 'dcprog[plot]'") from None


def axes_for(ax: Any, width: float = 7.0, height: float = 4.0) -> Any:
    """``ax``, or axes of a new figure of pyplot's. Labels get the room they need, unless the figure arranges itself."""
    if ax is not None:
        if not hasattr(ax, "scatter"):
            raise DataError(f"ax is {kind(ax)}, expected axes: pass some, as pyplot.subplots() gives")
        _make_room(ax.get_figure())
        return ax
    require_matplotlib()
    from matplotlib import pyplot

    return pyplot.figure(figsize=(width, height), layout="constrained").add_subplot()


def _make_room(figure: Any) -> None:
    """Constrained layout for a figure without any, or it would cut what is wider than its margins."""
    from matplotlib import rcParams

    sides = ("left", "right", "bottom", "top")
    untouched = all(getattr(figure.subplotpars, side) == rcParams[f"figure.subplot.{side}"] for side in sides)
    if figure.get_layout_engine() is None and untouched:
        figure.set_layout_engine("constrained")


def size_in_points(ax: Any) -> tuple[float, float]:
    """Width and height of the axes."""
    box = ax.get_window_extent().transformed(ax.figure.dpi_scale_trans.inverted())
    return POINTS * box.width, POINTS * box.height


def padded(values: Vector) -> tuple[float, float]:
    """The range of the values with a margin.

    >>> padded(np.array([0.0, 10.0])), padded(np.array([3.0]))
    ((-0.5, 10.5), (2.0, 4.0))
    """
    low, high = float(np.min(values)), float(np.max(values))
    margin = 0.05 * (high - low) or 1.0
    return low - margin, high + margin


def kind(thing: Any) -> str:
    """How errors call what they did not expect."""
    return f"of type {type(thing).__name__}"


def fitted(estimator: Any, attribute: str, hint: str = "pass a fitted estimator of dcprog.estimators") -> Any:
    """An attribute that a fitted estimator has."""
    if not hasattr(estimator, "fit"):
        raise DataError(f"estimator is {kind(estimator)}, expected an estimator: {hint}")
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(estimator)
    if not hasattr(estimator, attribute):
        raise DataError(f"{type(estimator).__name__} has no {attribute}: {hint}")
    return getattr(estimator, attribute)
