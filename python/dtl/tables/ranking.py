"""The place of each value of a column among all of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..comm.objects import allgather_object
from ..exceptions import InvalidTypeError
from ..runtime.agreement import agree, local_step
from .aggregates import Aggregate
from .exchange import balanced
from .grouping import aggregated
from .joining import keys_of, merged
from .ordering import Order, sorted_rows
from .rows import Rows, arrow
from .within_groups import Ranks

#: The columns of values, of the numbers of their rows, and of their places.
_VALUE, _ROW, _PLACE = "value", "row", "place"


def ranked(rows: Rows, op: str, how: Ranks) -> Rows:
    """Return the place of each value among all, from 1, as float64. Collective."""
    agree(rows.context, op, f"{how}")
    ctx, pa, kind = rows.context, arrow(), rows.schema.types[0]
    with local_step(ctx, op):
        if pa.types.is_nested(kind):
            raise InvalidTypeError(f"the column {rows.names[0]!r} of {kind} has no rank")
    values = rows.like(rows.local.rename_columns([_VALUE]))
    known = -1
    if how.method == "first":
        found = _one_after_the_other(values, op, how.ascending)
    else:
        places = _of_values(values, op, how.method, how.ascending)
        known = places.total
        keys = keys_of(values, places, [_VALUE], None, None)
        found = merged(values, places, keys, "left", ("_x", "_y"), None).local.column(_PLACE)
    if how.na_option != "keep" or how.pct:
        nulls = allgather_object(ctx, found.null_count)
        with local_step(ctx, op):
            missing = found.is_null().to_numpy()
            known = known if how.method == "dense" else rows.total - sum(nulls)
            nth = np.cumsum(missing) + sum(nulls[: ctx.rank])
            found = how.of_all(found.fill_null(0).to_numpy(), missing, known, sum(nulls), nth)
    return rows.like(pa.table([found], names=rows.names))


def _of_values(values: Rows, op: str, method: str, ascending: bool) -> Rows:
    """Return the distinct values and their places. Collective."""
    ctx, pa = values.context, arrow()
    distinct = aggregated(values, op, [_VALUE], True, {_PLACE: Aggregate(_VALUE, "size")})
    with local_step(ctx, op):
        numbers = distinct.local.column(_PLACE).to_numpy()
        each = np.ones(len(numbers), np.int64) if method == "dense" else numbers
    sums = allgather_object(ctx, int(each.sum()))
    with local_step(ctx, op):
        last = np.cumsum(each) + sum(sums[: ctx.rank])
        if not ascending:
            last = sum(sums) - last + each
        first = last - each + 1
        made = {"min": first, "max": last, "dense": last, "average": (first + last) / 2}[method]
        return distinct.like(pa.table({_VALUE: distinct.local.column(_VALUE), _PLACE: made.astype(np.float64)}))


def _one_after_the_other(values: Rows, op: str, ascending: bool) -> Any:
    """Return places of which equal values have different ones, in the order of their rows. Collective."""
    ctx, pa = values.context, arrow()
    rows = pa.array(np.arange(values.first, values.first + values.length))
    order = Order([_VALUE], [ascending], nulls_first=False)
    ordered = sorted_rows(values.like(values.local.append_column(_ROW, rows)), op, order)
    with local_step(ctx, op):
        places = np.arange(ordered.first + 1, ordered.first + 1 + ordered.length, dtype=np.float64)
        missing = ordered.local.column(_VALUE).is_null().to_numpy()
        local = pa.table({_ROW: ordered.local.column(_ROW), _PLACE: pa.array(places, mask=missing)})
    back = sorted_rows(ordered.like(local), op, Order([_ROW], [True], nulls_first=False))
    return balanced(ctx, op, back.local, back.counts, values.counts).column(_PLACE)
