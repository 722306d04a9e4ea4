"""Rows of what programs have: containers, arrays that are the same on every rank, scalars, and tables in memory."""

from __future__ import annotations

import builtins
import datetime
import decimal
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from .._native.arguments import listed
from ..comm.objects import allgather_object
from ..containers.base import DistributedContainer
from ..exceptions import InvalidArgumentError, InvalidTypeError, OverflowError
from ..io.columns import Columns
from ..io.interchange import local_table, vectors_of
from ..io.meaning import Meaning, meaning_of
from ..policies import Partition, Placement
from ..runtime.agreement import agree, local_step, refuse_other_context
from ..runtime.context import Context
from .arrow_types import common, converted, normalized, normalized_column
from .frames import check_one_kind, is_frame, table_of_frame
from .on_disk import rows_at_a_time
from .rows import Rows, arrow, arrows_errors, block_counts, counted

_SCALARS = (str, bytes, bool, int, float, np.generic, decimal.Decimal, datetime.date, datetime.time, datetime.timedelta)

#: So many arrays of 8 bytes a row has a value that is repeated.
_ARRAYS = 4

#: How deep lists in lists may be.
_DEPTH = 32


def is_scalar(value: Any) -> bool:
    """Say whether a value is one for all rows: also None, what pandas has for it, and a scalar of Arrow's."""
    if type(value).__name__ in ("NAType", "NaTType"):
        return True
    return value is None or isinstance(value, (*_SCALARS, arrow().Scalar))


def scalar(name: str, value: Any) -> Any:
    """Return a value as a scalar of Arrow's."""
    pa = arrow()
    if not is_scalar(value):
        raise InvalidTypeError(f"{name} is a {type(value).__name__}, not one value")
    if type(value).__name__ in ("NAType", "NaTType"):
        return pa.scalar(None)
    with arrows_errors(name):
        if isinstance(value, pa.Scalar):
            return value
        if isinstance(value, np.generic) and value.dtype.kind in "mM":
            return pa.array(in_units_of_arrow(name, np.asarray([value])))[0]
        if isinstance(value, int) and 2**63 <= value < 2**64:
            return pa.scalar(value, pa.uint64())
        return pa.scalar(value.item() if isinstance(value, np.str_) else value)


#: The units in which Arrow has dates, times and spans of time that NumPy has in others.
_UNITS = {"M": {"Y": "D", "M": "D", "W": "D", "h": "s", "m": "s"}, "m": {"W": "s", "D": "s", "h": "s", "m": "s"}}


def in_units_of_arrow(name: str, values: Any) -> Any:
    """Return an array of NumPy's, of which times are in a unit that Arrow has."""
    if values.dtype.kind not in "mM":
        return values
    unit, number = np.datetime_data(values.dtype)
    wanted = _UNITS[values.dtype.kind].get(unit, unit)
    if (wanted, number) == (unit, 1) and wanted in ("D", "s", "ms", "us", "ns"):
        return values
    if wanted not in ("D", "s", "ms", "us", "ns"):
        raise InvalidTypeError(f"{name} is of {values.dtype}, a unit that Arrow has not")
    made = values.astype(f"{values.dtype.kind}8[{wanted}]")
    if not (made.astype(values.dtype) == values)[~np.isnat(values)].all():
        raise OverflowError(f"{name} has times of {values.dtype} that {made.dtype} does not hold")
    return made


def repeated(name: str, value: Any, rows: int) -> Any:
    """Return a column with one value in all of some rows."""
    pa = arrow()
    one = scalar(name, value)
    size = rows_at_a_time(rows, 0, _ARRAYS)
    block = pa.repeat(one, min(rows, size)) if one.is_valid else pa.nulls(min(rows, size), one.type)
    chunks = [block.slice(0, rows - start) for start in range(0, max(1, rows), size)]  # the same memory
    return normalized_column(pa.chunked_array(chunks, one.type))


def whole_column(name: str, values: Any) -> Any:
    """Return the values of an array that every rank has whole."""
    pa = arrow()
    if isinstance(values, (Columns, DistributedContainer)) or isinstance(getattr(values, "rows", None), Rows):
        raise InvalidTypeError(
            f"the values of {name} are a {type(values).__name__}, of which each rank has a part; they must be an array "
            "that is the same on every rank"
        )
    with arrows_errors(f"the values of {name}"):
        if isinstance(values, (pa.Array, pa.ChunkedArray)):
            made = values
        elif hasattr(values, "__arrow_c_stream__") or hasattr(values, "__arrow_c_array__"):
            made = pa.chunked_array(values) if hasattr(values, "__arrow_c_stream__") else pa.array(values)
        elif type(values).__module__.partition(".")[0] == "pandas":
            made = pa.array(values)
        elif isinstance(values, np.ndarray):
            made = _of_numpy(name, values)
        elif isinstance(values, (Mapping, set, frozenset)):
            raise InvalidTypeError(f"the values of {name} are a {type(values).__name__}, which has no order")
        else:
            made = _of_list(name, listed(values))
        if not isinstance(made, pa.ChunkedArray):
            made = pa.chunked_array([made], made.type)
        if pa.types.is_struct(made.type) and type(values).__name__ == "DataFrame":
            raise InvalidTypeError(f"the values of {name} are a table, not a column")
        return normalized_column(made)


def in_any_order(name: str, values: Any) -> Any:
    """Return the values of an array that every rank has whole, or of a set, which every rank has in another order."""
    return whole_column(name, listed(values) if isinstance(values, (set, frozenset)) else values)


def _of_list(name: str, values: list[Any]) -> Any:
    """Return an array of Python's values; pyarrow does not take dates of NumPy's one by one."""
    times = {type(each) for each in values} - {type(None)}
    if len(times) == 1 and times <= {np.datetime64, np.timedelta64}:
        missing = next(iter(times))("NaT")
        return _of_numpy(name, np.array([missing if each is None else each for each in values]))
    pa, checked = arrow(), _not_too_deep(name, values, _DEPTH)
    if not {type(each).__name__ for each in checked}.isdisjoint(("NAType", "NaTType")):
        checked = [None if type(each).__name__ in ("NAType", "NaTType") else each for each in checked]
    try:
        made = pa.array(checked)
    except builtins.OverflowError:  # pyarrow takes Python's integers for int64
        return pa.array(checked, pa.uint64())
    check_one_kind(name, made.type, checked)
    return made


def _not_too_deep(name: str, values: Any, left: int) -> Any:
    """Return lists in lists that are not deep: pyarrow ends the process with those that hold themselves."""
    if not left:
        raise InvalidTypeError(f"the values of {name} are lists in lists, more than {_DEPTH} deep")
    for value in values.values() if isinstance(values, Mapping) else values:
        if isinstance(value, (list, tuple, dict)):
            _not_too_deep(name, value, left - 1)
    return values


def _of_numpy(name: str, values: Any) -> Any:
    if values.ndim != 1:
        raise InvalidArgumentError(f"the values of {name} have {values.ndim} dimensions; a column has one")
    if values.dtype.kind not in "biufMmOSU" or (values.dtype.kind == "f" and values.dtype.itemsize > 8):
        raise InvalidTypeError(f"the values of {name} are of {values.dtype}, which no column is")
    if not values.dtype.isnative:
        values = values.astype(values.dtype.newbyteorder("="))
    return Meaning().array(arrow(), in_units_of_arrow(name, np.ascontiguousarray(values)), None)


def of_container(ctx: Context, name: str, vec: Any) -> Any:
    """Return this rank's values of a container, whose parts lie one after the other."""
    pa = arrow()
    refuse_other_context(name, vec, ctx)
    if vec.ndim != 1:
        raise InvalidArgumentError(f"{name} has {vec.ndim} dimensions; a column has one")
    if vec.placement_policy is not Placement.HOST:
        raise InvalidArgumentError(f"{name} is on a GPU; a table has its rows on the host")
    if vec.partition_policy not in (Partition.BLOCK, Partition.EXPLICIT) and vec.context.size > 1:
        raise InvalidArgumentError(
            f"{name} is divided by {vec.partition_policy.name}; the rows of a table lie one rank's after the other's: "
            "redistribute it to PARTITION_BLOCK before"
        )
    with arrows_errors(f"the values of {name}"):
        part = np.array(vec.local_view())
        if part.dtype.kind not in "biufMmSU":
            raise InvalidTypeError(f"{name} is of {part.dtype}, which no column is")
        made = meaning_of(vec).array(pa, in_units_of_arrow(name, part), None)
        return normalized_column(pa.chunked_array([made], made.type))


def fingerprint(column: Any) -> int:
    """Return a number that columns of other values have not, or hardly: whatever lies where a value is null."""
    made = zlib.crc32(str(column.type).encode(), len(column))
    whole = column.combine_chunks()
    for chunk in whole.chunks if isinstance(whole, arrow().ChunkedArray) else [whole]:
        made = _checksum(chunk, made)
    return made


def _checksum(array: Any, made: int) -> int:
    """Return the checksum that goes on with an array: with which values are null, and the others, level by level."""
    pa = arrow()
    types, pc = pa.types, pa.compute
    made = zlib.crc32(np.packbits(array.is_valid().to_numpy(zero_copy_only=False)).tobytes(), made)
    values = array.drop_null() if array.null_count else array
    if types.is_map(values.type):
        entries = pa.struct([values.type.key_field, values.type.item_field])
        values = values.cast(pa.list_(entries))
    if types.is_struct(values.type):
        for number in range(values.type.num_fields):
            made = _checksum(values.field(number), made)
        return made
    if hasattr(values.type, "value_field"):  # lists of any kind
        return _checksum(values.flatten(), _checksum(pc.list_value_length(values), made))
    if types.is_boolean(values.type):
        values = values.cast(pa.uint8())  # without the bits behind the last one
    sink = pa.BufferOutputStream()
    batch = pa.record_batch([values], names=["x"])
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
    return zlib.crc32(sink.getvalue(), made)


def rows_of_dict(ctx: Context, op: str, given: Mapping[str, Any], columns: Mapping[str, Rows]) -> Rows:
    """Return rows of containers, arrays and scalars by name; of columns of tables, the rows are given. Collective."""
    with local_step(ctx, op):
        parts, whole = parts_and_whole(ctx, given, columns)
        if not parts and not whole:
            raise InvalidArgumentError("no column says how many rows there are")
        words = ", ".join(words_of(name, parts, whole, given) for name in given)
        mine = [len(part) for part in parts.values()]
    agree(ctx, op, words)
    numbers = np.array(allgather_object(ctx, mine), np.int64)
    _check_lengths(list(parts), numbers, {name: len(column) for name, column in whole.items()})
    counts = tuple(numbers[:, 0].tolist()) if parts else block_counts(ctx, len(next(iter(whole.values()))))
    first, rows = sum(counts[: ctx.rank]), counts[ctx.rank]
    with local_step(ctx, op):
        made = {}
        for name, value in given.items():
            if name in parts:
                made[name] = parts[name]
            elif name in whole:
                made[name] = whole[name].slice(first, rows)
            else:
                made[name] = repeated(name, value, rows)
        table = arrow().table(made)
    return settled(ctx, op, table, counts)


def parts_and_whole(
    ctx: Context, given: Mapping[str, Any], columns: Mapping[str, Rows]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the columns of which each rank has a part, and those that each rank has whole: all but scalars."""
    parts: dict[str, Any] = {}
    whole: dict[str, Any] = {}
    for name, value in given.items():
        if not isinstance(name, str):
            raise InvalidTypeError(f"the name of a column must be text, not {name!r}")
        if name in columns:
            parts[name] = columns[name].local.column(0)
        elif isinstance(value, DistributedContainer):
            parts[name] = of_container(ctx, name, value)
        elif not is_scalar(value):
            whole[name] = whole_column(name, value)
    return parts, whole


def words_of(name: str, parts: Mapping[str, Any], whole: Mapping[str, Any], given: Mapping[str, Any]) -> str:
    """Return what ranks must have alike of a column."""
    if name in parts:
        return f"{name!r} in parts"
    if name in whole:
        column = whole[name]
        return f"{name!r} {len(column)} values of {column.type} with fingerprint {fingerprint(column):08x}"
    return f"{name!r} {given[name]!r}"


def _check_lengths(names: list[str], numbers: Any, whole: dict[str, int]) -> None:
    """Refuse columns of several lengths or divisions. Every rank knows the numbers of all."""
    totals = {**{name: int(numbers[:, i].sum()) for i, name in enumerate(names)}, **whole}
    first = next(iter(totals))
    for name, total in totals.items():
        if total != totals[first]:
            raise InvalidArgumentError(f"{first!r} has {totals[first]} rows, and {name!r} has {total}")
    for i, name in enumerate(names):
        if (numbers[:, i] != numbers[:, 0]).any():
            raise InvalidArgumentError(
                f"{names[0]!r} has {numbers[:, 0].tolist()} rows on the ranks, and {name!r} has "
                f"{numbers[:, i].tolist()}: divide both in the same way"
            )


def rows_of_arrow(ctx: Context, op: str, table: Any) -> Rows:
    """Return the rows of a table of each rank, or None. Collective."""
    with local_step(ctx, op):
        pa = arrow()
        with arrows_errors("the table"):
            mine = None if table is None else normalized(table_of(pa, table))
    agree(ctx, op)
    return settled(ctx, op, mine)


def table_of(pa: Any, table: Any) -> Any:
    """Return a table of pyarrow's of what a rank passed."""
    if isinstance(table, pa.Table):
        return table
    if isinstance(table, pa.RecordBatch):
        return pa.Table.from_batches([table])
    if is_frame(table):
        return table_of_frame(table)
    if hasattr(table, "__arrow_c_stream__") and not isinstance(table, type):
        with arrows_errors("the table"):
            return pa.table(table)
    raise InvalidTypeError(
        f"a {type(table).__name__} is no table: it has no method __arrow_c_stream__, as Arrow's have"
    )


def settled(ctx: Context, op: str, mine: Any, counts: tuple[int, ...] | None = None) -> Rows:
    """Return rows of tables, in normal form, of which ranks may have none, or columns of other types. Collective."""
    pa = arrow()
    fields = None if mine is None else [(field.name, field.type) for field in mine.schema]
    found = [of_rank for of_rank in allgather_object(ctx, fields) if of_rank is not None]
    if not found:
        raise InvalidArgumentError("no rank has a table")
    names = [name for name, _ in found[0]]
    kinds = [kind for _, kind in found[0]]
    for other in found[1:]:
        if [name for name, _ in other] != names:
            raise InvalidArgumentError(
                f"one rank's table has the columns {names}, another's {[name for name, _ in other]}"
            )
        for number, (name, kind) in enumerate(other):
            both = common(kinds[number], kind)
            if both is None:
                raise InvalidArgumentError(
                    f"the column {name!r} is of {kinds[number]} on one rank, and of {kind} on another"
                )
            kinds[number] = both
    with local_step(ctx, op):
        if mine is None:
            made = [pa.chunked_array([], kind) for kind in kinds]
        else:
            made = [converted(mine.column(i), kind) for i, kind in enumerate(kinds)]
    rows = len(made[0]) if mine is not None else 0
    for number, kind in enumerate(kinds):
        if pa.types.is_dictionary(kind) and kind.ordered:
            made[number] = in_one_order(ctx, op, names[number], made[number])
    return Rows(ctx, pa.table(made, names=names), counted(ctx, rows) if counts is None else counts)


def in_one_order(ctx: Context, op: str, name: str, column: Any) -> Any:
    """Return ordered categories of which each rank has the same list. Collective."""
    pa = arrow()
    with local_step(ctx, op):
        mine = [chunk.dictionary.to_pylist() for chunk in column.chunks]
    lists = [order for of_rank in allgather_object(ctx, mine) for order in of_rank]
    longest: list[Any] = max(lists, key=len, default=[])
    for order in lists:
        left = iter(longest)
        if not all(value in left for value in order):
            raise InvalidArgumentError(
                f"the column {name!r} has ordered categories in two orders, {longest} and {order}"
            )
    values = pa.array(longest, column.type.value_type)
    chunks = []
    for chunk in column.chunks:
        indices = pa.compute.index_in(chunk.dictionary, value_set=values).take(chunk.indices)
        chunks.append(pa.DictionaryArray.from_arrays(indices.cast(column.type.index_type), values, ordered=True))
    if not chunks:  # so that the list is there where no row is
        none = pa.array([], column.type.index_type)
        chunks.append(pa.DictionaryArray.from_arrays(none, values, ordered=True))
    return pa.chunked_array(chunks, column.type)


def rows_of_columns(ctx: Context, op: str, columns: Columns) -> Rows:
    """Return the rows of columns, with what is missing as null. Collective."""
    with local_step(ctx, op):
        for vec in vectors_of(columns)[:1]:
            of_container(ctx, "the first column", vec)
        mine = normalized(local_table(columns))
    agree(ctx, op)
    return settled(ctx, op, mine)
