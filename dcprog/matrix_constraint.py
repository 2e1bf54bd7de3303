"""Linear constraints stated as matrices over vectors of Pyomo variables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from pyomo.core.base.component import ActiveComponent, ModelComponentFactory
from pyomo.core.base.constraint import Constraint
from pyomo.core.expr.numeric_expr import LinearExpression

from dcprog._typing import Matrix, Sparse, Vector
from dcprog.errors import DataError
from dcprog.functions.binding import flatten


@ModelComponentFactory.register("Linear constraints lower <= A x <= upper with a matrix A.")
class MatrixConstraint(ActiveComponent):  # type: ignore[misc]
    """lower ≤ A x ≤ upper, A dense or scipy.sparse, x one or several vectors of Pyomo variables.

    A scalar Pyomo constraint costs microseconds a coefficient; this one costs none: the matrix goes to the solver as it is.

    Parameters
    ----------
    A : array_like, sparse matrix, or a sequence of them
        One matrix for all of x, or a sequence of blocks side by side, one for each vector in ``x``. A 1-d array is a column.
    x : Pyomo variable or sequence of them
        Indexed or scalar variables, or lists of them.
    lower, upper : float or array_like, optional
        Limits of the rows; None is no limit.

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

    A plain Pyomo solver does not know the component; :meth:`expand` turns it into ordinary constraints:

    >>> m.margin.expand()
    >>> print(m.margin_rows[0].body)
    w[0] + 2.0*w[1] + b + xi[0]
    """

    def __init__(self, A: Any, x: Any, lower: Any = None, upper: Any = None, **kwds: Any) -> None:
        kwds.setdefault("ctype", MatrixConstraint)
        super().__init__(**kwds)
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

    def construct(self, data: Any = None) -> None:
        self._constructed = True

    def _pprint(self) -> tuple[Any, ...]:
        rows, cols = self.matrix.shape
        return [("Rows", rows), ("Columns", cols), ("Nonzeros", self.matrix.nnz), ("Active", self.active)], None, None, None

    def expand(self) -> None:
        """Replace this component by ordinary Pyomo constraints, named ``<name>_rows``, on the same block."""
        rows = self.matrix.tocsr()

        def rule(_: Any, i: int) -> Any:
            columns = slice(rows.indptr[i], rows.indptr[i + 1])
            body = LinearExpression(
                constant=0.0,
                linear_coefs=rows.data[columns].tolist(),
                linear_vars=[self.variables[j] for j in rows.indices[columns]],
            )
            return (_finite_or_none(self.lower[i]), body, _finite_or_none(self.upper[i]))

        limited = np.flatnonzero((self.lower > -np.inf) | (self.upper < np.inf)).tolist()
        block, name = self.parent_block(), self.local_name
        block.del_component(self)
        block.add_component(f"{name}_rows", Constraint(limited, rule=rule))


def _side_by_side(A: Any, x: Any) -> tuple[Sparse, list[Any]]:
    """The blocks of A as one CSC matrix, and the variables its columns belong to."""
    if isinstance(A, Sequence) and not _is_matrix_literal(A):
        vectors = list(x) if isinstance(x, Sequence) else [x]
        if len(A) != len(vectors):
            raise DataError(f"{len(A)} matrix blocks for {len(vectors)} vectors of variables: pass one for each")
        blocks, variables = [], []
        for block, vector in zip(A, vectors, strict=True):
            columns = list(flatten(vector))
            blocks.append(_checked(block, len(columns)))
            variables += columns
        if len({b.shape[0] for b in blocks}) > 1:
            raise DataError(f"the blocks have {[b.shape[0] for b in blocks]} rows: all need the same number")
        matrix = blocks[0] if len(blocks) == 1 else sp.hstack(blocks, format="csc")
    else:
        variables = list(flatten(x))
        matrix = _checked(A, len(variables))
    if len({id(v) for v in variables}) < len(variables):
        raise DataError("a variable stands twice among the columns: add up its coefficients and list it once")
    return matrix, variables


def _is_matrix_literal(A: Sequence[Any]) -> bool:
    """[[1, 2], [3, 4]] is a matrix; [X, y] is a list of blocks."""
    return bool(A) and all(isinstance(row, Sequence) and all(np.isscalar(v) for v in row) for row in A)


def _checked(block: Any, columns: int) -> Sparse:
    if not sp.issparse(block):
        block = np.asarray(block, dtype=float)
        block = block[:, None] if block.ndim == 1 and columns == 1 else block
        if block.ndim != 2:
            raise DataError(f"a matrix block has {block.ndim} dimension(s), expected 2 (or 1 for a single variable)")
    if block.shape[1] != columns:
        raise DataError(f"a matrix block has {block.shape[1]} columns for {columns} variables: they have to match")
    matrix = _dense_to_csc(block) if isinstance(block, np.ndarray) and block.all() else sp.csc_array(block, dtype=float)
    if not np.isfinite(matrix.data).all():
        raise DataError("the matrix has NaN or infinite entries: clean the data first")
    return matrix


def _dense_to_csc(block: Matrix) -> Sparse:
    """CSC of a matrix without zeros, three times faster than scipy's search for the non-zeros."""
    rows, columns = block.shape
    indices = np.tile(np.arange(rows, dtype=np.int32), columns)
    indptr = np.arange(0, rows * columns + 1, rows, dtype=np.int32) if rows else np.zeros(columns + 1, dtype=np.int32)
    return sp.csc_array((block.ravel(order="F"), indices, indptr), shape=(rows, columns))


def _limit(values: Any, rows: int, default: float, side: str) -> Vector:
    try:
        limits: Vector = np.broadcast_to(np.asarray(default if values is None else values, dtype=float), (rows,)).copy()
    except ValueError:
        raise DataError(f"{side} has shape {np.shape(values)} for {rows} rows: pass a number or one value a row") from None
    if np.isnan(limits).any():
        raise DataError(f"{side} has NaN entries: use None or an infinity for no limit")
    if (limits == -default).any():
        raise DataError(f"{side} is {-default} in some row, which no point satisfies")
    return limits


def _finite_or_none(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
