"""Numbers that a whole column is reduced to: each rank's part first, then the results of all, on every rank alike."""

from __future__ import annotations

import decimal
import functools
from typing import Any, Callable

import numpy as np

from .._native.arguments import flag, integer
from ..algorithms.select import quantile as quantile_of_vector
from ..comm.objects import allgather_object
from ..exceptions import BoundsError, InvalidTypeError, OverflowError
from ..runtime.agreement import agree, local_step
from . import shapes
from .arrow_types import is_decimal, is_number, is_text, is_time, plain_type
from .by_name import ByName
from .by_rows import decoded
from .elementwise import numpy_of
from .exchange import by_rank
from .folds import Groups
from .gather import combined
from .hashes import hashed, ranks_of
from .on_disk import collected, piece_rows, pieces
from .rows import Rows, arrow, arrows_errors
from .time_quantiles import quantiles_of_times
from .vectors import vector_of_arrays

#: The digits of a decimal128, and those in which sums and quotients of them are computed.
_DIGITS, _EXACT = 38, decimal.Context(prec=200)

_LOW = 0xFFFFFFFF

#: So many arrays of 8 bytes a row there are in memory of values of which powers are summed.
_ARRAYS = {"skew": 12, "kurt": 12}


def reduced(rows: Rows, op: str, skipna: Any, ddof: Any = 1) -> Any:
    """Return what a column is reduced to. Collective."""
    return reduced_each(rows, op, rows.names[:1], skipna, ddof)[rows.names[0]]


def reduced_each(rows: Rows, op: str, names: list[str], skipna: Any, ddof: Any = 1) -> ByName:
    """Return what columns are reduced to, by their names. Collective: once for all of them."""
    ctx = rows.context
    with local_step(ctx, op):
        skips, freedom = bool(flag("skipna", skipna)), integer("ddof", ddof)
        kinds = {name: rows.schema.field(name).type for name in names}
        ways = {name: _way(op, name, plain_type(kind), kind) for name, kind in kinds.items()}
    agree(ctx, op, f"of {', '.join(map(repr, names))}, skipna {skips}, ddof {freedom}")
    mine = {}
    for name, (start, _) in ways.items():
        with local_step(ctx, op), arrows_errors(f"{op} of {name!r}"):
            one = rows.chosen([name])
            size = piece_rows(one, _ARRAYS.get(op, 0))
            mine[name] = [_part(op, piece.column(0), start) for _, piece in pieces(one, size)]
    found = allgather_object(ctx, mine)
    made = ByName()
    for name, (_, finish) in ways.items():
        parts = [part for of_rank in found for part in of_rank[name]]
        counts = sum(count for _, count, _ in parts)
        unknown = not skips and any(nulls for nulls, _, _ in parts)
        made[name] = None if unknown else finish([part for _, count, part in parts if count], counts, freedom)
    return made


def _part(op: str, column: Any, start: Callable[[Any], Any]) -> tuple[int, int, Any]:
    """Return how many values are null, how many are not, and what these are reduced to."""
    if not (op in ("min", "max") and arrow().types.is_dictionary(column.type) and column.type.ordered):
        column = decoded(column)
    return column.null_count, len(column) - column.null_count, start(column)


#: How a part is reduced, and how results of parts with values, their number and ddof become the result.
Way = "tuple[Callable[[Any], Any], Callable[[list[Any], int, int], Any]]"


def _way(op: str, name: str, kind: Any, held: Any) -> Any:
    """Return how a column of a type is reduced."""
    pa = arrow()
    if op == "count":
        return (lambda column: None), (lambda parts, count, ddof: np.int64(count))
    if pa.types.is_null(kind):
        kind = pa.float64()
    if op in ("min", "max"):
        return _extreme(op, name, kind, held)
    if is_number(kind):
        return _NUMBERS[op](kind)
    if is_decimal(kind) and op in ("sum", "mean", "var", "std", "sem", "skew", "kurt"):
        return _sum_of_decimals(op, kind) if op in ("sum", "mean") else _NUMBERS[op](kind)
    if (pa.types.is_duration(kind) and op in ("sum", "mean")) or (pa.types.is_timestamp(kind) and op == "mean"):
        return _of_times(op, kind)
    raise InvalidTypeError(f"{op} of a column of {held} is not defined; {name!r} is one")


def _extreme(op: str, name: str, kind: Any, held: Any) -> Any:
    """Return how the smallest or largest value of a column is found."""
    types = arrow().types
    if types.is_dictionary(held) and held.ordered:
        return _smallest_in_order(op)
    if is_number(kind):
        return _smallest_number(op, kind)
    if is_decimal(kind) or is_text(kind) or is_time(kind) or types.is_binary(kind):
        return _smallest(op, kind)
    raise InvalidTypeError(f"{op} of a column of {held} is not defined; {name!r} is one")


def _chosen(column: Any, fill: Any = None) -> Any:
    """Return the values of a column of numbers that are not null, or all, with another value in the places of nulls."""
    values, valid = numpy_of(column)
    if valid is None:
        return values
    return values[valid] if fill is None else np.where(valid, values, values.dtype.type(fill))


def _wide(kind: Any) -> np.dtype[Any]:
    """Return the dtype in which numbers are added and multiplied."""
    types = arrow().types
    if types.is_floating(kind):
        return np.dtype(np.float64)
    return np.dtype(np.uint64 if types.is_unsigned_integer(kind) else np.int64)


def _folded(kind: Any, ufunc: Any) -> Any:
    """Return how a sum or a product is made: null is the ufunc's neutral element."""
    dtype = _wide(kind)

    def start(column: Any) -> Any:
        with np.errstate(all="ignore"):
            return ufunc.reduce(_chosen(column, ufunc.identity), dtype=dtype)

    return start, lambda parts, count, ddof: ufunc.reduce(np.array(parts, dtype), dtype=dtype)


def _for_arrow(column: Any) -> Any:
    """Return a column of a type that Arrow's reductions know."""
    pa = arrow()
    if pa.types.is_float16(column.type):
        return column.cast(pa.float32())
    return column.cast(pa.float64()) if pa.types.is_null(column.type) else column


def _mean(kind: Any) -> Any:
    def start(column: Any) -> Any:
        with np.errstate(all="ignore"):
            return _chosen(column, 0).sum(dtype=np.float64)

    return start, lambda parts, count, ddof: np.float64(sum(parts)) / np.float64(count) if count else None


def _moments(column: Any) -> tuple[int, float, float]:
    """Return the number of values, their mean, and the sum of squares of what they differ from it."""
    pa = arrow()
    chosen = _chosen(column.cast(pa.float64(), safe=False))
    if not len(chosen):
        return 0, 0.0, 0.0
    with np.errstate(all="ignore"):
        return len(chosen), float(chosen.mean()), pa.compute.variance(pa.array(chosen)).as_py() * len(chosen)


def _var(kind: Any, root: bool = False, of_mean: bool = False) -> Any:
    def finish(parts: list[Any], count: int, ddof: int) -> Any:
        if count <= ddof:
            return None
        n, mean, squares = 0, 0.0, 0.0
        for more, other, theirs in parts:  # of which the two are merged as Chan and others do
            delta, both = other - mean, n + more
            squares += theirs + delta * delta * n * more / both
            mean, n = mean + delta * more / both, both
        var = np.float64(squares / (count - ddof) / (count if of_mean else 1))
        return np.sqrt(var) if root else var

    return _moments, finish


def _shape(kind: Any, name: str) -> Any:
    """Return how the skewness or kurtosis is made: the column is one group."""

    def start(column: Any) -> list[float]:
        one = column.cast(arrow().float64(), safe=False)
        return [float(each[0].as_py()) for each in shapes.shapes(Groups(np.zeros(len(one), np.int64), 1), one)]

    def finish(parts: list[Any], count: int, ddof: int) -> Any:
        columns = [np.array(each, np.float64) for each in zip(*parts)]
        whole = shapes.merged_shapes(Groups(np.zeros(len(parts), np.int64), 1), columns) if parts else [[0.0]] * 5
        made = shapes.finished(name, whole)[0].as_py()
        return None if made is None else np.float64(made)

    return start, finish


def _smallest_number(op: str, kind: Any) -> Any:
    dtype = np.dtype(kind.to_pandas_dtype())
    f = np.fmin if op == "min" else np.fmax  # which leave NaN out
    if dtype.kind == "f":
        fill = np.nan
    else:
        fill = (op == "min") if dtype.kind == "b" else getattr(np.iinfo(dtype), "max" if op == "min" else "min")

    def start(column: Any) -> Any:
        values = _chosen(column, fill)
        return f.reduce(values) if len(values) else None

    def finish(parts: list[Any], count: int, ddof: int) -> Any:
        return dtype.type(f.reduce(np.array(parts, dtype))) if count else None

    return start, finish


def _smallest(op: str, kind: Any) -> Any:
    pa = arrow()

    def start(column: Any) -> Any:
        counted = pa.types.is_duration(kind)  # of which Arrow has no extremes
        found = pa.compute.min_max(column.cast(pa.int64()) if counted else decoded(column))[op]
        return found.cast(kind) if found.type != kind else found

    def finish(parts: list[Any], count: int, ddof: int) -> Any:
        if not count:
            return None
        whole = pa.array([part.as_py() for part in parts], kind) if not is_time(kind) else _times(parts, kind)
        counted = pa.types.is_duration(kind)
        return _plain(pa.compute.min_max(whole.cast(pa.int64()) if counted else whole)[op].cast(kind))

    return start, finish


def _times(parts: list[Any], kind: Any) -> Any:
    """Return scalars of times, of which Python's types have no nanoseconds, as an array."""
    pa = arrow()
    return pa.chunked_array([pa.array([part.value], pa.int64()).cast(_width(kind)).cast(kind) for part in parts], kind)


def _width(kind: Any) -> Any:
    pa = arrow()
    return pa.int32() if kind.bit_width == 32 else pa.int64()


def _smallest_in_order(op: str) -> Any:
    pa = arrow()

    def start(column: Any) -> Any:
        codes = pa.compute.min_max(pa.chunked_array([chunk.indices for chunk in column.chunks], pa.int32()))[op].as_py()
        return codes, None if codes is None else column.chunk(0).dictionary[codes].as_py()

    return start, lambda parts, count, ddof: (min if op == "min" else max)(parts)[1] if count else None


def _sum_of_decimals(op: str, kind: Any) -> Any:
    pa = arrow()

    def start(column: Any) -> Any:
        return pa.compute.sum(column.cast(pa.decimal256(76, kind.scale))).as_py()

    def finish(parts: list[Any], count: int, ddof: int) -> Any:
        total = decimal.Decimal(0).scaleb(-kind.scale)
        for part in parts:
            total = _EXACT.add(total, part)
        if op == "mean":
            return _EXACT.divide(total, count).quantize(total, decimal.ROUND_HALF_UP, _EXACT) if count else None
        if abs(int(total.scaleb(kind.scale, _EXACT))) >= 10**_DIGITS:
            raise OverflowError(f"the sum {total} has more than the {_DIGITS} digits of a decimal128")
        return total

    return start, finish


def _of_times(op: str, kind: Any) -> Any:
    """Return the sum or mean of times, whose counts are added in two halves, which do not overflow."""
    pa = arrow()

    def start(column: Any) -> int:
        chosen = _chosen(column.cast(pa.int64()))
        return (int((chosen >> 32).sum()) << 32) + int((chosen & _LOW).sum())

    def finish(parts: list[Any], count: int, ddof: int) -> Any:
        total = sum(parts)
        if op == "mean":
            if not count:
                return None
            total = abs(total) // count * (1 if total > 0 else -1)
        if abs(total) >= 2**63:
            raise OverflowError(f"the sum of the spans of time, {total} {kind.unit}, is larger than 2**63")
        return _plain(pa.array([total], pa.int64()).cast(kind)[0])

    return start, finish


def _any(kind: Any) -> Any:
    return _are_true, lambda parts, count, ddof: np.bool_(any(true for true, _ in parts))


def _all(kind: Any) -> Any:
    return _are_true, lambda parts, count, ddof: np.bool_(all(each for _, each in parts))


def _are_true(column: Any) -> tuple[bool, bool]:
    """Return whether one value is true, and whether all are."""
    chosen = _chosen(column)
    return bool(chosen.any()), bool(chosen.all())


_NUMBERS: dict[str, Callable[[Any], Any]] = {
    "sum": functools.partial(_folded, ufunc=np.add),
    "prod": functools.partial(_folded, ufunc=np.multiply),
    "mean": _mean,
    "var": _var,
    "std": lambda kind: _var(kind, True),
    "sem": lambda kind: _var(kind, True, True),
    "skew": functools.partial(_shape, name="skew"),
    "kurt": functools.partial(_shape, name="kurt"),
    "any": _any,
    "all": _all,
}


def _plain(value: Any) -> Any:
    """Return a scalar of Arrow's as NumPy's or Python's: times as datetime64, or with their zone as Python's."""
    pa, kind = arrow(), value.type
    if not value.is_valid:
        return None
    if is_number(kind):
        return np.dtype(kind.to_pandas_dtype()).type(value.as_py())
    if pa.types.is_date(kind) or pa.types.is_duration(kind) or (pa.types.is_timestamp(kind) and kind.tz is None):
        return pa.array([value.value], _width(kind)).cast(kind).to_numpy(zero_copy_only=False)[0]
    return value.as_py()


def quantile(rows: Rows, op: str, q: Any, skipna: Any) -> Any:
    """Return quantiles of numbers as floats, of dates and times in their own type. Collective."""
    ctx, name, pa = rows.context, rows.names[0], arrow()
    with local_step(ctx, op):
        skips = bool(flag("skipna", skipna))
        given = np.asarray(q)
        if given.dtype.kind not in "iuf" or given.ndim > 1:
            raise InvalidTypeError(f"q must be a number or a list of numbers, not {q!r}")
        if not ((given >= 0) & (given <= 1)).all():
            raise BoundsError(f"q {q!r} outside [0, 1]")
        kind = rows.schema.types[0]
        timed = is_time(kind)
        if not (is_number(kind) or is_decimal(kind) or timed or pa.types.is_null(kind)):
            raise InvalidTypeError(f"{op} of a column of {kind} is not defined")
        size = piece_rows(rows)
        nulls = sum(piece.column(0).null_count for _, piece in pieces(rows, size))
    agree(ctx, op, f"of {name!r}, q {given.tolist()}, skipna {skips}")
    found = allgather_object(ctx, (nulls, rows.length - nulls))
    counts = tuple(count for _, count in found)
    if not sum(counts) or (not skips and any(nulls for nulls, _ in found)):
        return None
    if timed:
        with local_step(ctx, op):
            there = Rows(ctx, collected(ctx, op, (piece.drop_null() for _, piece in pieces(rows, size))), counts)
        made = quantiles_of_times(there, op, np.atleast_1d(given).astype(np.float64))
        if given.ndim == 0:
            return _plain(made[0])
        zoned = pa.types.is_timestamp(kind) and kind.tz is not None
        return np.array(list(map(_plain, made)), object) if zoned else made.to_numpy(zero_copy_only=False)
    arrays = (_floats(piece.column(0).drop_null()) for _, piece in pieces(rows, size))
    with vector_of_arrays(ctx, op, counts, np.float64, arrays) as vec:
        return quantile_of_vector(vec, q if given.ndim == 0 else given)


def _floats(column: Any) -> Any:
    return np.asarray(numpy_of(column.cast(arrow().float64()) if is_decimal(column.type) else column)[0], np.float64)


def distinct(rows: Rows, op: str) -> int:
    """Return how many different values that are not null a column has. Collective."""
    ctx = rows.context
    with local_step(ctx, op), arrows_errors(f"{op} of {rows.names[0]!r}"):
        pa = arrow()
        column = decoded(rows.local.column(0))
        if pa.types.is_floating(column.type):
            found = _chosen(column) + 0.0  # which makes 0.0 of -0.0
            found[np.isnan(found)] = np.nan  # of all NaNs
            column = pa.array(found)
        values = combined(pa.compute.unique(_for_arrow(column))).drop_null()
        mine = pa.table([values], names=rows.names)
        where = ranks_of(hashed(mine, rows.names), ctx.size)
    agree(ctx, op)
    here = by_rank(ctx, op, mine, where, "each rank's distinct values to the ranks of their hashes")
    return int(sum(allgather_object(ctx, len(pa.compute.unique(here.column(0))))))


_STATISTICS = ("count", "mean", "std", "min", "25%", "50%", "75%", "max")


def described(rows: Rows, op: str) -> Rows:
    """Return statistics of the columns of numbers, all on rank 0. Collective."""
    ctx, pa = rows.context, arrow()
    with local_step(ctx, op):
        names = [
            name
            for name, kind in zip(rows.names, rows.schema.types)
            if is_number(kind) and not pa.types.is_boolean(kind)
        ]
        if not names:
            raise InvalidTypeError(f"{op}: no column is of numbers; they are of {[str(t) for t in rows.schema.types]}")
    agree(ctx, op)
    made: dict[str, Any] = {"statistic": pa.array(_STATISTICS)}
    for name in names:
        one = rows.chosen([name])
        found = [reduced(one, each, True) for each in ("count", "mean", "std", "min")]
        quarters = quantile(one, "quantile", [0.25, 0.5, 0.75], True)
        found += [None] * 3 if quarters is None else quarters.tolist()
        found.append(reduced(one, "max", True))
        made[name] = pa.array([None if each is None else float(each) for each in found], pa.float64())
    table = pa.table(made)
    return Rows(ctx, table if ctx.rank == 0 else table.slice(0, 0), (len(table), *[0] * (ctx.size - 1)))
