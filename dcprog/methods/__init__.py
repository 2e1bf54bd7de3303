"""The methods of the papers beyond DC programs.

filters, kernel_ranking, kernel_svm, nlpsvm, radius_margin, svm_ranking, zero_norm.
"""

from importlib import import_module
from typing import Any

__all__ = ["filters", "kernel_ranking", "kernel_svm", "nlpsvm", "radius_margin", "svm_ranking", "zero_norm"]


def __getattr__(name: str) -> Any:
    """Imported on first use."""
    if name in __all__:
        return import_module(f"dcprog.methods.{name}")
    raise AttributeError(f"module 'dcprog.methods' has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
