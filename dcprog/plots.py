"""Pictures of runs (extra ``[plot]``): matplotlib axes in and out."""

from __future__ import annotations

from typing import Any

import numpy as np

from dcprog.errors import MissingExtraError
from dcprog.result import Result


def plot_convergence(result: Result, ax: Any = None) -> Any:
    """f(x_k) over the iterations k on ``ax``, and the gap of criticality on a second, logarithmic axis.

    Parameters
    ----------
    result : Result
    ax : matplotlib.axes.Axes, optional
        By default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The axes with the objective.

    Examples
    --------
    >>> import dcprog, pyomo.environ as pyo
    >>> m = pyo.ConcreteModel(); m.x = pyo.Var(bounds=(0, 2), initialize=1)
    >>> result = dcprog.solve(dcprog.DCProgram(m, g=m.x**4, h=3 * m.x**2 + m.x))
    >>> plot_convergence(result, new_axes()).get_ylabel()
    'objective f'
    """
    if ax is None:
        require_matplotlib()
        from matplotlib import pyplot

        ax = pyplot.figure().add_subplot()
    iterations = [record.iteration for record in result.history]
    gaps = [np.nan if record.gap is None or record.gap <= 0 else record.gap for record in result.history]
    (f,) = ax.plot(iterations, [record.f for record in result.history], "o-", color="C0", label="objective f")
    right = ax.twinx()
    (gap,) = right.plot(iterations, gaps, "s--", color="C1", label="gap")
    if np.isfinite(gaps).any():
        right.set_yscale("log")
    ax.set(xlabel="iteration", ylabel="objective f", title=f"{result.name or 'DC program'}: {result.status}")
    right.set_ylabel("gap")
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.legend(handles=[f, gap])
    return ax


def new_axes() -> Any:
    """Axes of a figure that no window shows, to be saved with ``axes.figure.savefig(…)``."""
    require_matplotlib()
    from matplotlib.figure import Figure

    return Figure(figsize=(7, 4), layout="constrained").add_subplot()


def require_matplotlib() -> None:
    """MissingExtraError if matplotlib is not installed."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise MissingExtraError("plots need matplotlib, which is not installed: pip install 'dcprog[plot]'") from None
