"""What is computed of the elements of sparse matrices, each by itself, by SciPy's functions on each rank's rows."""

from __future__ import annotations

from numbers import Number
from typing import Any, Callable

import numpy as np

from .._native.kinds import fingerprint
from .._native.objects import refuse_closed
from ..containers.base import DistributedContainer
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..runtime.agreement import agree, local_step, refuse_other_context
from ..runtime.context import Context
from . import making, selecting
from .local_rows import Matrix, canonical, scipy_sparse
from .placing import on_host, placed, whole_vector
from .rows import Rows, rows_of

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


class NotSparseError(InvalidArgumentError, NotImplementedError):
    """What would be a matrix of few zeros, where SciPy raises NotImplementedError or makes one."""


def is_number(value: Any) -> bool:
    """Say whether a value is one number."""
    return isinstance(value, (Number, np.bool_)) or (isinstance(value, np.ndarray) and value.ndim == 0)


def changed(rows: Rows, op: str, change: Callable[[Array], Array], words: str = "") -> Rows:
    """Return a matrix that stores in each place what a function makes of the element there. Collective."""
    with local_step(rows.context, op):
        made = rows.with_data(change)
        making.checked_dtype(made.dtype)
    agree(rows.context, op, f"{rows.text()}, {words}")
    return made


def combined(rows: Rows, other: Rows, op: str, combine: Callable[[Matrix, Matrix], Any]) -> Rows:
    """Return what a function makes of this rank's rows of two matrices of one shape. Collective."""
    with local_step(rows.context, op):
        if other.shape != rows.shape:
            raise InvalidArgumentError(f"{op}: shapes {rows.shape} and {other.shape} differ")
        refuse_other_context(f"{op}: a matrix", other, rows.context)
    agree(rows.context, op, f"{rows.text()} and {other.text()}")
    there = making.moved(rows.context, other.whole(), other.begins, rows.begins)
    with local_step(rows.context, op):
        made = canonical(combine(rows.whole(), there))
    return rows_of(rows.context, made, rows.begins, rows.column_begins)


def compared(rows: Rows, number: Any, op: str, compare: Callable[[Any, Any], Any]) -> Rows:
    """Return where elements compare with a number, which zeros must not. Collective."""
    with local_step(rows.context, op):
        if bool(compare(rows.dtype.type(0), number)):
            raise NotSparseError(
                f"{op}: zeros compare with {number!r}, so the result would not be sparse; compare matrix.toarray()"
            )
    made = changed(rows, op, lambda data: compare(data, number), f"{number!r}")
    return without_zeros(made)


def without_zeros(rows: Rows) -> Rows:
    """Return the matrix without elements that are stored and zero. Collective."""
    own = rows.whole().copy()
    own.eliminate_zeros()
    return rows_of(rows.context, canonical(own), rows.begins, rows.column_begins)


def at_columns(rows: Rows, part: Array, columns: Array) -> Array:
    """Return the elements of a vector that belong to columns in which this rank's rows have elements. Collective."""
    ghosts, local = rows.ghosts(), rows.local
    if ghosts is None:
        return part[columns - local.first]
    there = ghosts.brought(part)
    found = np.empty(len(columns), part.dtype)
    own = (columns >= local.first) & (columns < local.first + len(part))
    found[own] = part[columns[own] - local.first]
    found[~own] = there[np.searchsorted(local.ghosts, columns[~own])]
    return found


def spread(rows: Rows, shape: tuple[int, ...]) -> Rows:
    """Return a matrix of one row or one column, or of both, with as many as a shape has. Collective if it is a copy."""
    if shape == rows.shape:
        return rows
    keys = [slice(None) if n == wanted else np.zeros(wanted, np.int64) for n, wanted in zip(rows.shape, shape)]
    return selecting.selected(rows, *keys)


def one_number(ctx: Context, op: str, other: Any) -> Any:
    """Return the number of an array or a container of one element; what else there is as it is. Collective."""
    if np.ndim(other) > 2 or np.shape(other) not in ((1,), (1, 1)):
        return other
    if not isinstance(other, DistributedContainer):
        return np.asarray(other).reshape(())[()]
    return whole_vector(ctx, op, other if other.ndim == 1 else other[0])[0]


@on_host
def scaled(rows: Rows, other: Any, op: str, multiply: Callable[[Any, Any], Any]) -> Rows:
    """Return the matrix with its elements multiplied or divided by those of an array. Collective.

    Other is an array of at most two dimensions that is the same on every rank, or a container. It and the matrix
    spread as arrays do: the result has more rows or columns than a matrix of one.
    """
    is_divided = isinstance(other, DistributedContainer)
    with local_step(rows.context, op):
        given: Any = other if is_divided else np.asarray(other)
        making.checked_dtype(given.dtype)
        if is_divided:
            refuse_closed(given)
            refuse_other_context(f"{op}: the container", given, rows.context)
        shape = _common_shape(op, rows.shape, given.shape)
    words = f"a container of {given.dtype}" if is_divided else f"an array of {given.shape}, {fingerprint(given)}"
    agree(rows.context, op, f"{rows.text()} and {words}")
    rows = spread(rows, shape)
    whole = rows.whole()
    if is_divided and given.ndim == 2 and len(given) == 1 < shape[0]:
        given = given[0]
    if is_divided and given.ndim == 1:
        factors = at_columns(rows, placed(op, given, rows.column_begins).local_view(), whole.indices)
    else:
        part = placed(op, given, rows.begins).local_view() if is_divided else given
        if not is_divided and given.ndim == 2 and len(given) == shape[0]:
            part = given[rows.first : rows.end]
        numbers = np.repeat(np.arange(whole.shape[0]), np.diff(whole.indptr))
        factors = np.broadcast_to(part, whole.shape)[numbers, whole.indices]
    with local_step(rows.context, op):
        data = multiply(whole.data, factors)
        making.checked_dtype(data.dtype)
    made = scipy_sparse().csr_array((data, whole.indices, whole.indptr), shape=whole.shape)
    return rows_of(rows.context, made, rows.begins, rows.column_begins)


def _common_shape(op: str, shape: tuple[int, int], given: tuple[int, ...]) -> tuple[int, int]:
    """Return the shape of a matrix and an array that spread."""
    try:
        height, width = np.broadcast_shapes(shape, given)
    except ValueError:  # of no common shape, or one of more dimensions
        raise InvalidArgumentError(f"{op}: shapes {shape} and {given} do not fit") from None
    return height, width


def refused(op: str, value: Any) -> InvalidTypeError:
    """Return the error of what no operator takes."""
    return InvalidTypeError(f"{op}: a sparse matrix and {type(value).__name__} have no {op}")
