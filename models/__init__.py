"""The formulations of the papers as Pyomo model factories: ``factory(X, y, **parameters) → DCProgram``."""

from collections.abc import Callable

from dcprog.models.alignment import alignment
from dcprog.models.fsv import fsv
from dcprog.models.kernel_svm import KernelRule, WeightedKernel, kernel_svm
from dcprog.models.l1_svm import l1_svm
from dcprog.models.l2_l0_svm import l2_l0_svm
from dcprog.models.l2_l1_svm import l2_l1_svm, l2_l1_svm_dual
from dcprog.models.quadratic_fsv import quadratic_fsv, quadratic_l2_l0_svm, quadratic_l2_l1_svm
from dcprog.models.rlp import rlp
from dcprog.models.rules import LinearRule
from dcprog.models.svm import svm, svm_dual
from dcprog.models.svm_ranking import Ranking, svm_ranking
from dcprog.program import DCProgram

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
        alignment,
    )
}
"""Every factory by the name that the command line knows it by."""

__all__ = [*FACTORIES, "FACTORIES", "KernelRule", "LinearRule", "Ranking", "WeightedKernel", "kernel_svm", "svm_ranking"]
