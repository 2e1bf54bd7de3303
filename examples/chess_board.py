"""The chess board, Figure 2 of Neumann, Schnörr & Steidl (2005): features that only matter together.

(y + 1)/2 = (⌊x₁/2⌋ mod 2) ⊕ (⌊x₂/2⌋ mod 2). Neither feature tells anything by itself, no linear method can select them, and
alignment with a Gaussian kernel does: also among two features of noise, and there even without a penalty (λ = 0).

    python examples/chess_board.py [chess_board.png]        (the picture needs matplotlib: pip install matplotlib)
"""

import sys

import numpy as np

import dcprog
from dcprog.methods.kernel_svm import kernel_svm
from dcprog.models.alignment import alignment

LAMBDAS = np.arange(0, 1, 0.05).round(2)


def chess_board(x):
    """The colour of the field that (x₁, x₂) lies on."""
    field = np.floor(x[:, :2] / 2).astype(int) % 2
    return 2 * (field[:, 0] ^ field[:, 1]) - 1


# Left: a regular grid of 64 points in R². Right: 64 random points in R⁴, of which x₃ and x₄ are noise.
steps = np.arange(0.25, 4, 0.5)
grid = np.array([(a, b) for a in steps for b in steps])
noisy = np.random.default_rng(0).uniform(0, 4, (64, 4))

solutions = {}
for title, X in {"a grid in R²": grid, "random points in R⁴": noisy}.items():
    y, theta = chess_board(X), {}
    print(title)
    for lam in LAMBDAS:
        result = dcprog.solve(alignment(X, y, lam, sigma=1.0))
        theta[lam] = result["theta"]
        print(f"  λ = {lam:4}  f = {result.objective:8.5f}  features {(result.classifier.selected() + 1).tolist()}")
    solutions[title] = X, y, theta, kernel_svm(X, y, theta[0.1], C=9.0, sigma=1.0)


def picture(path):
    """Points with the boundary of the SVM at λ = 0.1, and the features selected over λ."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print(f"no {path}: pictures need matplotlib, python -m pip install matplotlib")
        return

    figure = Figure(figsize=(9, 8), layout="constrained")
    axes = figure.subplots(2, 2, height_ratios=[3, 1])
    side = np.linspace(0, 4, 200)
    for (title, (X, y, theta, rule)), top, bottom in zip(solutions.items(), *axes, strict=True):
        plane = np.zeros((side.size**2, X.shape[1]))  # what x₃ and x₄ are does not matter: their weights are zero
        plane[:, 0], plane[:, 1] = (a.ravel() for a in np.meshgrid(side, side))
        F = rule.decision_function(plane).reshape(side.size, side.size)
        top.contourf(side, side, F, levels=20, cmap="coolwarm", alpha=0.5)
        top.contour(side, side, F, levels=[0], colors="white", linewidths=3)
        top.scatter(X[:, 0], X[:, 1], c=y, cmap="coolwarm", edgecolors="black")
        top.set(title=title, xlabel="x₁", ylabel="x₂", aspect="equal")
        selected = np.array([theta[lam] > 1e-2 for lam in LAMBDAS])
        for k in range(X.shape[1]):
            bottom.plot(LAMBDAS[selected[:, k]], np.full(selected[:, k].sum(), k + 1), "s", color="C0")
        bottom.set(xlabel="λ", ylabel="feature", xlim=(-0.05, 1), ylim=(0.5, 4.5), yticks=range(1, 5))
    figure.savefig(path, dpi=150)
    print(f"drawn: {path}")


if len(sys.argv) > 1:
    picture(sys.argv[1])
