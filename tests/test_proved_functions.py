"""Only our own classes are convex by proof; subclasses, wrappers around others and users' functions are sampled."""

from __future__ import annotations

import re

import numpy as np
import pytest
from curved_functions import model

import dcprog
from dcprog import DCProgram, functions, models
from dcprog.errors import ConvexityError
from dcprog.functions import MCP, CappedL1, Exponential, L1Norm, OfSum, Remainder

RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 5))
Y = np.where(X[:, 0] > 0, 1, -1)


class Waves(dcprog.ConvexFunction):
    def value(self, x):
        return float(np.sin(x).sum())

    def gradient(self, x):
        return np.cos(x)


class WavesWithHessian(Waves):
    separable = True

    def hessian(self, x):
        return -np.sin(x)


class OtherPenalty(Exponential):
    """Takes over a class of ours, and changes what it computes; its Hessian still is that of the exponential."""

    def rho(self, v):
        return np.sin(v)


class SamePenalty(Exponential):
    """Nothing changed; but nobody has proved it."""


@pytest.mark.parametrize("form", ["split", "paper"])
@pytest.mark.parametrize("penalty", [Waves(), WavesWithHessian(), OtherPenalty()])
def test_a_penalty_that_is_not_concave_is_refused_in_every_form(form, penalty):
    with pytest.raises(ConvexityError, match="h is not convex"):
        models.fsv(X, Y, penalty=penalty, form=form)


@pytest.mark.parametrize("form", ["split", "paper"])
def test_what_was_only_sampled_is_recorded(form):
    assert models.fsv(X, Y, form=form).assumptions == ()
    (assumed,) = models.fsv(X, Y, penalty=SamePenalty(), form=form).assumptions
    assert assumed.startswith("h is convex: sampled at")


def test_wrappers_inherit_the_proof_of_their_parts():
    for inner, expected in ((Exponential(), True), (MCP(1.0), True), (OtherPenalty(), False), (SamePenalty(), False)):
        assert inner.proved_convex is expected
        assert OfSum(inner).proved_convex is expected
        assert OfSum(OfSum(inner)).proved_convex is expected
        assert Remainder(inner).proved_convex is expected


def test_an_object_with_an_oracle_of_its_own_is_not_proved():
    f = CappedL1(1.0)
    assert f.proved_convex
    f.value = lambda v: float(np.sin(v).sum())
    assert not f.proved_convex


def test_every_function_of_the_catalogue_is_proved():
    eye, inner = np.eye(2), Exponential()
    numbers = {"theta": 1.0, "lam": 1.0, "Q": eye, "c": [1.0, 2.0], "A": eye, "k": 1, "groups": [[0, 1]]}
    numbers |= {"name": "sin", "lower": -1.0, "upper": 0.0}
    data = {**numbers, "penalty": inner, "function": L1Norm()}
    for entry in functions.catalogue():
        cls = getattr(functions, entry.name)
        wanted = [name for name in ("function", *data) if re.search(rf"[( ]{name}[,)]", entry.signature)]
        wanted = list(dict.fromkeys(wanted))
        assert cls(*(data[name] for name in wanted)).proved_convex, entry.name


@pytest.mark.parametrize("place", ["g", "h"])
@pytest.mark.parametrize("cls", [Waves, WavesWithHessian])
def test_users_functions_in_g_and_h(place, cls):
    m, _ = model(3, -5, 5)
    f = cls()(m.x)
    with pytest.raises(ConvexityError):
        DCProgram(m, g=f if place == "g" else 0, h=f if place == "h" else 0)


class Rosenbrock(dcprog.ConvexFunction):
    """Not convex in directions that no coordinate has."""

    def value(self, x):
        return float((100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum())

    def gradient(self, x):
        t = x[1:] - x[:-1] ** 2
        out = np.zeros_like(x)
        out[:-1] += -400 * t * x[:-1] - 2 * (1 - x[:-1])
        out[1:] += 200 * t
        return out


def test_differences_of_the_gradient_stand_in_for_a_hessian():
    m, _ = model(10, -2, 2)
    with pytest.raises(ConvexityError, match="second derivative"):
        DCProgram(m, g=0, h=Rosenbrock()(m.x))


class LogSumExp(dcprog.ConvexFunction):
    """Convex, with a Hessian whose rounding errors are larger than its smallest eigenvalues."""

    def value(self, x):
        return float(x.max() + np.log(np.exp(x - x.max()).sum()))

    def gradient(self, x):
        p = np.exp(x - x.max())
        return p / p.sum()

    def hessian(self, x):
        p = self.gradient(x)
        return np.diag(p) - np.outer(p, p)


class Counting(dcprog.ConvexFunction):
    calls = 0

    def value(self, x):
        self.calls += 1
        return float(x @ x)

    def gradient(self, x):
        self.calls += 1
        return 2 * x


def test_honest_functions_pass_and_are_not_counted_on():
    m, _ = model(6, -300, 300)
    assert DCProgram(m, g=0, h=LogSumExp()(m.x)).assumptions
    f = Counting()
    DCProgram(m, g=0, h=f(m.x))
    assert f.calls == 0, "a function that counts its calls was counted on while the program was checked"
