"""Tables of files of Arrow's IPC format: each rank reads the batches that have its range of the rows."""

from __future__ import annotations

import zlib
from typing import Any, Iterator

import numpy as np

from ..exceptions import FileError, InvalidArgumentError
from ..io.files import load
from ..io.patterns import table_files
from ..io.same_files import check_same_files
from ..io.steps import Paths, file_step, from_root
from ..io.tables import ArrowFile, JoinedTable
from ..runtime.agreement import agree, local_step
from ..runtime.context import Context
from .arrow_types import check_known, converted, normal, normalized
from .making import settled
from .on_disk import spool_of
from .reading import chosen_columns
from .rows import MappedRows, Rows, arrow, block_counts, unknown_column
from .selection import range_of, sliced


class _MappedFile(ArrowFile):
    """A file of Arrow whose batches are in the memory of a container that the file is."""

    def __init__(self, path: str, container: Any) -> None:
        super().__init__(path)
        self._buffer = self.pa.py_buffer(container.local_view())

    def batches(self, number: int, names: list[str]) -> Iterator[Any]:
        """Yield columns of one batch."""
        # All fields, which are not copied; where fields are named, pyarrow 26 may copy what it reads.
        batch = self.pa.ipc.open_file(self.pa.BufferReader(self._buffer)).get_batch(number).select(names)
        start, end = self._buffer.address, self._buffer.address + self._buffer.size
        for name, column in zip(names, batch.columns):
            parts = [part for part in column.buffers() if part is not None and part.size]
            if not all(start <= part.address < end for part in parts):
                raise InvalidArgumentError(f"the column {name!r} is compressed; what is mapped is not")
        batch.validate(full=True)
        yield batch


def read_arrow(
    ctx: Context,
    op: str,
    path: Paths,
    columns: Any,
    which: slice | None = None,
    placement: Any = "host",
    mapped: bool = False,
) -> Rows:
    """Return the rows of files of Arrow, or those of a slice. Collective. A file that is mapped is their memory."""
    whole_file: Any = None
    if mapped:
        only: list[str] = from_root(ctx, op, "read", path, lambda: table_files(path))
        if len(only) > 1:
            raise InvalidArgumentError(f"{path!r} is of several files; one is mapped")
        whole_file = load(ctx, only[0], format="raw", dtype="u1", partition="replicated", mapped=True)
    with local_step(ctx, op):
        pa = arrow()
        chosen = chosen_columns(columns)
    spool = None if mapped else spool_of(ctx, op, placement)
    agree(ctx, op, f"path {path!r}, columns {chosen}, placement {placement!r}")
    with file_step(ctx, op, "read", path):
        files = table_files(path)
        file: Any
        if len(files) > 1:
            file = JoinedTable(ArrowFile, files, None)
        else:
            file = _MappedFile(files[0], whole_file) if mapped else ArrowFile(files[0])
        known = file.schema.names
        names = known if chosen is None else chosen
        for name in names:
            if name not in known:
                raise unknown_column(name, known)
            if known.count(name) > 1:
                raise FileError(f"{path!r} has two columns {name!r}")
        check_known(file.schema)
        kinds = {name: normal(file.schema.field(name).type) for name in names}
        schema = f"{int(file.starts[-1])} rows, {kinds}"
        chosen_rows = range_of(which or slice(None), int(file.starts[-1]))
    agree(ctx, op, f"found in {path!r}: {schema[:200]} ({zlib.crc32(schema.encode()):08x})")
    check_same_files(ctx, op, path, list(file.states))
    counts = block_counts(ctx, max(chosen_rows.stop - chosen_rows.start, 0))
    with file_step(ctx, op, "read", path):
        lo = chosen_rows.start + sum(counts[: ctx.rank])
        batches = _batches(file, lo, lo + counts[ctx.rank], names)
        pieces = (_in_types(pa.Table.from_batches([batch]), kinds) for batch in batches)
        tables = list(pieces if spool is None else map(spool.held, pieces))
        whole = (
            pa.concat_tables(tables) if tables else _in_types(pa.table({name: pa.nulls(0) for name in names}), kinds)
        )
    agree(ctx, op)
    made = settled(ctx, op, whole, counts)
    if mapped:
        made = MappedRows(ctx, made.local, made.counts, whole_file)
    return made if chosen_rows.step == 1 else sliced(made, op, slice(None, None, chosen_rows.step))


def _in_types(table: Any, kinds: dict[str, Any]) -> Any:
    found = normalized(table)
    return arrow().table({name: converted(found[name], kind) for name, kind in kinds.items()})


def _batches(file: Any, lo: int, hi: int, names: list[str]) -> Any:
    """Yield what the batches of a file have of a range of its rows."""
    first = max(0, int(np.searchsorted(file.starts, lo, "right")) - 1)
    for number in range(first, len(file.starts) - 1):
        row = int(file.starts[number])
        if row >= hi:
            return
        for batch in file.batches(number, names):
            start, stop = max(lo - row, 0), min(hi - row, batch.num_rows)
            row += batch.num_rows
            if start < stop:
                yield batch.slice(start, stop - start)
        if row != int(file.starts[number + 1]):
            raise FileError(f"batch {number} has another number of rows than the file says")
