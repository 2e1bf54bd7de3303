"""The options of the installed Ipopt, read from its own documentation.

cyipopt's ``add_option`` prints on stdout what it does not like, takes 1 for an integer and not for a real number, and raises
the same error for a misspelt name and a wrong value. So an option is checked, and given its type, before it gets there.
"""

from __future__ import annotations

import difflib
import functools
import re
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dcprog.errors import CapabilityError, UnknownNameError

LIST = "https://coin-or.github.io/Ipopt/OPTIONS.html"
ENTRY = re.compile(r"\\anchor OPT_(\w+)\n(.*?)</blockquote>", re.DOTALL)
KIND = re.compile(r"this (real|integer|string) option")
RANGE = re.compile(r"option is (?:(\S+) (<|&le;) )?\w+(?: (<|&le;) (\S+))? and its default")
CHOICE = re.compile(r"^ - (\S+?)(?::|$)", re.MULTILINE)
TYPES: dict[str, type[float] | type[int] | type[str]] = {"real": float, "integer": int, "string": str}


class Option(NamedTuple):
    """One option: ``choices`` of a string option (empty: any text), limits of a number and whether they are excluded."""

    kind: str
    choices: tuple[str, ...]
    lower: float = -np.inf
    upper: float = np.inf
    above: bool = False
    below: bool = False

    def admits(self, value: Any) -> bool:
        """Whether ``value``, of the right type, is one of the choices or within the limits."""
        if self.kind == "string":
            return not self.choices or value in self.choices
        inside = self.lower <= value <= self.upper
        return bool(inside and not (self.above and value == self.lower) and not (self.below and value == self.upper))

    def __str__(self) -> str:
        if self.kind == "string":
            return " or ".join(self.choices)
        left = "" if self.lower == -np.inf else f" {'>' if self.above else '≥'} {self.lower:g}"
        right = "" if self.upper == np.inf else f" {'<' if self.below else '≤'} {self.upper:g}"
        return ("a number" if self.kind == "real" else "an integer") + left + (" and" if left and right else "") + right


def typed(name: str, value: Any) -> str | int | float:
    """``value`` in the type that Ipopt wants for the option ``name``.

    >>> typed("tol", 1), typed("max_iter", 50.0), typed("mehrotra_algorithm", True)
    (1.0, 50, 'yes')
    >>> typed("max_iter", -1)
    Traceback (most recent call last):
    dcprog.errors.CapabilityError: Ipopt's option max_iter takes an integer ≥ 0, got -1
    """
    options = known_options()
    if name not in options:
        near = difflib.get_close_matches(name, options, n=3)
        hint = f"did you mean {' or '.join(near)}? " if near else ""
        raise UnknownNameError(f"unknown option of ipopt {name!r}: {hint}All {len(options)} are listed at {LIST}")
    option = options[name]
    given = {True: "yes", False: "no"}[value] if isinstance(value, bool) else value
    right: str | int | float | None
    try:
        right = TYPES[option.kind](given)
    except (TypeError, ValueError):
        right = None
    if right is None or right != given or not option.admits(right):
        raise CapabilityError(f"Ipopt's option {name} takes {option}, got {value!r}")
    return right


@functools.cache
def known_options() -> dict[str, Option]:
    """Every option by name: what Ipopt writes when it is asked to document itself, which takes it a millisecond."""
    import cyipopt

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "options.txt")
        problem = cyipopt.Problem(1, 0, _Parabola(), [-1.0], [1.0])
        quiet = {"print_level": 0, "sb": "yes", "option_file_name": "", "max_iter": 0}
        ask = {"print_options_documentation": "yes", "print_advanced_options": "yes", "print_options_mode": "doxygen"}
        for name, value in {**quiet, **ask, "output_file": str(file), "file_print_level": 3}.items():
            problem.add_option(name, value)
        problem.solve([0.0])
        problem.close()
        text = file.read_text()
    return {name: _parse(entry) for name, entry in ENTRY.findall(text)}


class _Parabola:
    """x²: the least that Ipopt accepts as a problem."""

    def objective(self, x: Any) -> float:
        return float(x[0] ** 2)

    def gradient(self, x: Any) -> Any:
        return 2 * x


def _parse(entry: str) -> Option:
    kind: str = KIND.findall(entry)[0]
    if kind == "string":
        choices = ("yes", "no") if "Possible values: yes, no" in entry else tuple(CHOICE.findall(entry))
        return Option(kind, () if "*" in choices else choices)
    limits = RANGE.search(entry)
    if limits is None:
        return Option(kind, ())
    lower, left, right, upper = limits.groups()
    return Option(kind, (), float(lower or -np.inf), float(upper or np.inf), left == "<", right == "<")
