"""Rows in the order of some columns, over all ranks."""

from __future__ import annotations

import functools
from typing import Any, Callable, NamedTuple, Sequence

import numpy as np

from .._native.arguments import integer, listed
from ..comm.objects import allgather_object
from ..exceptions import BoundsError, InvalidArgumentError, InvalidTypeError
from ..runtime.agreement import agree, local_step
from ..runtime.threaded import made_ahead
from .codes import Codes, dense, in_order, numbered, together
from .dividing import FURTHER, DividedRows, division_in_order, is_larger
from .exchange import sent
from .local_groups import ROW_NUMBERS
from .moves import TableCall, in_words, is_explained, moving
from .nested_types import is_nested
from .on_disk import collected, piece_rows, pieces_of_texts, share_of_memory, side_by_side, size_of
from .rows import HasRows, Rows, arrow, as_column, column_names
from .selection import sliced
from .splitters import cuts

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: What is sent, as traces call it.
_TO_RANGES = "rows to the ranks of their ranges of keys"

#: So many arrays of 8 bytes a row there are in memory of rows among which the foremost are looked for.
_ARRAYS = 8

#: Numbers below this are sorted by radix in two passes.
_RADIX = 1 << 32


class Order(NamedTuple):
    """The columns by which rows are sorted, the direction of each, and whether null comes first."""

    by: list[str]
    ascending: list[bool]
    nulls_first: bool


def order_of(rows: Rows, by: Any, ascending: Any, na_position: Any) -> Order:
    """Return the order that arguments ask for."""
    names = column_names(rows, "by", by)
    if not names:
        raise InvalidArgumentError("by names no column")
    for name in names:
        kind = rows.schema.field(name).type
        pa = arrow()
        if is_nested(kind) or pa.types.is_interval(kind) or isinstance(kind, pa.BaseExtensionType):
            raise InvalidTypeError(f"the column {name!r} is of {kind}, by which no rows are sorted")
    if na_position not in ("first", "last"):
        raise InvalidArgumentError(f'na_position must be "first" or "last", not {na_position!r}')
    return Order(names, _directions(ascending, names), na_position == "first")


def with_keys(rows: Rows, names: list[str], key: Any) -> Rows:
    """Return rows with what a function makes of some columns behind them."""
    if not callable(key):
        raise InvalidTypeError(f"key must be a function of a column, not {key!r:.60}")
    local = rows.local
    for name in names:
        made = key(as_column(rows.chosen([name])))
        if not isinstance(made, HasRows) or made.rows.counts != rows.counts:
            raise InvalidTypeError(f"key must return a column with a value for each of {name!r}, not {made!r:.60}")
        local = local.append_column(f"\0{name}", made.rows.local.column(0))
    return rows.like(local)


def _directions(ascending: Any, names: list[str]) -> list[bool]:
    if isinstance(ascending, (bool, np.bool_)):
        return [bool(ascending)] * len(names)
    try:
        found = list(listed(ascending))
    except TypeError:
        raise InvalidTypeError(f"ascending must be True, False or a list of these, not {ascending!r}") from None
    for one in found:
        if not isinstance(one, (bool, np.bool_)):
            raise InvalidTypeError(f"ascending must be True, False or a list of these, not {ascending!r}")
    if len(found) != len(names):
        raise InvalidArgumentError(f"ascending has {len(found)} entries, but there are {len(names)} columns")
    return [bool(one) for one in found]


def sorted_rows(rows: Rows, op: str, order: Order, with_numbers: bool = False) -> Rows:
    """Return the rows in an order, equal ones in the order that they have; each rank gets about as many. Collective.

    If asked for, they have their numbers among those of all ranks as a further column, ``ROW_NUMBERS``.
    """
    ctx = rows.context
    op = TableCall(op, f"{op} by {in_words(order.by)}")
    agree(ctx, op, f"{_words(order)}{', with a limit of memory' * (share_of_memory() is not None)}")
    if is_larger(rows, len(order.by) + FURTHER):
        return _sorted_in_pieces(rows, op, order, with_numbers)
    with local_step(ctx, op):
        if with_numbers:
            numbers = np.arange(rows.first, rows.first + rows.length)
            rows = rows.like(rows.local.append_column(ROW_NUMBERS, arrow().array(numbers)))
        mine = _taken(rows.local, local_order(rows.local, order))
    if ctx.size == 1:
        return rows.like(mine)
    with local_step(ctx, op):
        # Equal rows are told from each other by their places, so that many of them go to several ranks.
        keys = mine.select(order.by).append_column("", arrow().array(np.arange(len(mine)) + rows.first))
    bounds = cuts(ctx, op, keys, [*order.ascending, True], order.nulls_first)
    arrived = sent(
        ctx,
        op,
        [mine.slice(lo, hi - lo) for lo, hi in zip(bounds[:-1], bounds[1:])],
        _TO_RANGES,
    )
    with local_step(ctx, op):
        made = _taken(arrived, local_order(arrived, order))
    return Rows.made(ctx, made)


def _sorted_in_pieces(rows: Rows, op: str, order: Order, with_numbers: bool) -> Rows:
    """Return the rows in an order, where they are more than may be in memory. Collective.

    One pass writes them by ranges of keys, and a second one sorts one range after the other.
    """
    ctx = rows.context
    if is_explained() and ctx.size > 1:
        with moving(op, _TO_RANGES, size_of(rows) * (ctx.size - 1) // ctx.size):
            pass
    exact = Order([*order.by, ROW_NUMBERS], [*order.ascending, True], order.nulls_first)
    division = division_in_order(rows, op, *order)
    number = functools.partial(_numbered, exact)
    divided = DividedRows(rows, op, exact.by, False, division, True, number, _TO_RANGES)

    def in_order_of(number: int) -> Any:
        found = divided.rows(number).local
        made = _taken(found, local_order(found, exact))
        return made if with_numbers else made.drop_columns([ROW_NUMBERS])

    with local_step(ctx, op):
        made = collected(ctx, op, made_ahead(in_order_of, divided.numbers(), side_by_side()))
    return Rows.made(ctx, made)


def foremost(rows: Rows, op: str, n: Any, order: Order) -> Rows:
    """Return the first n rows of those in an order, without sorting the others. Collective."""
    ctx = rows.context
    with local_step(ctx, op):
        count = integer("n", n)
        if count < 0:
            raise BoundsError(f"n {count} is negative")
    are_more = share_of_memory() is not None and any(allgather_object(ctx, count > piece_rows(rows, _ARRAYS)))
    if are_more:  # of a rank, they have no room in memory
        agree(ctx, op, f"{count} by {_words(order)}")
        return sliced(sorted_rows(rows, op, order), op, slice(0, count))
    with local_step(ctx, op):
        mine = _foremost(rows, count, order)
    agree(ctx, op, f"{count} by {_words(order)}")
    return sliced(sorted_rows(Rows.made(ctx, mine), op, order), op, slice(0, count))


def _foremost(rows: Rows, count: int, order: Order) -> Any:
    """Return the first of this rank's rows in an order, in the order that they have: of a piece after the other."""
    found = None
    for _, piece in pieces_of_texts(rows, piece_rows(rows, _ARRAYS)):
        near = _taken(piece, np.sort(local_order(piece, order)[:count]))
        if found is not None:
            near = arrow().concat_tables([found, near]).unify_dictionaries()
            near = _taken(near, np.sort(local_order(near, order)[:count]))
        found = near
    return found


def local_order(local: Any, order: Order) -> Array:
    """Return the indices that sort the rows of a pyarrow.Table, equal ones in their order."""
    made = _numbered(order, local.column)
    if made.width > _RADIX:
        made = dense(made)
    return in_order(made.of_row, made.width)


def _numbered(order: Order, column_of: Callable[[str], Any]) -> Codes:
    """Return the numbers of rows in an order, given what returns a column by its name."""
    columns = [
        _directed(numbered([name], [column_of(name)]), up, order.nulls_first)
        for name, up in zip(order.by, order.ascending)
    ]
    return functools.reduce(together, columns)


def _directed(codes: Codes, up: bool, nulls_first: bool) -> Codes:
    """Return the numbers of a column's values in a direction: null, and NaN before it, stay at an end."""
    if up and not nulls_first:
        return codes
    last = codes.width - 1
    few = [max(last - 1, 0), last] if codes.width else []
    ends = codes.values(np.array(few, np.int64))[0].to_pylist() if few else []
    special = 0
    if ends and ends[-1] is None:
        special = 1
        ends.pop()
    if ends and isinstance(ends[-1], float) and np.isnan(ends[-1]) and special < codes.width:
        special += 1
    real = codes.width - special
    of_row = codes.of_row
    places: Array = np.where(of_row < real, of_row if up else real - 1 - of_row, of_row)
    if nulls_first:  # null, then NaN, then the values
        places = np.where(places < real, places + special, last - of_row)
    return Codes(places, codes.width, codes.values)


def _taken(local: Any, order: Array) -> Any:
    if local.num_columns and local.column(0).num_chunks > 1:
        local = local.combine_chunks()
    return local.take(arrow().array(order))


def _words(order: Order) -> str:
    columns: Sequence[str] = [f"{name!r} {'up' if up else 'down'}" for name, up in zip(order.by, order.ascending)]
    return f"{', '.join(columns)}, null {'first' if order.nulls_first else 'last'}"
