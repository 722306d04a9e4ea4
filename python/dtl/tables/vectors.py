"""The values of a column as a container."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..comm.objects import allgather_object
from ..containers.sequences import DistributedVector
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..runtime.agreement import agree, local_step
from .arrow_types import is_number, is_text, is_time, plain_type
from .by_rows import decoded
from .elementwise import numpy_of
from .gather import combined
from .rows import Rows, arrow, block_counts


def vector_of(rows: Rows, op: str) -> Any:
    """Return a vector of the values of a column without nulls. Collective."""
    ctx, name, pa = rows.context, rows.names[0], arrow()
    with local_step(ctx, op):
        column = decoded(rows.local.column(0))
        kind = plain_type(rows.schema.types[0])
        if not (is_number(kind) or is_text(kind) or is_time(kind)) or pa.types.is_time(kind):
            raise InvalidTypeError(f"no vector holds the column {name!r} of {kind}")
        if column.null_count:
            raise InvalidArgumentError(
                f"the column {name!r} has {column.null_count} nulls on rank {ctx.rank}, which no vector has: "
                "fillna(value) or dropna() comes before"
            )
        longest = pa.compute.max(pa.compute.utf8_length(column)).as_py() if is_text(kind) else 0
    agree(ctx, op, repr(name))
    length = max(1, *allgather_object(ctx, longest or 0), 1) if is_text(kind) else 0
    with local_step(ctx, op):
        values = _array(column, kind, length)
    if rows.counts != block_counts(ctx, rows.total):
        return DistributedVector.from_local(ctx, values)
    made = DistributedVector(ctx, rows.total, values.dtype)
    made.local_view()[:] = values
    return made


def _array(column: Any, kind: Any, length: int) -> Any:
    """Return values as an array of NumPy's."""
    if is_text(kind):
        return np.array(combined(column).to_numpy(zero_copy_only=False), f"U{length}")
    if is_time(kind):
        return combined(column).to_numpy(zero_copy_only=False)
    values, _ = numpy_of(column)
    return np.array(values)
