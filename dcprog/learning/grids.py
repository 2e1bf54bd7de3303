"""The values that parameters are chosen from: those of section 5.2.2 of Neumann, Schnörr & Steidl (2005), and others."""

from __future__ import annotations

import math

MU = tuple(math.exp(k) for k in range(11))
NU = tuple(math.exp(k) for k in range(-5, 6))
LAM_FSV = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
LAM = (0.01, 0.02, *LAM_FSV)
"""Those, and smaller ones: the smallest of the published λ is often the best of them."""
ALPHA_FSV = (0.5, 5.0)
"""The paper's α = 5, with which few features are left, and a tenth of it, nearer to the ℓ1 norm."""
LAM_ALIGNMENT = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
C_SVM = tuple(math.exp(k) for k in range(-5, 6))
LAM_SVM = tuple(1.0 / (1.0 + C) for C in C_SVM)
"""λ with (1−λ)/λ = C."""
NU_NLPSVM = tuple(2.0**k for k in range(-12, 13))
"""ν of Fung & Mangasarian (2004)."""


def numbers_of_features(d: int) -> list[int]:
    """What methods choose from that are told how many features to select.

    >>> numbers_of_features(10)
    [1, 2, 4, 8, 10]
    """
    return [*(2**k for k in range(d.bit_length()) if 2**k < d), d]
