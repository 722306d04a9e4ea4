"""Rows that are divided by ranges of their keys, each of which is as much as may be in memory, and written to disk.

One pass over the rows divides them, a piece at a time; then one range is read after the other. Each rank gets some
ranges that follow each other, with the rows of all ranks.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Callable, Iterator, NamedTuple

import numpy as np

from ..comm.collectives import allgather
from ..comm.objects import allgather_object
from ..runtime.agreement import local_step
from ..runtime.threaded import made_ahead
from .by_ranges import by_number
from .codes import Codes, numbered, put_together
from .exchange import sent
from .gather import taken
from .local_groups import ROW_NUMBERS, without_null
from .on_disk import (
    PendingRows,
    piece_rows,
    pieces_of_texts,
    release,
    rows_of_each,
    share_of_memory,
    side_by_side,
)
from .owners import GROUPS
from .part_files import Part, PartFile
from .rows import Rows, arrow
from .splitters import starts_of_ranges, weighed

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: There are so many ranges at most, of which each is a part of each piece of the files.
_MOST_RANGES = 2048

#: The least and the greatest of no keys.
NO_BOUNDS = np.iinfo(np.int64).max, np.iinfo(np.int64).min

#: Who brings rows in order has an array of numbers of each key, and further ones: of all keys, and of the rows.
FURTHER = 3

#: What gives rows numbers in the order of their keys, given what returns a column by its name.
Numbering = Callable[[Callable[[str], Any]], Codes]

#: How many pieces of a rank's rows are looked at before, and how many rows of theirs say where a range ends.
_PLACES, _SAMPLE = 4, 32

#: Keys that were looked at in some places are not those of the whole table if a place has less than this share of them.
_APART = 0.5


def is_larger(rows: Rows, arrays: int = 0) -> bool:
    """Say whether a rank has more rows than it may have in memory at a time. Collective, if there is a limit.

    Arrays are as of ``piece_rows``.
    """
    return share_of_memory() is not None and any(allgather_object(rows.context, piece_rows(rows, arrays) < rows.length))


class Division(NamedTuple):
    """How rows are divided.

    Parameters
    ----------
    starts
        The keys at which ranges begin, but for the first one: a table of pyarrow.
    ranges
        How many ranges each rank gets.
    size
        How many rows a rank has in memory at a time.
    rounds
        How many pieces of so many rows the ranks have, at most.
    share
        How many of the rows that were looked at are the first of their group in a piece.
    bounds
        The least and the greatest of the keys that were looked at, where there is one column of integers, dates or
        times: none if the least is the larger one.
    """

    starts: Any
    ranges: int
    size: int
    rounds: int
    share: float
    bounds: tuple[int, int]

    def of_ranks(self, size: int) -> Division:
        """Return the same with one range for each of so many ranks."""
        firsts = [self.ranges * rank - 1 for rank in range(1, size)]
        return self._replace(starts=self.starts.take(arrow().array(firsts, arrow().int64())), ranges=1)


def division_of(rows: Rows, op: str, keys: list[str], arrays: int = 0) -> Division:
    """Return how to divide rows, given how many arrays are made of them, as of ``piece_rows``. Collective."""
    ctx = rows.context
    of_numbers = all(map(_is_number, rows.chosen(keys).schema.types))
    size, ranges, rounds = _extents(rows, op, max(arrays, 0 if of_numbers else len(keys) + FURTHER))
    with local_step(ctx, op):
        some = _some(rows.chosen(keys), min(size, rows.length))
        each, groups, sampled = -(-_SAMPLE * ranges // len(some)), 0, []
        least, greatest = _bounds(some) if len(keys) == 1 else NO_BOUNDS
        for piece in some:
            groups += _groups(piece)
            sampled.append(_sampled(piece, each))
            release()
        seen = sum(map(len, some))
        mine = [groups, seen, least, greatest]
        del some
        together = arrow().concat_tables(sampled)
        if seen < rows.length and _are_apart(together, list(map(len, sampled))):
            together = _spread(rows.chosen(keys), _SAMPLE * ranges).drop_columns([ROW_NUMBERS])
            release()
        sample = weighed(together, rows.length)
    told = allgather(ctx, np.array(mine, np.int64)).reshape(ctx.size, -1)
    starts = starts_of_ranges(ctx, op, sample, ranges * ctx.size)
    share = told[:, 0].sum() / max(1, told[:, 1].sum())
    bounds = int(told[:, 2].min()), int(told[:, 3].max())
    return Division(starts, ranges, size, rounds, float(share), bounds)


def division_in_order(rows: Rows, op: str, keys: list[str], ascending: list[bool], nulls_first: bool) -> Division:
    """Return how to divide rows, in which equal ones are told from each other by their numbers. Collective.

    Rows of the whole table are looked at: what is in order already has each range of keys in one place.
    """
    ctx = rows.context
    size, ranges, rounds = _extents(rows, op, len(keys) + FURTHER)
    with local_step(ctx, op):
        sample = weighed(_spread(rows.chosen(keys), _SAMPLE * ranges), rows.length)
        release()
    starts = starts_of_ranges(ctx, op, sample, ranges * ctx.size, [*ascending, True], nulls_first)
    return Division(starts, ranges, size, rounds, 1.0, NO_BOUNDS)


def rows_of_rank(lengths: Array, sizes: Array) -> int:
    """Return how many rows each rank has in memory at a time, given how many it has, and how many of them it may have.

    Ranks with few rows, all of which they may have, do not count.
    """
    size = int(np.where(sizes < lengths, sizes, max(1, lengths.max())).min())
    return max(1, size // (1 if len(lengths) == 1 else 2))  # what is sent is in memory twice


def _extents(rows: Rows, op: str, arrays: int) -> tuple[int, int, int]:
    """Return how many rows a rank has in memory at a time, how many ranges each gets, and how many pieces. Collective.

    Arrays are as of ``piece_rows``.
    """
    ctx = rows.context
    with local_step(ctx, op):
        mine = [rows.length, piece_rows(rows, arrays)]
    told = allgather(ctx, np.array(mine, np.int64)).reshape(ctx.size, 2)
    size = rows_of_each(rows_of_rank(told[:, 0], told[:, 1]))
    ranges = -(-int(told[:, 0].sum()) // (size * ctx.size))
    return size, min(max(1, ranges), max(1, _MOST_RANGES // ctx.size)), -(-int(told[:, 0].max()) // size)


def _is_number(kind: Any) -> bool:
    """Say whether keys of a type are numbered without a table of texts: numbers, dates, times and categories."""
    types = arrow().types
    return bool(types.is_primitive(kind) or types.is_dictionary(kind))


def _spread(rows: Rows, count: int) -> Any:
    """Return about so many of this rank's rows, with their numbers: one by chance of each so many, the same each time.

    Rows at equal distances would be alike where values repeat.
    """
    step, found = max(1, rows.length // count), []
    places = np.arange(0, rows.length, step)
    places += np.random.default_rng(rows.length).integers(0, step, len(places))
    size = piece_rows(rows)
    is_pending = isinstance(rows, PendingRows) and rows.row_size()  # what is read is not kept, however little it is
    for start, piece in rows.streamed(size) if is_pending else pieces_of_texts(rows, size):  # type: ignore[attr-defined]
        chosen = places[slice(*np.searchsorted(places, (start, start + len(piece))))] - start
        some = taken(piece, chosen)
        found.append(some.append_column(ROW_NUMBERS, arrow().array(rows.first + start + chosen)))
    return arrow().concat_tables(found).unify_dictionaries()


def _some(rows: Rows, size: int) -> list[Any]:
    """Return some pieces of this rank's rows, one at least, of about so many rows, from the first to the last."""
    if isinstance(rows, PendingRows) and rows.row_size():
        found = [table.slice(0, size) for table in rows.sampled(_PLACES)]
        return found or [rows.schema.empty_table()]
    held = rows.held
    begins = np.linspace(0, max(0, len(held) - size), _PLACES).astype(np.int64)
    return [held.slice(begin, size).cast(rows.schema) for begin in np.unique(begins)]


def _groups(piece: Any) -> int:
    """Return how many different rows a table has."""
    codes = numbered(piece.column_names, piece.columns)
    there = np.zeros(codes.width, np.bool_)
    there[codes.of_row] = True
    return int(np.count_nonzero(there))


def _bounds(some: list[Any]) -> tuple[int, int]:
    """Return the least and the greatest of a column of tables."""
    found = [bounds_of(piece.column(0)) for piece in some]
    return min(low for low, _ in found), max(high for _, high in found)


def have_bounds(kind: Any) -> bool:
    """Say whether values of a type are integers, dates or times that int64 has room for."""
    types = arrow().types
    temporal = types.is_temporal(kind) and not types.is_interval(kind)
    return bool(temporal or (types.is_integer(kind) and not types.is_uint64(kind)))


def bounds_of(column: Any) -> tuple[int, int]:
    """Return the least and the greatest of integers, dates or times that are not null; of none, and of others, none."""
    pa, kind = arrow(), column.type
    if not have_bounds(kind):
        return NO_BOUNDS
    if pa.types.is_temporal(kind):
        column = column.cast(pa.int32() if kind.bit_width == 32 else pa.int64())
    found = pa.compute.min_max(column)
    least, greatest = found["min"].as_py(), found["max"].as_py()
    return NO_BOUNDS if least is None else (least, greatest)


def _are_apart(keys: Any, lengths: list[int]) -> bool:
    """Say whether keys of several places, one after the other, need not be like those of the whole table.

    That is so where there are few places, and where each has keys of its own, as of rows in order.
    """
    if len(lengths) < _PLACES:
        return True
    codes = numbered(keys.column_names, keys.columns).of_row
    parts = np.split(np.unique(codes, return_inverse=True)[1].ravel(), np.cumsum(lengths)[:-1])
    widths = [int(np.ptp(part)) for part in parts if len(part)]
    return bool(sum(widths) < _APART * len(widths) * max(int(part.max(initial=0)) for part in parts))


def _sampled(piece: Any, count: int) -> Any:
    """Return some rows of a table, the same in each run."""
    chosen = np.random.default_rng(len(piece)).integers(0, max(len(piece), 1), min(count, len(piece)))
    return taken(piece, np.sort(chosen))


class Arranged:
    """Puts pieces of a rank's rows in the order of ranges, and sends them to the ranks that have these.

    Parameters
    ----------
    rows, op, keys
        The table, the name of the call that errors show, and the names of the keys.
    dropna
        Whether rows with null among their keys are left out.
    division
        How they are divided.
    with_numbers
        Whether the rows get a further column with their numbers in the table.
    number
        What gives the keys of rows numbers in their order; None for the order of groups.
    what
        What is sent, as traces call it.
    compared
        What returns the keys of rows as columns like those of the division's starts; None if they are such columns.
    """

    def __init__(
        self,
        rows: Rows,
        op: str,
        keys: list[str],
        dropna: bool,
        division: Division,
        with_numbers: bool = False,
        number: Numbering | None = None,
        what: str = GROUPS,
        compared: Callable[[Any], Any] | None = None,
    ) -> None:
        self._rows, self._op, self._keys, self._dropna = rows, op, keys, dropna
        self._division, self._with_numbers, self._what = division, with_numbers, what
        self._number = number or partial(put_together, division.starts.column_names)
        self._compared = compared

    def kept(self, piece: Any) -> Any:
        """Return the rows of a piece that are in any range. Not collective."""
        there = without_null([piece.column(name) for name in self._keys]) if self._dropna else None
        return piece if there is None else piece.filter(there)

    def in_order(self, found: tuple[int, Any] | None) -> tuple[Any, Array]:
        """Return rows in the order of the ranges of all ranks, and how many each has. Not collective.

        They are given with the number of the first; None are none.
        """
        pa, rows = arrow(), self._rows
        start, piece = (0, rows.schema.empty_table()) if found is None else found
        if self._with_numbers:
            first = rows.first + start
            piece = piece.append_column(ROW_NUMBERS, pa.array(np.arange(first, first + len(piece))))
        piece = self.kept(piece)
        starts, keys = self._division.starts, piece if self._compared is None else self._compared(piece)

        def column(name: str) -> Any:
            return pa.chunked_array([*keys.column(name).chunks, *starts.column(name).chunks], keys.column(name).type)

        codes = self._number(column)
        begins, numbers = codes.of_row[len(piece) :].copy(), codes.of_row[: len(piece)]
        in_parts = by_number(numbers, codes.width, begins, rows.context.size * self._division.ranges)
        return in_parts.taken(piece), in_parts.counts

    def arrived(self, waiting: Iterator[tuple[int, Any]]) -> Iterator[tuple[Any, Array]]:
        """Yield the rows of this rank's ranges, and how many each range has of each rank. Each step is collective.

        Given this rank's rows in pieces, each rank sends one of them at a time.
        """
        ctx, op, ranges = self._rows.context, self._op, self._division.ranges
        ordered = made_ahead(self.in_order, waiting, side_by_side())
        for _ in range(max(1, self._division.rounds)):
            with local_step(ctx, op):
                moved, counts = next(ordered, None) or self.in_order(None)
            told = allgather(ctx, counts).reshape(ctx.size, ctx.size, ranges)
            ends = np.cumsum(told[ctx.rank].sum(axis=1)).tolist()
            parts = [moved.slice(lo, hi - lo) for lo, hi in zip([0, *ends], ends)]
            arrived = sent(ctx, op, parts, self._what)
            del parts, moved
            yield arrived, told[:, ctx.rank].ravel()
            del arrived
            release()


class DividedRows:
    """The rows of this rank's ranges, on disk. Making one is collective.

    Parameters are those of Arranged, and whether rows stay on their ranks, each of which then has all ranges.
    """

    def __init__(
        self,
        rows: Rows,
        op: str,
        keys: list[str],
        dropna: bool,
        division: Division,
        with_numbers: bool = False,
        number: Numbering | None = None,
        what: str = GROUPS,
        stay: bool = False,
        compared: Callable[[Any], Any] | None = None,
    ) -> None:
        self._context = ctx = rows.context
        arranged = Arranged(rows, op, keys, dropna, division, with_numbers, number, what, compared)
        #: How many ranges this rank has.
        self.ranges = division.ranges * (ctx.size if stay else 1)
        #: Where in the file the parts of each range are, by the ranks that they come from.
        self._parts: list[list[list[Part]]] = [[[] for _ in range(ctx.size)] for _ in range(self.ranges)]
        #: How many rows each range has.
        self.lengths = [0] * self.ranges
        with local_step(ctx, op):
            self._file = PartFile(ctx, op)
            waiting = pieces_of_texts(rows, division.size)
        if ctx.size == 1 or stay:
            with local_step(ctx, op):
                for added in made_ahead(partial(self._written, arranged), waiting, side_by_side()):
                    self._note(*added)
            return
        for arrived, counts in arranged.arrived(waiting):
            with local_step(ctx, op):
                self._note(*self._added(arrived, counts))
            del arrived

    def _written(self, arranged: Arranged, found: tuple[int, Any]) -> tuple[Any, list[int], list[Part]]:
        """Write rows of one rank by ranges."""
        moved, counts = arranged.in_order(found)
        return self._added(moved, counts)

    def _added(self, arrived: Any, counts: Array) -> tuple[Any, list[int], list[Part]]:
        """Write rows, given how many each range has of each rank, and return their schema and where each part is."""
        wanted = counts.tolist()
        return arrived.schema, wanted, self._file.add(arrived, wanted)

    def _note(self, schema: Any, counts: list[int], parts: list[Part]) -> None:
        self._schema = schema
        for place, (count, part) in enumerate(zip(counts, parts)):
            if count:
                source, number = divmod(place, self.ranges)
                self._parts[number][source].append(part)
                self.lengths[number] += count

    def numbers(self) -> list[int]:
        """Return the numbers of the ranges that have rows; of the first one, if none has."""
        return [number for number, length in enumerate(self.lengths) if length] or [0]

    def rows(self, number: int) -> Rows:
        """Return the rows of a range, in the order of the ranks and of their rows; of no rank else."""
        release()
        table = self._file.read([part for of_source in self._parts[number] for part in of_source], self._schema)
        table = table.unify_dictionaries()
        return Rows(self._context, table, (len(table),) * self._context.size)


class Side(NamedTuple):
    """A table that is divided as another one.

    Parameters
    ----------
    rows, keys
        The table, and the names of its keys.
    with_numbers
        Whether its rows get a further column with their numbers.
    compared
        What returns the keys of some rows as they are compared: columns that are of the same names and types for both
        tables.
    """

    rows: Rows
    keys: list[str]
    with_numbers: bool
    compared: Callable[[Any], Any]


def divided_alike(sides: tuple[Side, Side], op: str, arrays: int) -> list[DividedRows]:
    """Return two tables by the same ranges of keys. Collective.

    Arrays are as of ``piece_rows``. Rows of both tables, from all places, say where ranges begin: all rows of a range
    are in memory at a time.
    """
    ctx = sides[0].rows.context
    extents = [_extents(each.rows, op, max(arrays, len(each.keys) + FURTHER)) for each in sides]
    ranges = max(extent[1] for extent in extents)
    with local_step(ctx, op):
        samples = []
        for (rows, keys, _, compared), (size, _, _) in zip(sides, extents):
            some = compared(_spread(rows.chosen(keys), _SAMPLE * ranges))
            samples.append(weighed(some, rows.length / size))
            release()
        sample = arrow().concat_tables(samples).unify_dictionaries()
    starts = starts_of_ranges(ctx, op, sample, ranges * ctx.size)
    found = []
    for (rows, keys, with_numbers, compared), (size, _, rounds) in zip(sides, extents):
        division = Division(starts, ranges, size, rounds, 1.0, NO_BOUNDS)
        found.append(DividedRows(rows, op, keys, False, division, with_numbers, compared=compared))
    return found
