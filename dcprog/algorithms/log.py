"""A table of the iterations on stdout, as HiGHS and Ipopt print it.

>>> import pyomo.environ as pyo
>>> import dcprog
>>> m = pyo.ConcreteModel()
>>> m.x = pyo.Var(bounds=(-3, 2), initialize=1)
>>> log = Log()
>>> result = dcprog.solve(dcprog.DCProgram(m, g=0, h=m.x**2), solver="highs", callback=log)
 iter         objective              g              h       gap      step  residual  solver         seconds
    0  -1.000000000e+00   0.000000e+00   1.000000e+00
    1  -4.000000000e+00   0.000000e+00   4.000000e+00  ...
...
>>> log.close(result)
converged after ... iterations, ... s: objective -4, gap 0
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TextIO

from dcprog.algorithms.result import Record, Result, State

HEADER = "  ".join(
    [f"{'iter':>5}", f"{'objective':>16}", f"{'g':>13}", f"{'h':>13}"]
    + [f"{name:>8}" for name in ("gap", "step", "residual")]
    + [f"{'solver':10}", f"{'seconds':>8}"]
)
EVERY = 20
"""After so many lines the header is printed again."""

Callback = Callable[[State], bool | None]


class Log:
    """Prints a line for each state it is called with: a callback of :func:`dcprog.solve`.

    ``gap`` and ``step`` are those of the iteration that led to the line's point, ``residual`` is the largest of its verified
    residuals, ``seconds`` counts from the start. Whatever ``beside`` answers (stop, or go on) is what the log answers.

    Parameters
    ----------
    beside : callable, optional
        Another callback, called after the line is printed.
    stream : file, optional
        Where to print; by default what ``sys.stdout`` is at that time.
    """

    def __init__(self, beside: Callback | None = None, stream: TextIO | None = None) -> None:
        self._beside, self._stream = beside, stream
        self._lines, self._seconds = 0, 0.0

    def __call__(self, state: State) -> bool | None:
        if state.iteration == 0:  # with several starts there are several tables
            self._lines, self._seconds = 0, 0.0
        if self._lines % EVERY == 0:
            self._print(HEADER)
        self._lines, self._seconds = self._lines + 1, self._seconds + state.seconds
        self._print(line(state, self._seconds))
        for why in state.escalations:
            self._print(f"       {why}")
        return None if self._beside is None else self._beside(state)

    def close(self, result: Result) -> None:
        """The last lines: how it ended, and what the result has to say."""
        self._print(summary(result))
        for message in result.messages:
            self._print(f"  {message}")

    def _print(self, text: str) -> None:
        print(text, file=self._stream or sys.stdout, flush=True)


def line(state: State, seconds: float) -> str:
    """One state in one line.

    >>> import numpy as np
    >>> line(State(iteration=3, x=np.zeros(1), f=0.25, g=0.5, h=0.25, gap=1e-3, step=0.5, solver="highs"), seconds=0.1)
    '    3   2.500000000e-01   5.000000e-01   2.500000e-01   1.0e-03   5.0e-01         –  highs          0.100'
    """
    values = f"{state.iteration:5}  {state.f:16.9e}  {state.g:13.6e}  {state.h:13.6e}"
    if state.iteration == 0:
        return values
    record = Record.of(state)
    residuals = [r for r in (record.primal_residual, record.dual_residual, record.gap_residual) if r is not None]
    sizes = (state.gap, state.step, max(residuals, default=None))
    shown = "  ".join(f"{'–' if size is None else format(size, '.1e'):>8}" for size in sizes)
    return f"{values}  {shown}  {state.solver or '–':10}  {seconds:8.3f}"


def summary(result: Result) -> str:
    """One line about the end of a run."""
    parts = {"objective": f"{result.objective:.10g}", "gap": "–" if result.gap is None else f"{result.gap:.2g}"}
    violation = getattr(result, "violation", None)
    if violation:
        parts["violation"] = f"{violation:.2g}"
    found = ", ".join(f"{name} {value}" for name, value in parts.items())
    return f"{result.status} after {result.iterations} iterations, {result.timings['total']:.3f} s: {found}"
