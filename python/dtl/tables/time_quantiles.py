"""Quantiles of a column of dates, times or decimals, by the places of its values in their order."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..comm.objects import allgather_object
from ..runtime.agreement import local_step
from .codes import integers_of
from .ordering import Order, sorted_rows
from .rows import Rows, arrow

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


def quantiles_of_times(rows: Rows, op: str, fractions: Array) -> Any:
    """Return quantiles of dates or times, of which there are some, in whole units, as an array of pyarrow. Collective.

    Parameters
    ----------
    rows, op
        The column, without nulls, and the name of the call that errors show.
    fractions
        Which quantiles, in [0, 1].
    """
    ctx, kind = rows.context, rows.schema.types[0]
    ordered = sorted_rows(rows, op, Order(rows.names, [True], nulls_first=False))
    places = fractions * (ordered.total - 1)
    low = np.floor(places).astype(np.int64)
    wanted = np.unique(np.append(low, np.minimum(low + 1, ordered.total - 1)))
    with local_step(ctx, op):
        here = wanted - ordered.first
        here = here[(here >= 0) & (here < len(ordered.local))]
        numbers = integers_of(ordered.local.column(0).take(arrow().array(here)))
        mine = dict(zip((here + ordered.first).tolist(), numbers.tolist()))
    known: dict[int, int] = {}
    for each in allgather_object(ctx, mine):
        known.update(each)
    found = []
    for place, below in zip(places.tolist(), low.tolist()):
        above = min(below + 1, ordered.total - 1)
        found.append(known[below] + int((known[above] - known[below]) * (place - below)))
    width = arrow().int32() if kind.bit_width == 32 else arrow().int64()
    return arrow().array(found, width).cast(kind)
