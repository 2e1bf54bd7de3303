"""What there is, as tables for people and programs."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from dcprog.solvers import registry
from dcprog.solvers.base import Feature


@dataclass(frozen=True)
class SolverInfo:
    """A line of the solver table."""

    name: str
    classes: tuple[str, ...]
    features: tuple[str, ...]
    version: str | None
    available: bool
    install: str

    def to_dict(self) -> dict[str, object]:
        """The line by column names."""
        return asdict(self)


def available_solvers() -> list[SolverInfo]:
    """Every solver name with its problem classes, features, version, availability, and what to install.

    >>> [s.classes for s in available_solvers() if s.name == "highs"]
    [('LP', 'QP')]
    """
    return [
        SolverInfo(
            name=s.name,
            classes=tuple(sorted(c.value for c in s.classes)),
            features=tuple(str(f.name) for f in Feature if f.value and f in s.features),
            version=s.version(),
            available=s.available(),
            install=s.install,
        )
        for s in registry.everything()
    ]
