"""Zero-norm minimisation by multiplicative updates: Weston, Elisseeff, Schölkopf & Tipping, JMLR 3 (2003).

Iterations are generators without end: take as many iterates as you want, or let :func:`converge` walk to the limit.
"""

from dcprog.methods.zero_norm.iterates import Iterate, converge
from dcprog.methods.zero_norm.kernel import KernelIterate, kernel_updates, polynomial_features, polynomial_kernel
from dcprog.methods.zero_norm.kernel_elimination import KernelElimination, kernel_rfe
from dcprog.methods.zero_norm.margin import NotSeparableError
from dcprog.methods.zero_norm.multiclass import multiclass_updates
from dcprog.methods.zero_norm.multiplicative import l1_updates, l2_updates, switching_updates
from dcprog.methods.zero_norm.selection import (
    arom_features,
    arom_iterates,
    arom_path,
    arom_reduced,
    corr_features,
    retrain,
    rfe_features,
    rfe_path,
)

__all__ = [
    "Iterate",
    "KernelElimination",
    "KernelIterate",
    "NotSeparableError",
    "arom_features",
    "arom_iterates",
    "arom_path",
    "arom_reduced",
    "converge",
    "corr_features",
    "kernel_rfe",
    "kernel_updates",
    "l1_updates",
    "l2_updates",
    "multiclass_updates",
    "polynomial_features",
    "polynomial_kernel",
    "retrain",
    "rfe_features",
    "rfe_path",
    "switching_updates",
]
