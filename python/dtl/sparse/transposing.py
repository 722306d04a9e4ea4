"""Transposed matrices by rows, and products of two sparse matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..exceptions import InvalidArgumentError
from ..runtime.agreement import agree, local_step, refuse_other_context
from . import making
from .local_rows import Matrix, canonical, scipy_sparse
from .row_exchange import exchanged_rows
from .rows import Rows, rows_of
from .triplets import rows_of_triplets

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


def transposed(rows: Rows, op: str) -> Rows:
    """Return the transposed matrix by rows, divided as columns were: each element moves to its rank. Collective."""
    agree(rows.context, op, rows.text())
    if rows.context.size == 1:
        made = scipy_sparse().csr_array(rows.whole().T)
    else:
        own = rows.whole().tocoo()
        numbers = own.row.astype(np.int64) + rows.first
        shape = (rows.shape[1], rows.shape[0])
        made = rows_of_triplets(rows.context, op, (own.data, own.col, numbers), shape, rows.column_begins)
    return rows_of(rows.context, made, rows.column_begins, rows.begins)


def product(rows: Rows, other: Rows, op: str) -> Rows:
    """Return the product of two sparse matrices, divided as the rows of the first. Collective.

    Each rank gets the rows of the second that its own need, as it gets elements of a vector.
    """
    ctx = rows.context
    with local_step(ctx, op):
        refuse_other_context(f"{op}: a matrix", other, ctx)
        if rows.shape[1] != other.shape[0]:
            raise InvalidArgumentError(f"{op}: shapes {rows.shape} and {other.shape} do not fit")
    agree(ctx, op, f"{rows.text()} and {other.text()}")
    there = making.moved(ctx, other.whole(), other.begins, rows.column_begins)
    made = rows.local.own @ there
    ghosts = rows.ghosts()
    if ghosts is not None:
        made = made + rows.local.other @ _rows_of_others(ctx, there, ghosts)
    return rows_of(ctx, canonical(made), rows.begins, other.column_begins)


def _rows_of_others(ctx: Any, own: Matrix, ghosts: Any) -> Matrix:
    """Return the rows that elements in columns of other ranks are multiplied by. Collective."""
    sent = np.zeros(ctx.size, np.int64)
    for rank, part in ghosts.destinations.items():
        sent[rank] = part.stop - part.start
    return exchanged_rows(ctx, own[ghosts.sent], sent)
