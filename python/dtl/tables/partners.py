"""Which rows of one table have a key of a row of another, and how they come to the ranks of those rows.

Rows of the first table stay where they are, and a row of the second travels once, to each rank that has its key. Which
ranks these are, they tell each other by a bit for each key, or hash, that there may be: each has the bits of all. Where
those are more bytes than hashes of the keys would be, hashes travel to the ranks that they belong to, which find out.
"""

from __future__ import annotations

from typing import Any, Callable, Iterator, NamedTuple

import numpy as np

from .._native import slow_paths
from .._native.values import distinct_sorted
from ..comm.collectives import allgather
from ..comm.reductions import allreduce
from ..comm.vector_collectives import alltoallv
from ..ops import MAX
from ..runtime.agreement import local_step
from ..runtime.context import Context
from .exchange import gathered_everywhere, sent
from .gather import taken
from .hashes import hashed, ranks_of
from .integer_keys import as_integers, is_integer, offsets, range_of
from .moves import is_explained, moving, words_of
from .on_disk import bytes_of, starts
from .rows import arrow

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: Tables of fewer bytes go to every rank.
SMALL = 1 << 20

#: Rows of more bytes, of all ranks together, travel column by column, so that no rank has all of them twice.
_AT_ONCE = 1 << 24

#: What ranks tell each other first, as traces call it.
KEYS = "which keys the ranks have"

#: So many bits there are for each row of the first table on the rank that has most, where hashes of keys share them: a
#: row of the second table travels for nothing if another key has its bit.
_PER_KEY = 16


#: The bits of so many keys are in memory at a time.
_PIECE = 1 << 18


class Partners(NamedTuple):
    """Rows of the second table that may have a partner on this rank, in their order for each key.

    Parameters
    ----------
    keys
        The keys of the rows, of all ranks.
    column
        What returns another column of the rows, given its name. It is called once for each, in their order, on all
        ranks. Collective.
    row_bytes
        How many bytes the other columns of a row have, in the mean of all ranks.
    met
        What returns, for each row that this rank has of the table, whether something is true of it on some rank, given
        whether it is of each of ``rows``. Collective.
    """

    keys: Any
    column: Callable[[str], Any]
    row_bytes: float
    met: Callable[[Array], Array]


def partners(ctx: Context, op: str, keys: Any, second: Any) -> Partners:
    """Return the rows of a second table that have a key of this rank's rows, and perhaps others. Collective.

    Parameters
    ----------
    ctx, op
        The ranks, and the name of the call that errors show.
    keys
        The keys of this rank's rows of the first table.
    second
        This rank's rows of the second table, among whose columns are keys of the same names and types.
    """
    names = keys.column_names
    if ctx.size == 1:
        return _here(names, second, lambda flags: flags)
    mine = np.array([len(keys), bytes_of(keys), len(second), bytes_of(second)], np.int64)
    sizes = allgather(ctx, mine).reshape(ctx.size, 4)
    nbytes = int(sizes[:, 3].sum())
    if nbytes <= SMALL or nbytes * ctx.size <= int(sizes[:, 1].sum()):
        return _everywhere(ctx, op, names, second, sizes[:, 2], nbytes)
    bits = _bits(ctx, op, keys, second, int(sizes[:, 0].max()))
    hashes = 8 * int(sizes[:, 0].sum() + sizes[:, 2].sum())
    if ctx.size * (ctx.size - 1) * bits.width // 8 > hashes:
        return by_hash(ctx, op, keys, second)
    return _by_bits(ctx, op, names, bits, second)


def _here(names: list[str], rows: Any, met: Callable[[Array], Array]) -> Partners:
    """Return rows that are all here, whose keys have the given names."""
    others = rows.drop_columns(names)
    return Partners(rows.select(names), rows.column, bytes_of(others) / max(len(rows), 1), met)


def _everywhere(ctx: Context, op: str, names: list[str], second: Any, rows: Array, nbytes: int) -> Partners:
    """Send the whole table to every rank."""
    started = slow_paths.clock() if slow_paths.listeners else 0
    whole = gathered_everywhere(ctx, op, second, "the second table to all ranks")
    if started and nbytes > SMALL:
        slow_paths.tell(slow_paths.SECOND_TABLE, words_of(op), nbytes, started)
    begin = int(rows[: ctx.rank].sum())

    def met(flags: Array) -> Array:
        return np.asarray(allreduce(ctx, flags.astype(np.uint8), MAX))[begin : begin + len(second)] > 0

    return _here(names, whole, met)


class _Bits(NamedTuple):
    """Which bit stands for the key of each row.

    Parameters
    ----------
    asked, offered
        What yields the bits of the keys of this rank's rows of the first table, some after the others, and what returns
        those of the second.
    width
        How many bits there are, on every rank.
    """

    asked: Callable[[], Iterator[Array]]
    offered: Callable[[], Array]
    width: int


def by_bits(ctx: Context, op: str, keys: Any, second: Any) -> Partners:
    """Do what ``partners`` does, by a bit for each key, for any number of ranks."""
    most = int(allgather(ctx, np.array([len(keys)], np.int64)).max())
    return _by_bits(ctx, op, keys.column_names, _bits(ctx, op, keys, second, most), second)


def _bits(ctx: Context, op: str, keys: Any, second: Any, most: int) -> _Bits:
    """Return which bits stand for keys, given how many rows a rank has of the first table at most. Collective."""
    names = keys.column_names
    room = 1 << (_PER_KEY * max(most, 1) - 1).bit_length()
    if len(names) == 1 and is_integer(keys.column(0).type):
        with local_step(ctx, op):
            one, other = as_integers(keys.column(0)), as_integers(second.column(names[0]))
            mine = range_of(other) or (0, -1)
        ranges = [
            (low, high) for low, high in allgather(ctx, np.array(mine, np.int64)).reshape(-1, 2).tolist() if low <= high
        ] or [(0, -1)]
        low, high = min(each[0] for each in ranges), max(each[1] for each in ranges)
        if high - low < room:
            last = high - low + 1  # the bit of null
            return _Bits(
                _in_pieces(one, lambda some: offsets(some, low, last)), lambda: offsets(other, low, last), last + 1
            )

    def hashes_of(table: Any) -> Array:
        return (hashed(table, names) & np.uint64(room - 1)).view(np.int64)

    return _Bits(_in_pieces(keys, hashes_of), lambda: hashes_of(second), room)


def _in_pieces(keys: Any, of: Callable[[Any], Array]) -> Callable[[], Iterator[Array]]:
    """Return what yields what a function makes of keys, which may be on disk, of some after the others."""
    return lambda: (of(keys.slice(start, _PIECE)) for start in starts(len(keys), _PIECE))


def _by_bits(ctx: Context, op: str, names: list[str], bits: _Bits, second: Any) -> Partners:
    with local_step(ctx, op):
        there = np.zeros(bits.width, np.bool_)
        for asked in bits.asked():
            there[asked[(asked >= 0) & (asked < bits.width)]] = True
        mine = np.packbits(there)
    with moving(op, KEYS, len(mine) * (ctx.size - 1), needed=True):
        everyones = allgather(ctx, mine).reshape(ctx.size, len(mine))
    with local_step(ctx, op):
        offered = bits.offered()
        wanted = [np.flatnonzero(np.unpackbits(each, count=bits.width).view(np.bool_)[offered]) for each in everyones]
    return _delivered(ctx, op, names, second, np.concatenate(wanted), np.array([len(each) for each in wanted]))


def by_hash(ctx: Context, op: str, keys: Any, second: Any) -> Partners:
    """Do what ``partners`` does, for a second table of any size."""
    with local_step(ctx, op):
        names = keys.column_names
        wanted = distinct_sorted(hashed(keys, names))
        hashes = hashed(second, names)
        order = np.argsort(hashes)
        hashes = hashes[order]
        begins = np.flatnonzero(np.append(True, hashes[1:] != hashes[:-1])[: len(hashes)])
        offered, lengths = hashes[begins], np.diff(begins, append=len(hashes))
    ranks = _interested(ctx, op, wanted, offered)
    with local_step(ctx, op):
        # For each pair of a row and a rank that wants it, in the order of the ranks, then of the rows.
        of_row = lengths[ranks.of_hash]
        row = order[np.repeat(begins[ranks.of_hash], of_row) + counting(of_row)]
        pair = np.repeat(ranks.rank, of_row).astype(np.int64) * max(len(second), 1) + row
        pair.sort()
        rank, row = np.divmod(pair, max(len(second), 1))
        counts = np.bincount(rank, minlength=ctx.size)
    return _delivered(ctx, op, names, second, row, counts)


def _delivered(ctx: Context, op: str, names: list[str], second: Any, row: Array, counts: Array) -> Partners:
    """Send rows, given those for each rank, of rank 0 first, and how many each gets. Collective."""
    length = len(second)
    row_bytes = bytes_of(second.drop_columns(names)) / max(length, 1)
    told = allgather(ctx, np.array([*counts, row_bytes * len(row)], np.int64)).reshape(ctx.size, ctx.size + 1)
    matrix, nbytes = told[:, :-1], int(told[:, -1].sum())

    def delivered(columns: Any) -> Any:
        with local_step(ctx, op):
            ends = np.cumsum(counts)
            parts = [taken(columns, row[end - count : end]) for end, count in zip(ends.tolist(), counts.tolist())]
        return sent(ctx, op, parts, "rows of the second table to the ranks that have their keys")

    def met(flags: Array) -> Array:
        back = alltoallv(ctx, flags.astype(np.uint8), matrix[:, ctx.rank].tolist())
        found = np.zeros(length, np.bool_)
        found[row[back > 0]] = True
        return found

    if nbytes <= _AT_ONCE or is_explained():
        return _here(names, delivered(second), met)

    def column(name: str) -> Any:
        return delivered(arrow().table([second.column(name)], names=[name])).column(0)

    return Partners(delivered(second.select(names)), column, nbytes / max(int(matrix.sum()), 1), met)


class _Ranks(NamedTuple):
    """Pairs of the place of a hash among those that this rank offers, and of a rank that wants its rows."""

    of_hash: Array
    rank: Array


def _interested(ctx: Context, op: str, wanted: Array, offered: Array) -> _Ranks:
    """Return which ranks want the rows of which hashes, given those of this rank in ascending order. Collective."""
    asking, offering = (np.bincount(ranks_of(each, ctx.size), minlength=ctx.size) for each in (wanted, offered))
    matrix = allgather(ctx, np.stack([asking, offering]).astype(np.int64)).reshape(ctx.size, 2, ctx.size)
    others = len(wanted) + len(offered) - asking[ctx.rank] - offering[ctx.rank]
    with moving(op, KEYS, 8 * int(others), needed=True):
        asked = alltoallv(ctx, wanted, asking.tolist())
        offers = alltoallv(ctx, offered, offering.tolist())
    with local_step(ctx, op):
        of_rank = np.repeat(np.arange(ctx.size, dtype=np.int32), matrix[:, 0, ctx.rank])
        order = np.argsort(asked)
        asked = asked[order]
        low = np.searchsorted(asked, offers, "left")
        number = np.searchsorted(asked, offers, "right") - low
        ranks = of_rank[order[np.repeat(low, number) + counting(number)]]
        sources = matrix[:, 1, ctx.rank]
        of_source = np.add.reduceat(np.append(number, 0), np.cumsum(sources) - sources) * (sources > 0)
    others = len(number) + len(ranks) - sources[ctx.rank] - of_source[ctx.rank]
    with moving(op, KEYS, 4 * int(others), needed=True):
        numbers = alltoallv(ctx, number.astype(np.int32), sources.tolist())
        answer = alltoallv(ctx, ranks, of_source.tolist())
    return _Ranks(np.repeat(np.arange(len(offered)), numbers), answer)


def counting(lengths: Array) -> Array:
    """Return 0, 1, ... for each length, one after the other."""
    ends = np.cumsum(lengths)
    return np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - lengths, lengths)
