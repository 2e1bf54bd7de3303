"""An indexed Pyomo constraint whose rows are written when someone asks for one."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

from pyomo.core.base.component import ActiveComponent, ComponentBase
from pyomo.core.base.constraint import ConstraintData, IndexedConstraint


class LazyConstraint(IndexedConstraint):  # type: ignore[misc]
    """An indexed constraint that costs nothing until a plain Pyomo solver, ``pprint`` or ``m.rows[3]`` asks for its rows."""

    def __new__(cls, *args: Any, **kwds: Any) -> Any:
        return object.__new__(cls)

    def __init__(self, *args: Any, **kwds: Any) -> None:
        super().__init__(*args, **kwds)
        self._built: dict[Any, Any] | None = None
        self._written: dict[Any, Any] = {}

    @abstractmethod
    def _relations(self) -> Iterator[tuple[Any, Any]]:
        """Every row by its index, as Pyomo writes it."""

    @abstractmethod
    def _row_count(self) -> int:
        """How many there are."""

    @property
    def _data(self) -> dict[Any, Any]:
        """What Pyomo asks for when it wants the rows."""
        if self._built is None:
            self._built = {index: self._row(index, relation) for index, relation in self._relations()}
            self._written = {index: row._expr for index, row in self._built.items()}
        return self._built

    @_data.setter
    def _data(self, rows: dict[Any, Any]) -> None:
        self._built = rows

    def _row(self, index: Any, relation: Any) -> Any:
        row = ConstraintData(component=self)
        row._index = index
        row._active = self._active
        row.set_value(relation)
        return row

    def is_unchanged(self, index: Any) -> bool:
        """Whether a row holds as it was stated: neither deactivated nor deleted nor rewritten."""
        if self._built is None:
            return True
        row = self._built.get(index)
        return row is not None and row.active and row._expr is self._written.get(index)

    def rewritten(self) -> Iterator[Any]:
        """The active rows that someone gave another expression: they are constraints of their own."""
        for index, row in (self._built or {}).items():
            if row.active and row._expr is not self._written.get(index):
                yield row

    def __len__(self) -> int:
        return self._row_count() if self._built is None else len(self._built)

    def is_reference(self) -> bool:
        return False

    def activate(self) -> None:
        if self._built is None:
            ActiveComponent.activate(self)
        else:
            super().activate()

    def deactivate(self) -> None:
        if self._built is None:
            ActiveComponent.deactivate(self)
        else:
            super().deactivate()

    def _create_objects_for_deepcopy(self, memo: Any, component_list: Any) -> Any:
        if self._built is None:
            return ComponentBase._create_objects_for_deepcopy(self, memo, component_list)
        return super()._create_objects_for_deepcopy(memo, component_list)
