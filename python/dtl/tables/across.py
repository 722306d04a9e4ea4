"""Numbers that each row is reduced to."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from .._native.arguments import flag
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..runtime.agreement import agree, local_step
from .arrow_types import is_number
from .elementwise import column_of, numpy_of
from .on_disk import collected, piece_rows, pieces
from .rows import Rows, arrow, arrows_errors

#: So many arrays of 8 bytes a row there are in memory of each column.
_ARRAYS = 3

_UFUNCS = {
    "sum": np.add,
    "prod": np.multiply,
    "min": np.fmin,
    "max": np.fmax,
    "any": np.logical_or,
    "all": np.logical_and,
}


def reduced_rows(rows: Rows, op: str, names: list[str], skipna: Any) -> Rows:
    """Return what the numbers of each row are reduced to, over some columns. Collective."""
    ctx, pa = rows.context, arrow()
    with local_step(ctx, op), arrows_errors(op):
        skips = bool(flag("skipna", skipna))
        for name in names:
            kind = rows.schema.field(name).type
            if not (is_number(kind) or pa.types.is_null(kind) or op == "count"):
                raise InvalidTypeError(f"{op} of rows is of numbers; the column {name!r} is of {kind}")
        if not names:
            raise InvalidArgumentError(f"{op} of rows of no columns")
        some = rows.chosen(names)
        waiting = pieces(some, piece_rows(some, _ARRAYS * len(names)))
        made = collected(ctx, op, (pa.table({op: _reduced(piece.columns, op, skips)}) for _, piece in waiting))
    agree(ctx, op, f"of {names}, skipna {skips}")
    return rows.like(made)


def _reduced(columns: list[Any], op: str, skips: bool) -> Any:
    """Return a reduction over columns: null where no value is, or where one is null and nulls are not skipped."""
    counts = functools.reduce(np.add, [column.is_valid().to_numpy().astype(np.int64) for column in columns])
    if op == "count":
        return column_of(counts, None)
    numbers = [numpy_of(column) for column in columns]
    dtype = _dtype([values.dtype for values, _ in numbers], op)
    neutral = _neutral(op, dtype)
    filled = [
        values.astype(dtype) if valid is None else np.where(valid, values.astype(dtype), neutral)
        for values, valid in numbers
    ]
    with np.errstate(all="ignore"):
        made = functools.reduce(_UFUNCS["sum" if op == "mean" else op], filled)
        if op == "mean":
            made = made / counts
    known = counts == len(columns) if not skips else (counts > 0 if op in ("mean", "min", "max") else None)
    return column_of(made, known)


def _dtype(dtypes: list[Any], op: str) -> Any:
    """Return the dtype in which numbers of several are reduced."""
    if op in ("any", "all"):
        return np.dtype(np.bool_)
    both = np.result_type(*dtypes)
    if op in ("min", "max"):
        return both
    if op == "mean" or both.kind == "f":
        return np.dtype(np.float64)
    return np.dtype(np.uint64 if both.kind == "u" else np.int64)


def _neutral(op: str, dtype: Any) -> Any:
    """Return what stands for null in a reduction that leaves it out."""
    if op in ("min", "max"):
        if dtype.kind == "f":
            return np.nan
        if dtype.kind == "b":
            return op == "min"
        return getattr(np.iinfo(dtype), "max" if op == "min" else "min")
    return dtype.type(op in ("prod", "all"))
