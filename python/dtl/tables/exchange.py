"""Rows of Arrow's tables that go from rank to rank, as Arrow's streams, without a pickle.

Every function is collective, and takes and returns pyarrow.Tables of one schema, in the form of ``arrow_types.normal``.
``what`` says for traces and ``explain`` what is sent, and to whom.
"""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from ..comm.vector_collectives import allgatherv, alltoallv, gatherv
from ..runtime.agreement import local_step
from ..runtime.context import Context
from .codes import in_order
from .moves import moving
from .rows import arrow

#: What is sent where nothing else is said. A call that is only explained sends it, too.
FEW_ROWS = "a few rows of each rank, to find out what to do with all"

#: Tables in chunks of fewer rows, on average, are made one before they are divided.
_FEW = 1 << 16


def by_rank(ctx: Context, op: str, local: Any, destinations: Any, what: str = FEW_ROWS) -> Any:
    """Send each row to a rank, and return those that arrive: of rank 0 first, each rank's in their order.

    Parameters
    ----------
    ctx, op
        The ranks, and the name of the call that errors show.
    local
        This rank's rows.
    destinations
        The rank that each row goes to, an array of integers.
    """
    if ctx.size == 1:
        return local
    with local_step(ctx, op):
        parts = _divided(local, destinations, ctx.size)
    return sent(ctx, op, parts, what)


def sent(ctx: Context, op: str, parts: Sequence[Any], what: str = FEW_ROWS) -> Any:
    """Send a table to each rank, and return the rows that arrive, in the order of the ranks that send them."""
    if ctx.size == 1:
        return parts[0]
    with local_step(ctx, op):
        mine = parts[ctx.rank]
        data, counts = _streams([None if rank == ctx.rank else part for rank, part in enumerate(parts)])
    with moving(op, what, len(data), what is FEW_ROWS):
        arrived = alltoallv(ctx, data, counts)
    with local_step(ctx, op):
        return _joined(arrived, mine, ctx.rank)


def gathered_everywhere(ctx: Context, op: str, local: Any, what: str = FEW_ROWS) -> Any:
    """Return the rows of all ranks, in their order, on every rank."""
    if ctx.size == 1:
        return local
    with local_step(ctx, op):
        data, _ = _streams([_told(local)])
    with moving(op, what, len(data) * (ctx.size - 1), what is FEW_ROWS):
        arrived = allgatherv(ctx, data)
    with local_step(ctx, op):
        return _joined(arrived, None, -1) if len(arrived) else local


def gathered_to(ctx: Context, op: str, local: Any, root: int, what: str = FEW_ROWS) -> Any:
    """Return the rows of all ranks, in their order, on root; None on the others."""
    if ctx.size == 1:
        return local
    with local_step(ctx, op):
        data, _ = _streams([None if ctx.rank == root else local])
    with moving(op, what, len(data), what is FEW_ROWS):
        arrived = gatherv(ctx, data, None, root)
    with local_step(ctx, op):
        return _joined(arrived, local, root) if ctx.rank == root else None


def balanced(
    ctx: Context, op: str, local: Any, counts: Sequence[int], wanted: Sequence[int], what: str = "rows in equal parts"
) -> Any:
    """Return this rank's rows where each rank has a number of them, in the same order.

    Parameters
    ----------
    ctx, op, local
        As for ``by_rank``.
    counts, wanted
        How many rows each rank has now, and how many it is to have; the same on every rank.
    """
    if tuple(counts) == tuple(wanted):
        return local
    first = sum(counts[: ctx.rank])
    cuts = np.clip(np.cumsum([0, *wanted]) - first, 0, len(local))
    return sent(ctx, op, [local.slice(lo, hi - lo) for lo, hi in zip(cuts[:-1], cuts[1:])], what)


def _divided(local: Any, destinations: Any, size: int) -> list[Any]:
    """Return the rows for each rank."""
    pa = arrow()
    if local.num_columns and len(local) < _FEW * local.column(0).num_chunks:
        local = local.combine_chunks()
    batches: list[list[Any]] = [[] for _ in range(size)]
    first = 0
    for batch in local.to_batches():
        wanted = destinations[first : first + len(batch)]
        first += len(batch)
        order = in_order(wanted, size)
        cuts = np.cumsum(np.bincount(wanted, minlength=size)).tolist()
        moved = batch.take(pa.array(order))
        for rank, (lo, hi) in enumerate(zip([0, *cuts], cuts)):
            if hi > lo:
                batches[rank].append(moved.slice(lo, hi - lo))
    return [pa.Table.from_batches(each, local.schema) for each in batches]


def _told(part: Any) -> Any:
    """Return a table that others have to know: None for one without rows, and without categories that have none."""
    types = arrow().types
    return part if len(part) or any(types.is_dictionary(kind) for kind in part.schema.types) else None


def _streams(parts: Sequence[Any]) -> tuple[Any, list[int]]:
    """Return the streams of tables, one after the other, and how many bytes each has: none where there is no table."""
    parts = [part if part is None else _ready(part) for part in parts]
    counts = [_written(arrow().MockOutputStream(), part) for part in parts]
    data = np.empty(sum(counts), np.uint8)
    first = 0
    for part, count in zip(parts, counts):
        if part is not None:
            room = arrow().py_buffer(data[first : first + count])
            _written(arrow().FixedSizeBufferWriter(room), part)
        first += count
    return data, counts


def _written(sink: Any, part: Any) -> int:
    """Write a table's stream, and return how many bytes it has. A multiple of 8, so that each starts at one."""
    if part is None:
        return 0
    with arrow().ipc.new_stream(sink, part.schema) as stream:
        stream.write_table(part)
    bytes_written: int = sink.tell()
    return bytes_written


def _ready(part: Any) -> Any:
    """Return a table with the columns of categories in one dictionary each, without most that no row has."""
    pa = arrow()
    for number, field in enumerate(part.schema):
        if not pa.types.is_dictionary(field.type) or field.type.ordered:
            continue
        column = part.column(number)
        if sum(len(chunk.dictionary) for chunk in column.chunks) > len(part):
            chunks = [chunk.dictionary.take(chunk.indices) for chunk in column.chunks]
            column = pa.chunked_array(chunks, field.type.value_type).dictionary_encode()
            part = part.set_column(number, field, column.cast(field.type))
    return part.unify_dictionaries()


def _joined(arrived: Any, mine: Any, place: int) -> Any:
    """Return the tables of streams that lie one after the other as one, with this rank's own in the place of its rank.

    No value is copied.
    """
    pa = arrow()
    tables: list[Any] = []
    source = pa.BufferReader(pa.py_buffer(arrived))
    while source.tell() < len(arrived):
        tables.append(pa.ipc.open_stream(source).read_all())
    if mine is not None:
        tables.insert(place, mine)
    return pa.concat_tables(tables).unify_dictionaries()
