"""What is computed value by value: NumPy's functions on columns of numbers, and operators of every type.

Numbers are NumPy's, which wrap and promote as its arrays do; a value is null where an operand is. Text, times and
decimals are computed by pyarrow. What may fail because of a value, such as a sum of times that no time is, is
collective, so that it fails on every rank; whether it is, follows from the types, which every rank knows.
"""

from __future__ import annotations

import decimal
from typing import Any, NamedTuple, Sequence

import numpy as np

from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..runtime.agreement import agree, local_step, refuse_other_context
from .arrow_types import TIME_UNITS, fits, is_decimal, is_number, is_text, is_time, plain_type
from .by_rows import by_category, by_truth, decoded, in_pieces, of_operands
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
            return Operand(in_pieces(like, op, [column], decoded), kind.value_type, given, True)
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
    size = rows_at_a_time(like.length, sum(column.nbytes for column in columns))
    if f.__name__ in ("power", "float_power"):
        _check_power(operands, size, like, op)
    ranges = ((start, min(size, like.length - start)) for start in starts(like.length, size))
    parts = (_of_numbers(f, [_sliced(each, *some) for each in operands], some[1], op) for some in ranges)
    made = collected(like.context, op, parts)
    results = [_named(like, column) for column in made.columns]
    return tuple(results) if getattr(f, "nout", 1) > 1 else results[0]


def _sliced(operand: Operand, start: int, size: int) -> Operand:
    """Return some rows of an operand."""
    return operand._replace(values=operand.values.slice(start, size)) if operand.is_column else operand


def _of_numbers(f: Any, operands: list[Operand], rows: int, op: str) -> Any:
    """Return what a function makes of so many rows, as a table of its results."""
    if f.__name__ in _LOGIC and len(operands) == 2 and all(_is_bool(each) for each in operands):
        return arrow().table({"0": _kleene(_LOGIC[f.__name__], operands)})
    values, valid = [], None
    for each in operands:
        if not each.is_column:
            null = each.values is not None and not each.values.is_valid
            values.append(0.0 if null else _given(each))
            if null:
                valid = np.zeros(rows, bool)
            continue
        of_column, where = numpy_of(each.values)
        values.append(of_column)
        if where is not None:
            valid = where if valid is None else valid & where
    if f.__name__ in _DIVISIONS:
        values, valid = _without_zeros(values, valid, rows)
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
    kind = made.schema.types[0]

    def of(bounds: Any, kept: Any, found: Any) -> Any:
        values, valid = numpy_of(bounds)
        without = np.isnan(values) if valid is None else np.isnan(values) | ~valid
        return by_truth(pa.chunked_array([pa.array(without)]), kept.cast(kind, safe=False), found)

    return _named(rows, in_pieces(rows, op, [given.values, rows.local.column(0), made.local.column(0)], of))


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


def _check_power(operands: list[Operand], size: int, like: Rows, op: str) -> None:
    """Refuse negative powers of integers, which NumPy refuses. Collective where the exponent is a column."""
    if not all(_is_integer(each) for each in operands):
        return
    text = f"{op}: integers have no negative powers among them; cast them to float64 before"
    exponent = operands[1]
    if not exponent.is_column:
        if _given(exponent) < 0:
            raise InvalidArgumentError(text)
        return
    with local_step(like.context, op):
        for start in starts(like.length, size):
            if (numpy_of(exponent.values.slice(start, size))[0] < 0).any():
                raise InvalidArgumentError(text)
    agree(like.context, op)


def _is_integer(operand: Operand) -> bool:
    """Say whether NumPy computes with integers."""
    if operand.is_column:
        return bool(arrow().types.is_integer(operand.kind))
    return _is_whole(_given(operand))


def _given(operand: Operand) -> Any:
    """Return a scalar as Python or NumPy has it."""
    return operand.given.as_py() if isinstance(operand.given, arrow().Scalar) else operand.given


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
            return _named(like, _compared(name, left, right, like, op))
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


def _texts(name: str, left: Operand, right: Operand, like: Rows, op: str, words: str) -> Any:
    if name == "add":
        join = arrow().compute.binary_join_element_wise
        both = [left.values, right.values]
        return of_operands(like, op, both, lambda one, other: join(decoded(one), decoded(other), ""))
    if name not in COMPARISONS:
        raise InvalidTypeError(f"{words} is not defined")
    return _compared(name, left, right, like, op)


def _compared(name: str, left: Operand, right: Operand, like: Rows, op: str) -> Any:
    """Return a comparison of values, made once for each category."""
    pa = arrow()
    compare = getattr(pa.compute, name)
    if not right.is_column:
        return by_category(like, op, left.values, lambda values: compare(values, right.values))
    if not left.is_column:
        return by_category(like, op, right.values, lambda values: compare(left.values, values))
    both = [left.values, right.values]
    return in_pieces(like, op, both, lambda one, other: compare(decoded(one), decoded(other)))


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
            made = _compared(name, left, right, like, op)
        elif other.is_column and not _has_order(other):
            raise InvalidTypeError(f"{words}: only the first has an order")
        else:
            places = [_places(each, column, words) for each in (left, right)]
            compare = getattr(pa.compute, name)
            made = of_operands(like, op, places, lambda *both: compare(*map(_codes, both)))
    agree(like.context, op)
    return _named(like, made)


def _places(operand: Operand, column: Operand, words: str) -> Any:
    """Return values of a column's categories: the column, or the place of a scalar among them."""
    pa = arrow()
    if operand.is_column:
        lists = [chunk.dictionary.to_pylist() for each in (operand, column) for chunk in each.values.chunks]
        if any(each != lists[0] for each in lists):
            raise InvalidTypeError(f"{words}: they have other categories")
        return operand.values
    chunks = column.values.chunks
    known = chunks[0].dictionary.to_pylist() if chunks else []
    if chunks and operand.values.as_py() not in known:
        raise InvalidArgumentError(f"{words}: {operand.values.as_py()!r} is none of the categories {known}")
    return pa.scalar(known.index(operand.values.as_py()) if chunks else 0, pa.int32())


def _codes(values: Any) -> Any:
    """Return the places of values among their categories; a place as it is."""
    pa = arrow()
    if not isinstance(values, pa.ChunkedArray):
        return values
    return pa.chunked_array([chunk.indices for chunk in values.chunks], pa.int32())


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
                f = getattr(pa.compute, functions[name])
                made = of_operands(like, op, pair, lambda *both: f(*_in_one_zone(both, name)))
            else:
                made = of_operands(like, op, pair, lambda *both: _of_spans(name, both, words))
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


def _in_one_zone(pair: Sequence[Any], name: str) -> Sequence[Any]:
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


def _of_spans(name: str, pair: Sequence[Any], words: str) -> Any:
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
    with local_step(like.context, op), arrows_errors(words):
        pair = [each.values if each.values is not None else _as_decimal(each.given) for each in (left, right)]
        made = of_operands(like, op, pair, lambda *both: _of_decimals(name, both, words))
    agree(like.context, op)
    return _named(like, made)


def _of_decimals(name: str, pair: Sequence[Any], words: str) -> Any:
    """Return what is computed with decimals, or with floats where one of both is of them."""
    pa = arrow()
    if any(pa.types.is_floating(each.type) for each in pair):
        pair = [each.cast(pa.float64()) for each in pair]
    pair = [each.cast(pa.decimal128(20, 0)) if pa.types.is_integer(each.type) else each for each in pair]
    if name in COMPARISONS:
        return getattr(pa.compute, name)(*pair)
    if name in ("add", "subtract", "multiply", "true_divide", "divide"):
        return _exactly(getattr(pa.compute, name.replace("true_", "")), pair)
    raise InvalidTypeError(f"{words} is not defined")


def _as_decimal(given: Any) -> Any:
    """Return a number of Python's as what is computed with decimals."""
    pa = arrow()
    return pa.scalar(given) if isinstance(given, float) else pa.scalar(decimal.Decimal(int(given)))


def _exactly(f: Any, pair: Sequence[Any]) -> Any:
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
    return _named(rows, in_pieces(rows, "isna", [rows.local.column(0)], lambda some: some.is_null()))


def chosen(rows: Rows, op: str, condition: Any, other: Any) -> Rows:
    """Return values where a condition is true, and those of a column or a scalar elsewhere. Collective.

    Of ``mask``, where it is false, as pandas has it: null is neither.
    """
    pa = arrow()
    with local_step(rows.context, op), arrows_errors(op):
        asked, beside = _operand(rows, condition, op), _operand(rows, other, op)
        if not pa.types.is_boolean(asked.kind) or not asked.is_column:
            raise InvalidTypeError(f"the condition of {op} is of {asked.kind}; it is a column of bool")
        values, kind = rows.local.column(0), plain_type(rows.schema.types[0])
        given = beside.values if beside.values is not None else pa.scalar(beside.given)
        if not beside.is_column:
            if not fits(kind, given.type) and not (is_time(kind) and is_text(given.type)):
                raise InvalidTypeError(f"{op}: the column {rows.names[0]!r} of {kind} has no value {other!r}")
            given = given.cast(kind)

        def of(truths: Any, *both: Any) -> Any:
            chosen = pa.compute.invert(truths) if op == "mask" else truths
            return by_truth(chosen.fill_null(False), *map(decoded, both))

        made = _named(rows, of_operands(rows, op, [asked.values, values, given], of))
    agree(rows.context, op, "a column" if beside.is_column else repr(other))
    return made


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
    is_cast = is_number(kind) and is_number(found.type) and found.type != kind

    def among(values: Any) -> Any:
        given = values.cast(found.type, safe=False) if is_cast else values
        return pa.compute.is_in(unsigned_zeros(given), value_set=found)

    with arrows_errors("isin"):
        found = unsigned_zeros(found)
        made = by_category(rows, "isin", rows.local.column(0), among, bool(found.null_count))
    return _named(rows, made)


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
        kind = plain_type(fill.type) if pa.types.is_null(column.type) else column.type
        plain = plain_type(kind)
        if not fits(plain, plain_type(fill.type)):
            raise InvalidTypeError(f"the column {name!r} of {kind} has no value of {fill.type}")
        if is_decimal(plain) and pa.types.is_integer(fill.type) and not isinstance(value, Rows):
            fill = _as_decimal(fill.as_py())

        def of(some: Any, others: Any) -> Any:
            values = decoded(some)
            made = pa.compute.coalesce(values.cast(plain), decoded(others).cast(plain))
            return with_categories_of(made, column, name) if pa.types.is_dictionary(kind) else made

        made = of_operands(rows, op, [column, fill], of)
    agree(rows.context, op, "a column" if isinstance(value, Rows) else f"{name!r} with {value!r}")
    return made


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
