"""What tables are compared with: frames of pandas and of Polars with the same rows, and tables on one rank."""

from __future__ import annotations

import math
from typing import Any, Callable, NamedTuple

import pandas as pd
import polars as pl
import pyarrow as pa

import dtl


class Step(NamedTuple):
    """A call of a table, and the same of frames.

    Parameters
    ----------
    words
        What it is, for reports.
    made
        What makes the table that comes next, of a table and of the folder for files.
    by_pandas, by_polars
        The same of a frame of pandas and of one of Polars; None where they have no such call.
    """

    words: str
    made: Callable[[Any, str], Any]
    by_pandas: Callable[[Any], Any] | None = None
    by_polars: Callable[[Any], Any] | None = None


def unlike_one_rank(table: Any, one: Any) -> str | None:
    """Return how the rows of all ranks differ from those of one; None if they do not."""
    rows = dtl.broadcast_object(table.context, table.to_arrow())
    return different(rows, one.to_arrow(), "on all ranks", "on one", schema=True)


def unlike_frames(step: Step, before: Any, after: Any) -> str | None:
    """Return how rows of Arrow's differ from those of pandas and Polars; None if they do not, or have no such call."""
    return _unlike_pandas(step, before, after) or _unlike_polars(step, before, after)


def _unlike_pandas(step: Step, before: Any, after: Any) -> str | None:
    if step.by_pandas is None or any(map(_has_odd_floats, before.columns)):
        return None
    try:
        made = pa.Table.from_pandas(step.by_pandas(frame_of_pandas(before)), preserve_index=False)
    except (NotImplementedError, TypeError, ValueError, AttributeError, OverflowError, pa.ArrowException):
        return None  # pandas does not have the call for such types
    return different(made, after, "by pandas", "by DTL", schema=False)


def _unlike_polars(step: Step, before: Any, after: Any) -> str | None:
    if step.by_polars is None:
        return None
    made = step.by_polars(frame_of_polars(before))
    return None if made is None else different(made.to_arrow(), after, "by Polars", "by DTL", schema=False)


def frame_of_pandas(rows: Any) -> Any:
    """Return rows of Arrow's as a frame of pandas, of Arrow's types but for categories."""
    return rows.to_pandas(types_mapper=lambda kind: None if pa.types.is_dictionary(kind) else pd.ArrowDtype(kind))


def frame_of_polars(rows: Any) -> Any:
    """Return rows of Arrow's as a frame of Polars: categories as text, and floats of 64 bits, as DTL sums them."""
    frame: Any = pl.from_arrow(rows)
    frame.columns = rows.column_names  # of which Polars has others for those that are ""
    return frame.with_columns(pl.col(pl.Categorical, pl.Enum).cast(pl.String), pl.col(pl.Float32).cast(pl.Float64))


def _has_odd_floats(column: Any) -> bool:
    """Say whether a column has NaN, which pandas has take turns with null, or -0.0, which it tells from 0.0."""
    return pa.types.is_floating(column.type) and any(
        math.isnan(value) or (value == 0 and math.copysign(1, value) < 0) for value in column.drop_null().to_pylist()
    )


def different(left: Any, right: Any, of_left: str, of_right: str, schema: bool) -> str | None:
    """Return how two tables of Arrow's differ; None if they do not."""
    if left.column_names != right.column_names:
        return f"columns {left.column_names} {of_left}, {right.column_names} {of_right}"
    if schema and left.schema.types != right.schema.types:
        return f"types {left.schema.types} {of_left}, {right.schema.types} {of_right}"
    for name in left.column_names:
        values, others = left[name].to_pylist(), right[name].to_pylist()
        if not same(values, others):
            return f"{name!r} is {values} {of_left}, {others} {of_right}"
    return None


def same(one: Any, other: Any) -> bool:
    """Say whether two values are equal, floats but for rounding."""
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if one is None or other is None or one is pd.NA or other is pd.NA:
        return (one is None or one is pd.NA) == (other is None or other is pd.NA)
    if isinstance(one, float) or isinstance(other, float):
        one, other = float(one), float(other)
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9) or (math.isnan(one) and math.isnan(other))
    return bool(one == other)
