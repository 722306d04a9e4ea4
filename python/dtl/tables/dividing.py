"""Rows that are divided by ranges of their keys, each of which is as much as may be in memory, and written to disk.

One pass over the rows divides them, a piece at a time; then one range is read after the other. Each rank gets some
ranges that follow each other, with the rows of all ranks.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..comm.collectives import allgather
from ..runtime.agreement import local_step
from ..runtime.threaded import made_ahead
from .by_ranges import by_number
from .codes import numbered, put_together
from .exchange import sent
from .gather import taken
from .local_groups import ROW_NUMBERS, without_null
from .on_disk import PendingRows, piece_rows, pieces_of_texts, release, rows_of_each, side_by_side
from .owners import GROUPS
from .part_files import Part, PartFile
from .rows import Rows, arrow
from .splitters import starts_of_ranges, weighed

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: There are so many ranges at most, of which each is a part of each piece of the files.
_MOST_RANGES = 2048

#: How many pieces of a rank's rows are looked at before, and how many rows of theirs say where a range ends.
_PLACES, _SAMPLE = 4, 32


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
    """

    starts: Any
    ranges: int
    size: int
    rounds: int
    share: float


def division_of(rows: Rows, op: str, keys: list[str]) -> Division:
    """Return how to divide rows. Collective."""
    ctx, size = rows.context, piece_rows(rows)
    with local_step(ctx, op):
        some = _some(rows.chosen(keys), min(size, rows.length))
        groups = sum(_groups(piece) for piece in some)
    told = allgather(ctx, np.array([rows.length, size, groups, sum(map(len, some))], np.int64)).reshape(ctx.size, -1)
    size = rows_of_each(int(told[:, 1].min()) // (1 if ctx.size == 1 else 2))  # what is sent is in memory twice
    lengths = told[:, 0]
    ranges = -(-int(lengths.sum()) // (size * ctx.size))
    ranges = min(max(1, ranges), max(1, _MOST_RANGES // ctx.size))
    with local_step(ctx, op):
        each = -(-_SAMPLE * ranges // len(some))
        sample = weighed(arrow().concat_tables([_sampled(piece, each) for piece in some]), rows.length)
        del some
        release()
    starts = starts_of_ranges(ctx, op, sample, ranges * ctx.size)
    share = told[:, 2].sum() / max(1, told[:, 3].sum())
    return Division(starts, ranges, size, -(-int(lengths.max()) // size), float(share))


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


def _sampled(piece: Any, count: int) -> Any:
    """Return some rows of a table, the same in each run."""
    chosen = np.random.default_rng(len(piece)).integers(0, max(len(piece), 1), min(count, len(piece)))
    return taken(piece, np.sort(chosen))


class DividedRows:
    """The rows of this rank's ranges, on disk. Making one is collective.

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
    """

    def __init__(
        self, rows: Rows, op: str, keys: list[str], dropna: bool, division: Division, with_numbers: bool = False
    ) -> None:
        self._context = ctx = rows.context
        self._keys, self._dropna, self._division, self._with_numbers = keys, dropna, division, with_numbers
        #: How many ranges this rank has.
        self.ranges = division.ranges
        #: Where in the file the parts of each range are, by the ranks that they come from.
        self._parts: list[list[list[Part]]] = [[[] for _ in range(ctx.size)] for _ in range(self.ranges)]
        #: How many rows each range has.
        self.lengths = [0] * self.ranges
        with local_step(ctx, op):
            self._file = PartFile(ctx, op)
            waiting = pieces_of_texts(rows, division.size)
        if ctx.size == 1:
            with local_step(ctx, op):
                for added in made_ahead(partial(self._written, rows), waiting, side_by_side()):
                    self._note(*added)
            return
        ordered = made_ahead(partial(self._in_order, rows), waiting, side_by_side())
        for _ in range(max(1, division.rounds)):
            with local_step(ctx, op):
                moved, counts = next(ordered, None) or self._in_order(rows, None)
            told = allgather(ctx, counts).reshape(ctx.size, ctx.size, self.ranges)
            ends = np.cumsum(told[ctx.rank].sum(axis=1)).tolist()
            parts = [moved.slice(lo, hi - lo) for lo, hi in zip([0, *ends], ends)]
            arrived = sent(ctx, op, parts, GROUPS)
            del parts, moved
            with local_step(ctx, op):
                self._note(*self._added(arrived, told[:, ctx.rank].ravel()))
                del arrived
                release()

    def _in_order(self, rows: Rows, found: tuple[int, Any] | None) -> tuple[Any, Array]:
        """Return rows in the order of the ranges of all ranks, and how many each has."""
        pa, count = arrow(), self._context.size * self.ranges
        start, piece = (0, rows.schema.empty_table()) if found is None else found
        if self._with_numbers:
            first = rows.first + start
            piece = piece.append_column(ROW_NUMBERS, pa.array(np.arange(first, first + len(piece))))
        if self._dropna:
            there = without_null([piece.column(name) for name in self._keys])
            piece = piece if there is None else piece.filter(there)
        starts = self._division.starts

        def column(name: str) -> Any:
            return pa.chunked_array([*piece.column(name).chunks, *starts.column(name).chunks], piece.column(name).type)

        codes = put_together(self._keys, column)
        begins, numbers = codes.of_row[len(piece) :].copy(), codes.of_row[: len(piece)]
        in_parts = by_number(numbers, codes.width, begins, count)
        return in_parts.taken(piece), in_parts.counts

    def _written(self, rows: Rows, found: tuple[int, Any]) -> tuple[Any, list[int], list[Part]]:
        """Write rows of one rank by ranges."""
        moved, counts = self._in_order(rows, found)
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

    def rows(self, number: int) -> Rows:
        """Return the rows of a range, in the order of the ranks and of their rows; of no rank else."""
        release()
        table = self._file.read([part for of_source in self._parts[number] for part in of_source], self._schema)
        table = table.unify_dictionaries()
        return Rows(self._context, table, (len(table),) * self._context.size)
