"""Regression and classification with few features by concave penalties, and its λ by cross-validation along warm paths."""

from __future__ import annotations

import os
import warnings
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from scipy.optimize import brentq
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectorMixin
from sklearn.metrics import accuracy_score, check_scoring, r2_score
from sklearn.model_selection import check_cv
from sklearn.utils import ClassifierTags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, validate_data

from dcprog.algorithms.path import path
from dcprog.algorithms.result import Result
from dcprog.algorithms.run import check_limits, solve
from dcprog.algorithms.stopping import StoppingRule
from dcprog.errors import DataError, NotSolvedError, unknown_name
from dcprog.estimators.base import LIMITS, Stop, check_end
from dcprog.estimators.training import Training, sample_weights
from dcprog.estimators.tuning import takes_weights
from dcprog.functions.groups import Partition
from dcprog.functions.penalties import SeparablePenalty
from dcprog.learning.rules import labels_of
from dcprog.learning.samples import check_count, check_flag, check_one_type, check_positive
from dcprog.machine.processes import serve
from dcprog.models.sparse_regression import MARGINS, RESIDUALS, Samples, penalty_of_slope, sparse_regression
from dcprog.typing import Mask, Matrix, Vector

ROUNDING, INTERIOR = 1e-9, 1e-5
"""Features that move predictions by less than the first share of the target's spread are 0; of groups the second, since
interior points, which are asked there, do not end on 0."""
RULES = ("best", "1se")


@dataclass(eq=False, repr=False)
class SparseRegressor(SelectorMixin, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """min L(w, b) + Σⱼ ρ(|wⱼ|), L the mean loss, ρ a concave penalty, which hardly shrinks what it selects.

    With ``loss="squared"`` the objective is (1/2n)‖y − Xw − b‖² + Σ ρ(|wⱼ|), scaled as in scikit-learn and skglm. DCA solves
    one ℓ1-regularised loss an iteration; the first is the Lasso. X may be sparse, and stays so. Where few features separate
    two classes, the logistic loss and a penalty with a plateau have no smallest value: take ``"l1"`` or ``"log"`` there.

    Parameters
    ----------
    lam : float
        λ > 0, the slope of ρ at 0. From ``lam_max_`` on no feature is selected.
    loss : str
        ``"squared"``, ``"huber"``; ``"logistic"`` or ``"squared_hinge"`` of two classes, which make it a classifier.
    penalty : str or SeparablePenalty
        ``"mcp"``, ``"scad"``, ``"capped_l1"``, ``"exponential"``, ``"log"``, ``"l1"``, or one of
        :mod:`dcprog.functions.penalties` times λ; formulas are those of :func:`dcprog.models.sparse_regression`.
    gamma, a, alpha, eps : float
        γ of MCP and capped ℓ1, a of SCAD, α of the exponential and ε of the logarithmic penalty.
    delta : float
        Where Huber's loss becomes linear.
    groups : array_like, optional
        One label a feature; then Σ_G √|G| ρ(‖w_G‖) selects groups.
    fit_intercept : bool
        Whether there is a b, which is not penalised.
    warm_start : bool
        Start at the last solution instead of 0. The penalty is not convex, and the run may end at another critical point.
    solver : str
        A name that ``dcprog.available_solvers()`` lists.
    tol, max_iter, stop
        As for :class:`~dcprog.estimators.FSV`.

    Attributes
    ----------
    coef_, intercept_ : ndarray, float
    lam_max_ : float
        The least λ at which w = 0 satisfies the optimality conditions; the data's.
    n_iter_ : int
        Iterations of DCA.
    result_ : Result
    classes_ : ndarray
        With a loss of two classes.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 200)); y = 3 * X[:, 7] - 2 * X[:, 11] + 0.1 * rng.standard_normal(60)
    >>> machine = SparseRegressor(lam=0.5).fit(X, y)
    >>> machine.get_support(indices=True), machine.coef_[[7, 11]].round(1)
    (array([ 7, 11]), array([ 3., -2.]))
    """

    lam: float = 0.1
    _: KW_ONLY
    loss: str = "squared"
    penalty: str | SeparablePenalty = "mcp"
    gamma: float = 3.0
    a: float = 3.7
    alpha: float = 5.0
    eps: float = 0.1
    delta: float = 1.0
    groups: Any = None
    fit_intercept: bool = True
    warm_start: bool = False
    solver: str = "auto"
    tol: float | None = None
    max_iter: int = 1000
    stop: Stop = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Train on the samples in the rows of X and their targets y; a sample of weight s counts as s equal ones do."""
        training, family = self._prepared(X, y, sample_weight)
        start = None
        if self.warm_start and len(getattr(self, "coef_", ())) == training.X.shape[1]:
            start = {"w": self.coef_, **({"b": self.intercept_} if self.fit_intercept else {})}
        program = sparse_regression(family, lam=self.lam, **self._shape())
        stop = self.stop if self.stop is None or isinstance(self.stop, StoppingRule) else self.stop(program)
        result = solve(
            program, algorithm="dca", x0=start, solver=self.solver, tol=self.tol, max_iter=self.max_iter, stop=stop
        )
        check_end(type(self).__name__, result.status, result.messages)
        return self._accept(result, training)

    @available_if(lambda self: self._classifies)  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Vector:
        """w'x + b for every row, > 0 for ``classes_[1]``."""
        return self._scores(X)

    def _scores(self, X: Any) -> Vector:
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64, accept_sparse="csr")
        scores: Vector = np.asarray(X @ self.coef_).ravel() + self.intercept_
        return scores

    def predict(self, X: Any) -> np.ndarray:
        """w'x + b for every row, or the class, where the loss is one of two classes."""
        scores = self._scores(X)
        return labels_of(scores, self.classes_) if self._classifies else scores

    @available_if(lambda self: self.loss == "logistic")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Matrix:
        """1/(1 + e^∓(w'x + b)), the logistic model's probability of each class."""
        half = 0.5 * np.tanh(0.5 * self._scores(X))
        return np.column_stack([0.5 - half, 0.5 + half])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R², or the accuracy, where the loss is one of two classes."""
        measure = accuracy_score if self._classifies else r2_score
        return float(measure(y, self.predict(X), sample_weight=sample_weight))

    @property
    def _classifies(self) -> bool:
        return self.loss in MARGINS

    def _shape(self) -> dict[str, Any]:
        """The parameters of the factory but λ."""
        names = ("loss", "penalty", "gamma", "a", "alpha", "eps", "delta", "groups", "fit_intercept")
        return {name: getattr(self, name) for name in names}

    def _prepared(self, X: Any, y: Any, sample_weight: Any) -> tuple[Training, Samples]:
        """Checked samples, and the model that is compiled once for them; λ_max is known then."""
        check_limits(self.tol, self.max_iter)
        check_flag(fit_intercept=self.fit_intercept, warm_start=self.warm_start)
        if self.loss not in (*RESIDUALS, *MARGINS):
            raise unknown_name("loss", self.loss, [*RESIDUALS, *MARGINS])
        if self._classifies:
            check_one_type(y)
        X, y = validate_data(self, X, y, dtype=np.float64, accept_sparse="csr", y_numeric=not self._classifies)
        if self._classifies:
            check_classification_targets(y)
        training = Training(X, y, sample_weights(sample_weight, len(y)))
        counted = training.weighed(None)
        if self._classifies:
            self.classes_ = np.unique(counted.y)
            if len(self.classes_) != 2:
                found = "one class" if len(self.classes_) == 1 else f"{len(self.classes_)} classes"
                raise DataError(
                    f"Only binary classification is supported. loss={self.loss!r} separates two classes, and y has {found}: "
                    "pass samples of two"
                )
        family = self._family(counted)
        self.lam_max_ = self._lam_max(family, counted)
        return training, family

    def _family(self, training: Training) -> Samples:
        target = np.where(training.y == self.classes_[1], 1.0, -1.0) if self._classifies else training.y.astype(float)
        how: dict[str, Any] = {"loss": self.loss, "delta": self.delta, "fit_intercept": self.fit_intercept}
        return Samples(training.X, target, **how, sample_weight=training.weights)

    def _lam_max(self, family: Samples, training: Training) -> float:
        """The least λ at which 0 is the solution: the largest slope of the mean loss there, b being the best for w = 0."""
        d = training.X.shape[1]
        slopes = np.abs(family.slope(np.zeros(d), self._best_bias(training)))
        if self.groups is not None:
            partition = Partition(self.groups)
            slopes = partition.lengths(slopes) / np.sqrt(partition.sizes)
        at_zero = 1.0
        if isinstance(self.penalty, SeparablePenalty):
            at_zero = float(self.penalty.slope(np.zeros(1))[0])
        elif self.penalty != "l1":
            factor, rho = penalty_of_slope(self.penalty, 1.0, self.gamma, self.a, self.alpha, self.eps)
            at_zero = factor * float(rho.slope(np.zeros(1))[0])
        return float(slopes.max()) / at_zero

    def _best_bias(self, training: Training) -> float:
        """The minimiser of the mean loss with w = 0."""
        if not self.fit_intercept:
            return 0.0
        s = np.ones(len(training.y)) if training.weights is None else training.weights
        if self._classifies:
            share = float(s[training.y == self.classes_[1]].sum() / s.sum())
            return float(np.log(share / (1.0 - share))) if self.loss == "logistic" else 2.0 * share - 1.0
        y = training.y.astype(float)
        if self.loss == "squared" or np.ptp(y) == 0:
            return float(np.average(y, weights=s))
        return float(brentq(lambda b: s @ np.clip(b - y, -self.delta, self.delta), y.min(), y.max()))

    def _accept(self, result: Result, training: Training) -> Any:
        w = np.array(result["w"])
        spread = 1.0 if self._classifies else float(np.std(training.y))
        effects = np.abs(w) * _root_mean_squares(training.X)
        w[effects <= ROUNDING * spread] = 0.0
        if self.groups is not None:
            partition = Partition(self.groups)
            w[(partition.lengths(effects) <= INTERIOR * spread)[partition.codes]] = 0.0
        self.coef_, self.intercept_ = w, float(result["b"]) if self.fit_intercept else 0.0
        self.result_, self.n_iter_ = result, result.iterations
        return self

    def _get_support_mask(self) -> Mask:
        check_is_fitted(self)
        mask: Mask = self.coef_ != 0
        return mask

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        if self._classifies:
            tags.estimator_type, tags.regressor_tags = "classifier", None
            tags.classifier_tags = ClassifierTags(multi_class=False)
        return tags


@dataclass(eq=False, repr=False)
class SparseRegressorCV(SparseRegressor):
    """:class:`SparseRegressor` with the best of many λ, from λ_max down, each fold along one warm path.

    Every run of DCA starts at the solution for the λ before, as coordinate descent does along its paths (Breheny & Huang,
    Annals of Applied Statistics 5, 2011): small λ so end at points near the sparse ones, not at those next to 0.

    Parameters
    ----------
    lam : array_like of float, optional
        The values; by default ``n_lam`` from λ_max down to ``lam_min_ratio`` times it, evenly on a logarithmic scale.
    n_lam, lam_min_ratio : int, float
    cv : int, splitter or iterable, optional
        Five folds by default.
    scoring : str or callable, optional
        By default minus the mean loss of the samples left out.
    rule : "best" or "1se"
        The best mean score, of equal ones the largest λ; or the largest λ whose score is within one standard error of it.
    n_jobs : int, optional
        Processes that joblib may start; each walks the paths of some folds.
    the other parameters
        As for :class:`SparseRegressor`.

    Attributes
    ----------
    lam_ : float
        The λ chosen, and ``lams_`` those tried, falling.
    cv_results_ : dict of arrays
        As in GridSearchCV, with the mean number of features.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((80, 40)); y = 3 * X[:, 7] - 2 * X[:, 11] + rng.standard_normal(80)
    >>> SparseRegressorCV(n_lam=20, cv=3).fit(X, y).get_support(indices=True)
    array([ 7, 11])
    """

    lam: Any = None
    _: KW_ONLY
    n_lam: int = 50
    lam_min_ratio: float = 0.01
    cv: Any = None
    scoring: Any = None
    rule: str = "best"
    n_jobs: int | None = None
    warm_start: ClassVar[bool] = False  # type: ignore[misc]

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Any:
        """Choose λ by cross-validation, then walk the path on all samples down to it; ``groups`` are the splitter's."""
        if self.rule not in RULES:
            raise unknown_name("rule", self.rule, RULES)
        training, family = self._prepared(X, y, sample_weight)
        self.lams_ = self._grid()
        folds = list(check_cv(self.cv, training.y, classifier=self._classifies).split(training.X, training.y, groups))
        score = None if self.scoring is None else check_scoring(self, scoring=self.scoring)
        workers = Parallel(n_jobs=self.n_jobs, initializer=serve, initargs=(os.getpid(),))
        runs = workers(delayed(walked)(self, self.lams_, training, *fold, score) for fold in folds)
        scores, features, limited = (np.array([run[part] for run in runs]) for part in range(3))
        if limited.any():
            message = f"{limited.sum()} of {limited.size} runs in cross-validation have not converged"
            warnings.warn(f"{message}: raise max_iter, or tol", ConvergenceWarning, stacklevel=2)
        best = self._choice(scores)
        self.lam_, self.best_index_ = float(self.lams_[best]), best
        mean = scores.mean(axis=0)
        self.best_score_ = float(mean[best])
        self.cv_results_ = {
            "param_lam": self.lams_,
            **{f"split{k}_test_score": values for k, values in enumerate(scores)},
            "mean_test_score": mean,
            "std_test_score": scores.std(axis=0),
            "rank_test_score": rankdata(-mean, method="min").astype(int),
            "mean_n_features": features.mean(axis=0),
            "n_unconverged": limited.sum(axis=0),
        }
        last = self._walk(family, self.lams_[: best + 1])[-1]
        check_end(type(self).__name__, last.status, last.messages)
        return self._accept(last, training)

    def _grid(self) -> Vector:
        """The λ to try, falling."""
        if self.lam is not None:
            given = np.sort(np.unique(np.ravel(np.asarray(self.lam, dtype=float))))[::-1]
            if not given.size or not (np.isfinite(given).all() and given[-1] > 0):
                raise DataError(f"lam is {self.lam!r}: pass numbers > 0 to choose from, or None for a grid below lam_max_")
            return given
        check_count(n_lam=self.n_lam)
        check_positive(lam_min_ratio=self.lam_min_ratio)
        top = self.lam_max_ if self.lam_max_ > 0 else 1.0
        return top * np.geomspace(1.0, min(1.0, self.lam_min_ratio), self.n_lam)

    def _choice(self, scores: Matrix) -> int:
        """The position of the λ chosen."""
        if not np.isfinite(scores).all():
            raise DataError("scoring gave NaN or infinite scores: choose one that is defined on every fold")
        mean = scores.mean(axis=0)
        enough = mean.max() - 1e-12 * max(1.0, abs(float(mean.max())))
        if self.rule == "1se" and len(scores) > 1:
            enough = mean.max() - scores[:, int(mean.argmax())].std(ddof=1) / np.sqrt(len(scores))
        return int(np.argmax(mean >= enough))

    def _walk(self, family: Samples, lams: Vector) -> list[Result]:
        """The solutions for falling λ, each run from the one before."""
        shape = self._shape()
        found = path(
            lambda lam: sparse_regression(family, lam=lam, **shape),
            lam=lams.tolist(),
            continuation=True,
            solver=self.solver,
            tol=self.tol,
            max_iter=self.max_iter,
            stop=self.stop,
        )
        for result in found:
            if result.status not in LIMITS:
                check_end(type(self).__name__, result.status, result.messages)
        if len(found) < len(lams):
            raise NotSolvedError(f"{type(self).__name__} was not trained: the path ended early")
        return list(found)


def _root_mean_squares(X: Any) -> Vector:
    """Of the columns."""
    squares = X.multiply(X) if sp.issparse(X) else X * X
    roots: Vector = np.sqrt(np.asarray(squares.mean(axis=0)).ravel())
    return roots


def walked(
    method: SparseRegressorCV, lams: Vector, training: Training, train: np.ndarray, test: np.ndarray, score: Any
) -> tuple[list[float], list[int], list[bool]]:
    """Scores on some samples of the path on others, the features used, and whether runs met a limit."""
    machine, others = clone(method), training.part(test)
    counted = training.part(train).weighed(None)
    machine.n_features_in_ = training.X.shape[1]
    if method._classifies:
        machine.classes_ = method.classes_
    left_out = machine._family(others)
    counts = {"sample_weight": others.weights} if others.weights is not None and score and takes_weights(score) else {}
    scores, features, limited = [], [], []
    for result in machine._walk(machine._family(counted), lams):
        machine._accept(result, counted)
        if score is None:
            point = np.append(machine.coef_, machine.intercept_) if method.fit_intercept else machine.coef_
            scores.append(-left_out.factor * left_out.mean_loss.value(point))
        else:
            scores.append(float(score(machine, others.X, others.y, **counts)))
        features.append(int(np.count_nonzero(machine.coef_)))
        limited.append(result.status in LIMITS)
    return scores, features, limited
