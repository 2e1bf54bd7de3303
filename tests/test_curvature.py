"""dcprog.curvature: what it proves holds, what it refutes has a witness, and what it cannot decide it does not claim."""

from __future__ import annotations

import pytest
from curvature_cases import CONVEX, NOT_CONVEX, model
from curved_functions import CONVEX as MORE_CONVEX
from curved_functions import NOT_CONVEX as MORE_NOT_CONVEX
from curved_functions import model as boxed
from unseen_curvature_cases import CONVEX as UNSEEN_CONVEX
from unseen_curvature_cases import NOT_CONVEX as UNSEEN_NOT_CONVEX

import dcprog

OPEN = {"xy/(x+y) turned", "biquadratic"}
"""Convex, and no rule here sees it: a harmonic mean as a quotient, a sum of fourth powers multiplied out."""


def verdict_of(bounds, rows, expression):
    m = model(bounds, rows)
    return dcprog.curvature(expression(m), over=m)


def check_not_convex(found):
    """Never convex; a witness holds when it is evaluated anew."""
    assert found.verdict not in ("convex", "affine")
    assert found.witness is None or found.witness.check()
    return found.witness is not None


@pytest.mark.parametrize("name", CONVEX)
def test_convex_functions_are_proved(name):
    found = verdict_of(*CONVEX[name])
    assert found.verdict == "convex" or (name in OPEN and found.verdict == "unknown"), f"{name}: {found}"
    assert found.proof


@pytest.mark.parametrize("name", NOT_CONVEX)
def test_functions_that_are_not_convex_are_refuted(name):
    assert check_not_convex(verdict_of(*NOT_CONVEX[name]))


def test_the_bars_on_the_lists_of_the_issue():
    """At least 40 of each 44 convex functions are proved; no other is called convex, at least 34 of each 38 are refuted."""
    proved = [name for name, case in MORE_CONVEX.items() if curvature_in_box(case).verdict == "convex"]
    refuted = [name for name, case in MORE_NOT_CONVEX.items() if check_not_convex(curvature_in_box(case))]
    assert len(proved) >= 40 / 44 * len(MORE_CONVEX), set(MORE_CONVEX) - set(proved)
    assert len(refuted) >= 34 / 38 * len(MORE_NOT_CONVEX), set(MORE_NOT_CONVEX) - set(refuted)


def test_the_bars_on_functions_written_after_the_rules():
    found = {name: verdict_of(*case) for name, case in UNSEEN_CONVEX.items()}
    assert not [name for name, one in found.items() if one.witness is not None]
    proved = [name for name, one in found.items() if one.verdict in ("affine", "convex")]
    refuted = [name for name, case in UNSEEN_NOT_CONVEX.items() if check_not_convex(verdict_of(*case))]
    assert len(proved) >= 40 / 44 * len(UNSEEN_CONVEX), set(UNSEEN_CONVEX) - set(proved)
    assert len(refuted) >= 34 / 38 * len(UNSEEN_NOT_CONVEX), set(UNSEEN_NOT_CONVEX) - set(refuted)


def curvature_in_box(case):
    n, lower, upper, expression = case
    m, x = boxed(n, lower, upper)
    return dcprog.curvature(expression(x), over=m)
