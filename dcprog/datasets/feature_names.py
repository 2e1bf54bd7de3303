"""What the features of the public data sets are, as their documentation calls them; those that are not here are numbered."""

from __future__ import annotations

_CELL_NUCLEI = (
    "radius", "texture", "perimeter", "area", "smoothness", "compactness", "concavity", "concave points", "symmetry",
    "fractal dimension",
)  # fmt: skip
_PROGNOSTIC = (
    *(f"mean {name}" for name in _CELL_NUCLEI),
    *(f"{name} error" for name in _CELL_NUCLEI),
    *(f"worst {name}" for name in _CELL_NUCLEI),
    "tumour size",
    "lymph node status",
)

_HEART = (
    "age", "sex", "cp", "trestbps", "chol", "fbs", "restecg", "thalach", "exang", "oldpeak", "slope", "ca", "thal",
)  # fmt: skip

FEATURE_NAMES: dict[str, tuple[str, ...]] = {
    "wpbc60": _PROGNOSTIC,
    "wpbc24": _PROGNOSTIC,
    "liver": ("mcv", "alkphos", "sgpt", "sgot", "gammagt", "drinks"),
    "cleveland": _HEART,
    "cleveland_severe": _HEART,
    "pima": ("pregnancies", "glucose", "blood pressure", "skin thickness", "insulin", "bmi", "pedigree", "age"),
    "bcw": (
        "clump thickness", "uniformity of cell size", "uniformity of cell shape", "marginal adhesion",
        "single epithelial cell size", "bare nuclei", "bland chromatin", "normal nucleoli", "mitoses",
    ),
    "housing": ("crim", "zn", "indus", "chas", "nox", "rm", "age", "dis", "rad", "tax", "ptratio", "b", "lstat"),
}  # fmt: skip


def numbered(d: int) -> tuple[str, ...]:
    """Names for features that have none.

    >>> numbered(3)
    ('f1', 'f2', 'f3')
    """
    return tuple(f"f{j + 1}" for j in range(d))
