"""Pictures (extra ``[plot]``), scikit-learn style: a Display holds what is drawn, ``plot(ax)`` draws it; axes in and out."""

from dcprog.plots.axes import new_axes, require_matplotlib
from dcprog.plots.boundary import BoundaryDisplay
from dcprog.plots.convergence import ConvergenceDisplay, plot_convergence
from dcprog.plots.path import PathDisplay

__all__ = [
    "BoundaryDisplay",
    "ConvergenceDisplay",
    "PathDisplay",
    "new_axes",
    "plot_convergence",
    "require_matplotlib",
]
