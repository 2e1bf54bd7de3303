"""What can be compared: a method by its name, or any scikit-learn classifier, as an object or as words."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TypeAlias

from sklearn.base import is_classifier
from sklearn.model_selection import GridSearchCV

from dcprog.errors import DataError, UnknownNameError
from dcprog.studies.methods import METHODS, find
from dcprog.studies.protocol import Grids

Wanted: TypeAlias = Sequence[Any] | None
"""Names, classifiers, and pairs of a name and a classifier."""
FORM = "write it as sklearn.svm.LinearSVC, or with parameters, sklearn.svm.LinearSVC(C=0.1); a list of values is a grid"


@dataclass(frozen=True, eq=False)
class Candidate:
    """A classifier under the name that its cells have. ``about`` says what it is, where the name alone does not."""

    name: str
    title: str
    machine: Any
    cost: float
    about: str = ""


def candidates(methods: Wanted, grids: Grids, n: int, d: int) -> tuple[list[Candidate], dict[str, str]]:
    """The candidates to run, and for methods left out the reason. A method that the user names is never left out."""
    if methods is None:
        return _by_default(grids, n, d)
    chosen: dict[str, Candidate] = {}
    for method in methods:
        one = _known(method, grids, n, d) if isinstance(method, str) else _given(method, n, d)
        if one.name in chosen and chosen[one.name].about != one.about:
            raise DataError(f"two methods are called {one.name!r}: pass pairs of a name of your own and a classifier")
        chosen[one.name] = one
    if not chosen:
        raise DataError("no method is named: pass at least one")
    return list(chosen.values()), {}


def _by_default(grids: Grids, n: int, d: int) -> tuple[list[Candidate], dict[str, str]]:
    suitable = default_names(d)
    left_out = {
        name: f"{entry.title} is left out: it takes long with more than {entry.most_features} features; name it to run it"
        for name, entry in METHODS.items()
        if entry.by_default and name not in suitable
    }
    return [_known(name, grids, n, d) for name in suitable], left_out


def default_names(d: int) -> list[str]:
    """The methods of a comparison of d features that names none."""
    return [
        name
        for name, entry in METHODS.items()
        if entry.by_default and (entry.most_features is None or d <= entry.most_features)
    ]


def _known(name: str, grids: Grids, n: int, d: int) -> Candidate:
    entry = find(name)
    return Candidate(name, entry.title, entry.machine(grids, d), entry.cost(n, d))


def _given(method: Any, n: int, d: int) -> Candidate:
    name, machine = method if isinstance(method, tuple) and len(method) == 2 else ("", method)
    if isinstance(machine, type) or not (hasattr(machine, "fit") and is_classifier(machine)):
        hint = f"pass an instance, {machine.__name__}()" if isinstance(machine, type) else "pass names, or classifiers"
        raise DataError(f"{machine!r} is no classifier of scikit-learn's kind: {hint}")
    own = str(name) or " ".join(repr(machine).split())
    return Candidate(own, own, machine, 1e-4 * n * d, described(machine))


def described(machine: Any) -> str:
    """The class of a classifier and all its parameters: with others its results are others.

    >>> from sklearn.dummy import DummyClassifier
    >>> described(DummyClassifier(random_state=1))
    "sklearn.dummy.DummyClassifier(constant=None, random_state=1, strategy='prior')"
    """
    parts = ", ".join(f"{name}={_shown(value)}" for name, value in sorted(machine.get_params().items()))
    return f"{_path(type(machine))}({parts})"


def _shown(value: Any) -> str:
    """As repr, but without addresses, which are others in every run."""
    if hasattr(value, "get_params") and not isinstance(value, type):
        return _path(type(value))
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_shown, value)) + "]"
    return _path(value) if isinstance(value, Callable) and hasattr(value, "__qualname__") else repr(value)  # type: ignore[arg-type]


def _path(item: Any) -> str:
    return f"{item.__module__}.{item.__qualname__}"


def parsed(words: str) -> tuple[str, Any]:
    """A classifier by where it is imported from, and its name; parameters that are lists are grids, tuned on the
    validation half.

    >>> parsed("sklearn.svm.LinearSVC(C=0.5)")
    ('LinearSVC(C=0.5)', LinearSVC(C=0.5))
    >>> name, search = parsed("sklearn.svm.LinearSVC(C=[0.1, 1])")
    >>> name, search.param_grid
    ('LinearSVC(C=[0.1, 1])', {'C': [0.1, 1]})
    """
    path, parameters = _taken_apart(words)
    kind = _imported(path)
    grid = {name: value for name, value in parameters.items() if isinstance(value, list)}
    try:
        machine = kind(**{name: value for name, value in parameters.items() if name not in grid})
        known = machine.get_params()
    except (TypeError, AttributeError) as error:
        raise DataError(f"{path} cannot be made a classifier ({error}): {FORM}") from None
    for name in grid:
        if name not in known:
            raise DataError(f"{path} has no parameter {name!r}: it has {', '.join(known)}")
    arguments = ", ".join(f"{name}={value!r}" for name, value in parameters.items())
    name = path.rpartition(".")[2] + (f"({arguments})" if arguments else "")
    return name, GridSearchCV(machine, grid) if grid else machine


def _taken_apart(words: str) -> tuple[str, dict[str, Any]]:
    try:
        tree = ast.parse(words.strip(), mode="eval").body
        call = tree if isinstance(tree, ast.Call) else None
        if call is not None and call.args:
            raise ValueError
        keywords = [] if call is None else call.keywords
        parameters = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in keywords if keyword.arg is not None}
        target = tree if call is None else call.func
        if len(parameters) < len(keywords) or not isinstance(target, ast.Attribute):
            raise ValueError
    except (ValueError, SyntaxError):
        raise DataError(f"{words!r} is no classifier: {FORM}") from None
    return ast.unparse(target), parameters


def _imported(path: str) -> Callable[..., Any]:
    module, _, name = path.rpartition(".")
    try:
        found: Callable[..., Any] = getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise UnknownNameError(f"there is no {path} to import ({error}): {FORM}") from None
    return found
