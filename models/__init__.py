"""The formulations of the papers as Pyomo model factories: ``factory(X, y, **parameters) → DCProgram``.

Where only numbers change from one program to the next, ``factory.family(X, y, …)`` is the compiled model they share. The
factory takes it in the place of (X, y); :func:`dcprog.path` makes use of that.
"""

from collections.abc import Callable

from dcprog.program.dc_program import DCProgram

from .alignment import alignment
from .arom import arom, l2_arom, multiclass_arom
from .fsv import fsv
from .kernel_svm import kernel_svm_dual
from .l1_svm import l1_svm
from .l2_l0_svm import l2_l0_svm
from .l2_l1_svm import l2_l1_svm, l2_l1_svm_dual
from .quadratic_fsv import quadratic_fsv, quadratic_l2_l0_svm, quadratic_l2_l1_svm
from .rlp import rlp
from .separating_fsv import separating_fsv
from .sparse_regression import sparse_regression
from .svm import svm, svm_dual
from .zero_norm_regression import zero_norm_regression

FACTORIES: dict[str, Callable[..., DCProgram]] = {
    factory.__name__: factory
    for factory in (
        rlp,
        svm,
        svm_dual,
        l1_svm,
        fsv,
        l2_l1_svm,
        l2_l1_svm_dual,
        l2_l0_svm,
        quadratic_fsv,
        quadratic_l2_l0_svm,
        quadratic_l2_l1_svm,
        kernel_svm_dual,
        alignment,
        arom,
        l2_arom,
        multiclass_arom,
        sparse_regression,
        zero_norm_regression,
    )
}
"""The factories by the names that the command line knows; not those that take separable classes only, separating_fsv."""

__all__ = [
    "FACTORIES",
    "alignment",
    "arom",
    "fsv",
    "kernel_svm_dual",
    "l1_svm",
    "l2_arom",
    "l2_l0_svm",
    "l2_l1_svm",
    "l2_l1_svm_dual",
    "multiclass_arom",
    "quadratic_fsv",
    "quadratic_l2_l0_svm",
    "quadratic_l2_l1_svm",
    "rlp",
    "separating_fsv",
    "sparse_regression",
    "svm",
    "svm_dual",
    "zero_norm_regression",
]
