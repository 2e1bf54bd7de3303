"""Functions with known curvature: variables by name with their bounds, rows, expression. Other ones than in
curved_functions."""

from __future__ import annotations

import pyomo.environ as pyo

from dcprog import maximum

INF = None


def model(bounds, rows=()):
    """A model with variables of these names and bounds, and rows given as functions of it."""
    m = pyo.ConcreteModel()
    for name, (lower, upper) in bounds.items():
        m.add_component(name, pyo.Var(bounds=(lower, upper)))
    m.rows = pyo.ConstraintList()
    for row in rows:
        m.rows.add(row(m))
    return m


def free(*names):
    return dict.fromkeys(names, (INF, INF))


def positive(*names):
    return dict.fromkeys(names, (0, INF))


def box(lower, upper, *names):
    return dict.fromkeys(names, (lower, upper))


LOG, EXP, SQRT = pyo.log, pyo.exp, pyo.sqrt

CONVEX = {
    "squared hinge": (free("x"), (), lambda m: maximum(m.x, 0) ** 2),
    "|x|^3": (free("x"), (), lambda m: abs(m.x) ** 3),
    "|x|^1.5": (free("x"), (), lambda m: abs(m.x) ** 1.5),
    "x2/y by a row": (free("x", "y"), (lambda m: m.y >= 1,), lambda m: m.x**2 / m.y),
    "1/(x+y) by a row": (free("x", "y"), (lambda m: 2 * m.x + 2 * m.y >= 1,), lambda m: 1 / (m.x + m.y)),
    "(x2+y2)/z": ({**free("x", "y"), **positive("z")}, (), lambda m: (m.x**2 + m.y**2) / m.z),
    "(x-y)^2/(1-y)": (box(-1, 0.9, "x", "y"), (), lambda m: (m.x - m.y) ** 2 / (1 - m.y)),
    "x4/y2": ({**free("x"), **positive("y")}, (), lambda m: m.x**4 / m.y**2),
    "x^3/y^2": (positive("x", "y"), (), lambda m: m.x**3 / m.y**2),
    "1/(xy)": (positive("x", "y"), (), lambda m: 1 / (m.x * m.y)),
    "1/sqrt(xy)": (positive("x", "y"), (), lambda m: 1 / SQRT(m.x * m.y)),
    "1/(x-y2)": ({**box(2, 9, "x"), **box(-1, 1, "y")}, (), lambda m: 1 / (m.x - m.y**2)),
    "-sqrt(xy)": (positive("x", "y"), (), lambda m: -SQRT(m.x * m.y)),
    "-(xyz)^.3": (positive("x", "y", "z"), (), lambda m: -((m.x * m.y * m.z) ** 0.3)),
    "-x^.4y^.6": (positive("x", "y"), (), lambda m: -(m.x**0.4) * m.y**0.6),
    "-log(1-x2-y2)": (box(-0.6, 0.6, "x", "y"), (), lambda m: -LOG(1 - m.x**2 - m.y**2)),
    "-log(xy-z2)": ({**box(2, 5, "x", "y"), **box(-1, 1, "z")}, (), lambda m: -LOG(m.x * m.y - m.z**2)),
    "lse affine": (free("x", "y"), (), lambda m: LOG(EXP(m.x + 2 * m.y) + EXP(m.x - m.y - 1) + 3)),
    "lse squares": (free("x", "y"), (), lambda m: LOG(EXP(m.x**2) + EXP(abs(m.y)))),
    "softplus": (free("x", "y"), (), lambda m: LOG(1 + EXP(3 * m.x - m.y))),
    "-log sigmoid": (free("x"), (), lambda m: -LOG(1 / (1 + EXP(-m.x)))),
    "x exp x": (box(-1, INF, "x"), (), lambda m: m.x * EXP(m.x)),
    "exp(x2+y2)": (free("x", "y"), (), lambda m: EXP(m.x**2 + m.y**2)),
    "exp(1/x)": (positive("x"), (), lambda m: EXP(1 / m.x)),
    "x^x": (positive("x"), (), lambda m: m.x**m.x),
    "entropy": (positive("x", "y"), (), lambda m: m.x * LOG(m.x) + m.y * LOG(m.y)),
    "entropy of a sum": (positive("x", "y"), (), lambda m: (m.x + m.y) * LOG(m.x + m.y)),
    "relative entropy": (positive("x", "y"), (), lambda m: m.x * LOG(m.x / m.y) - m.x + m.y),
    "relative entropy apart": (positive("x", "y"), (), lambda m: m.x * LOG(m.x) - m.x * LOG(m.y)),
    "y log(y/x) + y": (positive("x", "y"), (), lambda m: m.y * LOG(m.y / (m.x + m.y))),
    "perspective of exp": ({**free("x"), **positive("y")}, (), lambda m: m.y * EXP(m.x / m.y)),
    "p-norm": (free("x", "y"), (), lambda m: (abs(m.x) ** 3 + abs(m.y) ** 3) ** (1 / 3)),
    "norm of affine": (free("x", "y"), (), lambda m: SQRT((m.x - m.y) ** 2 + (m.x + 1) ** 2)),
    "norm expanded": (free("x", "y"), (), lambda m: SQRT(m.x**2 - 2 * m.x * m.y + 2 * m.y**2 + 1)),
    "pseudo Huber": (free("x"), (), lambda m: SQRT(1 + (m.x / 2) ** 2) - 1),
    "Huber": (free("x"), (), lambda m: maximum(abs(m.x) - 1, 0) ** 2 + abs(m.x)),
    "quartic sum": (free("x", "y"), (), lambda m: m.x**4 + m.y**4 + (m.x + m.y) ** 2),
    "quartic expanded": (free("x"), (), lambda m: m.x**4 - 4 * m.x**3 + 6 * m.x**2 - 4 * m.x + 1),
    "x4-6x2 far": (box(1, 5, "x"), (), lambda m: m.x**4 - 6 * m.x**2),
    "x3 + 3x2": (box(-1, INF, "x"), (), lambda m: m.x**3 + 3 * m.x**2),
    "x2y2 with squares": (box(-1, 1, "x", "y"), (), lambda m: m.x**2 * m.y**2 + 3 * m.x**2 + 3 * m.y**2),
    "xy + squares": (free("x", "y"), (), lambda m: m.x * m.y + m.x**2 + m.y**2),
    "product of parallel forms": (free("x", "y"), (), lambda m: (m.x + 2 * m.y) * (2 * m.x + 4 * m.y + 3)),
    "xy/(x+y) turned": (positive("x", "y"), (), lambda m: -m.x * m.y / (m.x + m.y)),
    "x2 + sin": (box(-9, 9, "x", "y"), (), lambda m: (m.x + m.y) ** 2 + 1.9 * pyo.sin(m.x + m.y)),
    "cos near 0 turned": (box(-1.5, 1.5, "x"), (), lambda m: -pyo.cos(m.x)),
    "cosh": (free("x", "y"), (), lambda m: pyo.cosh(m.x - m.y)),
    "tanh left": (box(INF, 0, "x"), (), lambda m: pyo.tanh(m.x)),
    "1/(1+x2) far": (box(1, 9, "x"), (), lambda m: 1 / (1 + m.x**2)),
    "geometric program": (
        free("x", "y"),
        (),
        lambda m: 2 * EXP(m.x - 3 * m.y) + EXP(-m.x) * EXP(0.5 * m.y) + EXP(2 * m.x) ** 2,
    ),
    "max of many": (free("x", "y"), (), lambda m: maximum(m.x**2, EXP(m.y), m.x - m.y, 3)),
    "exp of max": (free("x"), (), lambda m: EXP(maximum(m.x, -2 * m.x))),
    "log of exps and 1/x": ({**free("x"), **positive("y")}, (), lambda m: LOG(EXP(m.x) + 1 / m.y)),
    "-log + quadratic": (positive("x", "y"), (), lambda m: -LOG(m.x) - LOG(m.y) + (m.x - m.y) ** 2),
    "x sqrt x": (positive("x"), (), lambda m: m.x * SQRT(m.x)),
    "sqrt(1+x4)": (free("x"), (), lambda m: SQRT(1 + m.x**4)),
    "biquadratic": (free("x", "y"), (), lambda m: m.x**4 + 6 * m.x**2 * m.y**2 + m.y**4),
}

NOT_CONVEX = {
    "x4-x2": (box(-10, 10, "x"), (), lambda m: m.x**4 - m.x**2),
    "x3": (box(-0.1, 10, "x"), (), lambda m: m.x**3),
    "x3 on a row": (free("x"), (lambda m: m.x >= -0.01, lambda m: m.x <= 5), lambda m: m.x**3),
    "rosenbrock": (
        box(-2, 2, *(f"x{i}" for i in range(10))),
        (),
        lambda m: sum(
            100 * (m.component(f"x{i + 1}") - m.component(f"x{i}") ** 2) ** 2 + (1 - m.component(f"x{i}")) ** 2
            for i in range(9)
        ),
    ),
    "shell": (
        box(-3, 3, *(f"x{i}" for i in range(20))),
        (),
        lambda m: (sum(m.component(f"x{i}") ** 2 for i in range(20)) - 1) ** 2,
    ),
    "ripples": (
        box(-10, 10, *(f"x{i}" for i in range(20))),
        (),
        lambda m: sum(m.component(f"x{i}") ** 2 + 0.3 * pyo.sin(3 * m.component(f"x{i}")) for i in range(20)),
    ),
    "camel": (
        box(-3, 3, "x", "y"),
        (),
        lambda m: (4 - 2.1 * m.x**2 + m.x**4 / 3) * m.x**2 + m.x * m.y + (4 * m.y**2 - 4) * m.y**2,
    ),
    "xy": (free("x", "y"), (), lambda m: m.x * m.y),
    "xy just": (free("x", "y"), (), lambda m: m.x**2 + m.y**2 + 2.0001 * m.x * m.y),
    "x/y": (box(1, 2, "x", "y"), (), lambda m: m.x / m.y),
    "x2 y": (box(0, 1, "x", "y"), (), lambda m: m.x**2 * m.y),
    "x2/y2": (box(1, 2, "x", "y"), (), lambda m: m.x**2 / m.y**2),
    "x^1.5/y": (box(1, 2, "x", "y"), (), lambda m: m.x**1.5 / m.y),
    "sqrt": (positive("x"), (), lambda m: SQRT(m.x)),
    "-|x|": (box(-1, 1, "x"), (), lambda m: -abs(m.x)),
    "x2-|x|": (box(-1, 1, "x"), (), lambda m: m.x**2 - 0.01 * abs(m.x)),
    "min": (free("x", "y"), (), lambda m: -maximum(m.x, m.y)),
    "||x|-1|": (box(-3, 3, "x"), (), lambda m: abs(abs(m.x) - 1)),
    "hinge of concave": (box(0, 5, "x"), (), lambda m: maximum(SQRT(m.x), 0.5)),
    "(|x|-1)^2": (box(-3, 3, "x"), (), lambda m: (abs(m.x) - 1) ** 2),
    "|x|^.5": (box(-1, 1, "x"), (), lambda m: abs(m.x) ** 0.5),
    "log(1+x2)": (box(-5, 5, "x"), (), lambda m: LOG(1 + m.x**2)),
    "log lse far": (box(-5, 5, "x"), (), lambda m: LOG(1 + 0.1 * m.x**2 + EXP(m.x) / 1e3)),
    "x exp x": (box(-3, 2, "x"), (), lambda m: m.x * EXP(m.x)),
    "gauss": (box(-2, 2, "x", "y"), (), lambda m: -EXP(-(m.x**2) - m.y**2)),
    "sigmoid": (free("x"), (), lambda m: 1 / (1 + EXP(-m.x))),
    "entropy minus": (box(0, 2, "x"), (), lambda m: m.x * LOG(m.x) - 0.6 * m.x**2),
    "x log y": (box(1, 2, "x", "y"), (), lambda m: m.x * LOG(m.y)),
    "product of exps minus": (box(-1, 1, "x", "y"), (), lambda m: EXP(m.x) * m.y),
    "exp(-x2) + x2/2": (box(-2, 2, "x"), (), lambda m: EXP(-(m.x**2)) + 0.5 * m.x**2),
    "sixth": (box(-2, 2, "x"), (), lambda m: m.x**6 - 0.5 * m.x**4),
    "quartic cross": (box(-1, 1, "x", "y"), (), lambda m: m.x**4 + m.y**4 + 6.5 * m.x**2 * m.y**2),
    "norm difference": (box(-1, 1, "x", "y"), (), lambda m: SQRT(m.x**2 + m.y**2) - 0.9 * abs(m.x)),
    "sqrt of quadratic": (box(2, 4, "x", "y"), (), lambda m: SQRT(m.x * m.y + 3 * m.x**2)),
    "cubic": (box(0, 3, "x", "y", "z"), (), lambda m: m.x**3 + m.y**3 + m.z**3 - 3 * m.x * m.y * m.z),
    "tan": (box(-0.1, 1, "x"), (), lambda m: pyo.tan(m.x)),
    "atan": (box(-1, 1, "x"), (), lambda m: pyo.atan(m.x)),
    "x sin x": (box(-6, 6, "x"), (), lambda m: m.x * pyo.sin(m.x)),
    "hidden dip": (box(-100, 100, "x"), (), lambda m: (m.x - 7.7) ** 4 - 0.5 * (m.x - 7.7) ** 2),
    "large constant": (box(-1, 1, "x"), (), lambda m: 1e9 + m.x**4 - m.x**2),
    "tiny units": (box(-1e-6, 1e-6, "x"), (), lambda m: m.x**3),
    "simplex": (
        positive("x", "y", "z"),
        (lambda m: m.x + m.y + m.z == 1,),
        lambda m: m.x * m.y + m.y * m.z + m.x * m.z,
    ),
    "disc": (free("x", "y"), (lambda m: m.x**2 + m.y**2 <= 1,), lambda m: m.x**4 + m.y**4 - m.x * m.y),
    "beale": (box(-4, 4, "x", "y"), (), lambda m: (1.5 - m.x + m.x * m.y) ** 2 + (2.25 - m.x + m.x * m.y**2) ** 2),
    "double well of a form": (box(-2, 2, "x", "y"), (), lambda m: (m.x + 2 * m.y) ** 4 - (m.x + 2 * m.y) ** 2),
    "geometric mean": (positive("x", "y"), (), lambda m: SQRT(m.x * m.y)),
}
