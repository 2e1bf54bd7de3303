"""The report of a comparison: everything that was found, right, in one file that loads nothing."""

import base64
import re
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest
from study_tools import SMALL, small_data

from dcprog.studies import compare, figures
from dcprog.studies.cells import Cell
from dcprog.studies.compare import Comparison
from dcprog.studies.figures import Point, looks
from dcprog.studies.findings import finding
from dcprog.studies.report import MOST_ROWS, write_comparison
from dcprog.studies.statistics import jaccard, stability

ODD = 'a <b> & "c"'
SVG = "{http://www.w3.org/2000/svg}"


class Page(HTMLParser):
    """Tables as lists of rows of text, by caption; the images; all text."""

    def __init__(self, text):
        super().__init__()
        self.tables, self.images, self.words, self.open = {}, [], "", []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        if tag == "img":
            self.images.append(dict(attributes))
            return
        if tag not in ("meta",):
            self.open.append(tag)
        if tag == "caption":
            self.caption = ""
        if tag == "tr":
            self.tables.setdefault(self.caption, []).append([])
        if tag in ("td", "th"):
            self.tables[self.caption][-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, "every element is closed"

    def handle_data(self, data):
        if "style" in self.open:
            return
        self.words += data
        if "caption" in self.open:
            self.caption += data
        elif self.open and self.open[-1] in ("td", "th"):
            self.tables[self.caption][-1][-1] += data


def table(page, begin):
    (rows,) = [rows for caption, rows in page.tables.items() if caption.startswith(begin)]
    return rows


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    data = replace(small_data(), feature_names=(ODD, *small_data().feature_names[1:]))
    methods = ["svm", "fsv", "rlp", "l2_l0_svm", "alignment"]
    return compare(data, tmp_path_factory.mktemp("out"), methods=methods, folds=5, grids=SMALL)


@pytest.fixture(scope="module")
def text(found, tmp_path_factory):
    return write_comparison(found, tmp_path_factory.mktemp("page") / "report.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(text):
    return Page(text)


def results_of(found, method):
    return [found.results[cell] for cell in sorted(found.results) if cell.method == method]


def svg_of(uri):
    assert uri.startswith("data:image/svg+xml;base64,")
    return ElementTree.fromstring(base64.b64decode(uri.partition(",")[2]))


def test_the_numbers_are_those_of_the_splits(found, page):
    rows = table(page, "Methods by mean test error")
    assert [row[1] for row in rows[1:]] == [line.method for line in found.lines]
    for row in rows[1:]:
        results = results_of(found, row[1])
        errors = 100 * np.array([result["error"] for result in results])
        counts = np.array([len(result["selected"]) for result in results])
        Z = np.zeros((len(results), found.d))
        for i, result in enumerate(results):
            Z[i, result["selected"]] = 1
        expected = [errors.mean(), errors.std(ddof=1) / 5**0.5, counts.mean(), counts.std(ddof=1) / 5**0.5]
        assert row[2:6] == [f"{value:.1f}" for value in expected]
        assert row[6:8] == ["–" if value is None else f"{value:.2f}" for value in (stability(Z), jaccard(Z))]
    assert "–" not in [row[6] for row in rows[1:] if row[1] in ("fsv", "alignment")]


def test_every_selected_feature_is_listed_with_how_often(found, page):
    header, *rows = table(page, "On how many of the 5 splits")
    shown = {row[0]: dict(zip(header[1:], row[1:], strict=True)) for row in rows}
    titles = {line.title: line.method for line in found.lines}
    assert titles["FSV"] == "fsv"
    assert {titles[title] for title in header[1:]} >= {"fsv", "alignment"}
    for title in header[1:]:
        counts = Counter(j for result in results_of(found, titles[title]) for j in result["selected"])
        assert sum(counts.values()) > 0
        for j, count in counts.items():
            assert shown[found.feature_names[j]][title] == str(count)
        assert sum(int(row[title]) for row in shown.values() if row[title] != "·") == sum(counts.values())


def test_methods_that_take_every_feature_are_named_instead_of_listed(found, page):
    header = table(page, "On how many")[0]
    using_all = [m for m in ("svm", "rlp") if all(len(r["selected"]) == found.d for r in results_of(found, m))]
    assert "svm" in using_all
    assert "linear SVM" not in header
    assert re.search(r"All features on every split: .*linear SVM", page.words)


def test_every_chosen_parameter_is_listed_with_how_often(found, page):
    rows = {(row[0], row[1]): row[2] for row in table(page, "Values chosen on the validation halves")[1:]}
    expected = {}
    for line in found.lines:
        for result in results_of(found, line.method):
            for name, value in result["parameters"].items():
                expected.setdefault((line.title, name), Counter())[f"{value:g}"] += 1
    assert set(expected) == set(rows)
    assert ("ℓ2-ℓ0-SVM", "nu") in rows
    for key, counts in expected.items():
        said = dict(re.findall(r"([\d.e+-]+)\s\((\d+)\s×\)", rows[key]))
        assert said == {value: str(count) for value, count in counts.items()}
        assert list(map(float, said)) == sorted(map(float, said))
    assert "No parameter to choose: RLP." in page.words


def test_one_file_is_all_there_is(text, page):
    assert re.findall(r'(?:src|href|srcset|poster|action)\s*=\s*"(?!data:)', text) == []
    assert "@import" not in text
    assert "url(" not in text
    assert "<script" not in text
    assert not re.search(r"https?://", text)
    for image in page.images:
        for element in svg_of(image["src"]).iter():
            links = [value for name, value in element.attrib.items() if name.endswith(("href", "src"))]
            assert all(link.startswith("#") for link in links)
            assert not any(re.search(r"url\((?!#)", value) for value in element.attrib.values())


def test_who_sees_no_pictures_is_told_what_they_show(found, page):
    assert len(page.images) == 4
    assert all(len(image["alt"]) > 20 for image in page.images)
    first = page.images[0]["alt"]
    for line in found.lines:
        assert f"{line.title} {line.error:.1f} ± {line.deviation / 5**0.5:.1f} %" in first


def test_names_are_text_not_markup(text, page):
    assert "<b>" not in text
    assert ODD in page.words


def test_formulas_and_references_are_there(page):
    assert "Φ = 1 − (1/d Σⱼ M/(M−1) pⱼ(1−pⱼ)) / (k̄/d (1 − k̄/d))" in page.words
    assert "Journal of Machine Learning Research 18(174), 2018" in page.words


def test_it_is_made_for_paper_too(text):
    style = text[text.index("<style>") : text.index("</style>")]
    for rule in ("@page", "@media print", "break-inside: avoid", "table-header-group", "tabular-nums", "background: #fff"):
        assert rule in style


def comparison(selected, d, names=None, **given):
    """Of one method, which selects ``selected`` on the splits."""
    results = {
        Cell("3-fold", "made", "some", i): {
            "error": 0.1 * (i + 1), "selected": chosen, "seconds": 0.5, "parameters": {"kernel": "rbf", "C": None, "k": i},
        }
        for i, chosen in enumerate(selected)
    }  # fmt: skip
    line = finding("some", "Some method", list(results.values()), d, None)
    settled = {
        "data": "made", "n": 30, "d": d, "splits": len(selected), "lines": (line,), "winner": None, "verdict": "none",
        "left_out": {}, "results": results, "failures": {}, "interrupted": False,
        "feature_names": tuple(names or (f"gene{j}" for j in range(d))),
    }  # fmt: skip
    return Comparison(**(settled | given))


def test_features_come_in_the_order_of_how_often_a_method_selects_them(tmp_path):
    page = Page(write_comparison(comparison([[4, 1], [4, 2], [4, 1]], 6), tmp_path / "r.html").read_text(encoding="utf-8"))
    assert table(page, "On how many")[1:] == [["gene4", "3"], ["gene1", "2"], ["gene2", "1"]]


def test_of_very_many_features_the_rare_ones_are_listed_below(tmp_path):
    often, rarely = list(range(MOST_ROWS)), list(range(MOST_ROWS, 150))
    found = comparison([often + rarely, often, often], 200)
    page = Page(write_comparison(found, tmp_path / "r.html").read_text(encoding="utf-8"))
    assert [row[0] for row in table(page, "On how many")[1:]] == [f"gene{j}" for j in often]
    assert all(f"gene{j} (1)" in page.words for j in rarely)
    assert "50 of 200 features are never selected" in page.words


def test_parameters_of_any_kind_are_listed(tmp_path):
    page = Page(write_comparison(comparison([[0], [1], [0]], 3), tmp_path / "r.html").read_text(encoding="utf-8"))
    rows = {row[1]: row[2].replace("\u00a0", " ") for row in table(page, "Values chosen")[1:]}
    assert rows == {"kernel": "rbf (3 ×)", "C": "None (3 ×)", "k": "0 (1 ×), 1 (1 ×), 2 (1 ×)"}


@pytest.mark.parametrize("selected", [[[], [], []], [[0, 1], [0, 1], [0, 1]]], ids=["none", "all"])
def test_a_report_without_any_choice_of_features(selected, tmp_path):
    page = Page(write_comparison(comparison(selected, 2), tmp_path / "r.html").read_text(encoding="utf-8"))
    assert table(page, "Methods by mean")[1][6:8] == ["–", "–"]
    assert ("All features on every split: Some method." in page.words) == (len(selected[0]) == 2)


def test_what_is_missing_is_said(tmp_path):
    failures = {Cell("3-fold", "made", "other", 0): "it broke"}
    found = comparison([[0], [1], [0]], 2, lines=(), failures=failures, interrupted=True)
    page = Page(write_comparison(found, tmp_path / "r.html").read_text(encoding="utf-8"))
    assert "3-fold/made/other/0 failed: it broke" in page.words
    assert "interrupted" in page.words


def coordinates(element):
    """The points of the paths in a group."""
    numbers = [float(v) for path in element.iter(f"{SVG}path") for v in re.findall(r"-?\d+\.?\d*", path.get("d"))]
    return np.array(numbers).reshape(-1, 2)


def group(svg, begin):
    return [element for element in svg.iter(f"{SVG}g") if (element.get("id") or "").startswith(begin)]


@pytest.mark.parametrize("n", [1, 4, 17])
def test_no_legend_is_cut(n):
    titles = {f"m{i}": f"a method with a long title that says it all, number {i}" for i in range(n)}
    points = [Point("data", name, float(i), 2.0 * i) for i, name in enumerate(titles)]
    svg = svg_of(figures.error_against_features(points, looks(titles, titles), "none").uri)
    _, _, width, height = map(float, svg.get("viewBox").split())
    (legend,) = group(svg, "legend")
    frame = coordinates(next(iter(legend)))
    assert (frame >= 0).all()
    assert (frame <= [width, height]).all()
    (axes,) = group(svg, "axes_1")
    (panel,) = [e for e in axes if e.get("id") == "patch_2"] or [next(iter(axes))]
    inner = coordinates(panel)
    assert np.ptp(inner[:, 1]) > 100, "the axes keep their height, the figure grows"
    assert inner[:, 1].max() < frame[:, 1].min(), "the legend is below the axes"


def test_error_bars_are_standard_errors():
    titles = {"one": "one", "two": "two"}
    picture = figures.errors({"one": np.array([1.0, 3.0]), "two": np.array([10.0, 16.0])}, looks(titles, titles))
    bars = [coordinates(element) for element in group(svg_of(picture.uri), "LineCollection")]
    lengths = [np.ptp(bar[:, 0]) for bar in bars]
    assert lengths[1] / lengths[0] == pytest.approx(3.0, rel=1e-4)
    assert "one 2.0 ± 1.0 %; two 13.0 ± 3.0 %" in picture.alt


def test_methods_are_told_apart_by_colour_and_marker():
    names = [f"m{i}" for i in range(40)]
    assert len({(look.colour, look.marker) for look in looks(names, {}).values()}) == 40


def test_the_end_of_a_run_is_drawn_at_the_floor():
    cell = Cell("p", "data", "fsv", 0)
    drawn = looks(["fsv"], {})
    svg = svg_of(figures.convergence({cell: {"history": [3.0, 2.0, 1.1, 1.0]}}, drawn).uri)
    (axes,) = group(svg, "axes_1")
    bottom = coordinates(next(iter(axes)))[:, 1].max()
    uses = [
        (float(use.get("x")), float(use.get("y")))
        for use in axes.iter(f"{SVG}use")
        if use.get("x") and "fill" in (use.get("style") or "")
    ]
    lowest = max(y for _, y in uses)
    assert sum(abs(y - lowest) < 1e-6 for _, y in uses) == 2, "the end of the curve, and the mark on it"
    assert lowest < bottom - 5, "inside the axes"
