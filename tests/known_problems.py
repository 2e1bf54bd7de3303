"""Ten DC problems with known answers (Joki, Bagirov, Karmitsa & Mäkelä, J. Global Optim. 68, 2017): f = g − h, start, f*."""

from __future__ import annotations

from functools import partial

import pyomo.environ as pyo

from dcprog import DCProgram, maximum


def _model(start):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(1, len(start) + 1), initialize=dict(enumerate(start, 1)))
    return m, m.x


def problem_1():
    m, x = _model((2, 2))
    q1 = x[1] ** 2 - 2 * x[1] + x[2] ** 2 - 4 * x[2] + 4
    q2 = 2 * x[1] ** 2 - 5 * x[1] + x[2] ** 2 - 2 * x[2] + 4
    q3 = x[1] ** 2 + 2 * x[2] ** 2 - 4 * x[2] + 1
    g = maximum(x[1] ** 4 + x[2] ** 2, (2 - x[1]) ** 2 + (2 - x[2]) ** 2, 2 * pyo.exp(x[2] - x[1])) + q1 + q2 + q3
    return DCProgram(m, g=g, h=maximum(q1 + q2, q1 + q3, q2 + q3)), 2.0


def problem_2():
    m, x = _model((-1.2, 1))
    g = abs(x[1] - 1) + 200 * maximum(0, abs(x[1]) - x[2])
    return DCProgram(m, g=g, h=100 * (abs(x[1]) - x[2])), 0.0


def problem_3():
    m, x = _model((1, 3, 3, 1))
    g = (
        abs(x[1] - 1)
        + 200 * maximum(0, abs(x[1]) - x[2])
        + 180 * maximum(0, abs(x[3]) - x[4])
        + abs(x[3] - 1)
        + 10.1 * (abs(x[2] - 1) + abs(x[4] - 1))
        + 4.95 * abs(x[2] + x[4] - 2)
    )
    h = 100 * (abs(x[1]) - x[2]) + 90 * (abs(x[3]) - x[4]) + 4.95 * abs(x[2] - x[4])
    return DCProgram(m, g=g, h=h), 0.0


def problem_4(n=10):
    m, x = _model([i if i <= n // 2 else -i for i in range(1, n + 1)])
    return DCProgram(m, g=n * maximum(*(abs(x[i]) for i in x)), h=sum(abs(x[i]) for i in x)), 0.0


def problem_5(n=5):
    m, x = _model([0] * n)
    s = [sum((x[i] - 1 / n) * (0.05 * j) ** (i - 1) for i in x) for j in range(1, 21)]
    return DCProgram(m, g=20 * maximum(*map(abs, s)), h=sum(map(abs, s))), 0.0


def problem_6():
    m, x = _model((10, 1))
    g = x[2] + 0.1 * (x[1] ** 2 + x[2] ** 2) + 10 * maximum(0, -x[2])
    return DCProgram(m, g=g, h=abs(x[1]) + abs(x[2])), -2.5


def problem_7():
    m, x = _model((-2, 1))
    r = x[1] ** 2 + x[2] ** 2
    pieces = (r + abs(x[2]), x[1] + r + abs(x[2]) - 0.5, abs(x[1] - x[2]) + abs(x[2]) - 1, x[1] + r)
    g = abs(x[1] - 1) + 200 * maximum(0, abs(x[1]) - x[2]) + 10 * maximum(*pieces)
    return DCProgram(m, g=g, h=100 * (abs(x[1]) - x[2]) + 10 * (r + abs(x[2]))), 0.5


def problem_8():
    m, x = _model((0.5, 0.5, 0.5))
    g = (
        9
        - 8 * x[1]
        - 6 * x[2]
        - 4 * x[3]
        + 2 * sum(abs(x[i]) for i in x)
        + 4 * x[1] ** 2
        + 2 * x[2] ** 2
        + 2 * x[3] ** 2
        + 10 * maximum(0, x[1] + x[2] + 2 * x[3] - 3, -x[1], -x[2], -x[3])
    )
    return DCProgram(m, g=g, h=abs(x[1] - x[2]) + abs(x[1] - x[3])), 3.5


def problem_9():
    m, x = _model((4, 2, 4, 2))
    points = ((2, 0), (2, 1), (3, 0), (0, 2), (1, 2))
    one = [(x[1] - a) ** 2 + (x[2] - b) ** 2 for a, b in points]
    two = [(x[3] - a) ** 2 + (x[4] - b) ** 2 for a, b in points]
    return DCProgram(m, g=sum(one) + sum(two), h=sum(maximum(s, t) for s, t in zip(one, two, strict=True))), 11 / 6


def problem_10(n=10):
    m, x = _model([0.1 * i for i in range(1, n + 1)])
    return DCProgram(m, g=sum(x[i] ** 2 for i in x), h=sum(abs(x[i] - x[i - 1]) for i in x if i > 1)), 1.5 - n


PROBLEMS = {
    f.__name__: f
    for f in (
        problem_1,
        problem_2,
        problem_3,
        problem_4,
        problem_5,
        problem_6,
        problem_7,
        problem_8,
        problem_9,
        problem_10,
    )
}


CASES = {
    **{f"problem_{i}": PROBLEMS[f"problem_{i}"] for i in (1, 2, 3, 6, 7, 8, 9)},
    **{f"problem_{i}, n = {n}": partial(make, n) for i, make in ((4, problem_4), (5, problem_5)) for n in (2, 5, 10, 50)},
    **{f"problem_10, n = {n}": partial(problem_10, n) for n in (2, 4, 5, 10, 20)},
}
"""All twenty: those that are stated for any n at the sizes of the paper."""
