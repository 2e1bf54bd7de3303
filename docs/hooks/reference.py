"""The API reference: a page for each public room, from the docstrings of what the room exports."""

from __future__ import annotations

import atexit
import importlib
import inspect
import pkgutil
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.plugins import event_priority
from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[2]
ROOMS = (
    "dcprog",
    "dcprog.functions",
    "dcprog.convex",
    "dcprog.solvers",
    "dcprog.program",
    "dcprog.algorithms",
    "dcprog.testing",
    "dcprog.plots",
    "dcprog.errors",
    "dcprog.learning",
    "dcprog.models",
    "dcprog.methods",
    "dcprog.estimators",
    "dcprog.datasets",
    "dcprog.studies",
)


@event_priority(100)  # before mkdocstrings reads where the sources are
def on_config(config: Any) -> Any:
    """Show mkdocstrings the package as it is installed, where models/ is dcprog.models, and fill the navigation."""
    tree = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, tree, ignore_errors=True)
    shutil.copytree(ROOT / "dcprog", tree / "dcprog", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "models", tree / "dcprog" / "models", ignore=shutil.ignore_patterns("__pycache__"))
    config.plugins["mkdocstrings"].config.handlers["python"]["paths"] = [str(tree)]
    section = next(part for part in config.nav if "Reference" in part)
    section["Reference"] = ["reference/index.md", *({room: page_of(room)} for room in ROOMS)]
    return config


def on_files(files: Any, *, config: Any) -> Any:
    """Add the pages."""
    lines = [f"- [`{room}`]({page_of(room).removeprefix('reference/')}): {purpose(room)}" for room in ROOMS]
    overview = "# Reference\n\nMade from the docstrings, whose examples are run by the tests.\n\n" + "\n".join(lines)
    files.append(File.generated(config, "reference/index.md", content=overview + "\n"))
    for room in ROOMS:
        files.append(File.generated(config, page_of(room), content=page(room)))
    return files


def page(room: str) -> str:
    """What the room exports and defines, and links to what it exports of other rooms."""
    shown = exported(room)
    own = [home for home in shown.values() if room_of(home) == room]
    own += [home for home in exported("dcprog").values() if room_of(home) == room and home not in own]
    if not exported(room) and room != "dcprog":
        own = list(modules(importlib.import_module(room)))
    elsewhere = [
        f"- [`{name}`][{home}]: {first_line(getattr(importlib.import_module(room), name))}"
        for name, home in shown.items()
        if room_of(home) != room
    ]
    listed = "\n".join(elsewhere) + "\n\n" if elsewhere else ""
    directives = "\n\n".join(f"::: {home}" for home in dict.fromkeys(own))
    return f"# `{room}`\n\n{purpose(room)}\n\n{listed}{directives}\n"


def purpose(room: str) -> str:
    """What a room is for: the first line of its docstring."""
    return first_line(importlib.import_module(room))


def first_line(thing: Any) -> str:
    """The first line of a docstring."""
    return (inspect.getdoc(thing) or "").partition("\n")[0]


def page_of(room: str) -> str:
    """Where the page of a room is."""
    return f"reference/{room.rpartition('.')[2]}.md"


def exported(room: str) -> dict[str, str]:
    """The names that a room exports, and the full name of each where it is defined; rooms and plain data are left out."""
    module = importlib.import_module(room)
    homes = {name: defined_at(getattr(module, name)) for name in getattr(module, "__all__", ())}
    return {name: home for name, home in homes.items() if home and home.startswith("dcprog.") and home not in ROOMS}


def room_of(home: str) -> str:
    """The room that a full name is in."""
    return max((room for room in ROOMS if home.startswith(room + ".")), key=len)


def defined_at(thing: Any) -> str | None:
    """The full name of a function, class or module; data such as a table has none."""
    if inspect.ismodule(thing):
        return thing.__name__
    if inspect.isfunction(thing) or inspect.isclass(thing):
        return f"{thing.__module__}.{thing.__qualname__}"
    return None


def modules(package: Any) -> Iterator[str]:
    """A module alone, or all modules of a package that are not private, packages before what they contain."""
    if not hasattr(package, "__path__"):
        yield package.__name__
        return
    for info in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if not any(part.startswith("_") for part in info.name.split(".")):
            yield info.name
