"""Tables of files of JSON lines: an object a line. Each rank parses the lines that begin in its share of the bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..comm.objects import allgather_object
from ..exceptions import FileError
from ..io.file_bytes import bytes_of_file
from ..io.formats import needs
from ..io.patterns import table_files
from ..io.same_files import check_same_files
from ..io.steps import Paths, as_file_error, file_step, from_root
from ..runtime.agreement import agree, local_step
from ..runtime.context import Context
from .arrow_types import common, converted, normalized
from .making import settled
from .reading import chosen_columns
from .rows import Rows, arrow, unknown_column

#: The bytes in which the end of a line is looked for, and which a piece has that is parsed.
_LOOK, _BLOCK = 1 << 16, 32 << 20


def read_json(ctx: Context, op: str, path: Paths, columns: Any) -> Rows:
    """Return the rows of files of JSON lines. Collective."""
    with local_step(ctx, op):
        pa = arrow()
        try:
            import pyarrow.json as parser  # type: ignore[import-untyped,import-not-found,unused-ignore]
        except ImportError as error:
            raise needs("pyarrow", "JSON", error) from None
        chosen = chosen_columns(columns)
    agree(ctx, op, f"path {path!r}, columns {chosen}")
    paths = from_root(ctx, op, "read", path, lambda: table_files(path))
    with local_step(ctx, op):
        files = []
        for name in paths:
            with as_file_error("read", name):
                files.append(bytes_of_file(name, len(paths) <= 100))
    agree(ctx, op)
    check_same_files(ctx, op, path, [file.state for file in files])
    with file_step(ctx, op, "read", path):
        blocks = _blocks(files, ctx.rank, ctx.size)
        tables = [_parsed(parser, paths[number], files[number], lo, hi, None) for number, lo, hi in blocks]
        mine = [list(zip(table.column_names, table.schema.types)) for table in tables]
        found = [(paths[block[0]], fields) for block, fields in zip(blocks, mine)]
    agree(ctx, op)
    kinds = _common([each for of_rank in allgather_object(ctx, found) for each in of_rank], path)
    for name in chosen or ():
        if name not in kinds:
            raise unknown_column(name, list(kinds))
    with file_step(ctx, op, "read", path):
        for i, (number, lo, hi) in enumerate(blocks):
            if any(kind != kinds[name] and not pa.types.is_null(kind) for name, kind in mine[i]):
                tables[i] = _parsed(parser, paths[number], files[number], lo, hi, pa.schema(list(kinds.items())))
            tables[i] = _in_types(tables[i], kinds, chosen or list(kinds))
        for file in files:
            file.check()
        schema = pa.schema([(name, kinds[name]) for name in chosen or kinds])
        whole = pa.concat_tables(tables) if tables else schema.empty_table()
    agree(ctx, op)
    return settled(ctx, op, whole)


def _blocks(files: list[Any], rank: int, ranks: int) -> list[tuple[int, int, int]]:
    """Return a rank's lines: of which file, and its bytes from one place to another. A line is whose its begin is."""
    ends = np.cumsum([0, *(len(file) for file in files)])
    lo, hi = (int(ends[-1]) * each // ranks for each in (rank, rank + 1))
    found = []
    for number, file in enumerate(files):
        start, stop = (min(max(place - int(ends[number]), 0), len(file)) for place in (lo, hi))
        start, stop = _line_from(file, start), _line_from(file, stop)
        while start < stop:
            end = min(_line_from(file, start + _BLOCK), stop)
            found.append((number, start, end))
            start = end
    return found


def _line_from(file: Any, place: int) -> int:
    """Return where the first line from a place on begins."""
    if place <= 0:
        return 0
    at = place - 1
    while at < len(file):
        ends = np.flatnonzero(np.asarray(file[at : at + _LOOK]) == 10)
        if len(ends):
            return at + int(ends[0]) + 1
        at += _LOOK
    return len(file)


def _parsed(parser: Any, path: str, file: Any, lo: int, hi: int, schema: Any) -> Any:
    """Return the rows of some lines."""
    pa = arrow()
    data = pa.py_buffer(np.ascontiguousarray(file[lo:hi]))
    with as_file_error("read", path):
        if not np.asarray(data).tobytes().strip():
            return pa.table({})
        return parser.read_json(
            pa.BufferReader(data),
            parser.ReadOptions(block_size=max(hi - lo + 1, 1 << 16)),
            parser.ParseOptions(explicit_schema=schema, newlines_in_values=False),
        )


def _common(found: list[Any], path: Paths) -> dict[str, Any]:
    """Return the types of the columns, in the order in which they are first there."""
    pa = arrow()
    kinds: dict[str, Any] = {}
    for file, fields in found:
        for name, kind in fields:
            before = kinds.get(name, kind)
            both = pa.float64() if {before, kind} == {pa.int64(), pa.float64()} else common(before, kind)
            if both is None:
                raise FileError(f"the values of {name!r} in {file!r} are of {kind}, and of {before} before")
            kinds[name] = both
    if not kinds:
        raise FileError(f"{path!r} has no line with an object")
    return kinds


def _in_types(table: Any, kinds: dict[str, Any], names: list[str]) -> Any:
    """Return rows in types that they have, with null in columns that they have not."""
    pa, made = arrow(), {}
    rows = len(table)
    table = normalized(table) if table.column_names else table
    for name in names:
        column = table[name] if name in table.column_names else pa.chunked_array([pa.nulls(rows, kinds[name])])
        made[name] = converted(column, kinds[name])
    return pa.table(made)
