"""Tables of files of CSV: each rank parses the rows that begin in its share of the bytes, by pyarrow.

Files that are compressed, in another encoding than UTF-8, or that have comments are each made plain by one rank, which
deals them out as it reads (``unpacking.py``). The types of the columns are found by looking at all rows: every rank
parses its own as they look, the ranks agree on types that hold all of them, and rows that looked otherwise are parsed
again.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ..comm.objects import allgather_object
from ..exceptions import FileError, InvalidArgumentError
from ..io.csv_lines import CsvFile, rows_of_rank
from ..io.patterns import table_files
from ..io.remote import open_binary
from ..io.same_files import check_same_files
from ..io.steps import Paths, as_file_error, file_step, from_root
from ..runtime.agreement import agree, local_step
from ..runtime.context import Context
from .arrow_types import converted, converted_to, is_number
from .csv_options import Options
from .exchange import balanced
from .making import settled
from .on_disk import Spool, share_of_memory, spool_of
from .rows import Rows, arrow, arrows_errors, block_counts, counted, unknown_column
from .selection import range_of, sliced
from .unpacking import MAGIC, PlainFile, dealt

#: The bytes that are parsed at a time, and from which on integers may have lost digits as float64.
_BLOCK, _EXACT = 32 << 20, float(2**53)

#: The bytes that are parsed are in memory so many times where rows of a call are: as text, and as pyarrow has them.
_COPIES = 2


def read_csv(
    ctx: Context, op: str, path: Paths, options: Options, which: slice | None = None, placement: Any = "host"
) -> Rows:
    """Return the rows of files of CSV, or those of a slice. Collective."""
    with local_step(ctx, op):
        pa = arrow()
    spool = spool_of(ctx, op, placement)
    agree(ctx, op, f"path {path!r}, {options}, placement {placement!r}")
    paths, plain = from_root(ctx, op, "read", path, lambda: _looked_at(path, options))
    files: list[CsvFile] = []
    found = []
    with file_step(ctx, op, "read", path):
        for name in paths if plain else paths[ctx.rank :: ctx.size]:
            with as_file_error("read", name):
                if plain:
                    files.append(
                        CsvFile(name, options.sep, len(paths) <= 100, skip=options.skip, header=options.header)
                    )
                    found.append((name, _names(name, files[-1].names(pa), options)))
                else:
                    file = PlainFile(name, options)
                    file.close()
                    found.append((name, _names(name, file.names, options)))
    agree(ctx, op)
    everyones = dict(each for of_rank in allgather_object(ctx, found) for each in of_rank)
    all_names = _common_names([(name, everyones[name]) for name in paths], options)
    blocks: list[Any]
    if plain:
        check_same_files(ctx, op, path, [file.data.state for file in files if hasattr(file.data, "state")])
        blocks = [
            (files[piece.number], start, end)
            for piece in rows_of_rank(ctx, op, path, files)
            for start, end in _blocks(ctx, op, files[piece.number], piece.start, piece.end, spool)
        ]
    else:
        blocks = [(piece, 0, len(piece.data)) for piece in dealt(ctx, op, path, paths, options)]
    parser, lo, hi = _Parser(options, all_names), 0, None
    if which is not None:
        blocks, lo, hi = _chosen(ctx, op, blocks, parser, which)
    table = _parsed(ctx, op, path, blocks, parser, spool)
    rows = settled(ctx, op, table if hi is None else table[lo:hi])
    even = block_counts(ctx, rows.total)
    if (plain and which is None) or rows.counts == even:
        return _every(rows, op, which)
    return _every(Rows(ctx, balanced(ctx, op, rows.local, rows.counts, even), even), op, which)


def _every(rows: Rows, op: str, which: slice | None) -> Rows:
    """Return the rows of a slice, given those from its first to its last."""
    return rows if which is None or which.step in (None, 1) else sliced(rows, op, slice(None, None, which.step))


def _chosen(ctx: Context, op: str, blocks: list[Any], parser: _Parser, which: slice) -> tuple[list[Any], int, int]:
    """Return those of this rank's blocks that have rows of a slice, and which of their rows it has. Collective."""
    with local_step(ctx, op):
        numbers = []
        for file, start, end in blocks:
            with as_file_error("read", file.path), file.as_text(start):
                numbers.append(parser.rows(file.data[start:end]))
    counts = counted(ctx, sum(numbers))
    with local_step(ctx, op):
        chosen = range_of(which, sum(counts))
    row = sum(counts[: ctx.rank])
    kept: list[Any] = []
    first = row
    for block, number in zip(blocks, numbers):
        if row < chosen.stop and row + number > chosen.start:
            first = first if kept else row
            kept.append(block)
        row += number
    return kept, max(chosen.start - first, 0), max(chosen.stop - first, 0)


def _looked_at(path: Paths, options: Options) -> tuple[list[str], bool]:
    """Return the files, and whether ranks can read ranges of them as they are."""
    paths = table_files(path)
    plain = options.comment is None and options.encoding == "utf-8"
    for name in paths if plain else ():
        with as_file_error("read", name), open_binary(name) as file:
            begin = file.read(6)
        plain = plain and not any(begin.startswith(magic) for magic in MAGIC)
    return paths, plain


def _blocks(ctx: Context, op: str, file: CsvFile, start: int, end: int, spool: Spool | None) -> list[tuple[int, int]]:
    """Return ranges of whole rows, of about so many bytes as are parsed at a time: with a spool, under the limit."""
    found, share = [], share_of_memory()
    size = _BLOCK if spool is None or share is None else min(_BLOCK, max(1, share // _COPIES))
    with file_step(ctx, op, "read", file.path):
        while start < end:
            stop = file.block(start, end, size)
            found.append((start, stop))
            start = stop
    return found


def _names(path: str, names: list[str], options: Options) -> list[str]:
    """Return the names of the columns of a file."""
    if options.names is None:
        return names
    if len(options.names) != len(names):
        raise InvalidArgumentError(
            f"names {list(options.names)} are {len(options.names)}; {path!r} has {len(names)} columns"
        )
    return list(options.names)


def _common_names(found: list[tuple[str, list[str]]], options: Options) -> list[str]:
    """Return the names of the columns, which each file must have. Every rank knows those of all."""
    first, names = found[0]
    for path, others in found:
        if others != names:
            raise FileError(f"the columns of {path!r} are {others}, and those of {first!r} {names}")
    if len(set(names)) < len(names):
        raise FileError(f"{first!r} has two columns of one name: {names}; names= gives them others")
    for name in (*(options.columns or ()), *(name for name, _ in (*options.types, *options.formats))):
        if name not in names:
            raise unknown_column(name, names)
    return names


def _parsed(ctx: Context, op: str, path: Paths, blocks: list[Any], parser: _Parser, spool: Spool | None) -> Any:
    """Return the rows of this rank's blocks, in types that hold the rows of all ranks. Collective.

    With a spool they are on disk, and one block is in memory at a time.
    """
    pa, tables = arrow(), []
    held = _as_it_is if spool is None else spool.held
    with file_step(ctx, op, "read", path):
        for file, start, end in blocks:
            with as_file_error("read", file.path), file.as_text(start):
                data = file.data[start:end]
                tables.append(held(parser.parse(data, {})))
                if any(pa.types.is_binary(kind) for kind in tables[-1].schema.types):
                    bytes(data).decode()  # which says what is no text
        mine = [parser.types_of(table) for table in tables]
    agree(ctx, op)
    kinds = dict.fromkeys(parser.wanted, pa.null())
    for types in (types for of_rank in allgather_object(ctx, mine) for types in of_rank):
        kinds = {name: _wider(kinds[name], types[name]) for name in kinds}
    kinds.update(parser.said)
    with file_step(ctx, op, "read", path):
        for i, (file, start, end) in enumerate(blocks):
            # Where a block has nothing but missing values, some may be in quotes: text, if the column is of text.
            same = {name: (kind,) if pa.types.is_string(kind) else (kind, pa.null()) for name, kind in kinds.items()}
            others = {name for name in kinds if mine[i][name] not in same[name]}
            if others:
                with as_file_error("read", file.path), file.as_text(start):
                    again = parser.parse(file.data[start:end], {name: kinds[name] for name in others}, sorted(others))
                    columns = {
                        **dict(zip(tables[i].column_names, tables[i].columns)),
                        **dict(zip(sorted(others), again.columns)),
                    }
                    tables[i] = pa.table({name: columns[name] for name in kinds})
            alike = {name: converted(tables[i][name], kind) for name, kind in kinds.items()}
            finished = pa.table({name: parser.finished(name, column) for name, column in alike.items()})
            if others or finished.schema != tables[i].schema:
                finished = held(finished)
            tables[i] = finished
        for file in {id(file): file for file, _, _ in blocks}.values():
            if hasattr(file.data, "check"):
                file.data.check()
        none = pa.schema(list(kinds.items())).empty_table()
        whole = pa.table({name: parser.finished(name, none[name]) for name in kinds})
        if tables:
            whole = pa.concat_tables(tables).unify_dictionaries()
    agree(ctx, op)
    return whole


def _as_it_is(table: Any) -> Any:
    return table


def _wider(one: Any, other: Any) -> Any:
    """Return a type that has the values of two types as text of CSV has them: text where no other has."""
    pa = arrow()
    if one == other or pa.types.is_null(other):
        return one
    if pa.types.is_null(one):
        return other
    if {one, other} == {pa.int64(), pa.float64()}:
        return pa.float64()
    times = [kind for kind in (one, other) if pa.types.is_timestamp(kind) or pa.types.is_date32(kind)]
    if len(times) == 2:
        zones = {getattr(kind, "tz", None) for kind in times}
        units = [kind.unit for kind in times if pa.types.is_timestamp(kind)]
        if len(zones) == 1:
            return pa.timestamp("ns" if "ns" in units else "s", zones.pop())
    return pa.string()


class _Parser:
    """What makes tables of the bytes of rows."""

    def __init__(self, options: Options, names: list[str]) -> None:
        pa = arrow()
        self._options, self._names = options, names
        self.wanted = list(names if options.columns is None else options.columns)
        self._formats = {name: form for name, form in options.formats if form}
        self._last = {name: kind for name, kind in options.types if name in self.wanted}
        self.said = {name: pa.string() if pa.types.is_dictionary(kind) else kind for name, kind in self._last.items()}
        for name, form in options.formats:
            if name in self.wanted:
                self.said[name] = pa.string() if form else pa.timestamp("us")
        digits = re.escape(options.thousands or "")
        point = re.escape(options.decimal)
        self._number = rf"^[+-]?(\d{{1,3}}({digits}\d{{3}})+|\d+)({point}\d*)?$" if options.thousands else ""

    def parse(self, data: Any, kinds: dict[str, Any], names: list[str] | None = None) -> Any:
        """Return the rows of some bytes; columns of which no type is given have that which they look like."""
        pa, options = arrow(), self._options
        wanted = self.wanted if names is None else names
        types = {**self.said, **kinds}
        grouped = [name for name, kind in types.items() if options.thousands and is_number(kind)]
        table = self._read_with_missing(data, {**types, **dict.fromkeys(grouped, pa.string())}, wanted)
        made = {}
        for name in wanted:
            column = table[name]
            if pa.types.is_string(column.type) and name not in types:
                column = self._without_quoted_missing(data, name, column)
            if (
                pa.types.is_float64(column.type)
                and name not in types
                and self._may_have_lost_digits(data, name, column)
            ):
                column = self._read(data, {name: pa.string()}, [name])[name]
            if options.thousands and pa.types.is_string(column.type) and (name in grouped or name not in types):
                column = self._without_thousands(name, column, types.get(name))
            made[name] = column
        return pa.table(made)

    def rows(self, data: Any) -> int:
        """Return how many rows some bytes have."""
        return len(self._read(data, {self._names[0]: arrow().string()}, self._names[:1]))

    def _read_with_missing(self, data: Any, types: dict[str, Any], wanted: list[str]) -> Any:
        """Return columns of some rows. Quoted values may be missing ones in those that have a type other than text."""
        pa = arrow()
        others = [name for name in wanted if not pa.types.is_string(types.get(name, pa.string()))]
        try:
            return self._read(data, types, wanted)
        except pa.ArrowInvalid:
            if not others:
                raise
        made = self._read(data, types, others, True)
        rest = [name for name in wanted if name not in others]
        for name, column in zip(rest, self._read(data, types, rest).columns if rest else ()):
            made = made.append_column(name, column)
        return made

    def _without_quoted_missing(self, data: Any, name: str, column: Any) -> Any:
        """Return a column of texts as what it is, if those that are not missing ones in quotes look like no text."""
        compute = arrow().compute
        if not compute.any(compute.is_in(column, value_set=arrow().array(self._options.missing))).as_py():
            return column
        again = self._read(data, {}, [name], True)[name]
        return column if arrow().types.is_string(again.type) else again

    def _read(self, data: Any, types: dict[str, Any], wanted: list[str], quoted: bool = False) -> Any:
        pa, options = arrow(), self._options
        csv = pa.csv
        return csv.read_csv(
            pa.BufferReader(pa.py_buffer(np.ascontiguousarray(data))),
            csv.ReadOptions(column_names=self._names, block_size=max(len(data) + 1, 1 << 16)),
            csv.ParseOptions(delimiter=options.sep, newlines_in_values=True),
            csv.ConvertOptions(
                column_types={name: kind for name, kind in types.items() if name in wanted},
                include_columns=wanted,
                strings_can_be_null=True,
                quoted_strings_can_be_null=quoted,
                null_values=list(options.missing),
                decimal_point=options.decimal,
            ),
        )

    def _may_have_lost_digits(self, data: Any, name: str, column: Any) -> bool:
        """Say whether a column of float64 has integers of more digits than that has."""
        pa = arrow()
        largest = pa.compute.max(pa.compute.abs(column)).as_py()
        if largest is None or not largest >= _EXACT:
            return False
        texts = self._read(data, {name: pa.string()}, [name])[name]
        return bool(pa.compute.any(pa.compute.match_substring_regex(texts, r"^[+-]?\d{16,}$")).as_py())

    def _without_thousands(self, name: str, column: Any, kind: Any) -> Any:
        """Return numbers whose digits are in groups, where all of a column's values are such; the texts otherwise."""
        pa, options = arrow(), self._options
        if kind is None and not pa.compute.all(pa.compute.match_substring_regex(column, self._number)).as_py():
            return column
        plain = pa.compute.replace_substring(column, options.thousands, "")
        if options.decimal != ".":
            plain = pa.compute.replace_substring(plain, options.decimal, ".")
        if kind is not None:
            return plain.cast(kind)
        try:
            return plain.cast(pa.int64())
        except pa.ArrowInvalid:
            return plain.cast(pa.float64())

    def types_of(self, table: Any) -> dict[str, Any]:
        """Return the type of each column."""
        return dict(zip(table.column_names, table.schema.types))

    def finished(self, name: str, column: Any) -> Any:
        """Return a column in the type in which the caller wants it."""
        pa = arrow()
        with arrows_errors(f"the column {name!r}"):
            if name in self._formats:
                return pa.compute.strptime(column, format=self._formats[name], unit="us")
        return converted_to(name, column, self._last.get(name, column.type))
