"""Keys that are integers, dates or times: as integers of 32 or 64 bits, and the range that they are in."""

from __future__ import annotations

from typing import Any

import numpy as np

from .rows import arrow

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: The bytes of integers that loops read as they are.
SIZES = (4, 8)


def is_integer(kind: Any) -> bool:
    """Say whether values of a type are held as integers of at most 64 bits."""
    types = arrow().types
    return bool(types.is_integer(kind) or types.is_temporal(kind))


def as_integers(column: Any) -> Any:
    """Return integers, dates or times as integers of 32 or 64 bits with a sign; the largest of uint64 wrap around."""
    pa = arrow()
    kind = column.type
    if pa.types.is_unsigned_integer(kind) or kind.bit_width // 8 not in SIZES:
        return pa.chunked_array([_signed(chunk) for chunk in column.chunks], pa.int64())
    made = pa.int32() if kind.bit_width == 32 else pa.int64()
    return column if kind == made else pa.chunked_array([chunk.view(made) for chunk in column.chunks], made)


def _signed(chunk: Any) -> Any:
    pa = arrow()
    return chunk.view(pa.int64()) if chunk.type == pa.uint64() else chunk.cast(pa.int64())


def range_of(column: Any) -> tuple[int, int] | None:
    """Return the least and the greatest of integers with a sign; None if there is none but null."""
    bounds = arrow().compute.min_max(column).as_py()
    return None if bounds["min"] is None else (bounds["min"], bounds["max"])


def offsets(column: Any, low: int, of_null: int) -> Array:
    """Return how far integers with a sign are above the least one, as int64, which may wrap around; or that of null."""
    numbers = (column.fill_null(0) if column.null_count else column).to_numpy()
    made = numbers.astype(np.int64) - low
    if column.null_count:
        made[column.is_null().to_numpy()] = of_null
    return made
