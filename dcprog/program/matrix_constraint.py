"""Linear constraints stated as matrices over vectors of Pyomo variables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from pyomo.core.base.set import RangeSet
from pyomo.core.expr.numeric_expr import LinearExpression

from dcprog.errors import DataError
from dcprog.functions.binding import variables_in
from dcprog.program.lazy_constraint import LazyConstraint
from dcprog.typing import Mask, Matrix, Sparse, Vector


class MatrixConstraint(LazyConstraint):
    """lower ≤ A x ≤ upper, A dense or scipy.sparse, x one or several vectors of Pyomo variables.

    An ordinary, indexed Pyomo constraint whose rows are built when someone asks for one: a plain Pyomo solver, ``pprint``,
    ``m.rows[3]``. A scalar Pyomo constraint costs microseconds a coefficient; for dcprog this one costs none, since the
    matrix goes to the solver as it is.

    Parameters
    ----------
    A : array_like, sparse matrix, or a sequence of them
        One matrix for all of x, or a sequence of blocks side by side, one for each vector in ``x``. A 1-d array is a column.
    x : Pyomo variable or sequence of them
        Indexed or scalar variables, slices, or lists of them. Columns of a variable that comes twice are added up.
    lower, upper : float or array_like, optional
        Limits of the rows; None is no limit. A row without any is no constraint, and ``m.rows[i]`` a KeyError.

    Attributes
    ----------
    matrix, variables, lower, upper
        A as CSC, the scalar variables of its columns, and the limits, infinite where there is none. Not to be changed.

    Examples
    --------
    The margin constraints y ∘ (Xw + b) + ξ ≥ 1 of every SVM:

    >>> import numpy as np, pyomo.environ as pyo, scipy.sparse as sp
    >>> X, y = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1.0, -1.0])
    >>> m = pyo.ConcreteModel()
    >>> m.w, m.b, m.xi = pyo.Var(range(2)), pyo.Var(), pyo.Var(range(2), bounds=(0, None))
    >>> m.margin = MatrixConstraint([y[:, None] * X, y, sp.eye(2)], [m.w, m.b, m.xi], lower=1)
    >>> m.margin.matrix.shape
    (2, 5)

    Its rows are Pyomo constraints:

    >>> print(m.margin[0].expr)
    1.0  <=  w[0] + 2.0*w[1] + b + xi[0]
    >>> m.margin[1].deactivate()
    """

    def __init__(self, A: Any, x: Any, lower: Any = None, upper: Any = None, **kwds: Any) -> None:
        self.matrix, self.variables = _side_by_side(A, x)
        rows = self.matrix.shape[0]
        self.lower = _limit(lower, rows, -np.inf, "lower")
        self.upper = _limit(upper, rows, np.inf, "upper")
        crossed = np.flatnonzero(self.lower > self.upper)
        if crossed.size:
            i = crossed[0]
            raise DataError(
                f"row {i} has limits [{self.lower[i]}, {self.upper[i]}], which no point satisfies: swap or relax them"
            )
        super().__init__(RangeSet(0, rows - 1), **kwds)

    @property
    def limited(self) -> Mask:
        """Mask of the rows that have a limit."""
        return (self.lower > -np.inf) | (self.upper < np.inf)

    def unchanged(self) -> Mask:
        """Mask of the rows that hold and are as the matrix says: neither deactivated nor deleted nor rewritten."""
        if not self.active:
            return np.zeros(len(self.lower), dtype=bool)
        mask = self.limited
        if self._built is not None:
            for i in np.flatnonzero(mask).tolist():
                mask[i] = self.is_unchanged(i)
        return mask

    def _relations(self) -> Iterator[tuple[int, Any]]:
        """Every row that has a limit, as Pyomo writes it."""
        rows = sp.csr_array(self.matrix)
        limits = list(zip(self.lower.tolist(), self.upper.tolist(), strict=True))
        for i in np.flatnonzero(self.limited).tolist():
            part = slice(rows.indptr[i], rows.indptr[i + 1])
            variables = [self.variables[j] for j in rows.indices[part]]
            yield i, _relation(variables, rows.data[part].tolist(), *limits[i])

    def _row_count(self) -> int:
        return int(self.limited.sum())

    def _pprint(self) -> tuple[Any, ...]:
        _, *rest = super()._pprint()
        rows, cols = self.matrix.shape
        return [("Rows", rows), ("Columns", cols), ("Nonzeros", self.matrix.nnz), ("Active", self.active)], *rest


def _relation(variables: list[Any], coefficients: list[float], lower: float, upper: float) -> Any:
    """lower ≤ coefficients'variables ≤ upper, written as an equation where the limits are the same."""
    body = LinearExpression(constant=0.0, linear_coefs=coefficients, linear_vars=variables)
    if lower == upper:
        return body == lower
    if upper == np.inf:
        return lower <= body
    if lower == -np.inf:
        return body <= upper
    return (lower, body, upper)


def _side_by_side(A: Any, x: Any) -> tuple[Sparse, list[Any]]:
    """The blocks of A as one CSC matrix, and the variables its columns belong to, each once."""
    if isinstance(A, Sequence) and not isinstance(A, str) and not _is_matrix_literal(A):
        vectors = list(x) if isinstance(x, Sequence) else [x]
        if len(A) != len(vectors):
            raise DataError(f"{len(A)} matrix blocks for {len(vectors)} vectors of variables: pass one for each")
        blocks, variables = [], []
        for block, vector in zip(A, vectors, strict=True):
            columns = variables_in(vector, "a MatrixConstraint")
            blocks.append(_checked(block, len(columns)))
            variables += columns
        if len({b.shape[0] for b in blocks}) > 1:
            raise DataError(f"the blocks have {[b.shape[0] for b in blocks]} rows: all need the same number")
        if not blocks:
            raise DataError("no matrix block was given: pass at least one, and a vector of variables for it")
        matrix = blocks[0] if len(blocks) == 1 else sp.hstack(blocks, format="csc")
    else:
        variables = variables_in(x, "a MatrixConstraint")
        matrix = _checked(A, len(variables))
    return _merged(matrix, variables)


def _merged(matrix: Sparse, variables: list[Any]) -> tuple[Sparse, list[Any]]:
    """The columns of a variable that stands there more than once, added up."""
    first: dict[int, int] = {}
    positions = [first.setdefault(id(v), len(first)) for v in variables]
    if len(first) == len(variables):
        return matrix, variables
    ones, rows = np.ones(len(variables)), np.arange(len(variables))
    add_up = sp.csc_array((ones, (rows, positions)), shape=(len(variables), len(first)))
    return sp.csc_array(matrix @ add_up), list({id(v): v for v in variables}.values())


def _is_matrix_literal(A: Sequence[Any]) -> bool:
    """[[1, 2], [3, 4]] is a matrix; [X, y] is a list of blocks."""
    return bool(A) and all(isinstance(row, Sequence) and all(np.isscalar(v) for v in row) for row in A)


def _checked(block: Any, columns: int) -> Sparse:
    """A block as a CSC matrix of its own: rows that are written later have to be those that were given."""
    block = _floats(block)
    if not sp.issparse(block):
        block = block[:, None] if block.ndim == 1 and columns == 1 else block
        if block.ndim != 2:
            raise DataError(f"a matrix block has {block.ndim} dimension(s), expected 2 (or 1 for a single variable)")
    if block.shape[1] != columns:
        raise DataError(f"a matrix block has {block.shape[1]} columns for {columns} variables: they have to match")
    matrix = _dense_to_csc(block) if isinstance(block, np.ndarray) and block.all() else sp.csc_array(block, copy=True)
    if not np.isfinite(matrix.data).all():
        raise DataError("the matrix has NaN or infinite entries: clean the data first")
    return matrix


def _floats(block: Any) -> Any:
    """A dense or sparse matrix of floats; a complex one would lose its imaginary part without a word."""
    try:
        given = block if sp.issparse(block) else np.asarray(block)
        if given.dtype.kind == "c":
            raise TypeError("complex entries")
        return given.astype(float, copy=False)
    except (TypeError, ValueError) as error:
        raise DataError(f"a matrix block of type {type(block).__name__} holds no numbers ({error}): pass floats") from None


def _dense_to_csc(block: Matrix) -> Sparse:
    """CSC of a matrix without zeros, three times faster than scipy's search for the non-zeros."""
    rows, columns = block.shape
    indices = np.tile(np.arange(rows, dtype=np.int32), columns)
    indptr = np.arange(0, rows * columns + 1, rows, dtype=np.int32) if rows else np.zeros(columns + 1, dtype=np.int32)
    return sp.csc_array((block.flatten(order="F"), indices, indptr), shape=(rows, columns))


def _limit(values: Any, rows: int, default: float, side: str) -> Vector:
    try:
        given = np.asarray(default if values is None else values, dtype=float)
    except (TypeError, ValueError):
        raise DataError(f"{side} is {values!r}, which is no number: pass a number, one value a row, or None") from None
    try:
        limits: Vector = np.broadcast_to(given, (rows,)).copy()
    except ValueError:
        raise DataError(f"{side} has shape {np.shape(values)} for {rows} rows: pass a number or one value a row") from None
    if np.isnan(limits).any():
        raise DataError(f"{side} has NaN entries: use None or an infinity for no limit")
    if (limits == -default).any():
        raise DataError(f"{side} is {-default} in some row, which no point satisfies")
    return limits
