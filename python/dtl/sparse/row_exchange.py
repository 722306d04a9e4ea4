"""How rows of sparse matrices travel between ranks."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algorithms.exchange import exchanged
from ..comm.collectives import alltoall
from ..runtime.context import Context
from . import division
from .local_rows import Matrix, index_type, matrix

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


def exchanged_rows(ctx: Context, rows: Matrix, sent: Array, expected: Array | None = None) -> Matrix:
    """Return the rows that come where each rank sends some to each other one, those of rank 0 first. Collective.

    Parameters
    ----------
    ctx
        The context.
    rows
        What this rank sends: rows with all columns, those for rank 0 first.
    sent
        How many of them each rank gets.
    expected
        How many rows come of each rank, as int64; None if this rank does not know.
    """
    stored = np.diff(rows.indptr[division.starts(sent)].astype(np.int64))
    coming = alltoall(ctx, stored)
    expected = alltoall(ctx, sent) if expected is None else expected
    lengths = exchanged(ctx, np.diff(rows.indptr).astype(np.int64), sent, expected)
    columns = rows.indices.astype(index_type(rows.shape[1]), copy=False)  # of one type on all ranks
    columns, data = (exchanged(ctx, each, stored, coming) for each in (columns, rows.data))
    return matrix(data, columns, division.starts(lengths), (len(lengths), rows.shape[1]))
