"""Figures of the papers: their cells, how runs are averaged, the files, and what is in the pictures."""

import json
from dataclasses import replace

import numpy as np
import pytest

from dcprog.cli import main
from dcprog.errors import DCProgError
from dcprog.methods.radius_margin import Gaussian, radius_margin, ridged
from dcprog.studies import papers, reproduce
from dcprog.studies.cells import Cell
from dcprog.studies.illustration import Illustration, average, extended
from dcprog.studies.papers import bound_by_iteration, ground_truth, learning_curves


def axes_of(figure):
    return [ax for ax in figure.axes if ax.has_data()]


def test_every_paper_with_figures_has_them_by_number():
    numbers = {name: tuple(papers.find(name).figures) for name in papers.NAMES}
    assert numbers["neumann2005"] == ("1", "2")
    assert numbers["fortuna2005"] == ("1", "2", "3", "4", "5")
    assert numbers["weston2001"] == numbers["weston2003"] == ("1",)
    with pytest.raises(DCProgError, match="figure of neumann2005"):
        papers.find("neumann2005").figure("7")


@pytest.mark.parametrize("points", [ground_truth.rings, ground_truth.lattice])
def test_designed_points_are_labelled_by_the_papers_formula(points):
    X, y = points()
    circle = np.sign((X**2).sum(axis=1) - 1)
    board = 2.0 * ((X[:, 0] // 2).astype(int) % 2 ^ (X[:, 1] // 2).astype(int) % 2) - 1
    assert (y == (circle if points is ground_truth.rings else board)).all()


def test_figures_1_and_2_select_the_two_relevant_features(monkeypatch, tmp_path):
    """ "The correct feature set {1, 2} is selected for most values of λ", and by alignment for λ = 0, too."""
    monkeypatch.setattr(ground_truth, "LAMBDAS", (0.0, 0.1))
    for method, panel in (("quadratic_fsv", "designed"), ("alignment", "random"), ("alignment", "designed")):
        found = ground_truth.ground_truth(panel, method, 0)
        assert found["selected"] == [[0, 1], [0, 1]]
        assert found["wrong"] <= 3
    figure = ground_truth.draw({"designed": {"alignment": [found]}}, {})
    above, below = axes_of(figure)
    assert {tuple(x) for x in below.lines[0].get_xydata()} == {(0.0, 1.0), (0.0, 2.0), (0.1, 1.0), (0.1, 2.0)}
    assert (above.get_xlim(), above.get_ylim()) == ((0.0, 4.0), (0.0, 4.0))
    figure.savefig(tmp_path / "figure.png")


def test_learning_curves_of_2001(monkeypatch):
    """Of 202 features the SVM uses all; with 50 points the Kolmogorov–Smirnov filter finds better ones."""
    monkeypatch.setattr(learning_curves, "SIZES_2001", (50,))
    errors = {m: learning_curves.toy("linear", m, 0)["error"] for m in ("svm", "pearson", "kolmogorov_smirnov")}
    assert all(len(values) == 1 and 0 < values[0] < 45 for values in errors.values())
    assert set(learning_curves.SELECT) == set(learning_curves.TITLES_2001)


def test_learning_curves_of_2003(monkeypatch):
    """A sparse target: ℓ2-AROM beats the SVM on the same polynomials, and on one input the linear SVM as well."""
    monkeypatch.setattr(learning_curves, "SIZES_2003", (75,))
    for panel in ("(a) x₁x₂ + x₃", "(b) x₁"):
        errors = {m: learning_curves.sparse_targets(panel, m, 0)["error"][0] for m in learning_curves.MACHINES}
        assert errors["l2_arom"] < errors["svm"] / 2
    assert errors["l2_arom"] < errors["linear_svm"]
    trials = [{"n": [20, 50], "error": [30.0, 10.0]}, {"n": [20, 50], "error": [20.0, 6.0]}]
    titles = {"svm": "SVM", "l2_arom": "ℓ2-AROM"}
    figure = learning_curves.draw({"(b) x₁": {"svm": trials, "l2_arom": trials}}, titles)
    (ax,) = axes_of(figure)
    assert ax.get_title() == "(b) x₁"
    assert [line.get_ydata().tolist() for line in ax.lines] == [[25.0, 8.0]] * 2


def test_the_bound_by_iteration_is_that_of_the_learned_basis(monkeypatch):
    found = bound_by_iteration.by_iteration("highleyman", "basis", 0)
    lengths = {len(values) for values in found.values()}
    assert len(lengths) == 1
    assert lengths.pop() >= 3
    assert (np.diff(found["bound"]) < 0).all(), "a line search"
    assert found["smallest"][0] == pytest.approx(1.0)
    assert found["margin"][-1] > found["margin"][0]


def test_rule_17_goes_down_the_gradient(monkeypatch):
    """One short step changes T by −‖ΔS‖ ‖∂T/∂S‖; T from its definition, R² and ‖w‖² apart."""
    monkeypatch.setattr(bound_by_iteration, "LAST", 1)
    rng = np.random.default_rng(0)
    Y, y = rng.standard_normal((16, 3)), np.repeat([-1.0, 1.0], 8)
    Y[:, 0] += y
    kernel, step = Gaussian(1.5), 1e-5

    def bound(S):
        Z = Y @ S
        distances = ((Z[:, None] - Z[None]) ** 2).sum(axis=2)
        return radius_margin(ridged(np.exp(-distances / (2 * 1.5**2)), 1.0), y).value

    start, end = bound_by_iteration.without_end(step, None, y, Y, kernel)
    numeric = np.zeros((3, 3))
    for i, j in np.ndindex(3, 3):
        move = np.zeros((3, 3))
        move[i, j] = 1e-4
        numeric[i, j] = (bound(start + move) - bound(start - move)) / 2e-4
    assert end - start == pytest.approx(-step * numeric / np.linalg.norm(numeric), abs=1e-3 * step)


def test_runs_of_different_lengths_are_extended_to_the_longest():
    curve = extended([{"T": [5.0, 3.0, 1.0]}, {"T": [4.0]}], "T")
    assert curve.y.tolist() == [4.5, 3.5, 2.5]
    assert curve.band.tolist() == pytest.approx([0.5, 0.5, 1.5])
    assert average([{"n": [1], "e": [2.0]}], "n", "e").band is None, "one trial has no standard error"


def counted(panel, method, trial):
    if trial == 1 and method == "failing":
        raise ValueError("no luck")
    return {"n": [1, 2], "error": [float(trial), 2.0]}


DEMO = Illustration(
    "neumann2005", "9", "a test", ("left", "right"), ("svm", "failing"), 2, counted, learning_curves.draw, "Means.",
    {"svm": "SVM", "failing": "other"},
)  # fmt: skip


def test_a_figure_is_resumable_and_says_what_is_unfinished(tmp_path, monkeypatch, capsys):
    study = papers.find("neumann2005")
    monkeypatch.setattr(papers, "find", lambda name: replace(study, figures={"9": DEMO}))
    found = reproduce("neumann2005", tmp_path, figures=["9"], data=["left"])
    assert found.parts == ()
    assert [str(cell) for cell in found.failures] == ["figure-9/left/failing/1"]
    (drawn,) = found.figures
    assert set(drawn.found) == {"left"}
    assert DEMO.said(drawn.found) == "Means. Unfinished: 1 of 2 trials."
    assert main(["reproduce", "neumann2005", "--figure", "9", "--methods", "svm", "--out", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "Figure 9: a test. Means.\n" in said
    assert "figure9.svg, figure9.png" in said
    assert (tmp_path / "figure9.png").read_bytes().startswith(b"\x89PNG")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Figure 9: a test" in page
    assert "data:image/svg+xml" in page
    results = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert results["figures"]["9"]["right"]["svm"][1] == {"n": [1, 2], "error": [1.0, 2.0]}
    with pytest.raises(DCProgError, match="unknown data set 'up'"):
        reproduce("neumann2005", tmp_path, figures="9", data="up")


def test_the_parameters_of_table_2_are_compared():
    """λ*, ln µ* and ln ν* of one split, beside the mean of ours and how they scatter."""
    table = papers.find("neumann2005").tables["2"]
    nus = [np.exp(k % 2) for k in range(10)]
    cells = {
        Cell("thirds", "liver", "l2_l0_svm", i): {"error": 0.3, "features": 5, "parameters": {"mu": np.exp(5.0), "nu": nu}}
        for i, nu in enumerate(nus)
    } | {Cell("thirds", "liver", "fsv", i): {"error": 0.3, "features": 2, "parameters": {"lam": 0.3}} for i in range(10)}
    rows = {(row.method, row.quantity): row for row in table.rows(cells, ["liver"], ["fsv", "l2_l0_svm"])}
    assert (rows["fsv", "lam"].ours, rows["fsv", "lam"].paper.value) == (pytest.approx(0.3), 0.3)
    assert (rows["l2_l0_svm", "ln_mu"].ours, rows["l2_l0_svm", "ln_mu"].paper.value) == (pytest.approx(5.0), 5.0)
    printed = rows["l2_l0_svm", "ln_nu"]
    assert printed.ours == pytest.approx(0.5)
    assert printed.spread == pytest.approx(np.std(np.log(nus), ddof=1) * np.sqrt(1.1))
    assert ("fsv", "ln_mu") not in rows
