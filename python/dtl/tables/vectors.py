"""The values of columns as containers."""

from __future__ import annotations

from typing import Any, Iterator

import numpy as np

from ..comm.objects import allgather_object
from ..containers.layout import Division
from ..containers.sequences import DistributedVector
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..io.arrow import Strings
from ..io.columns import Columns
from ..io.interchange import columns_of_batches
from ..policies import Partition
from ..runtime.agreement import agree, local_step
from ..runtime.context import Context
from .arrow_types import is_number, is_text, is_time, plain_type
from .by_rows import decoded
from .elementwise import numpy_of
from .gather import combined
from .on_disk import piece_rows, pieces, pieces_of_texts
from .rows import Rows, arrow, block_counts


def vector_of(rows: Rows, op: str) -> Any:
    """Return a vector of the values of a column without nulls. Collective."""
    ctx, name, pa = rows.context, rows.names[0], arrow()
    with local_step(ctx, op):
        kind = plain_type(rows.schema.types[0])
        if not (is_number(kind) or is_text(kind) or is_time(kind)) or pa.types.is_time(kind):
            raise InvalidTypeError(f"no vector holds the column {name!r} of {kind}")
        nulls, longest, dtype = 0, 0, np.dtype(np.float64)
        for _, piece in pieces(rows, piece_rows(rows)):
            column = decoded(piece.column(0))
            nulls += column.null_count
            longest = max(longest, pa.compute.max(pa.compute.utf8_length(column)).as_py() or 0) if is_text(kind) else 0
            dtype = np.dtype(f"U{longest}") if is_text(kind) else _array(column.slice(0, 0), kind).dtype
        if nulls:
            raise InvalidArgumentError(
                f"the column {name!r} has {nulls} nulls on rank {ctx.rank}, which no vector has: "
                "fillna(value) or dropna() comes before"
            )
    agree(ctx, op, repr(name))
    if is_text(kind):
        dtype = np.dtype(f"U{max(1, *allgather_object(ctx, longest), 1)}")
    arrays = (_array(decoded(piece.column(0)), kind) for _, piece in pieces(rows, piece_rows(rows)))
    return vector_of_arrays(ctx, op, rows.counts, dtype, arrays)


def vector_of_arrays(ctx: Context, op: str, counts: tuple[int, ...], dtype: Any, arrays: Iterator[Any]) -> Any:
    """Return a vector of which each rank has the elements of its arrays, one after the other. Collective."""
    alike = counts == block_counts(ctx, sum(counts))
    made = DistributedVector(ctx, sum(counts), dtype, partition=Partition.BLOCK if alike else counts)
    try:
        with local_step(ctx, op):
            first, there = 0, made.local_view()
            for array in arrays:
                there[first : first + len(array)] = array
                first += len(array)
                del array
    except BaseException:
        made.close()
        raise
    return made


def _array(column: Any, kind: Any) -> Any:
    """Return values as an array of NumPy's."""
    return numpy_of(column)[0] if is_number(kind) else combined(column).to_numpy(zero_copy_only=False)


def columns_of_rows(rows: Rows, op: str, divided: Division, strings: Strings) -> Columns:
    """Return the columns of a table as vectors. Collective."""
    with local_step(rows.context, op):
        found = pieces_of_texts(rows, piece_rows(rows))
    batches = (batch for _, piece in found for batch in piece.to_batches())
    return columns_of_batches(rows.context, op, rows.schema, rows.length, batches, divided, Columns(), strings)
