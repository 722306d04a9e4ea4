"""Rows of tables in files without a name, mapped into memory: Arrow's streams in the scratch folder."""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
import threading
import weakref
from collections import Counter
from functools import partial
from typing import Any, Callable, Iterator, Sequence

from .._native import library, slow_paths
from .._native.callsite import here
from .._native.threads import get_num_threads
from ..exceptions import InvalidArgumentError, MemoryError
from ..policies import Placement, placement_of
from ..runtime.agreement import local_step
from ..runtime.context import Context
from ..runtime.scratch import in_files, resident, scratch_file, trim
from ..runtime.threaded import makes_ahead
from .gather import in_few_arrays
from .moves import in_words
from .rows import Rows, RowsByColumn, arrow

#: Tables are written in batches of at most so many rows, which are what a later pass over them has in memory.
_BATCH = 1 << 17

#: A call has rows in memory of at most the limit divided by this: what it makes of them takes as much again, or more.
_SHARE = 16

#: The bytes of an element of the arrays that calls make of rows.
_WORD = 8

#: Who reads columns from their files so often is told of a faster way.
_OFTEN = 3

#: After so many slices of rows that have not been read, all of them are: a group of rows would be read for each slice.
_SLICES = 8

#: So many pieces are computed with side by side where a rank has threads for them: loops within a piece have, too.
_SIDE_BY_SIDE = 2

#: Memory is given back from this part of the limit on.
_ENOUGH = 0.7

#: The mappings that there are, whose pages ``release`` gives back.
_mappings: weakref.WeakSet[_Mapping] = weakref.WeakSet()
_lock = threading.RLock()  # ranks may be threads


_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long)
_libc.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
_libc.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)


class _Mapping:
    """A range of a file as memory that is read. Those of Python's mmap keep a descriptor each until version 3.13."""

    def __init__(self, descriptor: int, start: int, size: int) -> None:
        at = _libc.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, descriptor, start)
        if at == ctypes.c_void_p(-1).value:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
        self.at, self.size = at, size
        weakref.finalize(
            self, _libc.munmap, at, size
        ).atexit = False  # Arrow's buffers may outlive the interpreter's end

    def release(self) -> None:
        """Give the pages back."""
        _libc.madvise(self.at, self.size, mmap.MADV_DONTNEED)


def _in_files() -> int:
    """Return how many bytes of tables are in files."""
    with _lock:
        return sum(mapped.size for mapped in _mappings)


in_files.append(_in_files)


class Spool:
    """A file without a name, to which tables are written one after the other. It is gone with the last of them."""

    def __init__(self, ctx: Context, op: str) -> None:
        self._context, self._op, self._folder = ctx, op, ctx.scratch
        with _told(ctx, op):
            self._file = open(scratch_file(ctx), "r+b")  # noqa: SIM115 - the finalizer closes it
        weakref.finalize(self, _close, self._file)

    def held(self, table: Any) -> Any:
        """Return a table as it is on disk: of the same values, mapped into memory.

        Raises
        ------
        MemoryError
            If there is no room on the disk. The other ranks raise it at the latest in their next collective call.
        """
        with _told(self._context, self._op), room(self._op, self._folder, table):
            return self._written(table)

    def _written(self, table: Any) -> Any:
        pa, unit = arrow(), mmap.ALLOCATIONGRANULARITY
        if not len(table):
            return table
        start = -(-self._file.seek(0, os.SEEK_END) // unit) * unit
        self._file.seek(start)
        with pa.ipc.new_stream(self._file, table.schema) as stream:
            stream.write_table(in_few_arrays(table), max_chunksize=_BATCH)  # the size of text is read array by array
        self._file.flush()
        mapped = _Mapping(self._file.fileno(), start, self._file.tell() - start)
        with _lock:
            _mappings.add(mapped)
        release()
        return pa.ipc.open_stream(pa.foreign_buffer(mapped.at, mapped.size, mapped)).read_all()


@contextlib.contextmanager
def room(op: str, folder: str, table: Any) -> Iterator[None]:
    """Raise what a file says that has no room for a table as MemoryError."""
    try:
        yield
    except OSError as error:
        what = f"{op}: {table.nbytes} bytes of rows have no room in the scratch folder {folder!r}"
        raise MemoryError(f"{what}: {error.strerror or error}") from None


@contextlib.contextmanager
def _told(ctx: Context, op: str) -> Iterator[None]:
    """Have the other ranks raise, too, at the latest in their next collective call, what fails on this rank.

    That is for calls that are not collective, in which the ranks agree on nothing. On a thread of ``made_ahead``, which
    makes no calls of the ranks, nobody is told: the call is collective, and tells when the error is raised again.
    """
    with contextlib.nullcontext() if makes_ahead() else local_step(ctx, op):
        yield


def _close(file: Any) -> None:
    """Close a file: what a call that failed has left in its buffer need not fit on the disk."""
    with contextlib.suppress(OSError):
        file.close()


class PendingRows(RowsByColumn):
    """Rows of files of which a column is read when it is asked for. It then stays on disk.

    Parameters
    ----------
    context, counts, schema
        As of RowsByColumn.
    columns
        Those that have been read.
    share
        What reads columns of this rank's rows, given their names: ``read`` returns them, ``by_group`` yields them, some
        rows after the others, given at how many places at most, and ``between`` returns what reads a range of the rows.
    passes
        How often columns have been read that are not kept, and by None how many slices there were, for all rows that
        are made of these.
    """

    __slots__ = ("_passes", "_share")

    def __init__(
        self,
        context: Context,
        schema: Any,
        counts: tuple[int, ...],
        columns: dict[str, Any],
        share: Any,
        passes: Counter[str | None],
    ) -> None:
        super().__init__(context, schema, counts, columns)
        self._share, self._passes = share, passes

    def _of(self, schema: Any) -> Rows:
        return PendingRows(self.context, schema, self.counts, self._columns, self._share, self._passes)

    def between(self, start: int, counts: tuple[int, ...]) -> Rows:
        """Return a range of the rows, whose columns are read when they are asked for; of many slices, all rows are."""
        self._passes[None] += 1
        if self._passes[None] > _SLICES:
            return super().between(start, counts)
        count = counts[self.context.rank]
        read = {name: column.slice(start, count) for name, column in self._columns.items()}
        return PendingRows(self.context, self._schema, counts, read, self._share.between(start, count), Counter())

    @property
    def local(self) -> Any:
        """The rows of this rank, all columns of which are read now."""
        self._have(self.names)
        return super().local

    def column(self, name: str) -> Any:
        """Return a column of this rank's rows, which is read now."""
        self._have([name])
        return super().column(name)

    def row_size(self) -> int:
        """Return how many bytes a row has whose columns have not been read; 0 if they have, or if that is not known."""
        types = self._schema.types
        if any(name in self._columns for name in self.names) or not all(arrow().types.is_primitive(t) for t in types):
            return 0
        size: int = sum(-(-kind.bit_width // 8) for kind in types)
        return max(1, size)

    def streamed(self, size: int) -> Iterator[tuple[int, Any]]:
        """Yield the rows, which are not kept, so many at a time, and the number of the first; once at least."""
        self._passes.update(self.names)
        often = [field for field in self._schema if self._passes[field.name] >= _OFTEN]
        if not often or not slow_paths.listeners:
            return self._in_pieces(size)
        nbytes = self.length * sum(field.type.bit_width for field in often) // 8
        words = f"columns {in_words([field.name for field in often])}"
        return _then(
            self._in_pieces(size),
            partial(slow_paths.tell, slow_paths.READ_AGAIN, words, nbytes, slow_paths.clock(), here()),
        )

    def _in_pieces(self, size: int) -> Iterator[tuple[int, Any]]:
        waiting, first, pa = [self._schema.empty_table()], 0, arrow()
        for table in self._share.by_group(self.names):
            waiting.append(table)
            while sum(map(len, waiting)) >= size:
                both = pa.concat_tables(waiting)
                yield first, both.slice(0, size)
                first, waiting = first + size, [both.slice(size)]
                del both
                release()
        rest = pa.concat_tables(waiting)
        if len(rest) or not first:
            yield first, rest

    def sampled(self, places: int) -> list[Any]:
        """Return some rows of so many places at most, from the first to the last, which are not kept."""
        return list(self._share.by_group(self.names, places))

    def _have(self, names: Sequence[str]) -> None:
        """Read those of some columns that have not been read, in one pass."""
        missing = [name for name in names if name not in self._columns]
        if missing:
            with _told(self.context, f"columns {in_words(missing)}"):
                self._columns.update(zip(missing, self._share.read(missing).columns))


def _then(items: Iterator[Any], do: Callable[[], None]) -> Iterator[Any]:
    """Yield items, and do something when nobody wants more."""
    try:
        yield from items
    finally:
        do()


def spool_of(ctx: Context, op: str, placement: Any) -> Spool | None:
    """Return where the rows of a table go that is to be on disk; None in memory. Collective."""
    with local_step(ctx, op):
        where = placement_of(placement)
        if where is Placement.HOST:
            return None
        if where is not Placement.DISK:
            raise InvalidArgumentError(
                f"placement {placement!r}: rows of a table are in memory or on disk; a column becomes a container by "
                "to_vector, and that may be on a device"
            )
        return Spool(ctx, op)


def has_order(schema: Any) -> bool:
    """Say whether a table has categories in an order, which ranks have to agree on."""
    return any(arrow().types.is_dictionary(kind) and kind.ordered for kind in schema.types)


def share_of_memory() -> int | None:
    """Return how many bytes of rows a call has in memory at a time; None for all."""
    limit = library.memory_limit()
    return max(1, limit // _SHARE) if limit else None


def side_by_side() -> int:
    """Return how many pieces of rows a call computes with side by side, all of which are in memory."""
    return min(_SIDE_BY_SIDE, get_num_threads())


def rows_of_each(size: int) -> int:
    """Return how many rows a piece has, given how many a call has in memory at a time: with what is made of others.

    What one thread has made waits for the pieces before it while that thread has the next. The number of threads does
    not matter, so that sums of floats do not depend on it.
    """
    return max(1, size // (_SIDE_BY_SIDE + 1))


def rows_at_a_time(rows: int, nbytes: int, arrays: int = 0) -> int:
    """Return how many of so many rows, of so many bytes, a call has in memory at a time; at least 1.

    Arrays says how many of 8 bytes a row it makes of these.
    """
    share = share_of_memory()
    return max(1, rows if share is None else min(rows, rows * share // max(1, nbytes + rows * arrays * _WORD)))


def piece_rows(rows: Rows, arrays: int = 0) -> int:
    """Return how many of this rank's rows a call has in memory at a time: all of them, if there is no limit.

    Arrays is as of ``rows_at_a_time``.
    """
    if share_of_memory() is None:
        return max(1, rows.length)
    return rows_at_a_time(rows.length, size_of(rows), arrays)


def size_of(rows: Rows) -> int:
    """Return how many bytes this rank's rows have."""
    known = rows.row_size() if isinstance(rows, PendingRows) else 0
    return rows.length * known if known else bytes_of(rows.held)


def bytes_of(table: Any) -> int:
    """Return how many bytes a table has: of its rows alone, and each dictionary once."""
    nbytes: int = table.nbytes  # which counts a dictionary for each of its chunks
    if not any(arrow().types.is_dictionary(kind) for kind in table.schema.types):
        return nbytes
    whole: int = table.get_total_buffer_size()  # which counts all of what some rows are a slice of
    return min(nbytes, whole)


def starts(rows: int, size: int) -> Iterator[int]:
    """Yield the numbers of the first of so many rows, then the next, once at least.

    What is on disk of the rows before does not stay in memory.
    """
    yield 0
    for start in range(size, rows, size):
        release()
        yield start


def pieces(rows: Rows, size: int) -> Iterator[tuple[int, Any]]:
    """Yield this rank's rows as they are held, so many at a time, and the number of the first; once at least.

    Not collective.
    """
    if isinstance(rows, PendingRows) and rows.row_size() and size < rows.length:
        return rows.streamed(size)
    held = rows.held
    return ((start, held.slice(start, size)) for start in starts(rows.length, size))


def is_streamed(rows: Rows) -> bool:
    """Say whether ``pieces`` reads this rank's rows from their files, and holds none of the others. Not collective."""
    return isinstance(rows, PendingRows) and bool(rows.row_size()) and piece_rows(rows) < rows.length


def pieces_of_texts(rows: Rows, size: int) -> Iterator[tuple[int, Any]]:
    """Yield what ``pieces`` does, with texts as they are: categories of pieces need not ascend. Not collective."""
    return ((start, piece.cast(rows.schema)) for start, piece in pieces(rows, size))


def collected(ctx: Context, op: str, tables: Iterator[Any]) -> Any:
    """Return the rows of one or several tables, one after the other: on disk, if there is little room in memory."""
    found = kept(ctx, op, tables)
    return found[0] if len(found) == 1 else arrow().concat_tables(found)


def kept(ctx: Context, op: str, tables: Iterator[Any]) -> list[Any]:
    """Return tables, which are on disk if there is little room in memory for all of them."""
    share, nbytes = share_of_memory(), 0
    found: list[Any] = []
    spool: Spool | None = None
    for table in tables:
        nbytes += table.nbytes
        if spool is None and found and share is not None and (nbytes > share or (nbytes > share // 4 and _is_scarce())):
            spool = Spool(ctx, op)
            found = [spool.held(each) for each in found]
        found.append(table if spool is None else spool.held(table))
        del table
    return found


def _is_scarce() -> bool:
    """Say whether there is little room below the limit when all has been given back that can be."""
    release()
    return resident() > library.memory_limit() * _ENOUGH


def release() -> None:
    """Give back the pages of tables on disk that are in memory, and memory that Arrow and NumPy have done with.

    The pages are read again where they are used. While there is room below a limit, nothing is given back.
    """
    limit = library.memory_limit()
    if (not _mappings and not limit) or resident() < limit * _ENOUGH:
        return
    arrow().default_memory_pool().release_unused()
    trim()
    with _lock:
        mappings = list(_mappings)
    for mapped in mappings:
        mapped.release()
