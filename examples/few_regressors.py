"""Regression with few features: the zero norm under an ε-insensitive loss, beside scikit-learn's Lasso.

    DCPROG_DATA=… python examples/few_regressors.py

With $DCPROG_DATA/housing_regression.csv it is the Boston housing data, else scikit-learn's diabetes data.
"""

import os
from pathlib import Path

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LassoCV
from sklearn.preprocessing import StandardScaler

import dcprog
from dcprog.models import zero_norm_regression

path = Path(os.environ.get("DCPROG_DATA", ".")) / "housing_regression.csv"
if path.is_file():
    table = np.genfromtxt(path, delimiter=",", skip_header=1)
    X, y = table[:, :-1], table[:, -1]
else:
    X, y = load_diabetes(return_X_y=True)
order = np.random.default_rng(0).permutation(len(y))
train, test = np.split(order, [2 * len(y) // 3])
X = StandardScaler().fit(X[train]).transform(X)
unit = y[train].std()  # errors, and the tube, as shares of the spread of y
y = (y - y[train].mean()) / unit

print(f"{len(y)} samples, {X.shape[1]} features; mean absolute error on a third, in standard deviations of y")
for result in dcprog.path(zero_norm_regression, X[train], y[train], lam=[0.2, 0.5, 1.0, 2.0], tube=0.1):
    error = abs(y[test] - X[test] @ result["w"] - result["b"]).mean()
    print(f"{(result['v'] > 1e-8).sum():3} features, error {error:.3f}, {result.status} after {result.iterations} LPs")
lasso = LassoCV(cv=5).fit(X[train], y[train])
error = abs(y[test] - lasso.predict(X[test])).mean()
print(f"{(lasso.coef_ != 0).sum():3} features, error {error:.3f}, by Lasso with cross-validation")
