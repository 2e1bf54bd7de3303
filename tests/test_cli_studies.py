"""The commands for studies: what they print and write, and how they say no."""

import json
import re
import sys

import pytest
from data_sets import needs_data
from study_tools import small_data

from dcprog.cli import main


@pytest.fixture
def file(tmp_path):
    data = small_data()
    path = tmp_path / "mine.csv"
    lines = [",".join([*(f"{v:.6g}" for v in row), str(int(label))]) for row, label in zip(data.X, data.y, strict=True)]
    path.write_text("\n".join([",".join([*(f"a{j}" for j in range(8)), "label"]), *lines]))
    return path


def compared(file, out, *words):
    return main(["compare", "--data", str(file), "--methods", "rlp,svm", "--folds", "3", "--out", str(out), *words])


def test_compare_prints_a_table_and_writes_a_report(file, tmp_path, capsys):
    assert compared(file, tmp_path / "out") == 0
    said = capsys.readouterr()
    assert "mine: 200 samples, 8 features, 3 splits" in said.out
    assert "No winner" in said.out
    assert said.err == ""
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert page.count('<img src="data:image/svg+xml;base64,') >= 1
    assert not re.search(r'(src|href)="(?!data:)', page), "the report needs nothing else"
    results = json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))
    assert [line["method"] for line in results["methods"]] in (["rlp", "svm"], ["svm", "rlp"])
    best = results["methods"][0]
    assert best["standard_error"] == pytest.approx(best["deviation"] / 3**0.5)
    assert f"{best['error']:.1f} ± {best['standard_error']:.1f}" in said.out
    assert "± std. error" in said.out
    assert "± std. error" in page
    assert compared(file, tmp_path / "out", "--json") == 0
    again = json.loads(capsys.readouterr().out)
    assert again == results, "the second run takes everything from the first, times as well"


def test_compare_takes_any_classifier_of_scikit_learn(file, tmp_path, capsys):
    words = ["--with", "sklearn.svm.LinearSVC(C=[0.1, 1.0])", "--with", "sklearn.dummy.DummyClassifier", "--json"]
    assert compared(file, tmp_path / "out", *words) == 0
    lines = {line["method"]: line for line in json.loads(capsys.readouterr().out)["methods"]}
    assert set(lines) == {"rlp", "svm", "LinearSVC(C=[0.1, 1.0])", "DummyClassifier"}
    assert {chosen["C"] for chosen in lines["LinearSVC(C=[0.1, 1.0])"]["parameters_by_split"]} <= {0.1, 1.0}
    assert lines["DummyClassifier"]["error"] > lines["LinearSVC(C=[0.1, 1.0])"]["error"]


def test_a_report_without_matplotlib_says_so(file, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert compared(file, tmp_path / "out") == 0
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "<img" not in page
    assert "pip install &#x27;dcprog[plot]&#x27;" in page


def test_a_corrupted_cell_is_a_line_on_stderr(file, tmp_path, capsys):
    compared(file, tmp_path / "out")
    broken = next((tmp_path / "out").rglob("svm-000.json"))
    broken.write_text("{")
    capsys.readouterr()
    assert compared(file, tmp_path / "out") == 0
    said = capsys.readouterr().err
    assert said.startswith("dcprog: ")
    assert "svm-000.json is corrupted" in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["reproduce", "neuman2005"], "did you mean 'neumann2005'"),
        (["reproduce", "neumann2005", "--table", "12"], "unknown table of neumann2005 '12'"),
        (["reproduce", "neumann2005", "--methods", "fsv,svn"], "did you mean 'svm'"),
        (["compare", "--data", "breast_cancer", "--methods", "fvs"], "did you mean 'fsv'"),
        (["compare", "--data", "breast_cancer", "--with", "sklearn.svm.LinearSCV"], "there is no sklearn.svm.LinearSCV"),
        (["compare", "--data", "breast_cancer", "--with", "sklearn.linear_model.Ridge"], "no classifier"),
        (["compare", "--data", "nothing.csv"], "nothing.csv cannot be read"),
        (["compare", "--data", "breast_cancer", "--folds", "1"], "1 folds of 569 samples"),
        (["data", "--get", "livre"], "did you mean 'liver'"),
        (["data", "--get", "liver,foo"], "data set that can be downloaded 'foo'"),
        (["compare", "--data", "breast_cancer", "--jobs", "0"], "n_jobs is 0"),
        (["compare", "--data", "breast_cancer", "--repeats", "0"], "repeats is 0"),
        (["reproduce", "neumann2005", "--table", ""], "an option is empty"),
    ],
)
def test_mistakes_are_one_line(words, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(words) == 2
    said = capsys.readouterr()
    assert message in said.err
    assert said.err.count("\n") == 1
    assert said.out == ""


def test_a_name_that_looks_like_a_formula(file, tmp_path):
    odd = file.rename(tmp_path / "a$\\foo$.csv")
    assert compared(odd, tmp_path / "out") == 0
    assert (tmp_path / "out" / "report.html").exists()


def test_a_value_beyond_all_measure_fails_its_methods_only(file, tmp_path, capsys):
    header, first, *rest = file.read_text().splitlines()
    file.write_text("\n".join([header, "1e250," + first.partition(",")[2], *rest]))
    assert compared(file, tmp_path / "out") in (0, 1)
    assert (tmp_path / "out" / "report.html").exists()
    assert "Traceback" not in capsys.readouterr().err


def test_a_report_that_cannot_be_written(file, tmp_path, capsys):
    assert compared(file, tmp_path / "out") == 0
    (tmp_path / "out" / "report.html").unlink()
    (tmp_path / "out" / "report.html").mkdir()
    assert compared(file, tmp_path / "out") == 2
    assert "report.html cannot be written (Is a directory)" in capsys.readouterr().err


def test_text_in_a_number_column_is_named(file, tmp_path, capsys):
    file.write_text(file.read_text().replace("\n", "\nlow,1,2,3,4,5,6,7,1\n", 1))
    assert compared(file, tmp_path / "out") == 2
    assert "line 2, column 'a0' holds 'low'" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_dask_that_is_not_installed(file, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert compared(file, tmp_path / "out", "--dask", "tcp://127.0.0.1:8786") == 2
    assert "pip install 'dcprog[dask]'" in capsys.readouterr().err


def test_a_foreign_directory(file, tmp_path, capsys):
    assert compared(file, tmp_path) == 2
    assert "holds files" in capsys.readouterr().err


def test_the_studies_are_listed(capsys):
    assert main(["reproduce", "list", "--json"]) == 0
    assert {row["study"] for row in json.loads(capsys.readouterr().out)} >= {"neumann2005", "weston2003"}


@needs_data
def test_reproduce_prints_and_writes_the_table(tmp_path, capsys):
    words = [
        "reproduce",
        "neumann2005",
        "--table",
        "3",
        "--data",
        "liver",
        "--methods",
        "rlp,svm",
        "--out",
        str(tmp_path / "o"),
    ]
    assert main(words) == 0
    said = capsys.readouterr().out
    assert "Table 3" in said
    assert "0 of 4 differences" in said
    rows = (tmp_path / "o" / "table3.csv").read_text(encoding="utf-8").splitlines()
    assert rows[0].startswith("data,method,features_paper,features_ours,features_difference,features_outside")
    assert rows[1].startswith("liver,rlp,6.0,6.0,0.0,False,31.9,")
    assert {path.name for path in (tmp_path / "o").iterdir()} == {
        "study.json", "cells", "table3.csv", "results.json", "report.html",
    }  # fmt: skip


def test_data_is_listed_with_how_to_get_it(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("DCPROG_DATA", raising=False)
    monkeypatch.setenv("DCPROG_CACHE", str(tmp_path))
    assert main(["data", "--json"]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows["liver"]["here"] == ""
    assert "dcprog data --get liver" in rows["liver"]["get"]
    assert rows["breast_cancer"]["here"] == "scikit-learn"
    assert rows["banana"]["here"] == "generator"
