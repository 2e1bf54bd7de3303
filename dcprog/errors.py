"""Every way dcprog says no: one class per kind of mistake, one sentence per message.

All errors derive from :class:`DCProgError`; those about values the caller passed are also ``ValueError``s, so generic code
that knows nothing of dcprog still catches them.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dcprog.algorithms.result import Result


class DCProgError(Exception):
    """Base class of all errors raised by dcprog."""


class DataError(DCProgError, ValueError):
    """Numbers that cannot be used: NaN, infinities, wrong shapes, wrong labels, crossed bounds."""


class ModelError(DCProgError, ValueError):
    """The Pyomo model, or g or h on it, does not state a DC program."""


class ConvexityError(ModelError):
    """Something that has to be convex is not."""


class DecompositionError(ModelError):
    """An expression for which no convex functions g and h with g − h were found."""


class DomainError(ModelError):
    """A function is undefined on part of the set it is minimised over."""


class UnknownNameError(DCProgError, ValueError):
    """A name (solver, algorithm, model, variable …) that nothing answers to."""


class SolverUnavailableError(DCProgError, ImportError):
    """A known solver whose package is not installed."""


class MissingExtraError(DCProgError, ImportError):
    """An optional package that is not installed."""


class CapabilityError(DCProgError, ValueError):
    """A solver or an algorithm is asked for something it does not offer."""


class FunctionError(DCProgError, RuntimeError):
    """A user's function raised, or returned something that is not a finite number of the right shape."""

    result: Result | None = None
    """What was found until then, if it happened in a run."""


class SolverFailedError(DCProgError, RuntimeError):
    """The answer of the one solver that may be asked (``fallback=False``) does not hold."""

    result: Result | None = None
    """What was found until then."""


class NotSolvedError(DCProgError, RuntimeError):
    """An estimator cannot be trained, since its optimisation problem was not solved."""


def unknown_name(kind: str, name: object, known: Iterable[str], meant: str | None = None) -> UnknownNameError:
    """Error for an unknown ``name``, with the nearest known one suggested, or what was ``meant`` where that is certain.

    >>> print(unknown_name("solver", "HIGS", ["highs", "ipopt"]))
    unknown solver 'HIGS': did you mean 'highs'? Known: highs, ipopt
    """
    names = sorted(known)
    meant = meant or nearest(name, names)
    hint = f"did you mean {meant!r}? " if meant else ""
    return UnknownNameError(f"unknown {kind} {name!r}: {hint}Known: {', '.join(names) or 'none'}")


def nearest(name: object, known: Iterable[str], likeness: float = 0.5) -> str | None:
    """The known name that ``name`` is most like, whatever its capitals, if one is."""
    by_small_letters = {other.lower(): other for other in known}
    found = difflib.get_close_matches(str(name).lower(), by_small_letters, n=1, cutoff=likeness)
    return by_small_letters[found[0]] if found else None
