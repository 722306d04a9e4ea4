"""Norms of sparse matrices."""

from __future__ import annotations

from typing import Any, overload

import numpy as np

from ..._native.arguments import integer
from ...comm.reductions import allreduce
from ...exceptions import InvalidArgumentError, InvalidTypeError
from ...ops import MAX, MIN, SUM
from ...runtime.agreement import agree, collective
from ..array import csc_array, csr_array
from ..products import transposed_product
from .singular import svds
from .systems import real_number

#: The orders, as SciPy has them, and what each is for the transposed matrix.
_TRANSPOSED: dict[Any, Any] = {"fro": "fro", 1: np.inf, -1: -np.inf, np.inf: 1, -np.inf: -1}


@overload
def norm(x: Any, ord: Any = None, axis: None = None) -> float: ...
@overload
def norm(x: Any, ord: Any = None, axis: Any = None) -> Any: ...
@collective
def norm(x: Any, ord: Any = None, axis: Any = None) -> Any:
    """Return a norm of a sparse matrix, or those of its columns or rows. Collective.

    Parameters
    ----------
    x
        A ``csr_array`` or ``csc_array``.
    ord
        None or "fro": the root of the sum of the squared magnitudes. 1 and -1: the greatest and the least sum of
        magnitudes of a column. ``np.inf`` and ``-np.inf``: of a row. 2: the greatest singular value. With an axis: a
        power, of which None is 2 and 0 counts what is not zero.
    axis
        None, or both axes, for a norm of the matrix; 0 for one a column, 1 for one a row.

    Returns
    -------
    float or DistributedVector
        The same on every rank. 0 of a matrix without rows or columns. With an axis, a vector that is divided as the
        columns or rows are.

    Raises
    ------
    InvalidArgumentError, InvalidTypeError
        If x is no sparse matrix, or there is no such order. On every rank.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     matrix = dtl.sparse.csr_array(ctx, np.array([[3.0, 0.0], [-4.0, 0.0]]))
    ...     [dtl.sparse.linalg.norm(matrix, ord) for ord in (None, 1, np.inf)]
    [5.0, 7.0, 4.0]
    """
    if not isinstance(x, (csr_array, csc_array)):
        raise InvalidTypeError(f"x must be a csr_array or a csc_array, not {x!r:.80}")
    axis = axis[0] if isinstance(axis, tuple) and len(axis) == 1 else axis
    along = None if axis is None or (isinstance(axis, tuple) and len(axis) == 2) else integer("axis", axis)
    if along is not None:
        return _along(x, ord, along)
    if isinstance(axis, tuple) and sorted(integer("axis", each) % 2 for each in axis) != [0, 1]:
        raise InvalidArgumentError(f"axis {axis} names an axis twice")
    if isinstance(ord, (int, float)) and ord == 2:
        if min(x.shape) > 1:
            return float(svds(x, 1, return_singular_vectors=False)[0])
        ord = None  # of one row or column, both are the same
    wanted: Any = "fro" if ord is None or (isinstance(ord, str) and ord in ("f", "fro")) else ord
    if isinstance(wanted, (np.ndarray, list, dict)) or wanted not in _TRANSPOSED:
        raise InvalidArgumentError(f"ord {ord!r} is none of None, 'fro', 1, -1, 2, np.inf and -np.inf")
    rows, ctx = x.rows, x.context
    agree(ctx, "norm", f"ord {ord}, {rows.text()}")
    wanted = _TRANSPOSED[wanted] if isinstance(x, csc_array) else wanted
    local = rows.local
    kind: Any = np.float64 if rows.dtype.kind in "biu" else rows.dtype.type(0).real.dtype
    own, other = (abs(each).astype(kind) for each in (local.own, local.other))
    if wanted == "fro":
        square = sum(float(np.dot(each.data.astype(np.float64), each.data)) for each in (own, other))
        return float(np.sqrt(allreduce(ctx, square, SUM)))
    if abs(wanted) == np.inf:
        sums = np.asarray(own.sum(axis=1)).reshape(-1) + np.asarray(other.sum(axis=1)).reshape(-1)
    else:
        size = int(rows.column_begins[ctx.rank + 1] - rows.column_begins[ctx.rank])
        sums = np.zeros(size, kind)
        transposed_product(local._replace(own=own, other=other), rows.ghosts(), np.ones(own.shape[0], kind), sums)
    if 0 in rows.shape:
        return 0.0
    if wanted > 0:
        return float(allreduce(ctx, float(sums.max(initial=0)), MAX))
    return float(allreduce(ctx, float(sums.min(initial=np.inf)), MIN))


def _along(x: csr_array | csc_array, order: Any, axis: int) -> Any:
    """Return the norms of columns or rows. Collective."""
    power = 2.0 if order is None else real_number("ord", order)
    floats: Any = x if np.issubdtype(x.dtype, np.inexact) else x.astype(np.float64)
    size = abs(floats)
    if power == 0:
        return x.count_nonzero(axis)
    if abs(power) == np.inf:
        return size.max(axis) if power > 0 else size.min(axis)
    if power < 0:
        raise InvalidArgumentError(f"ord {order!r} of columns or rows must be -np.inf, or not negative")
    sums = (size if power == 1 else size**power).sum(axis)
    return sums if power == 1 else sums ** (1 / power)
