"""Kernels chosen by the radius–margin bound: R²W² (Weston et al. 2001) and the optimal basis (Fortuna & Capson 2005).

Not DC programs: :mod:`dcprog.methods.radius_margin.bound` says why, and what is done instead.
"""

from dcprog.methods.radius_margin.basis import Basis, optimal_basis
from dcprog.methods.radius_margin.bound import Criterion, Evaluation, RadiusMargin, radius_margin, ridged
from dcprog.methods.radius_margin.kernels import Gaussian, Kernel, Linear, Polynomial
from dcprog.methods.radius_margin.machine import Machine, train
from dcprog.methods.radius_margin.parameters import Parameters, smallest_sufficient, tune_kernel
from dcprog.methods.radius_margin.penalised import penalised, r2w2_penalised
from dcprog.methods.radius_margin.r2w2 import backward_selection, forward_selection, r2w2, r2w2_path
from dcprog.methods.radius_margin.scaling import Scaling, minimise_scaling
from dcprog.methods.radius_margin.selection import Selection
from dcprog.methods.radius_margin.span import Span, span_bound

__all__ = [
    "Basis",
    "Criterion",
    "Evaluation",
    "Gaussian",
    "Kernel",
    "Linear",
    "Machine",
    "Parameters",
    "Polynomial",
    "RadiusMargin",
    "Scaling",
    "Selection",
    "Span",
    "backward_selection",
    "forward_selection",
    "minimise_scaling",
    "optimal_basis",
    "penalised",
    "r2w2",
    "r2w2_path",
    "r2w2_penalised",
    "radius_margin",
    "ridged",
    "smallest_sufficient",
    "span_bound",
    "train",
    "tune_kernel",
]
