"""Every method of the papers as a scikit-learn estimator: a classifier, and a selector of features, at once.

>>> from sklearn.datasets import load_breast_cancer
>>> from sklearn.pipeline import make_pipeline
>>> from sklearn.preprocessing import StandardScaler
>>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
>>> machine = make_pipeline(StandardScaler(), FSV(lam=0.1)).set_output(transform="pandas").fit(X, y)
>>> machine.score(X, y) > 0.9, list(machine[-1].get_feature_names_out())
(True, ['mean concave points', 'worst texture', 'worst perimeter'])
"""

from dcprog.estimators.cross_validated import (
    AROMCV,
    FSVCV,
    L1SVMCV,
    L2L0SVMCV,
    L2L1SVMCV,
    NLPSVMCV,
    SVMRFECV,
    AlignmentSVMCV,
    KernelSVMCV,
    LinearSVMCV,
    QuadraticFSVCV,
    SVMRankingCV,
)
from dcprog.estimators.linear import FSV, L1SVM, L2L0SVM, L2L1SVM, RLP, LinearSVM
from dcprog.estimators.nlpsvm import NLPSVM
from dcprog.estimators.nonlinear import AlignmentSVM, KernelSVM, QuadraticFSV, alignment_scorer
from dcprog.estimators.radius_margin import R2W2, RadiusMarginBasis
from dcprog.estimators.ranking import SVMRanking
from dcprog.estimators.sparse_regression import SparseRegressor, SparseRegressorCV
from dcprog.estimators.zero_norm import AROM, SVMRFE, KernelRFE

__all__ = [
    "AROM",
    "AROMCV",
    "FSV",
    "FSVCV",
    "L1SVM",
    "L1SVMCV",
    "L2L0SVM",
    "L2L0SVMCV",
    "L2L1SVM",
    "L2L1SVMCV",
    "NLPSVM",
    "NLPSVMCV",
    "R2W2",
    "RLP",
    "SVMRFE",
    "SVMRFECV",
    "AlignmentSVM",
    "AlignmentSVMCV",
    "KernelRFE",
    "KernelSVM",
    "KernelSVMCV",
    "LinearSVM",
    "LinearSVMCV",
    "QuadraticFSV",
    "QuadraticFSVCV",
    "RadiusMarginBasis",
    "SVMRanking",
    "SVMRankingCV",
    "SparseRegressor",
    "SparseRegressorCV",
    "alignment_scorer",
]
