"""Nulls filled with the value before or behind them, over all ranks."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._native.arguments import integer
from ..exceptions import BoundsError, InvalidTypeError
from ..runtime.agreement import agree, local_step
from .arrow_types import is_number
from .by_rows import as_chunked, decoded
from .exchange import gathered_everywhere
from .gather import one_array
from .rows import Rows, arrow, arrows_errors

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: Before the first row and behind the last, for rows that no value is near.
_FAR = 2**62


def filled_from(rows: Rows, op: str, forward: bool, limit: Any) -> Rows:
    """Return a column whose nulls are filled with the last value before them, or with the first behind. Collective.

    Parameters
    ----------
    forward
        Whether values are carried to rows behind them.
    limit
        So many nulls in a row are filled at most; None for all.
    """
    ctx, pa, name = rows.context, arrow(), rows.names[0]
    with local_step(ctx, op):
        most = _FAR if limit is None else integer("limit", limit)
        if most < 1:
            raise BoundsError(f"limit {most} is less than 1")
        column = decoded(rows.local.column(0))
        places = np.flatnonzero(column.is_valid().to_numpy()) if len(column) else np.empty(0, np.int64)
        edge = places[-1:] if forward else places[:1]
        mine = pa.table({"value": column.take(pa.array(edge)), "row": edge + rows.first})
    agree(ctx, op, f"{name!r}, limit {limit}")
    # The values next to each rank's rows, of which the last before this rank's or the first behind are carried in.
    edges = gathered_everywhere(ctx, op, mine)
    with local_step(ctx, op), arrows_errors(f"{op} of {name!r}"):
        rows_of_edges = edges.column("row").to_numpy()
        end = rows.first + len(column)
        near = np.flatnonzero(rows_of_edges < rows.first)[-1:] if forward else np.flatnonzero(rows_of_edges >= end)[:1]
        at = int(rows_of_edges[near[0]]) - rows.first if len(near) else (-_FAR if forward else _FAR)
        index = _nearest(len(column), places, forward, at, most)
        values = pa.concat_arrays([one_array(column), one_array(edges.column("value").take(pa.array(near)))])
        made = values.take(pa.array(np.maximum(index, 0), mask=index < 0))
        kind = rows.schema.types[0]
        if pa.types.is_dictionary(kind):
            made = _encoded(made, rows.local.column(0), kind)
        return rows.like(pa.table({name: as_chunked(made)}))


def interpolated(rows: Rows, op: str) -> Rows:
    """Return numbers as float64, in which nulls are on the line between the values around them. Collective."""
    ctx, pa, name = rows.context, arrow(), rows.names[0]
    with local_step(ctx, op), arrows_errors(f"{op} of {name!r}"):
        if not is_number(rows.schema.types[0]) or pa.types.is_boolean(rows.schema.types[0]):
            raise InvalidTypeError(f"{op} is of numbers; {name!r} is of {rows.schema.types[0]}")
        values = rows.local.column(0).cast(pa.float64(), safe=False)
        there = values.is_valid().to_numpy()
        numbers = np.arange(rows.first, rows.first + len(values))
        both = [rows.like(pa.table({name: each})) for each in (values, pa.array(numbers, mask=~there))]
    found = [filled_from(each, op, forward, None).local.column(0) for each in both for forward in (True, False)]
    with local_step(ctx, op), np.errstate(all="ignore"):
        low, high, first, last = (each.fill_null(0).to_numpy().astype(np.float64) for each in found)
        slope = (high - low) / np.maximum(last - first, 1)
        line = np.where(found[1].is_valid().to_numpy(), slope * (numbers - first) + low, low)
        made = np.where(there, values.fill_null(0).to_numpy(), line)
        return rows.like(pa.table({name: pa.array(made, mask=found[0].is_null().to_numpy())}))


def _nearest(count: int, places: Array, forward: bool, at: int, most: int) -> Array:
    """Return the row of the value for each row: ``count`` for the one that is carried in, -1 for none."""
    known = np.arange(count)
    valid = np.zeros(count, np.bool_)
    valid[places] = True
    if forward:
        source = np.maximum.accumulate(np.where(valid, known, at)) if count else known
        distance = known - source
        carried = source < 0
    else:
        source = np.minimum.accumulate(np.where(valid, known, at)[::-1])[::-1] if count else known
        distance = source - known
        carried = source >= count
    index = np.where(carried, count, source)
    index[(distance > most) | (abs(source) >= _FAR)] = -1
    return index


def _encoded(made: Any, before: Any, kind: Any) -> Any:
    """Return values as categories again, ordered ones in their order."""
    pa = arrow()
    if not kind.ordered or not before.num_chunks:
        return made.dictionary_encode().cast(kind)
    categories = before.chunk(0).dictionary
    return pa.DictionaryArray.from_arrays(pa.compute.index_in(made, value_set=categories), categories, ordered=True)
