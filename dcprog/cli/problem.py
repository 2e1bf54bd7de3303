"""From the words of the command line to a DC program: which factory, with which parameters, on which data."""

from __future__ import annotations

import ast
import contextlib
import inspect
import runpy
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dcprog import datasets
from dcprog.datasets import Dataset
from dcprog.errors import DCProgError, FunctionError, ModelError, UnknownNameError, unknown_name
from dcprog.program.dc_program import DCProgram

Factory = Callable[..., Any]
DEFAULT_DATA = "breast_cancer"


@dataclass(frozen=True)
class Problem:
    """A DC program and what it was made of; ``data`` is None where the factory takes none."""

    model: str
    program: DCProgram
    data: Dataset | None
    parameters: dict[str, Any]


def build(model: str, factory: Factory, data: str | None, settings: Sequence[str], *, standardise: bool) -> Problem:
    """The program that ``MODEL --data DATA --set NAME=VALUE`` speaks of, where ``factory`` is what MODEL names. Names are
    checked before data is read."""
    parameters = dict(map(parse_setting, settings))
    _check_parameters(model, factory, parameters)
    if not {"X", "y"} <= inspect.signature(factory).parameters.keys():
        if data is not None:
            raise ModelError(f"{model} takes no data, got --data {data}: leave it out, or give it parameters X and y")
        return Problem(model, _call(model, factory, (), parameters), None, parameters)
    loaded = datasets.load(data or DEFAULT_DATA, standardise=standardise)
    return Problem(model, _call(model, factory, (loaded.X, loaded.y), parameters), loaded, parameters)


def find_factory(model: str) -> Factory:
    """A factory of :mod:`dcprog.models` by name, or ``FILE.py:function``."""
    path, colon, function = model.rpartition(":")
    if colon and path.endswith(".py"):
        return _from_file(Path(path), function)
    if model.endswith(".py"):
        raise UnknownNameError(f"{model} names a file, but no function in it: write {model}:FACTORY")
    from dcprog.models import FACTORIES

    if model not in FACTORIES:
        raise unknown_name("model", model, FACTORIES)
    return FACTORIES[model]


def parse_setting(setting: str) -> tuple[str, Any]:
    """NAME=VALUE, the value as a Python literal where it is one.

    >>> parse_setting("lam=0.1"), parse_setting("form=paper")
    (('lam', 0.1), ('form', 'paper'))
    """
    name, equals, value = setting.partition("=")
    if not (equals and name.strip().isidentifier()):
        raise UnknownNameError(f"--set {setting} is not of the form NAME=VALUE, as in --set lam=0.1")
    try:
        return name.strip(), ast.literal_eval(value.strip())
    except (ValueError, SyntaxError):
        return name.strip(), value.strip()


def describe(name: str, factory: Factory) -> dict[str, str]:
    """A line of ``dcprog models``."""
    parameters = [p.name if p.default is p.empty else f"{p.name}={p.default!r}" for p in _settable(factory).values()]
    return {
        "name": name,
        "parameters": ", ".join(parameters),
        "description": (inspect.getdoc(factory) or "").partition("\n")[0],
    }


def _settable(factory: Factory) -> dict[str, inspect.Parameter]:
    """The parameters that --set may name."""
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    parameters = inspect.signature(factory).parameters
    return {name: p for name, p in parameters.items() if p.kind in named and name not in ("X", "y")}


def _check_parameters(model: str, factory: Factory, given: dict[str, Any]) -> None:
    known = _settable(factory)
    open_ended = any(p.kind is p.VAR_KEYWORD for p in inspect.signature(factory).parameters.values())
    for name in given:
        if name not in known and not open_ended:
            raise unknown_name(f"parameter of {model}", name, known)
    missing = [name for name, p in known.items() if p.default is p.empty and name not in given]
    if missing:
        raise ModelError(f"{model} needs {', '.join(missing)}: add {' '.join(f'--set {name}=…' for name in missing)}")


def _call(model: str, factory: Factory, data: tuple[Any, ...], parameters: dict[str, Any]) -> DCProgram:
    with _users_code(f"{model} failed", inspect.getsourcefile(factory)):
        program = factory(*data, **parameters)
    if not isinstance(program, DCProgram):
        raise ModelError(f"{model} returned {type(program).__name__}: a factory has to return a DCProgram")
    return program


def _from_file(path: Path, name: str) -> Factory:
    """The function ``name`` of a user's file, which is run as a module beside its neighbours."""
    if not path.is_file():
        raise UnknownNameError(f"there is no file {path}: pass FILE.py:FACTORY, or a name that `dcprog models` lists")
    sys.path.insert(0, str(path.parent.resolve()))
    with _users_code(f"{path} cannot be imported", str(path)):
        # not an import: the file may have any name, and its functions are sent to other processes by value
        content = runpy.run_path(str(path), run_name=path.stem)
    functions = {key: f for key, f in content.items() if inspect.isfunction(f) and f.__module__ == path.stem}
    if name not in functions:
        raise unknown_name(f"factory in {path.name}", name, functions)
    return functions[name]


@contextlib.contextmanager
def _users_code(what: str, source: str | None) -> Iterator[None]:
    """Any error of the code in ``source`` becomes one sentence with the line where it happened."""
    try:
        yield
    except DCProgError:
        raise
    except (Exception, SystemExit) as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == source]
        where = f" ({Path(source or '').name}, line {lines[-1]})" if lines else ""
        raise FunctionError(f"{what}: {type(error).__name__}: {error}{where}") from error
