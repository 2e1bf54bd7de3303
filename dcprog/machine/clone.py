"""In a clone ``dcprog.models`` lies in models/, beside the package; an installed package has it inside."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType

MODELS = Path(__file__).parents[2] / "models"


class _BesideThePackage(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != "dcprog.models":
            return None
        return spec_from_file_location(fullname, MODELS / "__init__.py", submodule_search_locations=[str(MODELS)])


def find_models_beside_the_package() -> None:
    """Let ``import dcprog.models`` find the clone's models/, where there is one.

    Before all others: an editable install of another clone would bring its own models to this one's package.
    """
    if (MODELS / "fsv.py").is_file():
        sys.meta_path.insert(0, _BesideThePackage())
