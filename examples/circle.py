"""The circle, Figure 1 of Neumann, Schnörr & Steidl (2005): quadratic FSV selects among the original features.

y = sgn(x₁² + x₂² − 1). No linear rule separates the classes; the quadratic map does, and
the bound v on every monomial that contains a feature discards the two features of noise.

    python examples/circle.py [circle.png]        (the picture needs matplotlib: pip install matplotlib)
"""

import sys

import numpy as np

import dcprog
from dcprog.datasets.generators import circle
from dcprog.models import quadratic_fsv

LAMBDAS = [0.01, 0.02, 0.05, *np.arange(0.1, 1, 0.1).round(1)]

problems = {"64 points in R²": circle(64, seed=1), "64 points in R⁴, two features are noise": circle(64, 2, seed=1)}
walks = {}
for title, (X, y) in problems.items():
    walks[title] = dcprog.path(quadratic_fsv, X, y, lam=LAMBDAS)
    print(title)
    for lam, result in zip(LAMBDAS, walks[title], strict=True):
        error = np.mean(result.classifier.predict(X) != y)
        print(f"  λ = {lam:4}  features {(result.classifier.selected() + 1).tolist()}  training error {error:.0%}")


def picture(path):
    """Points with the decision boundary at λ = 0.1, and the features selected over λ."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print(f"no {path}: pictures need matplotlib, python -m pip install matplotlib")
        return

    figure = Figure(figsize=(9, 6.5), layout="constrained")
    side = np.linspace(-2, 2, 200)
    for (title, (X, y)), top, bottom in zip(problems.items(), *figure.subplots(2, 2, height_ratios=[3, 1]), strict=True):
        plane = np.zeros((side.size**2, X.shape[1]))
        plane[:, 0], plane[:, 1] = (a.ravel() for a in np.meshgrid(side, side))
        scores = walks[title][LAMBDAS.index(0.1)].classifier.decision_function(plane).reshape(side.size, side.size)
        top.contourf(side, side, scores > 0, levels=[-0.5, 0.5, 1.5], colors=["C0", "C1"], alpha=0.3)
        top.scatter(*X[:, :2].T, c=np.where(y > 0, "C1", "C0"), edgecolors="black")
        top.set(title=title, xlabel="x₁", ylabel="x₂", aspect="equal")
        for lam, result in zip(LAMBDAS, walks[title], strict=True):
            bottom.plot([lam] * len(result.classifier.selected()), result.classifier.selected() + 1, "s", color="black")
        bottom.set(xlabel="λ", ylabel="feature", xlim=(0, 1), ylim=(0.5, 4.5), yticks=range(1, 5))
    figure.savefig(path, dpi=150)
    print(f"drawn: {path}")


if len(sys.argv) > 1:
    picture(sys.argv[1])
