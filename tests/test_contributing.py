"""What CONTRIBUTING.md says to start from runs, as it is shown there, and does what it promises."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
TEMPLATES = ROOT / "examples" / "templates"
SECTIONS = {
    "Add a function": "Excess keeps the contract",
    "Add a model": "sparse_median finds the two features of ten",
    "Add an algorithm": "ManySlopes leaves the critical point that DCA stays at",
    "Add a solver": "linprog solves FSV as highs does",
    "Add a stopping rule": "Target stops after 1 iterations",
}
# Each is a mistake that someone who changes the template could make, which the template's own check has to find.
MISTAKES = {
    "function.py": ("np.full(n, self.theta), np.zeros(n)", "np.zeros(n), np.zeros(n)"),
    "model.py": ("1.0 / n))(m.r)", "2.0 / n))(m.r)"),
    "algorithm.py": ("key=lambda solution: self.f", "key=lambda solution: -self.f"),
    "solver.py": ("duals[self.lower] -= at_lower", "duals[self.lower] += at_lower"),
    "stopping_rule.py": ("state.f <= self.value", "state.f >= self.value"),
}


def commands(title):
    """The commands of a section."""
    section = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE)[1]
    return "".join(re.findall(r"^```sh\n(.*?)^```", section, re.DOTALL | re.MULTILINE)).splitlines()


def started(words, place):
    return subprocess.run(
        [sys.executable, *words], cwd=place, env=os.environ, capture_output=True, text=True, encoding="utf-8", check=False
    )


def printed_by(scripts, place):
    """What each script prints, or the name of the error that ends it: in one process, since starting takes longest."""
    code = """
import contextlib, io, json, runpy, sys
said = {}
for name in sys.argv[1:]:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        try:
            runpy.run_path(name, run_name="__main__")
            said[name] = out.getvalue()
        except Exception as error:
            said[name] = type(error).__name__
print(json.dumps(said))
"""
    done = started(["-c", code, *scripts], place)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_template_of_a_section_does_what_it_promises():
    scripts = {}
    for title in SECTIONS:
        (command,) = commands(title)
        python, scripts[title] = command.split()
        assert python == "python"
    said = printed_by(scripts.values(), ROOT)
    for title, promise in SECTIONS.items():
        assert promise in said[scripts[title]], said[scripts[title]]


def test_every_template_has_a_section():
    shown = {words for title in SECTIONS for command in commands(title) for words in command.split()[1:]}
    assert shown == {f"examples/templates/{path.name}" for path in TEMPLATES.glob("*.py")}


def test_the_check_of_a_template_finds_a_mistake(tmp_path):
    for name, (right, wrong) in MISTAKES.items():
        text = (TEMPLATES / name).read_text(encoding="utf-8")
        assert text.count(right) == 1
        (tmp_path / name).write_text(text.replace(right, wrong), encoding="utf-8")
    said = printed_by(MISTAKES, tmp_path)
    assert list(said) == list(MISTAKES)
    assert all(error.endswith("Error") and "\n" not in error for error in said.values()), said


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "SECURITY.md"])
def test_links_and_files_exist(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    links = re.findall(r"\]\((?!https?:)([^)#]+)", text)
    named = re.findall(r"`((?:dcprog|models|docs|examples|\.github|\.ci)/[\w./]*)`", text)
    assert [target for target in links + named if not (ROOT / target).exists()] == []


def test_hosted_ci_runs_what_the_package_promises():
    """Every Python that is supported on every system, and no token in the release."""
    text = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    oldest = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["requires-python"]
    pythons = re.search(r"python: \[(.*)\]", text)[1].replace('"', "").split(", ")
    assert pythons == ["3.10", "3.11", "3.12", "3.13"]
    assert oldest == f">={pythons[0]}"
    assert re.search(r"os: \[(.*)\]", text)[1].split(", ") == ["ubuntu-latest", "macos-latest", "windows-latest"]
    assert "id-token: write" in text
    assert "secrets." not in text


def test_coverage_is_a_command_of_its_own_and_ci_does_what_the_readme_says():
    command = 'python -m pip install ".[test]" && python -m pytest\n'
    assert command in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert command in (ROOT / "README.md").read_text(encoding="utf-8")
    assert "python -m pytest --cov" in (ROOT / ".ci" / "coverage").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "--cov" not in project["tool"]["pytest"]["ini_options"]["addopts"]
    assert project["tool"]["coverage"]["report"]["fail_under"] >= 97


def test_what_hosted_ci_and_pre_commit_call_is_here_and_can_be_called():
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    hooks = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    called = set(re.findall(r"\.ci/\w+", workflow + hooks))
    assert called == {".ci/run", ".ci/coverage", ".ci/files", ".ci/types"}
    assert all(os.access(ROOT / name, os.X_OK) for name in called)
    jobs = set(re.findall(r"^  (\w+):", workflow.partition("jobs:\n")[2], re.MULTILINE))
    assert set(re.search(r"needs: \[(.*)\]", workflow)[1].split(", ")) == jobs - {"release"}
    assert re.findall(r"repo: (\S+)", hooks) == ["local"], "a hook that is fetched has a version that nothing here checks"


def test_files_that_cannot_be_read_are_named_before_they_are_committed(tmp_path):
    (tmp_path / "wrong.yml").write_text("a: [1\n", encoding="utf-8")
    (tmp_path / "right.toml").write_text("a = 1\n", encoding="utf-8")
    pytest.importorskip("yaml")
    done = started([str(ROOT / ".ci" / "files"), "wrong.yml", "right.toml"], tmp_path)
    assert (done.returncode, done.stdout.count("cannot be read")) == (1, 1), done.stderr
    assert done.stdout.startswith("wrong.yml")
