"""Test errors over the number of training points: Figure 1 of Weston et al. (2001), and Figure 1 of Weston et al. (2003)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from dcprog.datasets import generators
from dcprog.methods.filters import kolmogorov_smirnov_score, pearson_score
from dcprog.methods.radius_margin import Kernel, Linear, Polynomial, forward_selection, r2w2, span_bound, train
from dcprog.methods.zero_norm import kernel_updates
from dcprog.studies.cells import Result, generator
from dcprog.studies.figures import line_figure, looks
from dcprog.studies.illustration import Found, Illustration, average
from dcprog.studies.papers.trials import drawn, wrong

TRIALS, TESTS = 30, 500

# Weston et al. (2001), section 5.1

SIZES_2001 = (20, 30, 40, 50, 75, 100)
RIDGE = 0.1
PROBLEMS: dict[str, tuple[Callable[..., Any], Kernel]] = {
    "linear": (generators.weston_linear, Linear()),
    "nonlinear": (generators.weston_nonlinear, Polynomial(degree=2)),
}


def by_filter(score: Callable[..., Any], X: Any, y: Any, kernel: Kernel) -> Any:
    return np.argsort(-score(X, y), kind="stable")[:2]


SELECT: dict[str, Callable[..., Any]] = {
    "svm": lambda X, y, kernel: np.arange(X.shape[1]),
    "pearson": partial(by_filter, pearson_score),
    "kolmogorov_smirnov": partial(by_filter, kolmogorov_smirnov_score),
    "r2w2": lambda X, y, kernel: r2w2(X, y, 2, kernel, ridge=RIDGE).selected,
    "span": lambda X, y, kernel: r2w2(X, y, 2, kernel, ridge=RIDGE, criterion=span_bound).selected,
    "forward": lambda X, y, kernel: forward_selection(X, y, 2, kernel, ridge=RIDGE).selected,
}
TITLES_2001 = {
    "svm": "SVM",
    "pearson": "correlation coefficients",
    "kolmogorov_smirnov": "Kolmogorov–Smirnov",
    "r2w2": "R²W² by gradient",
    "span": "span bound by gradient",
    "forward": "R²W², forward selection",
}


def toy(panel: str, method: str, trial: int) -> Result:
    """Errors of the machine on two features, in percent of the test points, by number of training points."""
    generate, kernel = PROBLEMS[panel]
    errors = []
    for n in SIZES_2001:
        rng = generator("weston2001", "figure-1", panel, n, trial)
        sample = drawn(*generate(n, seed=rng), *generate(TESTS, seed=rng))
        features = SELECT[method](sample.X, sample.y, kernel)
        machine = train(sample.X[:, features], sample.y, kernel, ridge=RIDGE)
        errors.append(wrong(machine.predict(sample.T[:, features]), sample.labels))
    return {"n": list(SIZES_2001), "error": errors}


# Weston et al. (2003), section 5.1

SIZES_2003 = (20, 50, 75, 100)
TARGETS: dict[str, str | float] = {
    "(a) x₁x₂ + x₃": "product", "(b) x₁": "linear", "(c) 95 % sparse": 0.95, "(d) 90 % sparse": 0.9,
    "(e) 80 % sparse": 0.8, "(f) 0 % sparse": 0.0,
}  # fmt: skip
STEPS, SETTLED = 50, 1e-3
"""ℓ2-AROM ends after so many updates, or when one moves the classifier by no more."""
TITLES_2003 = {"svm": "SVM", "l2_arom": "ℓ2-AROM", "linear_svm": "linear SVM"}


def sparse_targets(panel: str, method: str, trial: int) -> Result:
    """Errors on further points of the same target, in percent; polynomials of degree 2 but for the linear SVM."""
    errors = []
    for n in SIZES_2003:
        X, y = generators.sparse_polynomial(
            n + TESTS, TARGETS[panel], seed=generator("weston2003", "figure-1", panel, n, trial)
        )
        while len(set(y[:n])) < 2:  # points of one class only: no classifier
            X, y = X[::-1], y[::-1]
        size = np.abs(X[:n]).max()
        machine = MACHINES[method](X[:n] / size, y[:n])
        errors.append(wrong(machine.predict(X[n:] / size), y[n:]))
    return {"n": list(SIZES_2003), "error": errors}


def polynomial_svm(X: Any, y: Any) -> Any:
    """The first iterate of ℓ2-AROM is the SVM."""
    return next(kernel_updates(X, y, 2))


def sparse_polynomial_svm(X: Any, y: Any) -> Any:
    before = None
    for machine in islice(kernel_updates(X, y, 2), STEPS):
        if before is not None and machine.moved_from(before) <= SETTLED:
            break
        before = machine
    return machine


def linear_svm(X: Any, y: Any) -> Any:
    return train(X, y, Linear(), ridge=1e-6)


MACHINES: dict[str, Callable[[Any, Any], Any]] = {
    "svm": polynomial_svm,
    "l2_arom": sparse_polynomial_svm,
    "linear_svm": linear_svm,
}


def draw(found: Found, titles: Mapping[str, str]) -> Any:
    """Mean errors in bands of a standard error."""
    panels = {panel: {method: average(trials, "n", "error") for method, trials in by.items()} for panel, by in found.items()}
    return line_figure(panels, "training points", "test error [%]", looks(titles, titles))


FIGURE_2001 = Illustration(
    "weston2001", "1", "two features of 202 (linear) and of 52 (nonlinear problem)", tuple(PROBLEMS), tuple(SELECT), TRIALS,
    toy, draw,
    f"Mean error on {TESTS} points in a band of a standard error; features are standardised over the training points.",
    TITLES_2001, cost=20.0,
)  # fmt: skip
FIGURE_2003 = Illustration(
    "weston2003", "1", "sparse and not sparse polynomials of degree 2 in ten inputs", tuple(TARGETS), tuple(MACHINES),
    TRIALS, sparse_targets, draw,
    f"Mean error on {TESTS} points in a band of a standard error; polynomials of degree 2 but for the linear SVM.",
    TITLES_2003, cost=5.0,
)  # fmt: skip
