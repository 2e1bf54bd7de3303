"""An extension of griffe, which reads the docstrings: their roles and examples as Markdown.

Docstrings keep what help() shows well, such as :func:`dcprog.solve` and examples after ``>>>`` in running text. A role that
names something that does not exist stops the build.
"""

from __future__ import annotations

import importlib
import re
from functools import reduce
from typing import Any

import griffe

ROLE = re.compile(r":(?:func|class|mod|meth|attr|data):`(~?)([^`]+)`")
HEADING = re.compile(r"^(\w[\w ]*)\n-{3,}$", re.MULTILINE)
EXAMPLE = re.compile(r"^([ \t]*)>>> .*\n?(?:^(?![ \t]*$).*\n?)*", re.MULTILINE)


class Markdown(griffe.Extension):
    """Rewrites each docstring once, when its object is loaded."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = fenced(ROLE.sub(linked, obj.docstring.value))


def fenced(text: str) -> str:
    """Examples, each up to the next empty line, as blocks of code. Below another section each gets a heading of its own."""

    def block(match: re.Match[str]) -> str:
        before = HEADING.findall(text, 0, match.start())
        heading = "Examples\n--------\n" if before and before[-1] != "Examples" else "\n"
        return f"{heading}{match[1]}```pycon\n{match[0].rstrip()}\n{match[1]}```\n"

    return EXAMPLE.sub(block, text)


def linked(match: re.Match[str]) -> str:
    """A role as a link to the reference, if it has the full name, and as code otherwise."""
    short, target = match[1], match[2]
    shown = f"`{target.rpartition('.')[2] if short else target}`"
    if not target.startswith("dcprog"):
        return shown
    thing = located(target, match[0])
    return f'<autoref optional identifier="{canonical(thing, target)}"><code>{shown.strip("`")}</code></autoref>'


def located(target: str, role: str) -> Any:
    """What the full name stands for. A module is asked for as such: a function of its name may stand in its place."""
    parts = target.split(".")
    for k in range(len(parts), 0, -1):
        try:
            return reduce(getattr, parts[k:], importlib.import_module(".".join(parts[:k])))
        except ModuleNotFoundError:
            continue
        except AttributeError:
            break
    raise ValueError(f"a docstring refers to {target}, which does not exist: correct {role}")


def canonical(thing: Any, target: str) -> str:
    """The name under which the reference has it: where it is defined."""
    name = getattr(thing, "__qualname__", None)
    return f"{thing.__module__}.{name}" if name else target
