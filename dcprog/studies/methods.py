"""The methods of Tables II to VI, each a function of what it may see of a split.

FSV and its quadratic relative take the mean training error, the SVMs the sum that (3) prints: so the published numbers of
features, and of support vectors, come out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from dcprog.algorithms import DCA
from dcprog.algorithms.path import path
from dcprog.algorithms.result import Result, Status
from dcprog.algorithms.run import solve
from dcprog.errors import unknown_name
from dcprog.methods.kernel_svm import kernel_svm
from dcprog.methods.svm_ranking import svm_ranking as ranked
from dcprog.models import alignment as alignment_program
from dcprog.models import fsv as fsv_program
from dcprog.models import l2_l0_svm, l2_l1_svm, rlp
from dcprog.models import quadratic_fsv as quadratic_fsv_program
from dcprog.studies.protocol import Chosen, Fit, Method, Part, Training, choice, explored, timed, validated

ENDED = (Status.CONVERGED, Status.STOPPED_BY_RULE)
LONGEST = 20_000_000
"""Iterations of libsvm, which has no limit of its own; on the sets of Table I, rescaled, it takes up to 1.4 million."""


def of(result: Result) -> Fit:
    """What a solution means. A run that Ctrl-C ended is no result; one that the paper's rule ended has converged for it."""
    if result.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    history = tuple(record.f for record in result.history)
    return Fit(result.rule, result.rule.selected(), result.iterations, history=history, converged=result.status in ENDED)


def along(factory: Callable[..., Any], part: Part, **grid: Any) -> Iterator[Fit]:
    """A DC program at every point of the grid, with solvers that stay warm."""
    return map(of, path(factory, part.X, part.y, stop=DCA.default_rule, **grid))


def linear_svms(part: Part, lam: Sequence[float]) -> Iterator[Fit]:
    """The linear SVM (3) by libsvm, C = (1−λ)/λ."""
    from sklearn.svm import SVC

    for value in lam:
        machine = SVC(kernel="linear", C=(1.0 - value) / value, max_iter=LONGEST).fit(part.X, part.y)
        used = np.flatnonzero(np.abs(machine.coef_[0]) > 1e-8)
        yield Fit(machine, used, support=len(machine.support_), converged=machine.fit_status_ == 0)


def gaussian_svms(part: Part, lam: Sequence[float]) -> Iterator[Fit]:
    """The SVM without bias and with the Gaussian kernel (10), σ = √d/2."""
    for value in lam:
        yield weighted_svm(part, None, value, 0, ())


def weighted_svm(part: Part, theta: Any, lam: float, iterations: int, history: tuple[float, ...]) -> Fit:
    rule = kernel_svm(part.X, part.y, theta, C=(1.0 - lam) / lam)
    return Fit(rule, rule.kernel.selected(), iterations, rule.n_support, history)


def aligned_svms(part: Part, lam: Sequence[float], lam_svm: float) -> Iterator[Fit]:
    """Feature weights θ by kernel-target alignment (12), then the SVM with K_θ."""
    for result in path(alignment_program, part.X, part.y, lam=list(lam), stop=DCA.default_rule):
        fit = of(result)
        yield weighted_svm(part, result["theta"], lam_svm, fit.iterations, fit.history)


def robust_lp(training: Training) -> Chosen:
    """RLP (1), which has no parameter."""
    fit, seconds = timed(lambda: of(solve(rlp(*training.whole))))
    return Chosen(fit, {}, (), seconds)


def linear_svm(training: Training) -> Chosen:
    return validated(training, linear_svms, {"lam": training.grids.lam_svm}, ["lam"])


def svm_ranking(training: Training) -> Chosen:
    """The filter: λ is that of the linear SVM with all features, then features enter by rank while the error drops."""
    trials = tuple(explored(training, linear_svms, {"lam": training.grids.lam_svm}))
    best = choice(trials, ["lam"])

    def train() -> Fit:
        ranking = ranked(*training.fit, *training.validation, lam=best["lam"])
        return Fit(ranking.rule, ranking.selected)

    fit, seconds = timed(train)
    return Chosen(fit, best, trials, seconds)


def fsv(training: Training) -> Chosen:
    return validated(training, partial(along, fsv_program), {"lam": training.grids.lam_fsv}, ["lam"])


def quadratic_fsv(training: Training) -> Chosen:
    return validated(training, partial(along, quadratic_fsv_program), {"lam": training.grids.lam_fsv}, ["lam"])


def combined(factory: Callable[..., Any], training: Training) -> Chosen:
    """ℓ2-ℓ1 and ℓ2-ℓ0: equal errors go to the larger (ν, µ), ν first."""
    grids = training.grids
    return validated(training, partial(along, factory), {"mu": grids.mu, "nu": grids.nu}, ["nu", "mu"])


def gaussian_svm(training: Training) -> Chosen:
    return validated(training, gaussian_svms, {"lam": training.grids.lam_svm}, ["lam"])


def alignment(training: Training, lam: Sequence[float] | None = None) -> Chosen:
    """Kernel-target alignment; the SVM's λ is chosen first, with all features ("independently of the selected features")."""
    of_svm = choice(tuple(explored(training, gaussian_svms, {"lam": training.grids.lam_svm})), ["lam"])
    values = training.grids.lam_alignment if lam is None else lam
    chosen = validated(training, partial(aligned_svms, lam_svm=of_svm["lam"]), {"lam": values}, ["lam"])
    return Chosen(chosen.fit, {**chosen.parameters, "lam_svm": of_svm["lam"]}, chosen.trials, chosen.seconds)


@dataclass(frozen=True)
class Entry:
    """A method with its name in the tables; ``cost(n, d)`` guesses the seconds of a cell, ``most_features`` limits d."""

    title: str
    run: Method
    cost: Callable[[int, int], float]
    most_features: int | None = None


METHODS: dict[str, Entry] = {
    "rlp": Entry("RLP", robust_lp, lambda n, d: 1e-5 * n * d),
    "svm": Entry("linear SVM", linear_svm, lambda n, d: 1e-5 * n * d),
    "svm_ranking": Entry("SVM ranking", svm_ranking, lambda n, d: 2e-5 * n * d),
    "fsv": Entry("FSV", fsv, lambda n, d: 2e-5 * n * d),
    "l2_l1_svm": Entry("ℓ2-ℓ1-SVM", partial(combined, l2_l1_svm), lambda n, d: 0.8 + 1e-4 * n * d),
    "l2_l0_svm": Entry("ℓ2-ℓ0-SVM", partial(combined, l2_l0_svm), lambda n, d: 1.0 + 6e-4 * n * d),
    "gaussian_svm": Entry("Gaussian SVM", gaussian_svm, lambda n, d: 1e-8 * n**3),
    "quadratic_fsv": Entry("quadratic FSV", quadratic_fsv, lambda n, d: 3e-8 * n * d**4, most_features=60),
    "alignment": Entry("kernel-target alignment", alignment, lambda n, d: 2e-8 * n**3),
    "alignment_0": Entry("alignment, λ = 0", partial(alignment, lam=(0.0,)), lambda n, d: 1e-8 * n**3),
}


def find(name: str) -> Entry:
    """The method called ``name``.

    >>> find("fvs")
    Traceback (most recent call last):
    dcprog.errors.UnknownNameError: unknown method 'fvs': did you mean 'fsv'? Known: alignment, ...
    """
    if name not in METHODS:
        raise unknown_name("method", name, METHODS)
    return METHODS[name]
