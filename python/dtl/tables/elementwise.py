"""What is computed value by value: NumPy's functions on columns of numbers, and operators of every type.

Numbers are NumPy's, which wrap and promote as its arrays do; a value is null where an operand is. Text, times and
decimals are computed by pyarrow. What may fail because of a value, such as a sum of times that no time is, is
collective, so that it fails on every rank; whether it is, follows from the types, which every rank knows.
"""

from __future__ import annotations

import decimal
from typing import Any, Callable, NamedTuple, Sequence

import numpy as np

from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..runtime.agreement import agree, local_step, refuse_other_context
from .arrow_types import TIME_UNITS, fits, is_decimal, is_number, is_text, is_time, plain_type
from .gather import combined
from .making import in_any_order, is_scalar, scalar, whole_column
from .nested_types import is_nested
from .on_disk import collected, rows_at_a_time, starts
from .rows import Rows, arrow, arrows_errors

COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
_LOGIC = {
    "bitwise_and": "and_kleene",
    "bitwise_or": "or_kleene",
    "logical_and": "and_kleene",
    "logical_or": "or_kleene",
}

#: What has no result for a divisor of 0, where integers have no infinity: null, as Polars has it.
_DIVISIONS = ("floor_divide", "remainder", "fmod")


class Operand(NamedTuple):
    """An operand: values of this rank, a scalar of Arrow's, and what was given."""

    values: Any
    kind: Any
    given: Any
    is_column: bool


def as_chunked(values: Any) -> Any:
    """Return an array of Arrow's as the column of a table is held."""
    pa = arrow()
    return values if isinstance(values, pa.ChunkedArray) else pa.chunked_array([values], values.type)


def numpy_of(column: Any) -> tuple[Any, Any]:
    """Return the values of a column of numbers, and where they are not null; None if they all are."""
    pa, array = arrow(), combined(column)
    valid = None if not array.null_count else array.is_valid().to_numpy(zero_copy_only=False)
    if pa.types.is_null(array.type):
        return np.zeros(len(array)), np.zeros(len(array), bool)
    if pa.types.is_boolean(array.type):
        return array.fill_null(False).to_numpy(zero_copy_only=False), valid
    dtype = np.dtype(array.type.to_pandas_dtype())
    if not len(array):
        return np.empty(0, dtype), valid
    values = np.frombuffer(array.buffers()[1], dtype, len(array), array.offset * dtype.itemsize)
    return values, valid


def column_of(values: Any, valid: Any) -> Any:
    """Return a column of numbers of NumPy's, null where they are not valid."""
    pa = arrow()
    made = pa.array(values, mask=None if valid is None else ~valid)
    return pa.chunked_array([made], made.type)


def computed(f: Any, inputs: tuple[Any, ...], op: str) -> Any:
    """Return the rows of a function of NumPy's of columns, each given as rows, and scalars or arrays."""
    like = next(each for each in inputs if isinstance(each, Rows))
    operands = [_operand(like, each, op) for each in inputs]
    if all(is_number(each.kind) for each in operands):
        return _by_numpy(f, operands, like, op)
    if len(operands) != 2:
        wrong = next(each for each in operands if not is_number(each.kind))
        raise InvalidTypeError(f"{op} is of numbers, not of {wrong.kind}")
    return _by_arrow(f.__name__, operands[0], operands[1], like, op)


def _operand(like: Rows, given: Any, op: str) -> Operand:
    """Return what a call is given, in the form in which it is computed."""
    if isinstance(given, Rows):
        refuse_other_context(f"{op}: a column", given, like.context)
        if given.counts != like.counts:
            raise InvalidArgumentError(
                f"{op}: the columns have {list(like.counts)} and {list(given.counts)} rows on the ranks"
            )
        kind, column = given.schema.types[0], given.local.column(0)
        if arrow().types.is_dictionary(kind) and not kind.ordered and not is_text(kind.value_type):
            return Operand(decoded(column), kind.value_type, given, True)
        return Operand(column, kind, given, True)
    if is_scalar(given):
        one = scalar("the operand", given) if not isinstance(given, (bool, int, float)) else None
        kind = arrow().float64() if one is None else one.type
        return Operand(one, kind, given, False)
    if isinstance(given, (complex, np.complexfloating)):
        raise InvalidTypeError(f"{op}: no column is of complex numbers")
    if not hasattr(given, "__len__") or isinstance(given, (dict, set)) or hasattr(given, "local_view"):
        raise InvalidTypeError(
            f"{op}: a column is computed with columns, scalars and arrays that are the same on every rank, not with "
            f"a {type(given).__name__}"
        )
    whole = whole_column("the operand", given)
    if len(whole) != like.total:
        raise InvalidArgumentError(f"{op}: the array has {len(whole)} values, and the column {like.total} rows")
    return Operand(whole.slice(like.first, like.length), whole.type, given, True)


# ---- Numbers ----


def _by_numpy(f: Any, operands: list[Operand], like: Rows, op: str) -> Any:
    columns = [each.values for each in operands if each.is_column]
    if f.__name__ in ("power", "float_power"):  # whose exponents are looked at on all ranks
        made = _of_numbers(f, operands, like.length, like, op)
    else:
        size = rows_at_a_time(like.length, sum(column.nbytes for column in columns))
        ranges = ((start, min(size, like.length - start)) for start in starts(like.length, size))
        parts = (_of_numbers(f, [_sliced(each, *some) for each in operands], some[1], like, op) for some in ranges)
        made = collected(like.context, op, parts)
    results = [_named(like, column) for column in made.columns]
    return tuple(results) if getattr(f, "nout", 1) > 1 else results[0]


def _sliced(operand: Operand, start: int, size: int) -> Operand:
    """Return some rows of an operand."""
    return operand._replace(values=operand.values.slice(start, size)) if operand.is_column else operand


def _of_numbers(f: Any, operands: list[Operand], rows: int, like: Rows, op: str) -> Any:
    """Return what a function makes of so many rows, as a table of its results."""
    if f.__name__ in _LOGIC and len(operands) == 2 and all(_is_bool(each) for each in operands):
        return arrow().table({"0": _kleene(_LOGIC[f.__name__], operands)})
    values, valid = [], None
    for each in operands:
        if not each.is_column:
            null = each.values is not None and not each.values.is_valid
            values.append(0.0 if null else each.given.as_py() if isinstance(each.given, arrow().Scalar) else each.given)
            if null:
                valid = np.zeros(rows, bool)
            continue
        of_column, where = numpy_of(each.values)
        values.append(of_column)
        if where is not None:
            valid = where if valid is None else valid & where
    if f.__name__ in _DIVISIONS:
        values, valid = _without_zeros(values, valid, rows)
    if f.__name__ in ("power", "float_power") and all(_is_whole(each) for each in values):
        _check_power(values[1], like, op)
    with np.errstate(all="ignore"), arrows_errors(op):
        made = f(*values)
        found = made if isinstance(made, tuple) else (made,)
        return arrow().table({str(number): column_of(np.asarray(each), valid) for number, each in enumerate(found)})


def bounded(farther: Any, rows: Rows, bound: Any, op: str) -> Rows:
    """Return a column whose values do not lie beyond bounds: where one is null or NaN, there is none."""
    pa = arrow()
    given = _operand(rows, bound, op)
    if not given.is_column:
        one = given.given.as_py() if isinstance(given.given, pa.Scalar) else given.given
        has_none = one is None or type(one).__name__ in ("NAType", "NaTType") or one != one  # noqa: PLR0124 - of NaN
        return rows if has_none else computed(farther, (rows, bound), op)
    made = computed(farther, (rows, bound), op)
    values, valid = numpy_of(given.values)
    without = np.isnan(values) if valid is None else np.isnan(values) | ~valid
    if not without.any():
        return made  # type: ignore[no-any-return]
    kept = rows.local.column(0).cast(made.schema.types[0], safe=False)
    return _named(rows, by_truth(pa.chunked_array([pa.array(without)]), kept, made.local.column(0)))


def _named(like: Rows, column: Any) -> Rows:
    return like.like(arrow().table([column], names=like.names[:1]))


def _is_bool(operand: Operand) -> bool:
    return isinstance(operand.given, (bool, np.bool_)) or (operand.is_column and arrow().types.is_boolean(operand.kind))


def _is_whole(values: Any) -> bool:
    return np.asarray(values).dtype.kind in "iu"


def _kleene(name: str, operands: list[Operand]) -> Any:
    """Return and, or of columns of bool, in which null is what is not known."""
    given = [each.values if each.is_column else arrow().scalar(bool(each.given)) for each in operands]
    return getattr(arrow().compute, name)(*given)


def _without_zeros(values: list[Any], valid: Any, rows: int) -> tuple[list[Any], Any]:
    """Return integers to divide by with 1 in the place of 0, where the result is null."""
    divisor = np.asarray(values[1])
    if not (_is_whole(values[0]) and _is_whole(divisor)) or divisor.all():
        return values, valid
    good = np.broadcast_to(divisor != 0, rows)
    safe = np.where(divisor != 0, divisor, 1).astype(divisor.dtype) if divisor.ndim else 1
    return [values[0], safe], good if valid is None else valid & good


def _check_power(exponent: Any, like: Rows, op: str) -> None:
    """Refuse negative powers of integers, which NumPy refuses. Collective where the exponent is a column."""
    text = f"{op}: integers have no negative powers among them; cast them to float64 before"
    if np.ndim(exponent) == 0:
        if exponent < 0:
            raise InvalidArgumentError(text)
        return
    with local_step(like.context, op):
        if (exponent < 0).any():
            raise InvalidArgumentError(text)
    agree(like.context, op)


# ---- Text, times, decimals, categories ----


def _by_arrow(name: str, left: Operand, right: Operand, like: Rows, op: str) -> Rows:
    """Return an operator of two operands, one of which is of no number."""
    kinds = [plain_type(each.kind) for each in (left, right)]
    words = f"{op} of {_worded(left)} and {_worded(right)}"
    if any(arrow().types.is_null(kind) for kind in kinds):
        return _of_null(name, left, right, like)
    if any(_has_order(each) for each in (left, right)) and name in COMPARISONS:
        return _in_order(name, left, right, like, op, words)
    if all(is_text(kind) for kind in kinds):
        return _named(like, _texts(name, left, right, like, op, words))
    if any(is_time(kind) for kind in kinds):
        return _times(name, left, right, like, op, words)
    if any(is_decimal(kind) for kind in kinds) and all(is_decimal(kind) or is_number(kind) for kind in kinds):
        return _decimals(name, left, right, like, op, words)
    if name in COMPARISONS and kinds[0] == kinds[1] and not is_nested(kinds[0]):
        with arrows_errors(words):
            return _named(like, getattr(arrow().compute, name)(decoded(left.values), decoded(right.values)))
    raise InvalidTypeError(f"{words} is not defined")


def _worded(operand: Operand) -> str:
    return str(operand.kind) if operand.is_column or operand.values is not None else repr(operand.given)


def _of_null(name: str, left: Operand, right: Operand, like: Rows) -> Rows:
    """Return what is computed with null alone."""
    pa = arrow()
    other = right if pa.types.is_null(left.kind) else left
    kind = pa.bool_() if name in COMPARISONS else plain_type(other.kind)
    rows = like.length
    return _named(like, pa.chunked_array([pa.nulls(rows, kind)], kind))


def _has_order(operand: Operand) -> bool:
    return bool(arrow().types.is_dictionary(operand.kind) and operand.kind.ordered)


def decoded(values: Any) -> Any:
    """Return values in the place of categories."""
    pa = arrow()
    if isinstance(values, pa.ChunkedArray) and pa.types.is_dictionary(values.type):
        return by_distinct(values, lambda distinct: distinct, values.type.value_type)
    return values


def by_distinct(column: Any, f: Callable[[Any], Any], kind: Any) -> Any:
    """Return a function of each value of a column, computed once for each category."""
    pa = arrow()
    if not pa.types.is_dictionary(column.type):
        return f(column)
    return pa.chunked_array([f(chunk.dictionary).take(chunk.indices) for chunk in column.chunks], kind)


def in_pieces(rows: Rows, op: str, columns: Sequence[Any], f: Callable[..., Any]) -> Any:
    """Return a function of each row of columns that are none of categories, some rows at a time. Not collective.

    There are as many rows at a time as may be in memory. What is made of them is on disk, if it is more.
    """
    length = len(columns[0])
    size = rows_at_a_time(length, sum(column.nbytes for column in columns))
    if size >= length:
        return f(*columns)
    tables = (
        arrow().table([f(*(column.slice(start, size) for column in columns))], names=[""])
        for start in starts(length, size)
    )
    return collected(rows.context, op, tables).column(0)


def of_operands(rows: Rows, op: str, given: Sequence[Any], f: Callable[..., Any]) -> Any:
    """Return a function of columns, none of which is of categories, and of scalars: as ``in_pieces`` does."""
    are_columns = [isinstance(each, arrow().ChunkedArray) for each in given]

    def of(*columns: Any) -> Any:
        left = iter(columns)
        return f(*(next(left) if is_column else each for each, is_column in zip(given, are_columns)))

    return in_pieces(rows, op, [each for each, is_column in zip(given, are_columns) if is_column], of)


def _texts(name: str, left: Operand, right: Operand, like: Rows, op: str, words: str) -> Any:
    if name == "add":
        both = [decoded(each.values) for each in (left, right)]
        return of_operands(like, op, [*both, ""], arrow().compute.binary_join_element_wise)
    if name not in COMPARISONS:
        raise InvalidTypeError(f"{words} is not defined")
    return _compared(name, left, right)


def _compared(name: str, left: Operand, right: Operand) -> Any:
    """Return a comparison of values, made once for each category."""
    pa = arrow()
    compare = getattr(pa.compute, name)
    if not right.is_column:
        return by_distinct(left.values, lambda distinct: compare(distinct, right.values), pa.bool_())
    if not left.is_column:
        return by_distinct(right.values, lambda distinct: compare(left.values, distinct), pa.bool_())
    return compare(decoded(left.values), decoded(right.values))


def _in_order(name: str, left: Operand, right: Operand, like: Rows, op: str, words: str) -> Rows:
    """Compare categories in their order with one of them, or with a column of the same. Collective."""
    pa = arrow()
    column, other = (left, right) if _has_order(left) else (right, left)
    orders = name not in ("equal", "not_equal")
    with local_step(like.context, op), arrows_errors(words):
        if other.values is None and is_number(plain_type(column.kind)):
            kind = plain_type(column.kind)
            other = other._replace(values=pa.scalar(other.given).cast(kind), kind=kind)
            left, right = (column, other) if _has_order(left) else (other, column)
        if not is_text(plain_type(other.kind)) and plain_type(other.kind) != plain_type(column.kind):
            raise InvalidTypeError(f"{words} is not defined")
        if not orders:
            made = _compared(name, left, right)
        elif other.is_column and not _has_order(other):
            raise InvalidTypeError(f"{words}: only the first has an order")
        else:
            codes = [_codes(each, column, words) for each in (left, right)]
            made = getattr(pa.compute, name)(*codes)
    agree(like.context, op)
    return _named(like, made)


def _codes(operand: Operand, column: Operand, words: str) -> Any:
    """Return the places of values in the order of a column's categories."""
    pa = arrow()
    if operand.is_column:
        lists = [chunk.dictionary.to_pylist() for each in (operand, column) for chunk in each.values.chunks]
        if any(each != lists[0] for each in lists):
            raise InvalidTypeError(f"{words}: they have other categories")
        return pa.chunked_array([chunk.indices for chunk in operand.values.chunks], pa.int32())
    chunks = column.values.chunks
    known = chunks[0].dictionary.to_pylist() if chunks else []
    if chunks and operand.values.as_py() not in known:
        raise InvalidArgumentError(f"{words}: {operand.values.as_py()!r} is none of the categories {known}")
    return pa.scalar(known.index(operand.values.as_py()) if chunks else 0, pa.int32())


def _times(name: str, left: Operand, right: Operand, like: Rows, op: str, words: str) -> Rows:
    """Compute with dates, times and spans of time. Collective, for no time is too far away."""
    pa = arrow()
    functions = {"add": "add_checked", "subtract": "subtract_checked", **{each: each for each in COMPARISONS}}
    with local_step(like.context, op):
        kinds = [each.kind for each in (left, right) if pa.types.is_timestamp(each.kind) or pa.types.is_date(each.kind)]
        zones = [getattr(kind, "tz", None) for kind in kinds]
        if len(zones) == 2 and (zones[0] is None) != (zones[1] is None):
            raise InvalidTypeError(f"{words}: one has a time zone, and the other has none; dt.tz_localize gives it one")
        pair = [_time_operand(each, other, words) for each, other in ((left, right), (right, left))]
        with arrows_errors(words):
            if name in functions:
                made = getattr(pa.compute, functions[name])(*_in_one_zone(pair, name))
            else:
                made = _of_spans(name, pair, words)
        if not isinstance(made, pa.ChunkedArray):
            made = pa.chunked_array([made], made.type)
    agree(like.context, op)
    return _named(like, made)


def _time_operand(operand: Operand, other: Operand, words: str) -> Any:
    """Return an operand of a computation with times: text is a time as the other operand's column has them."""
    pa, kind = arrow(), operand.kind
    if operand.is_column:
        return operand.values
    if is_text(kind) and is_time(other.kind):
        return _parsed(operand.given, other.kind, words)
    if operand.values is None:
        return pa.scalar(operand.given)
    return operand.values


def _parsed(text: Any, kind: Any, words: str) -> Any:
    """Return a time that text stands for, in the zone of a column."""
    pa = arrow()
    if not isinstance(text, str) or pa.types.is_duration(kind):
        raise InvalidTypeError(f"{words} is not defined")
    try:
        one = pa.array(np.array([np.datetime64(text)]))
    except ValueError as error:
        raise InvalidArgumentError(f"{words}: {text!r} is no time: {error}") from None
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        one = pa.compute.assume_timezone(one.cast(pa.timestamp("us")), kind.tz)
    return one[0]


def _in_one_zone(pair: list[Any], name: str) -> list[Any]:
    """Return times in one zone, and dates as times where they are computed with spans; pyarrow finds the finer unit."""
    pa = arrow()
    zone = next((each.type.tz for each in pair if pa.types.is_timestamp(each.type)), None)
    if name == "subtract" and all(pa.types.is_date(each.type) for each in pair):
        return pair
    units = [each.type.unit for each in pair if hasattr(each.type, "unit")]
    finest = max(units, key=TIME_UNITS.index) if units else "s"
    made = []
    for each in pair:
        kind = each.type
        if pa.types.is_date(kind) and name not in COMPARISONS:
            kind = pa.timestamp(finest, zone)
        elif pa.types.is_timestamp(kind) and kind.tz is not None and zone is not None:
            kind = pa.timestamp(kind.unit, zone)
        made.append(each if each.type == kind else each.cast(kind))
    return made


def _of_spans(name: str, pair: list[Any], words: str) -> Any:
    """Return spans of time times numbers, and their quotients."""
    pa = arrow()
    left, right = pair
    spans = [pa.types.is_duration(each.type) for each in pair]
    if name == "multiply" and any(spans) and not all(spans):
        span, number = (left, right) if spans[0] else (right, left)
        if pa.types.is_integer(number.type):
            return pa.compute.multiply_checked(span.cast(pa.int64()), number).cast(span.type)
        product = pa.compute.multiply(_float(span), number)
        return pa.compute.round(product).cast(pa.int64()).cast(span.type)
    if name in ("true_divide", "divide") and all(spans):
        unit = pa.duration(max((each.type.unit for each in pair), key=TIME_UNITS.index))
        return pa.compute.divide(*(_float(each.cast(unit)) for each in pair))
    raise InvalidTypeError(f"{words} is not defined")


def _float(spans: Any) -> Any:
    """Return spans of time as floats, which have not all bits of long ones."""
    return spans.cast(arrow().int64()).cast(arrow().float64(), safe=False)


def _decimals(name: str, left: Operand, right: Operand, like: Rows, op: str, words: str) -> Rows:
    """Compute with decimals, exactly: what has too many digits raises. Collective."""
    pa = arrow()
    with local_step(like.context, op), arrows_errors(words):
        pair = [each.values if each.values is not None else _as_decimal(each.given) for each in (left, right)]
        if any(pa.types.is_floating(each.type) for each in pair):
            pair = [each.cast(pa.float64()) for each in pair]
        pair = [each.cast(pa.decimal128(20, 0)) if pa.types.is_integer(each.type) else each for each in pair]
        if name in COMPARISONS:
            made = getattr(pa.compute, name)(*pair)
        elif name in ("add", "subtract", "multiply", "true_divide", "divide"):
            made = _exactly(getattr(pa.compute, name.replace("true_", "")), pair)
        else:
            raise InvalidTypeError(f"{words} is not defined")
    agree(like.context, op)
    return _named(like, made)


def _as_decimal(given: Any) -> Any:
    """Return a number of Python's as what is computed with decimals."""
    pa = arrow()
    return pa.scalar(given) if isinstance(given, float) else pa.scalar(decimal.Decimal(int(given)))


def _exactly(f: Any, pair: list[Any]) -> Any:
    """Return a result of decimals that has at most 38 digits, and fails else."""
    pa = arrow()
    kinds = [each.type for each in pair]
    if f is pa.compute.divide or not all(is_decimal(kind) for kind in kinds):
        return f(*pair)
    digits = [min(kind.precision, 37) if f is pa.compute.multiply else kind.precision for kind in kinds]
    made = f(*(each.cast(pa.decimal256(most, each.type.scale)) for each, most in zip(pair, digits)))
    return made.cast(pa.decimal128(min(38, made.type.precision), made.type.scale))


def missing(rows: Rows) -> Rows:
    """Return where a column is null. Not collective."""
    return _named(rows, rows.local.column(0).is_null())


def chosen(rows: Rows, op: str, condition: Any, other: Any) -> Rows:
    """Return values where a condition is true, and those of a column or a scalar elsewhere. Collective.

    Of ``mask``, where it is false, as pandas has it: null is neither.
    """
    pa = arrow()
    with local_step(rows.context, op), arrows_errors(op):
        asked, beside = _operand(rows, condition, op), _operand(rows, other, op)
        if not pa.types.is_boolean(asked.kind) or not asked.is_column:
            raise InvalidTypeError(f"the condition of {op} is of {asked.kind}; it is a column of bool")
        values = decoded(rows.local.column(0))
        given = decoded(beside.values) if beside.values is not None else pa.scalar(beside.given)
        if not beside.is_column:
            if not fits(values.type, given.type) and not (is_time(values.type) and is_text(given.type)):
                raise InvalidTypeError(f"{op}: the column {rows.names[0]!r} of {values.type} has no value {other!r}")
            given = given.cast(values.type)

        def of(truths: Any, *both: Any) -> Any:
            return by_truth((pa.compute.invert(truths) if op == "mask" else truths).fill_null(False), *both)

        made = _named(rows, of_operands(rows, op, [asked.values, values, given], of))
    agree(rows.context, op, "a column" if beside.is_column else repr(other))
    return made


def by_truth(truths: Any, left: Any, right: Any) -> Any:
    """Return values of the one where truths are true, and of the other elsewhere, as a column."""
    pa = arrow()
    given = (truths, left, right)
    if pa.types.is_boolean(left.type):  # of which pyarrow 14 takes others where chunks begin within a byte
        given = tuple(combined(each) for each in given)
    return as_chunked(pa.compute.if_else(*given))


def unsigned_zeros(values: Any) -> Any:
    """Return values with 0.0 in the place of -0.0, of which Arrow's tables of hashes make two."""
    pa = arrow()
    return pa.compute.add(values, pa.scalar(0.0, values.type)) if _is_wide(values.type) else values


def _is_wide(kind: Any) -> bool:
    return bool(arrow().types.is_float32(kind) or arrow().types.is_float64(kind))


def one_of(rows: Rows, values: Any) -> Rows:
    """Return where a column has one of some values. Not collective."""
    pa, kind = arrow(), plain_type(rows.schema.types[0])
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        raise InvalidTypeError(f"isin takes a list of values, not {values!r}")
    given = in_any_order("the list", list(values) if isinstance(values, dict) else values)
    found = _matching(decoded(given), kind)
    column = rows.local.column(0)
    if is_number(kind) and is_number(found.type) and found.type != kind:
        column = column.cast(found.type, safe=False)
    with arrows_errors("isin"):
        found = unsigned_zeros(found)
        made = by_distinct(column, lambda each: pa.compute.is_in(unsigned_zeros(each), value_set=found), pa.bool_())
    if found.null_count:
        made = made.fill_null(True)
    return _named(rows, made.fill_null(False))


def _matching(given: Any, kind: Any) -> Any:
    """Return values in a type in which those of a column are compared with them."""
    pa = arrow()
    if given.type == kind or pa.types.is_null(given.type):
        return given.cast(kind)
    if pa.types.is_integer(kind) and pa.types.is_integer(given.type):
        low, high = (int(each) for each in (np.iinfo(kind.to_pandas_dtype()).min, np.iinfo(kind.to_pandas_dtype()).max))
        return pa.chunked_array([[each for each in given.to_pylist() if each is None or low <= each <= high]], kind)
    if (
        is_number(kind)
        and is_number(given.type)
        and not pa.types.is_boolean(kind)
        and not pa.types.is_boolean(given.type)
    ):
        return given.cast(pa.float64(), safe=False)
    if is_time(kind) or is_decimal(kind):
        with arrows_errors(f"isin of {kind} and {given.type}"):
            return given.cast(kind)
    raise InvalidTypeError(f"isin of {kind} and {given.type} is not defined")


def filled(rows: Rows, op: str, name: str, value: Any) -> Any:
    """Return a column of rows with a value in the places of nulls. Collective."""
    pa = arrow()
    column = rows.local.column(name)
    with local_step(rows.context, op), arrows_errors(f"the column {name!r}"):
        fill = _operand(rows, value, op).values if isinstance(value, Rows) else scalar("value", value)
        kind = column.type
        if pa.types.is_null(kind):
            kind = plain_type(fill.type)
            column = column.cast(kind)
        plain = plain_type(kind)
        if not fits(plain, plain_type(fill.type)):
            raise InvalidTypeError(f"the column {name!r} of {kind} has no value of {fill.type}")
        if is_decimal(plain) and pa.types.is_integer(fill.type) and not isinstance(value, Rows):
            fill = _as_decimal(fill.as_py())
        fill = decoded(fill).cast(plain)
        made = _filled(rows, op, column, fill, name)
    agree(rows.context, op, "a column" if isinstance(value, Rows) else f"{name!r} with {value!r}")
    return made


def _filled(rows: Rows, op: str, column: Any, fill: Any, name: str) -> Any:
    """Return a column with a value, or those of another column, where it is null."""
    pa, kind = arrow(), column.type
    if not pa.types.is_dictionary(kind):
        both = [column, fill] if isinstance(fill, pa.ChunkedArray) else [column]
        return in_pieces(rows, op, both, lambda some, *others: pa.compute.coalesce(some, *(others or [fill])))
    return with_categories_of(pa.compute.coalesce(decoded(column), fill), column, name)


def with_categories_of(made: Any, column: Any, name: str) -> Any:
    """Return values as categories: of ordered ones, those that a column has."""
    pa, kind = arrow(), column.type
    if not kind.ordered:
        return made.dictionary_encode().cast(kind)
    chunks = [chunk.dictionary for chunk in column.chunks]
    if not chunks:
        return column
    indices = pa.compute.index_in(made.combine_chunks(), value_set=chunks[0])
    if indices.null_count > made.null_count:
        raise InvalidArgumentError(f"{name!r} has the categories {chunks[0].to_pylist()}, none of which the value is")
    return pa.chunked_array([pa.DictionaryArray.from_arrays(indices, chunks[0], ordered=True)], kind)
