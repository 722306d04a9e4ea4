"""Tables of files of Parquet: a file, a pattern, or a folder whose folders may be named by values, as Hive has them."""

from __future__ import annotations

import functools
import operator
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple
from urllib.parse import unquote

import numpy as np

from .._native.arguments import integer
from .._native.arguments import listed as items_of
from ..comm.objects import allgather_object
from ..exceptions import FileError, FileNotFoundError, InvalidArgumentError, InvalidTypeError
from ..io.formats import needs
from ..io.names import names_in
from ..io.patterns import files_of, natural_order
from ..io.remote import store_of, suffix_of
from ..io.steps import Paths, as_file_error, from_root, is_remote
from ..runtime.agreement import agree, local_step
from ..runtime.context import Context
from ..runtime.threaded import each
from .arrow_types import common, converted, normal, normalized
from .coded_rows import rows_of, texts, together
from .gather import kept
from .making import in_any_order, scalar, settled
from .on_disk import PendingRows, Spool, has_order, rows_at_a_time, share_of_memory, spool_of
from .rows import Rows, arrow, arrows_errors, counted, unknown_column
from .selection import range_of, sliced

#: What Hive names a folder by whose value is null.
_NULL = "__HIVE_DEFAULT_PARTITION__"

#: How much more than an even share of the rows a rank may read, so that it reads whole groups of rows.
_UNEVEN = 1.2

#: Of so few bytes a value, a column of texts is by numbers: a text has its length in as many.
_CODED = 4

#: So many rows are decoded at once where they are not kept, of pages that are read so many bytes at a time.
_BATCH, _BUFFER = 1 << 17, 1 << 18

_RELATIONS = {
    "==": operator.eq,
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}

_KEY = re.compile(r"([^=/]+)=(.*)")


class Part(NamedTuple):
    """A file of a table, and the values of further columns: texts that its folders are named by, or values."""

    path: str
    keys: tuple[tuple[str, Any], ...] = ()


class Group(NamedTuple):
    """A group of rows: the number of its file, its own in the file, and its rows."""

    file: int
    number: int
    rows: int


def _datasets() -> Any:
    """Return pyarrow.dataset."""
    try:
        import pyarrow.dataset  # type: ignore[import-untyped,import-not-found,unused-ignore]
        import pyarrow.parquet  # type: ignore[import-untyped,import-not-found,unused-ignore]
    except ImportError as error:
        raise needs("pyarrow", "Parquet", error) from None
    return pyarrow.dataset


def read_parquet(
    ctx: Context, op: str, path: Paths, columns: Any, filters: Any, which: slice | None = None, placement: Any = "host"
) -> Rows:
    """Return the rows of files of Parquet, or those of a slice. Each rank reads its groups of rows. Collective."""
    with local_step(ctx, op):
        asked = asked_for(columns, filters)
    spool = spool_of(ctx, op, placement)
    agree(ctx, op, f"path {path!r}, {asked}, placement {placement!r}")
    parts: list[Part] = from_root(ctx, op, "read", path, lambda: listed(path, (".parquet", ".pq")))
    return read_parts(ctx, op, parts, key_types(parts), asked, which, spool=spool)


class Asked(NamedTuple):
    """Which columns are wanted, None for all, which rows, and the columns that these need: None if unknown."""

    columns: list[str] | None
    condition: Any
    beside: Any


def asked_for(columns: Any, filters: Any) -> Asked:
    """Return what a caller wants of a table."""
    _datasets()
    chosen = chosen_columns(columns)
    condition, beside = _condition(filters)
    return Asked(chosen, condition, beside)


def whole_number(name: str, value: Any) -> int | None:
    """Return which version of a table a caller wants; None for the newest."""
    if isinstance(value, (bool, np.bool_)):
        raise InvalidTypeError(f"{name} must be an integer, not {value!r}")
    return None if value is None else integer(name, value)


def chosen_columns(columns: Any) -> list[str] | None:
    """Return the names of the columns that a caller wants; None for all."""
    chosen = None if columns is None else names_in("columns", columns)
    if chosen is not None and (not chosen or len(set(chosen)) < len(chosen)):
        raise InvalidArgumentError(f"columns {chosen} names no column, or one twice")
    return chosen


def read_parts(
    ctx: Context,
    op: str,
    parts: list[Part],
    keys: dict[str, Any],
    asked: Asked,
    which: slice | None = None,
    schema: Any = None,
    spool: Spool | None = None,
) -> Rows:
    """Return the rows of files, which have the columns of a schema if there is one. Collective.

    With a spool they are on disk, and columns are read when they are asked for.
    """
    chosen, condition, beside = asked
    if schema is not None and not parts:
        return settled(ctx, op, normalized(schema.empty_table().select(chosen or schema.names)))
    opened = _Files(_datasets(), parts, keys, schema)
    mine = {}
    for number in range(ctx.rank, len(parts), ctx.size):
        with local_step(ctx, op), as_file_error("read", parts[number].path):
            mine[number] = opened.described(number, condition, beside)
    agree(ctx, op)
    found: dict[int, Any] = {}
    for of_rank in allgather_object(ctx, mine):
        found.update(of_rank)
    fields = _common_fields(parts, [found[i][0] for i in range(len(parts))], chosen, beside)
    names = list(fields) if chosen is None else chosen
    groups = [Group(i, *group) for i in range(len(parts)) for group in found[i][1]]
    with local_step(ctx, op):
        chosen_rows = range_of(which or slice(None), sum(group.rows for group in groups))
        shared = shares(groups, ctx.size, chosen_rows)
    share = _Share(opened, [found[i][2] for i in range(len(parts))], shared[ctx.rank], fields, asked, spool)
    wanted = share.schema(names)
    if spool is not None and condition is None and chosen_rows.step == 1 and not has_order(wanted):
        counts = tuple(sum(rows for _, _, _, rows in of_rank) for of_rank in shared)
        return PendingRows(ctx, wanted, counts, {}, share, Counter())
    with local_step(ctx, op):
        whole = share.read(names)
    agree(ctx, op)
    if spool is None and not has_order(wanted):
        made = rows_of(ctx, whole, wanted, counted(ctx, len(whole)))
    else:
        made = settled(ctx, op, whole)
    return made if chosen_rows.step == 1 else sliced(made, op, slice(None, None, chosen_rows.step))


class _Share(NamedTuple):
    """What a rank reads of the files of a table, whose states and types are as they were found to be."""

    files: _Files
    states: list[tuple[int, ...]]
    groups: list[tuple[int, list[int], int, int]]
    fields: dict[str, Any]
    asked: Asked
    spool: Spool | None

    def between(self, start: int, count: int) -> _Share:
        """Return the share of so many of the rows from one on."""
        groups, at = [], 0
        for number, ids, skip, rows in self.groups:
            low, high = max(start - at, 0), min(start + count - at, rows)
            if low < high:
                groups.append((number, ids, skip + low, high - low))
            at += rows
        return self._replace(groups=groups)

    def read(self, names: Sequence[str]) -> Any:
        """Return columns of the rows; with a spool on disk, of which a group is in memory at a time.

        Without one, texts may be categories.
        """
        pa = arrow()
        if self.spool is not None:
            tables = [self.spool.held(table) for table in self.by_group(names)]
            return pa.concat_tables([self.schema(names).empty_table(), *tables])
        tables = [self._table(names, group) for group in self.groups]
        return pa.table([self._alike(name, [table[name] for table in tables]) for name in names], names=names)

    def by_group(self, names: Sequence[str], places: int | None = None) -> Iterator[Any]:
        """Yield columns of the rows, one group of rows of a file after the other; of so many of these at most."""
        pa, schema, groups = arrow(), self.schema(names), list(self._groups())
        if places is not None and len(groups) > places:
            groups = [groups[number] for number in np.linspace(0, len(groups) - 1, places).astype(int)]
        for group in groups:
            for table in self._tables(names, group):
                alike = pa.table([self._alike(name, [table[name]]) for name in names], names=names)
                yield _with_texts(alike, schema)

    def _tables(self, names: Sequence[str], group: tuple[int, list[int], int, int]) -> Iterator[Any]:
        """Yield columns of rows of one group of a file, some rows after the others where the file can be read so."""
        number, (only,), skip, rows = group
        if self.asked.condition is not None or not self.files.is_streamed(number, names):
            yield self._table(names, group)
            return
        tables = self.files.streamed(number, only, skip, rows, list(names))
        while True:
            with self.files.unchanged(number, self.states[number]):
                table = next(tables, None)
            if table is None:
                return
            yield table

    def _table(self, names: Sequence[str], group: tuple[int, list[int], int, int]) -> Any:
        """Return columns of rows of a file."""
        number, ids, skip, rows = group
        with self.files.unchanged(number, self.states[number]):
            return self.files.read(number, ids, skip, rows, list(names), *self.asked[1:])

    def _alike(self, name: str, columns: list[Any]) -> Any:
        """Return the columns of several files as one of a column's type, or as categories of its texts."""
        kind = self.fields[name]
        if arrow().types.is_string(kind):
            return together([column if _is_coded(column) else converted(column, kind) for column in columns])
        return arrow().chunked_array([part for column in columns for part in converted(column, kind).chunks], kind)

    def schema(self, names: Sequence[str]) -> Any:
        """Return the names and types of columns."""
        return arrow().schema([(name, self.fields[name]) for name in names])

    def _groups(self) -> Iterator[tuple[int, list[int], int, int]]:
        """Yield the groups one by one."""
        for number, ids, skip, rows in self.groups:
            first, last = skip, skip + rows
            for one in ids:
                size = self.files.rows(number, one)
                start, stop = max(first, 0), min(last, size)
                if start < stop:
                    yield number, [one], start, stop - start
                first, last = first - size, last - size


class _Files:
    """The files of a table, opened by pyarrow.dataset one after the other."""

    def __init__(self, datasets: Any, parts: list[Part], keys: dict[str, Any], schema: Any) -> None:
        self._datasets, self._parts, self._keys, self._schema = datasets, parts, keys, schema
        scan = datasets.ParquetFragmentScanOptions()
        if hasattr(scan, "page_checksum_verification"):  # where a file has checksums; of pyarrow 15 and later
            scan.page_checksum_verification = True
        self._scan = scan
        self._known: dict[int, tuple[Any, Any]] = {}
        self._states: dict[int, tuple[int, ...]] = {}

    def state(self, number: int) -> tuple[int, ...]:
        """Return what changes with a file, its size first; nothing of one that is elsewhere."""
        path = self._parts[number].path
        if is_remote(path):
            return ()
        now = os.stat(path)
        return now.st_size, now.st_mtime_ns, now.st_ino

    @contextmanager
    def unchanged(self, number: int, found: tuple[int, ...]) -> Iterator[None]:
        """Raise FileError if a file is not, before and after a step, as it was when this rank first read it.

        found is what another rank may have seen of it.
        """
        path = self._parts[number].path
        with as_file_error("read", path):
            before = self._states.setdefault(number, self.state(number))
            if self.state(number) == before and before[:1] == found[:1]:
                yield
                if self.state(number) == before:
                    return
            raise FileError(f"{path!r} changed while it was read")

    def rows(self, number: int, group: int) -> int:
        """Return how many rows a group of a file has."""
        fragment, _ = self._opened(number)
        rows: int = fragment.metadata.row_group(group).num_rows
        return rows

    def _opened(self, number: int, coded: Sequence[str] = ()) -> tuple[Any, Any]:
        """Return a file as a fragment of a dataset, and its schema with the columns of folders.

        Some columns of texts are read as categories.
        """
        if not coded and number in self._known:
            return self._known[number]
        pa, datasets, part = arrow(), self._datasets, self._parts[number]
        is_key = None
        for name, text in part.keys:
            kind = self._keys[name]
            value = None if text in (None, _NULL) else int(text) if pa.types.is_integer(kind) else text
            field = datasets.field(name)
            this = field.is_null() if value is None else field == pa.scalar(value, kind)
            is_key = this if is_key is None else is_key & this
        from pyarrow import fs  # type: ignore[import-untyped,import-not-found,unused-ignore]

        path, store = os.path.abspath(part.path), fs.LocalFileSystem()
        if is_remote(part.path):
            found, path = store_of(part.path)
            store = fs.PyFileSystem(fs.FSSpecHandler(found))
        options = datasets.ParquetReadOptions(dictionary_columns=coded)
        form = datasets.ParquetFileFormat(options, default_fragment_scan_options=self._scan)
        fragment = form.make_fragment(path, filesystem=store, partition_expression=is_key)
        if self._schema is not None:
            codes = pa.dictionary(pa.int32(), pa.string())
            return fragment, pa.schema(
                [field.with_type(codes) if field.name in coded else field for field in self._schema]
            )
        fields = [field for field in fragment.physical_schema if field.name not in self._keys]
        fields += [pa.field(name, kind) for name, kind in self._keys.items()]
        opened = fragment, pa.schema(fields)
        if not coded:
            self._known[number] = opened  # and what the file says of its groups of rows
        return opened

    def described(self, number: int, condition: Any, beside: Any) -> Any:
        """Return the columns of a file, and its groups of rows, except for those in which no row is wanted."""
        fragment, schema = self._opened(number)
        for name in beside or ():
            if name not in schema.names:
                raise unknown_column(name, schema.names)
        all_groups = fragment.row_groups
        kept = {group.id for group in all_groups}
        if condition is not None:
            with arrows_errors("filters"):
                kept = {group.id for group in fragment.subset(filter=condition, schema=schema).row_groups}
        fields = [(field.name, normal(field.type)) for field in schema]
        groups = [(group.id, group.num_rows) for group in all_groups if group.id in kept]
        return fields, groups, self.state(number)

    def is_streamed(self, number: int, names: Sequence[str]) -> bool:
        """Say whether columns are read from a file of this machine, in which they are by themselves.

        They are numbers, or texts where there is a limit of memory: without one, texts are decoded on all threads.
        """
        types, fragment = arrow().types, self._opened(number)[0]
        kinds = {field.name: field.type for field in fragment.physical_schema}
        plain = [types.is_primitive]
        if share_of_memory() is not None:
            plain += [types.is_string, types.is_large_string, types.is_binary, types.is_large_binary]
        return not is_remote(self._parts[number].path) and all(
            name in kinds and any(is_one(kinds[name]) for is_one in plain) and "." not in name for name in names
        )

    def streamed(self, number: int, group: int, skip: int, rows: int, names: list[str]) -> Iterator[Any]:
        """Yield columns of the rows of a group of a file, after some of its rows, as they are decoded."""
        from pyarrow import parquet

        fragment, path = self._opened(number)[0], self._parts[number].path
        options = {"page_checksum_verification": True} if hasattr(self._scan, "page_checksum_verification") else {}
        with as_file_error("read", path), parquet.ParquetFile(
            path, metadata=fragment.metadata, buffer_size=_BUFFER, **options
        ) as file:
            size = min(_BATCH, self._rows_at_a_time(fragment.metadata.row_group(group), names))
            for batch in file.iter_batches(size, row_groups=[group], columns=names, use_threads=False):
                begin, end = max(0, skip), min(len(batch), skip + rows)
                if begin < end:
                    yield normalized(arrow().Table.from_batches([batch.slice(begin, end - begin)]).select(names))
                skip -= len(batch)

    @staticmethod
    def _rows_at_a_time(group: Any, names: list[str]) -> int:
        """Return how many of the rows of a group of a file are in memory at a time."""
        columns = (group.column(place) for place in range(group.num_columns))
        nbytes = sum(column.total_uncompressed_size for column in columns if column.path_in_schema in names)
        return rows_at_a_time(group.num_rows, nbytes)

    def read(
        self, number: int, ids: list[int], skip: int, rows: int, names: list[str], condition: Any, beside: Any
    ) -> Any:
        """Return the wanted rows of some groups of a file, after some rows of the first of them."""
        fragment, schema = self._opened(number)
        some = fragment.subset(row_group_ids=ids)
        coded = [] if beside is None else _coded(some, [name for name in names if name not in beside], schema)
        fragment, coded_schema = self._opened(number, coded)
        if condition is None:
            table = fragment.subset(row_group_ids=ids).to_table(schema=coded_schema, columns=names).slice(skip, rows)
            return normalized(table)
        columns = {name: self._datasets.field(name) for name in names}
        tasks = []
        for group in some.row_groups:
            lo, hi = max(skip, 0), min(skip + rows, group.num_rows)
            if lo < hi:
                alone = fragment.subset(row_group_ids=[group.id])
                tasks.append(functools.partial(_filtered, alone, coded_schema, columns, condition, lo, hi))
            skip -= group.num_rows
        tables = each(tasks)
        return normalized(arrow().concat_tables(tables) if tables else schema.empty_table().select(names))


def _filtered(group: Any, schema: Any, columns: dict[str, Any], condition: Any, lo: int, hi: int) -> Any:
    """Return those of the rows [lo, hi) of one group of rows that meet a condition."""
    wanted = "\0".join(["", *columns])  # which no column is called
    table = group.to_table(schema=schema, columns={**columns, wanted: condition}, use_threads=False).slice(lo, hi - lo)
    mask = table.column(wanted).combine_chunks().fill_null(False)
    return kept(table.select(list(columns)), mask.to_numpy(zero_copy_only=False))


def _is_coded(column: Any) -> bool:
    types, kind = arrow().types, column.type
    return bool(types.is_dictionary(kind) and types.is_string(kind.value_type) and not kind.ordered)


def _with_texts(table: Any, schema: Any) -> Any:
    """Return rows in which the categories of columns that are texts by a schema are texts."""
    columns = [texts(column) if column.type != field.type else column for column, field in zip(table.columns, schema)]
    return arrow().table(columns, schema=schema)


def _coded(fragment: Any, names: list[str], schema: Any) -> list[str]:
    """Return which columns of texts a file has by numbers, in all of some groups of rows."""
    texts = {name for name in names if name in schema.names and arrow().types.is_string(schema.field(name).type)}
    numbers = {group.id for group in fragment.row_groups}
    metadata = fragment.metadata
    found: dict[str, bool] = {}  # of those that are in the file: its folders may have others
    for group in (metadata.row_group(number) for number in numbers):
        for column in (group.column(place) for place in range(group.num_columns)):
            if column.path_in_schema in texts:
                by_numbers = {"RLE_DICTIONARY", "PLAIN_DICTIONARY"} & set(column.encodings)
                few = column.total_uncompressed_size <= _CODED * column.num_values
                name = column.path_in_schema
                found[name] = found.get(name, True) and bool(by_numbers) and few
    return [name for name, by_numbers in found.items() if by_numbers]


def listed(path: Paths, suffixes: tuple[str, ...]) -> list[Part]:
    """Return the files of paths, patterns, or folders and their folders, in the order of their names in each."""
    found: list[Part] = []
    for given in path if isinstance(path, tuple) else (path,):
        if is_remote(given) or not os.path.isdir(given):
            found += [Part(file) for file in files_of(given) or [given]]
            continue
        before = len(found)
        _walk(given, suffixes, (), found)
        if len(found) == before:
            raise FileNotFoundError(f"the folder {given!r} has no file of a table")
    names = [name for name, _ in found[0].keys]
    for part in found:
        if [name for name, _ in part.keys] != names:
            raise FileError(f"the folders of {part.path!r} are named by other columns than those of {found[0].path!r}")
    return found


def _walk(folder: str, suffixes: tuple[str, ...], keys: tuple[tuple[str, str], ...], found: list[Part]) -> None:
    """Add the files of a folder: all but those that other writers keep beside them, such as ``_SUCCESS``."""
    for name in sorted(os.listdir(folder), key=natural_order):
        path = os.path.join(folder, name)
        if name.startswith((".", "_")):
            continue
        if os.path.isdir(path):
            key = _KEY.fullmatch(name)
            _walk(path, suffixes, (*keys, (unquote(key[1]), unquote(key[2]))) if key else keys, found)
        elif suffix_of(name) in suffixes or "." not in name:
            found.append(Part(path, keys))
        else:
            pattern = os.path.join(folder, f"*{suffixes[0]}")
            raise FileError(
                f"{folder!r} has the file {name!r}, which is no part; the pattern {pattern!r} leaves it out"
            )


def key_types(parts: list[Part]) -> dict[str, Any]:
    """Return the types of the columns that folders are named by: int64 where all are integers, else text."""
    pa, kinds = arrow(), {}
    for i, (name, _) in enumerate(parts[0].keys):
        texts = {part.keys[i][1] for part in parts} - {_NULL}
        whole = texts and all(re.fullmatch(r"-?(0|[1-9]\d{0,17})", text) for text in texts)
        kinds[name] = pa.int64() if whole else pa.string()
    return kinds


def _common_fields(parts: list[Part], fields: list[Any], chosen: list[str] | None, beside: Any) -> dict[str, Any]:
    """Return the types of the columns, which each file must have. Every rank knows those of all."""
    known: dict[str, Any] = dict(fields[0])
    if len(known) < len(fields[0]):
        raise FileError(f"{parts[0].path!r} has two columns of one name: {[name for name, _ in fields[0]]}")
    for name in (*(chosen or ()), *(beside or ())):
        if name not in known:
            raise unknown_column(name, list(known))
    for part, of_file in zip(parts[1:], fields[1:]):
        others = dict(of_file)
        for name in known if chosen is None else {*chosen, *(beside or ())}:
            both = common(known[name], others[name]) if name in others else None
            if both is None:
                what = f"is of {others[name]}, and of {known[name]} before" if name in others else "is not there"
                raise FileError(f"the columns of {part.path!r} are not those of {parts[0].path!r}: {name!r} {what}")
            known[name] = both
        if chosen is None and len(others) > len(known):
            raise FileError(
                f"the columns of {part.path!r} are not those of {parts[0].path!r}: {sorted(set(others) - set(known))}"
            )
    return known


def shares(
    groups: Sequence[Group], ranks: int, chosen: range | None = None
) -> list[list[tuple[int, list[int], int, int]]]:
    """Return what each rank reads: of each file, some groups, how many rows to leave out first, and how many to take.

    A rank reads whole groups where that gives every rank about as many rows, and parts of groups otherwise. Of a range
    of rows, those between are read as well.
    """
    ends = np.cumsum([0, *(group.rows for group in groups)])
    first, last = (0, int(ends[-1])) if chosen is None else (chosen.start, max(chosen.start, chosen.stop))
    total = last - first
    cuts = np.array([first + total * rank // ranks for rank in range(ranks + 1)])
    at_groups = ends[np.abs(ends[:, None] - cuts[None, :]).argmin(axis=0)]
    at_groups[0], at_groups[-1] = first, last
    if len(groups) and np.diff(at_groups.clip(first, last)).max() <= _UNEVEN * -(-total // ranks):
        cuts = at_groups.clip(first, last)
    found = []
    for lo, hi in zip(cuts[:-1].tolist(), cuts[1:].tolist()):
        mine: list[tuple[int, list[int], int, int]] = []
        for i, group in enumerate(groups):
            start, end = max(lo, int(ends[i])), min(hi, int(ends[i + 1]))
            if start >= end:
                continue
            if mine and mine[-1][0] == group.file:
                _, ids, skip, rows = mine.pop()
                mine.append((group.file, [*ids, group.number], skip, rows + end - start))
            else:
                mine.append((group.file, [group.number], start - int(ends[i]), end - start))
        found.append(mine)
    return found


def _condition(filters: Any) -> tuple[Any, Any]:
    """Return which rows are wanted, as an expression of pyarrow, and the columns that it needs: None if unknown."""
    if filters is None:
        return None, ()
    datasets = _datasets()
    if isinstance(filters, datasets.Expression):
        return filters, None
    try:
        terms = items_of(filters)
        rows = [terms] if terms and isinstance(terms[0], tuple) else [items_of(row) for row in terms]
        names = [name for row in rows for name, _, _ in row]
    except (TypeError, ValueError):
        raise InvalidTypeError(
            f"filters must be terms such as [('price', '>', 3)], lists of such lists, or an expression, not {filters!r}"
        ) from None
    if not names or not all(rows):
        raise InvalidArgumentError("filters has no term")
    with arrows_errors("filters"):
        ways = [functools.reduce(operator.and_, (_term(*term) for term in row)) for row in rows]
        return functools.reduce(operator.or_, ways), names


def _term(name: Any, relation: Any, value: Any) -> Any:
    """Return what one term of filters asks for."""
    if not isinstance(name, str):
        raise InvalidTypeError(f"the name of a column must be text, not {name!r}")
    field = _datasets().field(name)
    if relation in ("in", "not in"):
        among = field.isin(in_any_order(f"filters of {name!r}", value).combine_chunks())
        return among if relation == "in" else ~among
    if not isinstance(relation, str) or relation not in _RELATIONS:
        raise InvalidArgumentError(f"filters: {relation!r} is none of {', '.join([*_RELATIONS, 'in', 'not in'])}")
    return _RELATIONS[relation](field, scalar(f"filters of {name!r}", value))
