"""Rows of tables in files without a name, mapped into memory: Arrow's streams in the scratch folder."""

from __future__ import annotations

import mmap
import os
import weakref
from typing import Any, Callable, Iterator, Sequence

from ..exceptions import InvalidArgumentError
from ..policies import Placement, placement_of
from ..runtime.agreement import local_step
from ..runtime.context import Context
from ..runtime.scratch import memory_limit, scratch_file
from .rows import Rows, arrow

#: Tables are written in batches of at most so many rows, which are what a later pass over them has in memory.
_BATCH = 1 << 17

#: A call has rows in memory of at most the limit divided by this: what it makes of them takes as much again, or more.
_SHARE = 8

#: The mappings that there are, whose pages ``release`` gives back.
_mappings: weakref.WeakSet[mmap.mmap] = weakref.WeakSet()


class Spool:
    """A file without a name, to which tables are written one after the other. It is gone with the last of them."""

    def __init__(self, ctx: Context, op: str) -> None:
        descriptor = scratch_file(ctx, op)
        self._file = open(descriptor, "r+b", closefd=False)  # noqa: SIM115 - the finalizer closes it
        weakref.finalize(self, os.close, descriptor)

    def held(self, table: Any) -> Any:
        """Return a table as it is on disk: of the same values, mapped into memory."""
        pa, unit = arrow(), mmap.ALLOCATIONGRANULARITY
        if not len(table):
            return table
        start = -(-self._file.seek(0, os.SEEK_END) // unit) * unit
        self._file.seek(start)
        with pa.ipc.new_stream(self._file, table.schema) as stream:
            stream.write_table(table, max_chunksize=_BATCH)
        self._file.flush()
        mapped = mmap.mmap(self._file.fileno(), self._file.tell() - start, access=mmap.ACCESS_READ, offset=start)
        _mappings.add(mapped)
        return pa.ipc.open_stream(pa.py_buffer(mapped)).read_all()


class PendingRows(Rows):
    """Rows of files of which a column is read when it is asked for. It then stays on disk.

    Parameters
    ----------
    context, counts
        As of Rows.
    schema
        The names and types of the columns.
    read
        What returns columns of this rank's rows, given their names.
    known
        The columns that have been read, by their names, for all rows that are made of these.
    """

    __slots__ = ("_known", "_read", "_schema")

    def __init__(
        self,
        context: Context,
        schema: Any,
        counts: tuple[int, ...],
        read: Callable[[Sequence[str]], Any],
        known: dict[str, Any] | None = None,
    ) -> None:
        self.context, self.counts, self._schema, self._read = context, counts, schema, read
        self._known: dict[str, Any] = {} if known is None else known

    @property
    def local(self) -> Any:
        """The rows of this rank, all columns of which are read now."""
        missing = [name for name in self.names if name not in self._known]
        if missing:
            self._known.update(zip(missing, self._read(missing).columns))
        return arrow().table([self._known[name] for name in self.names], schema=self._schema)

    @property
    def schema(self) -> Any:
        """The names and types of the columns."""
        return self._schema

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        names: list[str] = self._schema.names
        return names

    def chosen(self, names: Sequence[str]) -> Rows:
        """Return some columns of the same rows. Not collective."""
        schema = arrow().schema([self._schema.field(name) for name in names])
        return PendingRows(self.context, schema, self.counts, self._read, self._known)


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


def piece_rows(rows: Rows) -> int:
    """Return how many of this rank's rows a call has in memory at a time: all of them, if there is no limit."""
    limit = memory_limit(rows.context)
    if limit is None:
        return max(1, rows.length)
    local = rows.local
    # The first counts a dictionary for each of its chunks, and the second all of what some rows are a slice of.
    nbytes: int = min(local.nbytes, local.get_total_buffer_size())
    return max(1, min(rows.length, rows.length * limit // max(1, _SHARE * nbytes)))


def pieces(rows: Rows, size: int) -> Iterator[tuple[int, Any]]:
    """Yield this rank's rows, so many at a time, and the number of the first; once at least. Not collective.

    What is on disk of them does not stay in memory.
    """
    local = rows.local
    yield 0, local.slice(0, size)
    for start in range(size, rows.length, size):
        release()
        yield start, local.slice(start, size)


def collected(ctx: Context, op: str, tables: Iterator[Any]) -> Any:
    """Return the rows of one or several tables, one after the other: on disk, if they are more than the limit."""
    limit, found, nbytes = memory_limit(ctx), [next(tables)], 0
    spool: Spool | None = None
    for table in tables:
        nbytes += table.nbytes
        if spool is None and limit is not None and nbytes * _SHARE > limit:
            spool = Spool(ctx, op)
            found = [spool.held(each) for each in found]
        found.append(table if spool is None else spool.held(table))
    return found[0] if len(found) == 1 else arrow().concat_tables(found)


def release() -> None:
    """Give back the pages of tables on disk that are in memory: they are read again where they are used."""
    for mapped in list(_mappings):
        mapped.madvise(mmap.MADV_DONTNEED)
