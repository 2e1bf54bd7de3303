"""The package as it is installed: complete, typed, and light to import."""

import importlib
import importlib.metadata
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

import dcprog

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LAZY = ["highspy", "cyipopt", "piqp", "clarabel", "osqp", "sklearn", "matplotlib", "joblib", "pandas"]


def loaded_by(code, tmp_path):
    """The modules that ``code`` loads in a fresh interpreter outside the checkout."""
    words = [sys.executable, "-c", f"import sys\n{code}\nprint(*sys.modules)"]
    return set(subprocess.run(words, capture_output=True, text=True, check=True, cwd=tmp_path).stdout.split())


def test_import_loads_no_solver_and_no_scikit_learn(tmp_path):
    everything = "import dcprog; [getattr(dcprog, name) for name in dcprog.__all__]; dcprog.models.fsv"
    everything += "; dcprog.available_solvers()"
    assert not set(LAZY) & loaded_by(everything, tmp_path)


def test_import_is_light(tmp_path):
    assert not {"pyomo", "scipy", "numpy"} & loaded_by("import dcprog", tmp_path)


def test_rooms_below_the_program_load_neither_pyomo_nor_scikit_learn(tmp_path):
    """Every module of them but the two that DESIGN.md names, which load Pyomo on first use."""
    code = """
import importlib, pkgutil
for room in ("dcprog.functions", "dcprog.convex", "dcprog.solvers"):
    for info in pkgutil.walk_packages(importlib.import_module(room).__path__, room + "."):
        if info.name not in ("dcprog.functions.binding", "dcprog.solvers.adapters.pyomo"):
            importlib.import_module(info.name)
"""
    loaded = loaded_by(code, tmp_path)
    assert "dcprog.solvers.adapters.highs" in loaded
    assert not {"pyomo", *LAZY} & loaded


def test_a_solver_is_loaded_when_it_is_used(tmp_path):
    code = """
import dcprog, pyomo.environ as pyo
m = pyo.ConcreteModel(); m.x = pyo.Var(bounds=(-3, 2), initialize=1)
assert dcprog.solve(dcprog.DCProgram(m, g=0, h=m.x**2), solver="highs").success
"""
    assert {"highspy"} == set(LAZY) & loaded_by(code, tmp_path)


def test_the_checkout_does_not_shadow_the_installed_package():
    assert ROOT not in [Path(entry or ".").resolve() for entry in sys.path]


ROOMS = [".".join(path.parent.relative_to(ROOT).parts) for path in (ROOT / "dcprog").rglob("__init__.py")]


@pytest.mark.parametrize("name", ["dcprog.models", *ROOMS])
def test_every_module_of_the_tree_is_installed(name):
    home = ROOT / "models" if name == "dcprog.models" else ROOT / Path(*name.split("."))
    installed = Path(importlib.import_module(name).__file__).parent
    assert {path.name for path in home.glob("*.py")} == {path.name for path in installed.glob("*.py")}


def test_types_are_shipped():
    assert (Path(dcprog.__file__).parent / "py.typed").is_file()


def test_one_version():
    assert importlib.metadata.version("dcprog") == dcprog.__version__
    assert f"version: {dcprog.__version__}" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"## [{dcprog.__version__}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_public_names_exist_and_are_listed():
    assert all(hasattr(dcprog, name) for name in dcprog.__all__)
    assert set(dcprog.__all__) <= set(dir(dcprog))
    with pytest.raises(AttributeError, match="no attribute 'sovle'"):
        dcprog.sovle  # noqa: B018


def test_every_room_is_reached_from_the_package(tmp_path):
    """Where nobody has imported it: in a fresh interpreter that forgets dcprog after each."""
    rooms = {path.parent.name for path in (ROOT / "dcprog").glob("*/__init__.py")} | {"models"}
    listed = sorted(rooms & set(dir(dcprog)))
    assert rooms - set(listed) == {"cli", "machine"}, "these two are nobody's to import"
    code = f"""
import dcprog
for name in {listed}:
    for old in [module for module in sys.modules if module.split(".")[0] == "dcprog"]:
        del sys.modules[old]
    import dcprog
    assert getattr(dcprog, name) is sys.modules["dcprog." + name]
"""
    loaded_by(code, tmp_path)


@pytest.mark.parametrize(
    "name", ["datasets.generators", "methods.filters", "methods.nlpsvm", "methods.radius_margin", "methods.zero_norm"]
)
def test_methods_list_what_they_define(name):
    module = importlib.import_module(f"dcprog.{name}")
    here = [item for item, value in vars(module).items() if getattr(value, "__module__", None) == module.__name__]
    assert {item for item in here if not item.startswith("_")} <= set(module.__all__)
    assert all(hasattr(module, item) for item in module.__all__)
    assert list(module.__all__) == sorted(module.__all__)


def test_every_solver_of_the_core_install_is_available():
    available = {solver.name for solver in dcprog.available_solvers() if solver.available}
    assert {"highs", "ipopt", "piqp", "scipy"} <= available
