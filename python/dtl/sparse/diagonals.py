"""Diagonals of sparse matrices that are given other elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._native.arguments import integer
from .._native.kinds import fingerprint
from .._native.objects import refuse_closed
from ..containers.base import DistributedContainer
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..runtime.agreement import agree, local_step
from .local_rows import canonical, scipy_sparse
from .placing import on_host, whole_vector
from .rows import Rows, rows_of

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


@on_host
def replaced(rows: Rows, values: Any, k: Any) -> Rows:
    """Return a matrix with other elements on a diagonal: a number, or one each. Collective."""
    ctx, (height, width) = rows.context, rows.shape
    with local_step(ctx, "setdiag"):
        number = integer("k", k)
        if number and not -height < number < width:
            raise InvalidArgumentError(f"setdiag: a matrix of {rows.shape} has no diagonal {number}")
        is_divided = isinstance(values, DistributedContainer)
        given: Any = values if is_divided else np.asarray(values)
        if is_divided:
            refuse_closed(given)
        if given.ndim > 1:
            raise InvalidArgumentError(f"setdiag: values of shape {given.shape} are no number and no vector")
        if not np.can_cast(given.dtype, rows.dtype, "same_kind"):
            raise InvalidTypeError(f"setdiag: values of {given.dtype} do not fit a matrix of {rows.dtype}")
    said = f"a container of {given.dtype}" if is_divided else fingerprint(given)
    agree(ctx, "setdiag", f"{rows.text()}, k {number}, {said}")
    if is_divided:
        given = whole_vector(ctx, "setdiag", given)
    length = min(height + min(number, 0), width - max(number, 0))
    if given.ndim:
        length = min(length, len(given))
    first = max(rows.first, -min(number, 0))
    end = max(min(rows.end, length - min(number, 0)), first)
    numbers = np.arange(first, end)
    chosen = given[numbers + min(number, 0)] if given.ndim else np.broadcast_to(given, len(numbers))
    own = rows.whole().tocoo()
    kept = (own.col.astype(np.int64) - own.row - rows.first != number) | (own.row + rows.first >= end)
    kept |= own.row + rows.first < first
    data = np.concatenate([own.data[kept], chosen.astype(rows.dtype)])
    places = (np.concatenate([own.row[kept], numbers - rows.first]), np.concatenate([own.col[kept], numbers + number]))
    made = canonical(scipy_sparse().coo_array((data, places), shape=own.shape))
    return rows_of(ctx, made, rows.begins, rows.column_begins)
