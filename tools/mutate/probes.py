"""Probes: which test runs which block of code, found at nearly no cost by a copy of the package that says so itself.

Every block of statements in a function begins with a probe, a call of ``set.add``. Coverage by line would say the same a
little more exactly, and makes the suite take twice as long.
"""

from __future__ import annotations

import ast
from pathlib import Path

MODULE = "_probes.py"
NAME = "__probe__"
SEEN = '''"""The blocks that ran since somebody looked."""

seen: set[int] = set()
probe = seen.add
'''

Block = tuple[int, int, int]
"""First line, last line, number."""


def probed(source: str, count: int) -> tuple[str, list[Block]]:
    """The source with probes, numbered from ``count`` on, and where its blocks are.

    >>> text, blocks = probed("def f(x):\\n    if x:\\n        return 1\\n    return 2\\n", 7)
    >>> blocks
    [(2, 4, 7), (3, 3, 8)]
    >>> print(text)
    from dcprog._probes import probe as __probe__
    <BLANKLINE>
    def f(x):
        __probe__(7)
        if x:
            __probe__(8)
            return 1
        return 2
    """
    tree = ast.parse(source)
    blocks: list[Block] = []
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    for body in [body for function in functions for body in _bodies(function)]:
        first, last = body[0].lineno, body[-1].end_lineno or body[-1].lineno
        blocks.append((first, last, count + len(blocks)))
        body.insert(_after_words(body), ast.parse(f"{NAME}({blocks[-1][2]})").body[0])
    place = _after_words(tree.body)
    while place < len(tree.body) and isinstance(node := tree.body[place], ast.ImportFrom) and node.module == "__future__":
        place += 1
    tree.body.insert(place, ast.parse(f"from dcprog.{MODULE[:-3]} import probe as {NAME}").body[0])
    return ast.unparse(ast.fix_missing_locations(tree)), blocks


def _bodies(node: ast.AST) -> list[list[ast.stmt]]:
    """The blocks of a function, but not those of functions in it, which are found by themselves."""
    found = []
    for name in ("body", "orelse", "finalbody"):
        body = getattr(node, name, None)
        if isinstance(body, list) and body:
            if not isinstance(node, ast.ClassDef):
                found.append(body)
            found += [b for child in body if not isinstance(child, ast.FunctionDef) for b in _bodies(child)]
    for part in [*getattr(node, "handlers", ()), *getattr(node, "cases", ())]:
        found += _bodies(part)
    return found


def _after_words(body: list[ast.stmt]) -> int:
    """Where statements begin: behind a docstring."""
    first = body[0]
    return int(isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str))


def probe_package(package: Path, rooms: tuple[str, ...]) -> dict[str, list[Block]]:
    """Put probes into the files of these rooms, in place; returns where the blocks of each are."""
    (package / MODULE).write_text(SEEN, encoding="utf-8")
    found: dict[str, list[Block]] = {}
    count = 0
    for path in sorted(path for room in rooms for path in (package / room).rglob("*.py")):
        text, blocks = probed(path.read_text(encoding="utf-8"), count)
        path.write_text(text, encoding="utf-8")
        found[path.relative_to(package.parent).as_posix()] = blocks
        count += len(blocks)
    return found
