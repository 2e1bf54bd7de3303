"""How a run converged: the objective and the certificate over the iterations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dcprog.algorithms.result import Result
from dcprog.errors import DataError
from dcprog.plots.axes import axes_for, fitted, kind
from dcprog.typing import Vector

ROUNDING = 1e-16
"""The floor of the axis where no gap is positive."""


@dataclass
class ConvergenceDisplay:
    """f(x_k) over the iterations k, and the gap of criticality of x_k on a second, logarithmic axis.

    A gap of 0, which a logarithm does not show, is a hollow triangle at the floor of the axis, where the tick says 0.

    >>> import dcprog, pyomo.environ as pyo
    >>> from dcprog.plots import new_axes
    >>> m = pyo.ConcreteModel(); m.x = pyo.Var(bounds=(0, 2), initialize=1)
    >>> result = dcprog.solve(dcprog.DCProgram(m, g=m.x**4, h=3 * m.x**2 + m.x))
    >>> ConvergenceDisplay.from_result(result, ax=new_axes()).ax_.get_ylabel()
    'objective f'
    """

    iterations: Sequence[int]
    objectives: Sequence[float]
    gaps: Sequence[float]
    """NaN where there is none."""
    title: str = ""
    ax_: Any = field(default=None, init=False, repr=False)
    gap_ax_: Any = field(default=None, init=False, repr=False)
    figure_: Any = field(default=None, init=False, repr=False)

    @classmethod
    def from_result(cls, result: Result, *, ax: Any = None) -> ConvergenceDisplay:
        """The history of ``result``, drawn on ``ax``, by default on axes of a new figure."""
        if not isinstance(result, Result):
            hint = "draw estimators with from_estimator" if hasattr(result, "fit") else "pass what dcprog.solve returns"
            raise DataError(f"result is {kind(result)}, expected a Result: {hint}")
        if not result.history:
            raise DataError(f"the result of {result.name or 'this run'} has no history to draw: pass one that DCA gave")
        shown = cls(
            [record.iteration for record in result.history],
            [record.f for record in result.history],
            _gaps_of_points(result),
            f"{result.name or 'DC program'}: {result.status}",
        )
        return shown.plot(ax)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> ConvergenceDisplay:
        """The run that trained ``estimator``, of those that a DC program gives."""
        result = fitted(estimator, "result_")
        if not (isinstance(result, Result) and result.history):
            raise DataError(
                f"{type(estimator).__name__} is not trained by one DC program, its result_ has no history to draw: "
                "pass FSV, L2L0SVM, QuadraticFSV, AlignmentSVM, or another that DCA trains"
            )
        return cls.from_result(result, ax=ax)

    def plot(self, ax: Any = None) -> ConvergenceDisplay:
        self.ax_ = ax = axes_for(ax)
        self.figure_ = ax.figure
        self.gap_ax_ = right = ax.twinx()
        handles = ax.plot(self.iterations, self.objectives, "o-", color="C0", label="objective f")
        handles += self._draw_gaps(right)
        ax.set(xlabel="iteration", ylabel="objective f")
        ax.set_title(self.title, parse_math=False)
        right.set_ylabel("gap")
        ax.xaxis.get_major_locator().set_params(integer=True)
        right.legend(handles=handles)  # on the axes on top, or the curve of the gap would cross it
        return self

    def _draw_gaps(self, right: Any) -> list[Any]:
        """The curve of the gaps, and the marks on the floor; returns what the legend lists."""
        gaps = np.asarray(self.gaps, dtype=float)
        known, lost = np.isfinite(gaps), gaps <= 0
        if not known.any():
            return []
        right.set_yscale("log")
        floor = floor_of(gaps)
        k, drawn = np.asarray(self.iterations)[known], np.where(lost, floor, gaps)[known]
        right.plot(k, drawn, "--", color="C1", zorder=1)
        handles: list[Any] = right.plot(k[~lost[known]], drawn[~lost[known]], "s", color="C1", label="gap")
        if lost.any():
            label = "gap 0, at the floor of the axis" if (gaps[lost] == 0).all() else "gap ≤ 0, at the floor of the axis"
            look = {"marker": "v", "ms": 8, "mfc": "white", "mec": "C1", "ls": "none"}
            handles += right.plot(k[lost[known]], drawn[lost[known]], label=label, **look)
            mark_floor(right, floor, float(drawn.max()))
        return handles


def plot_convergence(result: Result, ax: Any = None) -> Any:
    """The axes of a :class:`ConvergenceDisplay` of ``result``."""
    return ConvergenceDisplay.from_result(result, ax=ax).ax_


def floor_of(values: Vector) -> float:
    """A power of ten clearly below all positive values, where those are drawn that a logarithmic axis does not show.

    >>> floor_of(np.array([0.5, 3e-4, 0.0])), floor_of(np.array([0.0, np.nan]))
    (1e-05, 1e-16)
    """
    positive = values[values > 0]
    return float(10.0 ** (np.floor(np.log10(positive.min())) - 1)) if positive.size else ROUNDING


def _gaps_of_points(result: Result) -> list[float]:
    """The gap of each x_k. A record has that of the iterate before it; the one of the last point is the result's."""
    gaps = [*(record.gap for record in result.history[1:]), result.gap][: len(result.history)]
    return [np.nan if gap is None else gap for gap in gaps]


def mark_floor(ax: Any, floor: float, largest: float) -> None:
    """Limits of the logarithmic axis around the floor, a line along it, and a tick there that says 0."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, LogFormatterSciNotation, LogLocator, NullLocator

    top = max(largest, 10.0 * floor) * 3.0
    powers = LogLocator(numticks=7).tick_values(10.0 * floor, top)
    power = LogFormatterSciNotation()
    power.create_dummy_axis()
    ax.set_ylim(floor / 3.0, top)
    ax.yaxis.set_major_locator(FixedLocator([floor, *(value for value in powers if floor < value <= top)]))
    ax.yaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: "0" if value <= floor else power(value)))
    ax.axhline(floor, color="0.5", linewidth=0.8, linestyle=":", zorder=0)
