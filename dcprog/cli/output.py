"""The output of the commands: text or JSON on stdout, plots and results in files."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dcprog import algorithms
from dcprog.algorithms.result import Result
from dcprog.cli.problem import Problem
from dcprog.errors import DataError
from dcprog.plots import new_axes, plot_convergence
from dcprog.solvers import registry
from dcprog.testing import Report


def show(problem: Problem, result: Result, as_json: bool) -> None:
    """The outcome of ``dcprog solve``."""
    if as_json:
        print(to_json(summary(problem, result)))
        return
    print(result)
    for name, values in point(result).items():
        print(f"  {name + ' =':10} {first_entries(values)}")
    features = selected_features(problem, result)
    if features is not None:
        assert problem.data is not None
        print(f"  data       {problem.data.name}, {problem.data.counts}")
        print(f"  features   {len(features)} of {problem.data.counts.d}: {_shortened(features)}")


def summary(problem: Problem, result: Result) -> dict[str, Any]:
    """The outcome as plain types, for programs."""
    features = selected_features(problem, result)
    return {
        "model": problem.model,
        "data": None if problem.data is None else problem.data.name,
        "parameters": problem.parameters,
        "algorithm": result.algorithm,
        "solver": result.solver,
        "status": str(result.status),
        "objective": result.objective,
        "gap": result.gap,
        "iterations": result.iterations,
        "point": {name: values.tolist() for name, values in point(result).items()} or None,
        "n_features": None if features is None else len(features),
        "features": features,
        "timings": result.timings,
        "messages": result.messages,
    }


def point(result: Result) -> dict[str, np.ndarray]:
    """The arrays by name; empty where no point was found."""
    return dict(result) if np.isfinite(result.objective) else {}


def first_entries(values: np.ndarray, most: int = 6) -> str:
    """The numbers of an array, as many as fit into a line.

    >>> print(first_entries(np.array(1.30084)), first_entries(np.arange(3) / 3), first_entries(np.zeros((4, 2))), sep="\\n")
    1.30084
    0  0.333333  0.666667
    0  0  0  0  0  0  …  (4 × 2)
    """
    shown = "  ".join(f"{value:.6g}" for value in np.ravel(values)[:most])
    return shown if values.size <= most else f"{shown}  …  ({' × '.join(map(str, values.shape))})"


def selected_features(problem: Problem, result: Result) -> list[str] | None:
    """Names of the features with |w| > 1e-8, or θ > 1e-2, as in section 5.2.3; None where the result speaks of none."""
    if problem.data is None or not np.isfinite(result.objective):
        return None
    names = problem.data.feature_names
    if hasattr(result.classifier, "selected"):
        chosen = result.classifier.selected()
    elif "theta" in result and result["theta"].size == len(names):
        chosen = np.flatnonzero(result["theta"] > 1e-2)
    elif "w" in result and result["w"].size == len(names):
        chosen = np.flatnonzero(np.abs(result["w"]) > 1e-8)
    else:
        return None
    return [names[j] for j in chosen]


def show_report(problem: Problem, report: Report, as_json: bool) -> None:
    """The outcome of ``dcprog check``."""
    if not as_json:
        print(report)
        for title, sentences in (("proved", problem.program.proofs), ("assumed", problem.program.assumptions)):
            for sentence in sentences:
                print(f"{title}: {sentence}")
        return
    checks = [{"statement": c.statement, "passed": c.passed, "detail": c.detail} for c in report]
    data = None if problem.data is None else problem.data.name
    claims = {"proofs": problem.program.proofs, "assumptions": problem.program.assumptions}
    print(to_json({"model": problem.model, "data": data, "passed": report.passed, "checks": checks, **claims}))


def table(rows: Sequence[dict[str, Any]], as_json: bool) -> None:
    """A listing: a table for people, a list of objects for programs."""
    if as_json:
        print(to_json(list(rows)))
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    shown = Table(*rows[0], box=box.SIMPLE_HEAD)
    for row in rows:
        shown.add_row(*(Text(_cell(value)) for value in row.values()))
    Console(width=None if sys.stdout.isatty() else 200).print(shown)


def to_json(value: Any) -> str:
    """JSON as every reader takes it: NaN and infinities are null.

    >>> to_json({"gap": float("nan"), "w": [1.0, float("inf")]})
    '{"gap": null, "w": [1.0, null]}'
    """
    return json.dumps(_plain(value), allow_nan=False, default=str)


def check_names(algorithm: str, solver: str) -> None:
    """Unknown names, before anything runs."""
    if algorithm != "auto":
        algorithms.get(algorithm)
    registry.check_name(solver)


def check_targets(plot: Path | None, save: Path | None) -> None:
    """Files that cannot be written, before anything runs."""
    for path in (plot, save):
        if path is not None and not path.absolute().parent.is_dir():
            raise DataError(f"{path} cannot be written: there is no directory {path.absolute().parent}")
    if plot is not None:
        formats = new_axes().figure.canvas.get_supported_filetypes()
        if plot.suffix.lstrip(".").lower() not in formats:
            raise DataError(f"--plot {plot}: the ending has to be one of {', '.join(sorted(formats))}")


def save_plot(result: Result, path: Path) -> None:
    """The convergence plot as a picture."""
    try:
        plot_convergence(result, new_axes()).figure.savefig(path)
    except OSError as error:
        raise DataError(f"{path} cannot be written ({error.strerror or error}): pass another file by --plot") from None


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(v) for key, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else "–" if value is None else str(value)


def _shortened(names: Sequence[str], most: int = 12) -> str:
    return ", ".join(names[:most]) + (", …" if len(names) > most else "")
