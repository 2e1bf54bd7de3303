"""The faults: what can be changed in a source file, one small thing at a time.

Left alone are docstrings, annotations, the words of messages, and ``if TYPE_CHECKING``: no test of behaviour should depend
on them.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
"""Each comparison with its boundary moved, where it has one, and negated."""
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
EXTREMES = {"min": "max", "minimum": "maximum", "argmin": "argmax", "any": "all"}
EXTREMES |= {other: name for name, other in EXTREMES.items()}
PLAIN_RETURNS = (ast.Constant, ast.Name)
SILENT = {"__repr__", "__str__"}
"""Methods that only make words."""

Change = tuple[str, ast.AST, str]
"""A kind, the node that is replaced, and the source that replaces it."""


@dataclass(frozen=True)
class Mutant:
    """One fault: ``after`` in place of the bytes from ``start`` to ``end`` of the file at ``path``."""

    path: str
    line: int
    last: int
    start: int
    end: int
    kind: str
    where: str
    before: str
    after: str
    occurrence: int

    @property
    def key(self) -> str:
        """The same fault has the same key as long as its function has: lines may move."""
        return "|".join((self.path, self.where, self.kind, self.before, self.after, str(self.occurrence)))

    def applied(self, source: str) -> str:
        """The file with the fault in it."""
        data = source.encode()
        return (data[: self.start] + self.after.encode() + data[self.end :]).decode()


def mutants(path: str, source: str) -> list[Mutant]:
    """Every fault that ``source`` can have.

    >>> for mutant in mutants("f.py", "def f(x):\\n    return x + 1 if x < 2 else -x\\n"):
    ...     print(f"{mutant.line} {mutant.kind:10} {mutant.before}  →  {mutant.after}")
    2 return     return x + 1 if x < 2 else -x  →  return None
    2 comparison x < 2  →  (x <= 2)
    2 comparison x < 2  →  (x >= 2)
    2 constant   2  →  3
    2 arithmetic x + 1  →  (x - 1)
    2 constant   1  →  2
    2 sign       -x  →  (x)
    """
    offsets = [0]
    for line in source.encode().splitlines(keepends=True):
        offsets.append(offsets[-1] + len(line))
    found: list[Mutant] = []
    seen: Counter[tuple[str, ...]] = Counter()
    for where, (kind, node, after) in _walk(ast.parse(source), ""):
        start = offsets[node.lineno - 1] + node.col_offset  # type: ignore[attr-defined]
        end = offsets[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined]
        before = " ".join(source.encode()[start:end].decode().split())
        identity = (where, kind, before, after)
        first, last = node.lineno, node.end_lineno  # type: ignore[attr-defined]
        found.append(Mutant(path, first, last, start, end, kind, where, before, after, seen[identity]))
        seen[identity] += 1
    return found


def _walk(node: ast.AST, where: str) -> Iterator[tuple[str, Change]]:
    """All changes below ``node``, each with the name of the function or class that it is in."""
    if _is_left_alone(node):
        return
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        where = f"{where}.{node.name}".lstrip(".")
    for rule in RULES:
        yield from ((where, change) for change in rule(node))
    for child in _children(node):
        yield from _walk(child, where)


def _is_left_alone(node: ast.AST) -> bool:
    if isinstance(node, ast.FunctionDef):
        return node.name in SILENT
    if isinstance(node, ast.If):
        return isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    words = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return words or isinstance(node, ast.JoinedStr | ast.Import | ast.ImportFrom | ast.Assert)


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """What is below it, but for annotations, bases, decorators, and what an exception says."""
    if isinstance(node, ast.FunctionDef):
        yield from [*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None), *node.body]
    elif isinstance(node, ast.ClassDef):
        yield from node.body
    elif isinstance(node, ast.AnnAssign):
        yield from [] if node.value is None else [node.value]
    elif not isinstance(node, ast.Raise):
        yield from ast.iter_child_nodes(node)


def _source(node: ast.expr) -> str:
    return f"({ast.unparse(node)})"


def _comparison(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.Compare):
        for i, operator in enumerate(node.ops):
            for other in COMPARISONS[type(operator)]:
                changed = copy.deepcopy(node)
                changed.ops[i] = other()
                yield "comparison", node, _source(changed)


def _arithmetic(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in ARITHMETIC and not _is_text(node):
        changed = copy.deepcopy(node)
        changed.op = ARITHMETIC[type(node.op)]()
        yield "arithmetic", node, _source(changed) if isinstance(changed, ast.BinOp) else ast.unparse(changed)


def _is_text(node: ast.BinOp | ast.AugAssign) -> bool:
    """Adding or repeating pieces of text."""
    parts = [node.left, node.right] if isinstance(node, ast.BinOp) else [node.value]
    return any(isinstance(p, ast.JoinedStr) or (isinstance(p, ast.Constant) and isinstance(p.value, str)) for p in parts)


def _sign(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not | ast.Invert):
        yield "sign", node, _source(node.operand)


def _condition(node: ast.AST) -> Iterator[Change]:
    """Tests that are no comparisons, negated."""
    if isinstance(node, ast.If | ast.While | ast.IfExp) and not isinstance(
        node.test, ast.Compare | ast.UnaryOp | ast.Constant
    ):
        yield "condition", node.test, f"(not ({ast.unparse(node.test)}))"


def _constant(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float):
        yield "constant", node, repr(_other(node.value))


def _other(value: bool | int | float) -> bool | int | float:
    """The opposite; or one more, or twice as much where one more is the same."""
    if isinstance(value, bool):
        return not value
    return value + 1 if value + 1 != value else 2 * value


def _extreme(node: ast.AST) -> Iterator[Change]:
    """min for max and the like, as functions and as methods."""
    if isinstance(node, ast.Call):
        changed = copy.deepcopy(node)
        called = changed.func
        if isinstance(called, ast.Name) and called.id in EXTREMES:
            called.id = EXTREMES[called.id]
            yield "extreme", node, _source(changed)
        elif isinstance(called, ast.Attribute) and called.attr in EXTREMES:
            called.attr = EXTREMES[called.attr]
            yield "extreme", node, _source(changed)


def _logic(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.BoolOp):
        changed = copy.deepcopy(node)
        changed.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield "logic", node, _source(changed)


def _return(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.Return) and node.value is not None and not isinstance(node.value, PLAIN_RETURNS):
        yield "return", node, "return None"


def _statement(node: ast.AST) -> Iterator[Change]:
    """Statements that are not needed for the following ones to run, dropped."""
    stored = isinstance(node, ast.Assign) and all(isinstance(t, ast.Attribute | ast.Subscript) for t in node.targets)
    jumps = isinstance(node, ast.Raise | ast.Continue | ast.Break)
    if (
        stored
        or jumps
        or isinstance(node, ast.AugAssign)
        or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call))
    ):
        yield "dropped", node, "pass"


RULES: tuple[Callable[[ast.AST], Iterator[Change]], ...] = (
    _comparison,
    _arithmetic,
    _sign,
    _condition,
    _constant,
    _extreme,
    _logic,
    _return,
    _statement,
)
