"""What happens once another package has been imported: Pyomo learns of its solver "dcprog" without being loaded for it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType


class _Watched(Loader):
    """The loader of a module; ``done`` is called when the module has been executed."""

    def __init__(self, loader: Loader, done: Callable[[], object]) -> None:
        self._loader, self._done = loader, done

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        self._loader.exec_module(module)
        self._done()


class _Watch(MetaPathFinder):
    """Finds nothing itself: it asks the other finders for one module, once, and wraps its loader."""

    def __init__(self, name: str, done: Callable[[], object]) -> None:
        self._name, self._done = name, done

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self._name:
            return None
        sys.meta_path.remove(self)
        spec = find_spec(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader = _Watched(spec.loader, self._done)
        return spec


def when_imported(name: str, done: Callable[[], object]) -> None:
    """Call ``done`` now if the module ``name`` is loaded, else when it has been.

    >>> when_imported("sys", lambda: print("here it is"))
    here it is
    """
    if name in sys.modules:
        done()
    else:
        sys.meta_path.insert(0, _Watch(name, done))
