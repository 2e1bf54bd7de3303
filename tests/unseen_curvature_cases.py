"""More functions with known curvature, written after the rules: perspectives, compositions, ratios, norms, determinants,
means, entropies, powers, trigonometric functions on intervals, polynomials, with bounds and rows."""

from __future__ import annotations

import pyomo.environ as pyo
from curvature_cases import box, free, positive

from dcprog import maximum

LOG, EXP, SQRT = pyo.log, pyo.exp, pyo.sqrt

CONVEX = {
    "perspective of log1p: -y log(1+x/y)": (positive("x", "y"), (), lambda m: -m.y * LOG(1 + m.x / m.y)),
    "perspective of square + ": ({**free("x"), **box(1, 5, "y")}, (), lambda m: m.y * ((m.x / m.y) ** 2 + 1)),
    "perspective sqrt(1+t2)": ({**free("x"), **positive("y")}, (), lambda m: SQRT(m.x**2 + m.y**2)),
    "x3/y 3>0": (positive("x", "y"), (), lambda m: m.x**3 / m.y),
    "(x+1)^2/(y+z) pos": ({**free("x"), **positive("y", "z")}, (), lambda m: (m.x + 1) ** 2 / (m.y + m.z)),
    "quad form over linear": ({**free("x", "y"), **box(0.5, 9, "z")}, (), lambda m: (m.x**2 + m.x * m.y + m.y**2) / m.z),
    "norm4": (free("x", "y"), (), lambda m: (m.x**4 + m.y**4) ** 0.25),
    "norm1.5": (free("x", "y", "z"), (), lambda m: (abs(m.x) ** 1.5 + abs(m.y - m.z) ** 1.5) ** (2 / 3)),
    "weighted norm + linear": (free("x", "y"), (), lambda m: SQRT(2 * m.x**2 + 3 * m.y**2 + 2 * m.x * m.y) + m.x),
    "x+1/x": (positive("x"), (), lambda m: m.x + 1 / m.x),
    "1/(x(1-x))": (box(0.01, 0.99, "x"), (), lambda m: 1 / (m.x * (1 - m.x))),
    "1/(1-x^2)": (box(-0.9, 0.9, "x"), (), lambda m: 1 / (1 - m.x**2)),
    "x/(1-x) on [0,.9]": (box(0, 0.9, "x"), (), lambda m: m.x / (1 - m.x)),
    "x2/(1-x)": (box(-3, 0.9, "x"), (), lambda m: m.x**2 / (1 - m.x)),
    "MM1 delay: x/(c-x)": (box(0, 4, "x", "c"), (lambda m: m.c - m.x >= 0.5, lambda m: m.x >= 0), lambda m: 1 / (m.c - m.x)),
    "-logdet 2x2": ({**box(1, 5, "a", "c"), **box(-0.5, 0.5, "b")}, (), lambda m: -LOG(m.a * m.c - m.b**2)),
    "-logdet as sum": ({**box(1, 5, "a", "c"), **box(-0.5, 0.5, "b")}, (), lambda m: -LOG(m.a) - LOG(m.c - m.b**2 / m.a)),
    "trace inverse 2x2": ({**box(1, 5, "a", "c"), **box(-0.5, 0.5, "b")}, (), lambda m: (m.a + m.c) / (m.a * m.c - m.b**2)),
    "matrix fractional": ({**free("b"), **box(1, 5, "a", "c")}, (), lambda m: m.b**2 / m.a + m.b**2 / m.c),
    "-geomean4": (positive("x", "y", "z", "w"), (), lambda m: -((m.x * m.y * m.z * m.w) ** 0.25)),
    "-geomean of affine": (box(0, 1, "x", "y"), (), lambda m: -SQRT((1 + m.x - m.y) * (2 - m.x))),
    "-x^.3 y^.3": (positive("x", "y"), (), lambda m: -(m.x**0.3) * m.y**0.3),
    "x^-1 y^-2": (positive("x", "y"), (), lambda m: m.x**-1 * m.y**-2),
    "x^2 y^-.5 z^-.4": (positive("x", "y", "z"), (), lambda m: m.x**2 * m.y**-0.5 * m.z**-0.4),
    "KL with q=1-p": (
        box(0.01, 0.99, "x", "y"),
        (),
        lambda m: m.x * LOG(m.x / m.y) + (1 - m.x) * LOG((1 - m.x) / (1 - m.y)),
    ),
    "binary entropy neg": (box(0, 1, "x"), (), lambda m: m.x * LOG(m.x) + (1 - m.x) * LOG(1 - m.x)),
    "x log x - log x": (positive("x"), (), lambda m: m.x * LOG(m.x) - LOG(m.x)),
    "mixing term": (positive("x", "y"), (), lambda m: m.x * LOG(m.x / (m.x + m.y)) + m.y * LOG(m.y / (m.x + m.y))),
    "softmax cross": (free("x", "y"), (), lambda m: LOG(EXP(m.x) + EXP(m.y)) - 0.3 * m.x - 0.7 * m.y),
    "logistic loss squared-ish": (free("x"), (), lambda m: LOG(1 + EXP(m.x)) ** 2),
    "softplus of square": (free("x"), (), lambda m: LOG(1 + EXP(m.x**2 - 1))),
    "exp(softplus)": (free("x", "y"), (), lambda m: (1 + EXP(m.x)) * (1 + EXP(m.y))),
    "x exp(x) product of increasing": (box(0, 3, "x"), (), lambda m: m.x**2 * EXP(m.x)),
    "product inc convex: exp(x)*(1+x^2)": (box(0, 2, "x"), (), lambda m: EXP(m.x) * (1 + m.x**2)),
    "product convex dec: exp(-x)/x": (positive("x"), (), lambda m: EXP(-m.x) / m.x),
    "sqrt(1+x2) * x on x>=0": (box(0, 9, "x"), (), lambda m: m.x * SQRT(1 + m.x**2)),
    "tan on [0,1.5]": (box(0, 1.5, "x"), (), lambda m: pyo.tan(m.x)),
    "-sin on [0,pi]": (box(0, 3.14, "x"), (), lambda m: -pyo.sin(m.x)),
    "1/cos": (box(-1.5, 1.5, "x"), (), lambda m: 1 / pyo.cos(m.x)),
    "-log sin": (box(0.1, 3, "x"), (), lambda m: -LOG(pyo.sin(m.x))),
    "x sin x near 0": (box(-1, 1, "x"), (), lambda m: m.x * pyo.sin(m.x)),
    "arcsin right": (box(0, 1, "x"), (), lambda m: pyo.asin(m.x)),
    "atan left": (box(-9, 0, "x"), (), lambda m: pyo.atan(m.x)),
    "SOS quartic x4+x2y2+y4": (free("x", "y"), (), lambda m: m.x**4 + m.x**2 * m.y**2 + m.y**4),
    "SOS quartic ((x-y)^2+1)^2 expanded": (
        free("x", "y"),
        (),
        lambda m: (
            m.x**4
            - 4 * m.x**3 * m.y
            + 6 * m.x**2 * m.y**2
            - 4 * m.x * m.y**3
            + m.y**4
            + 2 * m.x**2
            - 4 * m.x * m.y
            + 2 * m.y**2
            + 1
        ),
    ),
    "(x2+y2)^2 + xy": (free("x", "y"), (), lambda m: (m.x**2 + m.y**2) ** 2 + m.x**2 + m.x * m.y + m.y**2),
    "(x2+y2+1)^1.5": (free("x", "y"), (), lambda m: (m.x**2 + m.y**2 + 1) ** 1.5),
    "x6 + x4 - x3": (box(0.5, 9, "x"), (), lambda m: m.x**6 + m.x**4 - m.x**3),
    "x^4 - 2x^3 + 2x^2": (free("x"), (), lambda m: m.x**4 - 2 * m.x**3 + 2 * m.x**2),
    "by row: x^3+y^3, x+y.. x,y>=0 by rows": (
        free("x", "y"),
        (lambda m: m.x >= 0, lambda m: m.y - m.x >= 0),
        lambda m: m.x**3 + m.y**3,
    ),
    "(x-y)^3 by row": (free("x", "y"), (lambda m: m.x - m.y >= 0,), lambda m: (m.x - m.y) ** 3),
    "max of quadratics minus linear": (free("x", "y"), (), lambda m: maximum(m.x**2 - m.y, m.y**2 + m.x) - 3 * m.x),
    "squared max": (free("x", "y"), (), lambda m: maximum(m.x - m.y, 0, m.y - 2) ** 2 + maximum(m.x, 0) ** 3),
    "|x+2y|^2.5": (free("x", "y"), (), lambda m: abs(m.x + 2 * m.y) ** 2.5),
    "a**x": (free("x"), (), lambda m: 2.5**m.x + 0.3**m.x),
    "log(1/x + 1/y)": (positive("x", "y"), (), lambda m: LOG(1 / m.x + 1 / m.y)),
    "cosh prod": (free("x"), (), lambda m: pyo.cosh(m.x) ** 2),
    "log cosh": (free("x"), (), lambda m: LOG(pyo.cosh(m.x))),
    "log cosh as exps": (free("x", "y"), (), lambda m: LOG(EXP(m.x - m.y) + EXP(m.y - m.x))),
    "x2 + 0.5 cos 1.4x": (free("x"), (), lambda m: m.x**2 + 0.5 * pyo.cos(1.4 * m.x)),
    "-1/(1/x+1/y)": (positive("x", "y"), (), lambda m: -1 / (1 / m.x + 1 / m.y)),
    "sqrt(x2/y + 1)": ({**free("x"), **box(1, 2, "y")}, (), lambda m: (m.x**2 / m.y + 1) ** 2),
    "polynomial quadratics on simplex": (
        {**box(0, 1, "x", "y")},
        (lambda m: m.x + m.y == 1,),
        lambda m: 2 * m.x**2 + m.x * m.y + 3 * m.y**2,
    ),
    "quad convex + exp with coupled": (free("x", "y"), (), lambda m: EXP(m.x + m.y) + m.x**2 - m.x * m.y + m.y**2),
    "xlogx + bilinear": (box(0, 1, "x", "y"), (), lambda m: m.x * LOG(m.x) + m.y * LOG(m.y) + 0.9 * m.x * m.y),
    "Cobb-Douglas cost": (positive("x", "y"), (), lambda m: (m.x**0.5 + m.y**0.5) ** -1),
    "CES negative": (positive("x", "y"), (), lambda m: -((m.x**0.5 + m.y**0.5) ** 2)),
    "CES rho<0": (positive("x", "y"), (), lambda m: -((m.x**-2 + m.y**-2) ** -0.5)),
    "spectral 2x2 max eig": (free("a", "b", "c"), (), lambda m: 0.5 * (m.a + m.c) + SQRT(0.25 * (m.a - m.c) ** 2 + m.b**2)),
}
NOT_CONVEX = {
    "quad saved by exp": (box(0, 3, "x", "y"), (), lambda m: EXP(m.x + m.y) + m.x * m.y),
    "y2/x wrong sign: -x2/y": (box(1, 2, "x", "y"), (), lambda m: -(m.x**2) / m.y),
    "x/y2": (box(1, 2, "x", "y"), (), lambda m: m.x / m.y**2),
    "x^2 y^-0.5 z^-0.6": (box(1, 2, "x", "y", "z"), (), lambda m: m.x**2 * m.y**-0.5 * m.z**-0.6),
    "-x^.6 y^.6": (box(1, 2, "x", "y"), (), lambda m: -(m.x**0.6) * m.y**0.6),
    "norm0.9": (box(0.1, 2, "x", "y"), (), lambda m: (m.x**0.9 + m.y**0.9) ** (1 / 0.9)),
    "x exp(-x)": (box(0, 5, "x"), (), lambda m: m.x * EXP(-m.x)),
    "exp x * y2": (box(-1, 1, "x", "y"), (), lambda m: EXP(m.x) * m.y**2),
    "logistic product": (box(-2, 2, "x", "y"), (), lambda m: LOG(1 + EXP(m.x)) * LOG(1 + EXP(m.y))),
    "log lse minus": (box(-2, 2, "x", "y"), (), lambda m: LOG(EXP(m.x) + EXP(m.y)) - 0.05 * (m.x - m.y) ** 2),
    "entropy mix": (box(0.1, 1, "x", "y"), (), lambda m: m.x * LOG(m.y / m.x)),
    "det": (box(1, 2, "a", "b", "c"), (), lambda m: m.a * m.c - m.b**2),
    "-log det off": (box(1, 5, "a", "c", "b"), (), lambda m: -LOG(m.a * m.c + m.b**2)),
    "x3 slightly": (box(-1e-3, 1, "x"), (), lambda m: m.x**3),
    "1/x both": (box(0.5, 2, "x"), (), lambda m: 1 / m.x - 1.2 * (m.x - 1) ** 2 * m.x),
    "tanh": (box(-1, 1, "x"), (), lambda m: pyo.tanh(m.x)),
    "sin past pi": (box(0, 3.5, "x"), (), lambda m: -pyo.sin(m.x)),
    "x2+cos2x": (box(-3, 3, "x"), (), lambda m: m.x**2 + 0.6 * pyo.cos(2 * m.x)),
    "max minus max": (box(-1, 1, "x", "y"), (), lambda m: maximum(m.x, m.y) - maximum(m.x, 0)),
    "|x|-x2/9": (box(-1, 1, "x"), (), lambda m: abs(m.x) - m.x**2 / 9),
    "|xy|": (box(-1, 1, "x", "y"), (), lambda m: abs(m.x * m.y)),
    "|x2-1|": (box(-2, 2, "x"), (), lambda m: abs(m.x**2 - 1)),
    "hinge of sin": (box(0, 6, "x"), (), lambda m: maximum(pyo.sin(m.x), 0)),
    "max(x2-1,0) minus": (box(-3, 3, "x"), (), lambda m: maximum(m.x**2 - 1, 0) - 0.1 * m.x**2),
    "Motzkin": (box(-2, 2, "x", "y"), (), lambda m: m.x**4 * m.y**2 + m.x**2 * m.y**4 - 3 * m.x**2 * m.y**2 + 1),
    "quartic form 7": (free("x", "y"), (), lambda m: m.x**4 + 7 * m.x**2 * m.y**2 + m.y**4),
    "x2y2 with small squares": (box(-1, 1, "x", "y"), (), lambda m: m.x**2 * m.y**2 + 0.9 * m.x**2 + 0.9 * m.y**2),
    "x^x minus": (box(0.1, 1, "x"), (), lambda m: m.x**m.x - 1.2 * (m.x - 0.5) ** 2),
    "2^x - x2": (box(0, 5, "x"), (), lambda m: 2**m.x - m.x**2),
    "sqrt(1+x2) - .4x2": (box(-2, 2, "x"), (), lambda m: SQRT(1 + m.x**2) - 0.4 * m.x**2),
    "(1+x4)^.25 minus": (box(-2, 2, "x"), (), lambda m: (1 + m.x**4) ** 0.25 - 0.05 * m.x**2),
    "log(1+exp) + log decreasing": (box(-3, 3, "x"), (), lambda m: LOG(1 + EXP(m.x)) - 0.13 * m.x**2),
    "atan right": (box(0, 9, "x"), (), lambda m: pyo.atan(m.x)),
    "arcsin": (box(-0.5, 1, "x"), (), lambda m: pyo.asin(m.x)),
    "x|x|": (box(-1, 2, "x"), (), lambda m: m.x * abs(m.x)),
    "product of 3": (box(0, 1, "x", "y", "z"), (), lambda m: m.x * m.y * m.z),
    "bilinear with too small squares, 12 vars": (
        box(-1, 1, *[f"x{i}" for i in range(12)]),
        (),
        lambda m: (
            0.49 * 2 * sum(m.component(f"x{i}") ** 2 for i in range(12))
            + sum(m.component(f"x{i}") * m.component(f"x{(i + 1) % 12}") for i in range(12))
        ),
    ),
    "exp coupled": (box(-2, 0, "x", "y"), (), lambda m: EXP(m.x + m.y) + m.x * m.y),
    "ratio of affine": (box(1, 2, "x", "y"), (), lambda m: (m.x + 2 * m.y + 1) / (m.x + 3 * m.y)),
    "log of product + quad": (
        box(1, 2, "x", "y"),
        (),
        lambda m: LOG(m.x * m.y) + 0.4 * m.x**2 + 0.4 * m.y**2 - 0.2 * m.x * m.y,
    ),
    "sharpe": (box(0.5, 2, "x", "y"), (), lambda m: (m.x + m.y) / SQRT(m.x**2 + m.y**2)),
    "gaussian bump small": (
        box(-5, 5, "x", "y"),
        (),
        lambda m: m.x**2 + m.y**2 + 2 * EXP(-((m.x - 1) ** 2) - (m.y + 1) ** 2),
    ),
    "narrow dip": (box(0, 100, "x"), (), lambda m: m.x**2 / 50 - EXP(-50 * (m.x - 61.3) ** 2)),
    "by row not": (free("x", "y"), (lambda m: m.x - m.y >= -0.1, lambda m: m.x - m.y <= 3), lambda m: (m.x - m.y) ** 3),
    "simplex bilinear": (box(0, 1, "x", "y"), (lambda m: m.x + m.y == 1,), lambda m: m.x * m.y),
}
