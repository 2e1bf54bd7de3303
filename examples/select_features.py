"""Few features instead of thirty: the papers' methods as scikit-learn estimators, judged by cross-validation.

python examples/select_features.py
"""

from __future__ import annotations

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from dcprog.estimators import AROM, FSVCV, L2L0SVM, LinearSVM

METHODS = {
    "linear SVM, all features": LinearSVM(lam=0.5),
    "FSV, weight by cross-validation": FSVCV(cv=3),
    "l2-l0-SVM": L2L0SVM(mu=100.0, nu=0.5),
    "AROM, four features": AROM(r=4, lam=1.0),
}


def main() -> None:
    data = load_breast_cancer()
    X, y = data.data, data.target
    for name, method in METHODS.items():
        machine = make_pipeline(StandardScaler(), method)
        accuracy = cross_val_score(machine, X, y, cv=3).mean()
        names = data.feature_names[machine.fit(X, y)[-1].get_support()]
        shown = ", ".join(names) if len(names) <= 6 else f"all but {X.shape[1] - len(names)}"
        print(f"{name}: {100 * accuracy:.1f} % right, {len(names)} features ({shown})")


if __name__ == "__main__":
    main()
