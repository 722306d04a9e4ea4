"""Rows that go to the owners of their groups before anything is made of them, where nearly each has a group of its own.

What a rank makes of its rows would be as many, and as large, as these, and it would number and hold them twice.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from .._native.library import bridge
from ..comm.collectives import allgather
from ..runtime.agreement import local_step
from ..runtime.threaded import each, over
from .coded_rows import CodedRows, alike
from .codes import in_order, in_rows, numbered, put_together
from .exchange import sent
from .gather import taken
from .local_groups import without_null
from .moves import is_explained
from .owners import GROUPS
from .rows import Rows, arrow, counted
from .splitters import cuts_of_numbers

#: Of fewer rows of a rank, in the mean, it is not asked how many groups they have.
_LEAST = 1 << 18

#: So many rows say how many have a group of their own: the first few, that many have not.
_SAMPLES = (1 << 11, 1 << 15)

#: Rows travel as they are where a group has at most so many, in the mean of a rank.
_PER_GROUP = 1.15


#: Ranges of numbers are looked up by so many of their first bits, a few numbers at a time, where not too many ranges
#: begin with the same.
_BITS, _BLOCK, _WITHIN = 13, 1 << 14, 8

#: The bytes of values that are put in parts.
_WIDTHS = (1, 2, 4, 8)

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


def by_ranges(rows: Rows, op: str, keys: list[str], dropna: bool, allowed: bool) -> Rows | None:
    """Return the rows where each rank has those of a range of keys, in the order of ranks and of rows. Collective.

    Rows with null among their keys may be left out if dropna says so. The rows that are returned are nobody else's.
    Returns None where rows are few or have few groups, or where a rank is not allowed to hold them.
    """
    ctx = rows.context
    if ctx.size == 1 or rows.total < _LEAST * ctx.size or is_explained():
        return None
    with local_step(ctx, op):
        alone = allowed and _are_alone(rows, keys)
    if not allgather(ctx, np.array([alone], np.uint8)).all():
        return None
    with local_step(ctx, op):
        held = rows.held
        there = without_null([held.column(name) for name in keys]) if dropna else None
        held = held if there is None else held.filter(there)
    held = alike(ctx, op, held, rows.schema)
    with local_step(ctx, op):
        codes = put_together(keys, held.column)
    bounds = cuts_of_numbers(ctx, op, keys, codes.of_row, codes)
    with local_step(ctx, op):
        in_parts = by_number(codes.of_row, codes.width, np.array(bounds[1:-1], np.int64), ctx.size)
        del codes
        counts = in_parts.counts
    arrived = {}
    for name in rows.names:
        with local_step(ctx, op):
            whole = in_parts.taken(held.select([name]))
            parts = [whole.slice(end - count, count) for end, count in zip(np.cumsum(counts).tolist(), counts.tolist())]
        arrived[name] = sent(ctx, op, parts, GROUPS).column(0)
        del whole, parts
        arrow().default_memory_pool().release_unused()  # what is made next may be NumPy's
    return CodedRows(ctx, rows.schema, counted(ctx, len(arrived[keys[0]])), arrived)


class InParts:
    """The order of rows by the parts that they belong to.

    Parameters
    ----------
    numbers
        The number of the part of each row, an array of int64.
    parts
        How many parts there are.
    """

    def __init__(self, numbers: Array, parts: int) -> None:
        self._numbers, self._order = numbers, None
        #: How many rows each part has.
        self.counts = np.bincount(numbers, minlength=parts)

    def taken(self, table: Any) -> Any:
        """Return the rows of a table: those of the first part, in their order, then those of the next."""
        widths = {name: _width(table.column(name)) for name in table.column_names}
        others = table.select([name for name, width in widths.items() if not width])
        if others.num_columns:
            if self._order is None:
                self._order = in_order(self._numbers, len(self.counts))
            others = taken(others, self._order)
        fixed = [name for name, width in widths.items() if width]
        made = each([partial(self._fixed, table.column(name), widths[name]) for name in fixed])
        columns = dict(zip([*others.column_names, *fixed], [*others.columns, *made]))
        return arrow().table([columns[name] for name in widths], schema=table.schema)

    def _fixed(self, column: Any, width: int) -> Any:
        ends, first = np.cumsum(self.counts) - self.counts, 0
        out = arrow().allocate_buffer(len(column) * width)
        for chunk in column.chunks:
            numbers, values = self._numbers[first : first + len(chunk)], chunk.buffers()[1]
            if len(chunk):
                values = values.slice(chunk.offset * width)
                bridge.part_fixed(out, values, width, numbers, len(chunk), ends, len(ends))
            first += len(chunk)
        return arrow().Array.from_buffers(column.type, len(column), [None, out], 0)


def _width(column: Any) -> int:
    """Return how many bytes a value of a column has that can be put in parts, 0 if it cannot."""
    types, kind = arrow().types, column.type
    if not types.is_primitive(kind) or types.is_boolean(kind) or column.null_count:
        return 0
    width: int = kind.bit_width // 8
    return width if width in _WIDTHS else 0


def by_number(numbers: Array, width: int, bounds: Array, ranges: int) -> InParts:
    """Return the order of rows by the ranges that they are in, given their numbers, whose memory it takes.

    Numbers are below a width, and bounds are those at which ranges begin, but for the first.
    """
    shift = max(0, width.bit_length() - _BITS)
    first = np.searchsorted(bounds, np.arange((width >> shift) + 1) << shift, "right")
    within = int(np.diff(first, append=len(bounds)).max())
    ends = np.append(bounds, np.iinfo(np.int64).max)

    def look_up(begin: int, end: int) -> None:
        """Go from the range in which numbers begin that have the same first bits to that of each."""
        for start in range(begin, end, _BLOCK):
            part = numbers[start : min(start + _BLOCK, end)]
            found = first[part >> shift]
            for _ in range(within):
                found += ends[found] <= part
            part[:] = found

    def search(begin: int, end: int) -> None:
        numbers[begin:end] = np.searchsorted(bounds, numbers[begin:end], "right")

    over(len(numbers), look_up if within <= _WITHIN else search)
    return InParts(numbers, ranges)


def _are_alone(rows: Rows, keys: list[str]) -> bool:
    """Say whether nearly each of this rank's rows has a group of its own, by how many of a few have one of others."""
    length, chance = rows.length, np.random.default_rng(rows.first)
    held = rows.held
    for count in _SAMPLES:
        chosen = np.unique(chance.integers(0, max(length, 1), min(count, length)))
        some = [arrow().chunked_array([in_rows(held.column(name), chosen)]) for name in keys]
        same = len(chosen) - len(np.unique(numbered(keys, some).of_row))
        # of n rows in groups of m there are n * (m - 1) / 2 pairs of one group
        if same > 1 and 2 * length * same > (_PER_GROUP - 1) * len(chosen) ** 2:
            return False
    return True
