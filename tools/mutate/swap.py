"""A fault put into a package that is imported already: the functions that it changes get other code.

Importing the package and collecting the tests anew takes most of the time of a short run. Where the fault lies in the
body of a function, every function object of that name has its code replaced instead. A fault in a default, a constant of a
module or an attribute of a class is none of those: it wants a new import.
"""

from __future__ import annotations

import ast
import gc
import sys
from collections import defaultdict
from collections.abc import Iterator
from types import CodeType, FunctionType


def is_in_a_body(source: str, line: int, last: int) -> bool:
    """Whether the lines belong to the body of a function, and to no default argument.

    >>> text = "A = 1\\ndef f(x=2,\\n      y=3):\\n    return x + y\\n"
    >>> [is_in_a_body(text, line, line) for line in (1, 2, 3, 4)]
    [False, False, False, True]
    """
    functions = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef))
    return any(f.body[0].lineno <= line and last <= (f.end_lineno or 0) for f in functions)


def swap(path: str, before: str, after: str) -> bool:
    """Give the functions of the module at ``path`` the code of ``after`` where that differs; False where that cannot be."""
    if sys.version_info < (3, 11):  # codes do not know their qualified names
        return False
    old, new = (_by_name(compile(text, path, "exec")) for text in (before, after))
    if old.keys() != new.keys() or any(len(old[name]) != len(new[name]) for name in old):
        return False
    changed = {name: new[name] for name in old if _differ(old[name], new[name])}
    # a function in a function is made from the code of the outer one, which differs as well
    live = defaultdict(list)
    for thing in gc.get_objects():
        if isinstance(thing, FunctionType) and thing.__code__.co_filename == path and thing.__code__.co_qualname in changed:
            live[thing.__code__.co_qualname].append(thing)
    for name, functions in live.items():
        lines = [code.co_firstlineno for code in old[name]]
        for function in functions:
            code = changed[name][lines.index(function.__code__.co_firstlineno)]
            if len(code.co_freevars) != len(function.__code__.co_freevars):
                return False
            function.__code__ = code
    return bool(live)


def _by_name(module: CodeType) -> dict[str, list[CodeType]]:
    """The codes of all functions, by their qualified names."""
    found = defaultdict(list)
    for code in _inside(module):
        found[code.co_qualname].append(code)
    return dict(found)


def _inside(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _inside(constant)


def _differ(old: list[CodeType], new: list[CodeType]) -> bool:
    """Whether the code does something else; that lines have moved is no difference."""
    return any(_content(a) != _content(b) for a, b in zip(old, new, strict=True))


def _content(code: CodeType) -> tuple:
    constants = tuple(_content(c) if isinstance(c, CodeType) else (type(c), repr(c)) for c in code.co_consts)
    return code.co_code, constants, code.co_names, code.co_varnames, code.co_freevars
