"""Elements that are moved, compared and sorted: dates, text, records and float16, on every partition."""

from __future__ import annotations

import datetime
import operator
import re
from typing import Any, Callable

import numpy as np
import pytest
from divisions import DIVISIONS, assert_holds, division
from older_numpy import VERSION

import dtl

_days = np.array(["2020-03-01", "NaT", "1969-12-31", "2020-03-01", "2262-01-01", "NaT", "1970-01-01"], "datetime64[D]")

ARRAYS: dict[str, Any] = {
    "days": _days,
    "nanoseconds": _days.astype("datetime64[s]").astype("datetime64[ns]"),
    "spans of time": _days - np.datetime64("2000-01-01"),
    "float16": np.array([1.5, np.nan, -2.0, 65504.0, np.inf, -0.0, 1.5], np.float16),
    "bytes": np.array([b"pear", b"fig", b"apple", b"fig", b"", b"zz\xff", b"apples"], "S8"),
    "long bytes": np.array([b"pear", b"fig", b"apple and more", b"fig", b"", b"zz", b"apple and mord"], "S16"),
    "one byte": np.array([b"b", b"a", b"", b"z", b"b", b"c", b"a"], "S1"),
    "five bytes": np.array([b"pear", b"fig", b"apple", b"fig", b"", b"zz\xff", b"appla"], "S5"),
    "forty bytes": np.array([b"p" * 40, b"p" * 39, b"", b"p" * 39 + b"o", b"fig", b"fig", b"zz"], "S40"),
    "three characters": np.array(["pea", "pe", "", "\U0001f600", "fig", "pea", "pf"], "U3"),
    "odd records": np.array(
        [(2, b"abc"), (1, b""), (2, b"ab"), (1, b"z"), (-3, b"q"), (2, b"ab"), (0, b"a")],
        [("key", "i8"), ("name", "S3")],
    ),
    "text": np.array(["ab", "a", "", "\U0001f600", "b", "ab", "aa"], "U2"),
    "long text": np.array(["abcd", "abc", "", "\U0001f600", "b", "abcd", "abce"], "U4"),
    "records": np.array(
        [(2, 1.5), (1, 0.5), (2, -1.5), (1, 0.5), (0, 9.0), (3, 0.0), (1, 0.25)], [("key", "i4"), ("value", "f4")]
    ),
    "records of arrays": np.array(
        [
            ([2, 1], b"c"),
            ([1, 9], b"a"),
            ([2, 0], b"b"),
            ([2, 1], b"b"),
            ([0, 9], b"b"),
            ([1, 9], b"a"),
            ([1, 8], b"a"),
        ],
        [("pair", "i2", 2), ("name", "S1")],
    ),
    "raw bytes": np.array([b"b\0", b"a\xff", b"\0\0", b"zz", b"b\0", b"c", b"a"], "V2"),
    "records of dates": np.array(
        list(zip(_days, [b"a", b"b", b"c", b"a", b"d", b"a", b"c"])), [("day", "M8[D]"), ("name", "S8")]
    ),
}


@pytest.fixture(params=list(ARRAYS), ids=lambda name: name.replace(" ", "-"))
def array(request: pytest.FixtureRequest) -> Any:
    return ARRAYS[request.param]


def in_order(array: Any, reverse: bool) -> Any:
    """Return the indices that sort, stably, with what is no date or number at the end."""
    return np.lexsort(every_column(array, reverse))


def places(array: Any) -> Any:
    """Return numbers that sort as elements do, the same of those that none is between."""
    return np.unique(np.stack(every_column(array, False)[::-1], axis=1), axis=0, return_inverse=True)[1].reshape(-1)


def every_column(array: Any, reverse: bool) -> list[Any]:
    """Return the numbers by which elements sort, those of records field by field, the primary ones last."""
    if array.dtype.names is None:
        return columns(array, reverse)
    fields = [each for name in array.dtype.names for each in array[name].reshape(len(array), -1).T]
    return [key for field in fields[::-1] for key in columns(field, reverse)]


def columns(array: Any, reverse: bool) -> list[Any]:
    """Return numbers that sort as elements do, and what comes before them: whether something is no date or number."""
    ranks = np.unique(array, return_inverse=True)[1].reshape(-1)
    missing = np.isnan(array) if array.dtype.kind in "mMf" else np.zeros(len(array), bool)
    return [np.where(missing, 0, -ranks if reverse else ranks), missing]


def divisions(ctx: dtl.Context) -> tuple[str, ...]:
    """Return all partitions on one rank, and on two, three and four ranks two each, which are all of them together."""
    return DIVISIONS if ctx.size == 1 else DIVISIONS[ctx.size % 3 :: 3]


def test_they_are_moved(ctx: dtl.Context, array: Any) -> None:
    for name in divisions(ctx):
        vec = dtl.asarray(ctx, array, **division(name, len(array), ctx.size))
        assert_same(vec, array)
        assert vec.nbytes == array.nbytes
        assert_same(vec[1:5], array[1:5])
        assert_same(vec[::-1], array[::-1])
        assert_same(vec[np.arange(7) % 2 == 0], array[::2])
        assert_same(vec.reshape(7, 1), array.reshape(7, 1))
        assert_same(dtl.concat([vec, vec]), np.concatenate([array, array]))
        assert_same(dtl.take(vec, [3, 0, 3]), array[[3, 0, 3]])
        assert_same(dtl.roll(vec, 2), np.roll(array, 2))
        assert_same(vec.copy(), array)
        same(vec[2], array[2])
        same(vec[[0, 6]], array[[0, 6]])
        same(vec.get([ctx.rank, -1]), array[[ctx.rank, -1]])
        whole = vec.gather_to(ctx.size - 1)
        if ctx.rank == ctx.size - 1:
            same(whole, array)
        if name != "replicated":
            vec.redistribute(partition="cyclic")
            assert_same(vec, array)


MOVES: dict[str, Callable[[Any], Any]] = {
    "ravel": np.ravel,
    "reshape": lambda t: t.reshape(7, 3),
    "transpose": lambda t: t.T,
    "flip": np.flip,
    "roll": lambda t: np.roll(t, 2, 0),
    "take": lambda t: np.take(t, [2, 0, 2], axis=0),
    "take along the other dimension": lambda t: np.take(t, [6, 0], axis=1),
    "rows": lambda t: t[[2, 0]],
    "column": lambda t: t[:, 1],
    "repeat": lambda t: np.repeat(t, 2, axis=0),
    "tile": lambda t: np.tile(t, (2, 1)),
    "delete": lambda t: np.delete(t, 1, axis=0),
    "insert": lambda t: np.insert(t, 1, t[0], axis=0),
    "stack": lambda t: np.stack([t, t], axis=1),
    "tril": np.tril,
    "where it is equal": lambda t: t[t == t[0, 1]],
}


@pytest.mark.parametrize("name", list(MOVES))
def test_tables_are_moved(ctx: dtl.Context, array: Any, name: str) -> None:
    table, move = np.stack([array, array[::-1], np.roll(array, 1)]), MOVES[name]
    try:
        wanted = move(table)
    except TypeError:  # as of records that are multiplied by a mask
        with pytest.raises(TypeError):
            move(dtl.asarray(ctx, table))
        return
    for partition in divisions(ctx):
        assert_same(move(dtl.asarray(ctx, table, **division(partition, 3, ctx.size))), wanted)


def test_they_are_written(ctx: dtl.Context, array: Any) -> None:
    vec = dtl.zeros(ctx, 7, array.dtype, partition="cyclic")
    assert_same(vec, np.zeros(7, array.dtype))
    vec[...] = array
    assert_same(vec, array)
    vec[0], vec[4:] = array[3], array[1]
    wanted = array.copy()
    wanted[0], wanted[4:] = array[3], array[1]
    assert_same(vec, wanted)
    vec[1:4] = dtl.asarray(ctx, array[4:])
    wanted[1:4] = array[4:]
    assert_same(vec, wanted)
    vec.put([5], array[2])
    wanted[5] = array[2]
    assert_same(vec, wanted)
    assert_same(dtl.full(ctx, 3, array[2], dtype=array.dtype), np.full(3, array[2], array.dtype))
    assert_same(dtl.DistributedVector.from_local(ctx, array[:2]), np.concatenate([array[:2]] * ctx.size))
    root = ctx.size - 1
    assert_same(dtl.from_numpy(ctx, array if ctx.rank == root else None, root), array)


def test_they_are_sorted(ctx: dtl.Context, array: Any) -> None:
    for number, name in enumerate(divisions(ctx)):
        for reverse in (False, True) if ctx.size == 1 else (bool(number % 2),):
            order = in_order(array, reverse)
            vec = dtl.asarray(ctx, array, **division(name, len(array), ctx.size))
            assert_holds(dtl.argsort(vec, reverse), order)
            dtl.sort(vec, reverse)
            assert_same(vec, array[order])


@pytest.mark.parametrize("reverse", [False, True])
def test_tables_are_sorted_along_what_is_not_divided(ctx: dtl.Context, array: Any, reverse: bool) -> None:
    table = np.stack([array, array[::-1], np.roll(array, 1)])
    order = np.stack([in_order(row, reverse) for row in table])
    for name in divisions(ctx):
        made = dtl.asarray(ctx, table, **division(name, 3, ctx.size))
        assert_holds(dtl.argsort(made, reverse), order)
        dtl.sort(made, reverse)
        assert_same(made, np.take_along_axis(table, order, 1))
    columns = dtl.asarray(ctx, table.T, grid=(1, ctx.size))
    dtl.sort(columns, reverse, axis=0)
    assert_same(columns, np.take_along_axis(table, order, 1).T)
    with pytest.raises(dtl.BoundsError, match="axis 2"):
        dtl.sort(columns, axis=2)
    if ctx.size > 1:
        with pytest.raises(dtl.InvalidArgumentError, match="is divided among"):
            dtl.argsort(columns, axis=1)


def test_they_are_compared(ctx: dtl.Context, array: Any) -> None:
    vec = dtl.asarray(ctx, array)
    other = dtl.asarray(ctx, array[::-1], partition="cyclic")
    operators: list[Callable[[Any, Any], Any]] = [operator.eq, operator.ne]
    if array.dtype.names is None:
        operators += [np.less, np.greater_equal]
    for compare in operators:
        try:
            wanted = compare(array, array[::-1])
        except TypeError:  # NumPy before 2.0 compares text, and before 1.25 records, by == alone
            continue
        assert_holds(compare(vec, other), wanted)
        assert_holds(compare(vec, array[2]), compare(array, array[2]))


def test_dates_and_float16_are_computed_with_where_numpy_does(ctx: dtl.Context) -> None:
    days = dtl.asarray(ctx, _days)
    since = days - np.datetime64("2000-01-01")
    assert_same(since, ARRAYS["spans of time"])
    assert_same(days + np.timedelta64(1, "D"), _days + np.timedelta64(1, "D"))
    assert_holds(np.isnat(days), np.isnat(_days))
    half = dtl.asarray(ctx, ARRAYS["float16"])
    assert_same(half / 2, ARRAYS["float16"] / 2)
    assert_holds(half.astype(np.float32), ARRAYS["float16"].astype(np.float32))
    assert_same(dtl.asarray(ctx, [1.5, 2.5]).astype(np.float16), np.array([1.5, 2.5], np.float16))
    assert_same(dtl.where(np.isnat(days), np.datetime64("2000-01-01"), days).astype("datetime64[s]"),
                np.where(np.isnat(_days), np.datetime64("2000-01-01"), _days).astype("datetime64[s]"))  # fmt: skip


def test_objects_of_datetime_are_operands(ctx: dtl.Context) -> None:
    days = dtl.asarray(ctx, _days)
    day, week = datetime.date(2020, 1, 1), datetime.timedelta(days=7)
    assert_holds(days > day, _days > np.datetime64(day))
    assert_holds(datetime.datetime(2020, 1, 1, 5) < days, np.datetime64("2020-01-01T05") < _days)
    assert_same(days + week, _days + np.timedelta64(week))
    assert_holds((days - day) / week, (_days - np.datetime64(day)) / np.timedelta64(week))


def test_they_are_ghosts(ctx: dtl.Context, array: Any) -> None:
    vec = dtl.asarray(ctx, np.concatenate([array, array]))
    with dtl.Halo(vec, 1, periodic=True) as halo:
        halo.exchange()
        view: Any = halo.view()
        got = view.to_numpy() if isinstance(view, dtl.DeviceArray) else view
        mine = vec.local_indices()
        wanted = np.concatenate([array, array])[np.arange(mine[0] - 1, mine[-1] + 2) % 14]
        assert got.dtype == array.dtype
        assert got.tobytes() == wanted.tobytes()


def test_dates_as_text(ctx: dtl.Context) -> None:
    for name in divisions(ctx):
        days = dtl.asarray(ctx, _days, **division(name, len(_days), ctx.size))
        assert_same(np.datetime_as_string(days), np.datetime_as_string(_days))
        assert_same(np.datetime_as_string(days, unit="s"), np.datetime_as_string(_days, unit="s"))


def test_other_byte_orders_and_strides_are_converted(ctx: dtl.Context) -> None:
    for array in (_days.astype(">M8[D]"), ARRAYS["text"].astype(">U2"), ARRAYS["float16"].astype(">f2")):
        assert_same(dtl.asarray(ctx, array), array.astype(array.dtype.newbyteorder("=")))
    records = ARRAYS["records"].astype([("key", ">i4"), ("value", "<f4")])
    assert_same(dtl.asarray(ctx, records), ARRAYS["records"])
    assert_same(dtl.asarray(ctx, _days[::2]), _days[::2])
    assert_same(dtl.asarray(ctx, np.asfortranarray(np.stack([_days, _days]))), np.stack([_days, _days]))


def greatest_along(v: Any) -> Any:
    return v.max(axis=0)


def histogram_of_two_edges(v: Any) -> Any:
    return dtl.histogram(v, [0, 1])


def dot_of_itself(v: Any) -> Any:
    return dtl.dot(v, v)


def product_of_itself(v: Any) -> Any:
    return v @ v


#: What dates have, and other elements that are moved have not.
OF_DATES = (dtl.max, dtl.argmin, greatest_along)


#: What text has.
OF_TEXT = (dtl.argmin,)

#: What float16 has.
OF_FLOATS = [
    dtl.sum, dtl.max, dtl.argmin, dtl.mean, dtl.var, dtl.median, lambda v: v.sum(), greatest_along, dtl.cumsum,
    dtl.inclusive_scan, histogram_of_two_edges, dot_of_itself, product_of_itself,
]  # fmt: skip


@pytest.mark.parametrize(
    "call",
    [
        *OF_FLOATS, dtl.is_sorted, lambda v: dtl.topk(v, 1), lambda v: dtl.reduce(v, "max"), lambda v: v.remote(0),
    ],
)  # fmt: skip
def test_what_needs_numbers_says_so(ctx: dtl.Context, call: Callable[[Any], Any]) -> None:
    for name in ("days", "float16", "bytes", "five bytes"):
        vec = dtl.asarray(ctx, ARRAYS[name])
        has = {"days": OF_DATES, "float16": OF_FLOATS}.get(name, OF_TEXT)
        if call in has:
            call(vec)
            continue
        with pytest.raises(dtl.InvalidTypeError, match="moved, compared and sorted"):
            call(vec)


@pytest.mark.parametrize("function", [np.min, np.max, np.argmin, np.argmax, np.sum, np.mean])
def test_dates_are_reduced(ctx: dtl.Context, function: Any) -> None:
    complete = _days[~np.isnat(_days)]
    for array in (_days, complete, _days - complete[0], (complete - complete[0]).astype("m8[us]")):
        if array.dtype.kind == "M" and function in (np.sum, np.mean):
            with pytest.raises(dtl.InvalidTypeError, match="moved, compared and sorted"):
                function(dtl.asarray(ctx, array))
            continue
        table = np.stack([array, array[::-1], array])
        for name in divisions(ctx):
            vec = dtl.asarray(ctx, array, **division(name, len(array), ctx.size))
            got, wanted = function(vec), function(array)
            assert type(got) is type(wanted)
            same(got, wanted)
            several = dtl.asarray(ctx, table, **division(name, 3, ctx.size))
            for axis in (0, 1):
                assert_same(function(several, axis=axis), function(table, axis=axis))
            same(function(several), function(table))


@pytest.mark.parametrize("function", [np.argmin, np.argmax])
@pytest.mark.parametrize("name", ["text", "long text", "bytes", "forty bytes", "one byte"])
def test_text_has_extremes_somewhere(ctx: dtl.Context, name: str, function: Any) -> None:
    array = ARRAYS[name]
    table = np.stack([array, array[::-1], np.roll(array, 3)])
    for partition in divisions(ctx):
        same(function(dtl.asarray(ctx, array, **division(partition, len(array), ctx.size))), function(array))
        several = dtl.asarray(ctx, table, **division(partition, 3, ctx.size))
        same(function(several), function(table))
        for axis in (0, 1):
            assert_same(function(several, axis=axis), function(table, axis=axis))
    with pytest.raises(ValueError, match="empty"):
        function(dtl.asarray(ctx, array[:0]))


_MOST = np.iinfo(np.int64).max


def known(total: int, count: int = 1) -> Any:
    """Return a sum or mean of spans of time; None where NumPy has an error for it. NumPy before 2.5 wraps around."""
    if VERSION >= "2.5.0" and abs(total) > _MOST:
        return None
    return np.int64((total + _MOST + 1) % 2**64 - _MOST - 1).view("m8[ns]") / np.int64(count)


@pytest.mark.parametrize(
    "numbers",
    [
        [_MOST, 1, -5],
        [_MOST, 5, 0, 0],
        [-_MOST, -1],
        [-_MOST, -1, 3],
        [-(2**62), -(2**62), 5],
        [_MOST] * 5,
        [1, -(2**62), 2**62 - 1, _MOST],
    ],
)
def test_sums_of_spans_of_time_that_may_not_fit(ctx: dtl.Context, numbers: list[int]) -> None:
    array, size = np.array(numbers, "m8[ns]"), len(numbers)
    for name in divisions(ctx):
        vec = dtl.asarray(ctx, array, **division(name, size, ctx.size))
        line = dtl.asarray(ctx, array.reshape(1, size), **division(name, 1, ctx.size))
        column = dtl.asarray(ctx, array.reshape(size, 1), **division(name, size, ctx.size))
        for function, count in ((np.sum, 1), (np.mean, size)):
            wanted = known(sum(numbers), count)
            if wanted is None:
                for given, axis in ((vec, None), (line, 1), (column, 0)):
                    with pytest.raises(dtl.OverflowError, match="does not fit"):
                        function(given, axis=axis)
                continue
            same(function(vec), wanted)
            assert_same(function(line, axis=1), np.array([wanted]))
            assert_same(function(column, axis=0), np.array([wanted]))


@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize(
    "numbers",
    [
        [5, -7, _MOST, 2],
        [_MOST, 1, -5],
        [-_MOST, -1],
        [1, -(2**62), -(2**62), 0],
        [_MOST, "NaT", _MOST, _MOST],
        [_MOST, 1, "NaT"],
    ],
)
def test_cumulative_sums_of_spans_of_time_that_may_not_fit(
    ctx: dtl.Context, numbers: list[Any], exclusive: bool
) -> None:
    array, totals, nat = np.array(numbers, "m8[ns]"), [0], np.timedelta64("NaT", "ns")
    for number in numbers:
        totals.append(None if number == "NaT" or totals[-1] is None else totals[-1] + number)
    wanted = [nat if each is None else known(each) for each in (totals[:-1] if exclusive else totals[1:])]
    for name in divisions(ctx):
        vec = dtl.asarray(ctx, array, **division(name, len(array), ctx.size))
        table = dtl.asarray(ctx, np.stack([array, array], axis=1), **division(name, len(array), ctx.size))
        if any(each is None for each in wanted):
            for given in (vec, table):
                with pytest.raises(dtl.OverflowError, match="does not fit"):
                    dtl.cumsum(given, 0, exclusive=exclusive)
            continue
        assert_same(dtl.cumsum(vec, exclusive=exclusive), np.array(wanted))
        assert_same(dtl.cumsum(table, 0, exclusive=exclusive), np.stack([wanted, wanted], axis=1))


_SPANS = np.array([[5, -3, 7], [7, 100, 2]], "m8[h]")
_SOME = np.array([[True, False, True], [False, True, True]])
_LEAST, _GREATEST = np.timedelta64(-9, "D"), np.timedelta64(9, "D")


@pytest.mark.parametrize(
    "call",
    [
        lambda t, some: np.sum(t, where=some),
        lambda t, some: np.sum(t, axis=0, where=some),
        lambda t, some: np.sum(t, axis=1, where=some, keepdims=True),
        lambda t, some: np.sum(t, initial=np.timedelta64(1, "D")),
        lambda t, some: np.max(t, where=some, initial=_LEAST),
        lambda t, some: np.min(t, axis=1, where=some, initial=_GREATEST),
        lambda t, some: np.max(t + np.datetime64("2024-01-01"), where=some, initial=np.datetime64("1970-01-01")),
    ],
)
def test_masked_reductions_of_spans_of_time(ctx: dtl.Context, call: Callable[[Any, Any], Any]) -> None:
    for name in divisions(ctx):
        table = dtl.asarray(ctx, _SPANS, **division(name, 2, ctx.size))
        for some in (_SOME, dtl.asarray(ctx, _SOME)):
            got, wanted = call(table, some), call(_SPANS, _SOME)
            (assert_same if isinstance(got, dtl.DistributedContainer) else same)(got, wanted)


def test_masked_means_of_spans_of_time(ctx: dtl.Context) -> None:
    table = dtl.asarray(ctx, _SPANS)
    same(np.mean(table, where=_SOME), np.timedelta64(114 // 4, "h"))
    assert_same(np.mean(table, axis=0, where=_SOME), np.array([5, 100, 4], "m8[h]"))
    missing = table.copy()
    missing[0, 1] = np.timedelta64("NaT", "h")
    same(np.sum(missing, where=~np.isnat(missing)), np.timedelta64(121, "h"))
    with pytest.raises(dtl.InvalidTypeError, match="moved, compared and sorted"):
        np.std(table, where=_SOME)


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        ("M8[D]", "2024-05-06"),
        ("M8[s]", datetime.datetime(2024, 5, 6, 7)),
        ("M8[D]", datetime.date(2024, 5, 6)),
        ("M8[D]", ["2024-05-06", "NaT", "1969-01-01", "2000-01-01"]),
        ("M8[D]", 5),
        ("m8[h]", datetime.timedelta(hours=5)),
        ("m8[h]", 5),
    ],
)
def test_objects_become_dates(ctx: dtl.Context, dtype: str, value: Any) -> None:
    array = np.zeros(4, dtype)
    vec = dtl.asarray(ctx, array)
    vec[...] = value
    array[...] = value
    assert_same(vec, array)
    for wrong in ("nonsense", 2.5, None):
        with pytest.raises(dtl.InvalidTypeError, match="would not stay"):
            vec[0] = wrong


@pytest.mark.parametrize("dtype", [str, "S", "U30"])
def test_numbers_and_dates_become_text(ctx: dtl.Context, dtype: Any) -> None:
    for array in (np.array([7, -120, 3]), np.array([0.1, -1e300, np.nan]), _days, ARRAYS["bytes"][:5]):
        assert_same(dtl.asarray(ctx, array).astype(dtype), array.astype(array.astype(dtype).dtype))
    assert dtl.ones(ctx, 2).astype(">f4").dtype == np.float32


def test_dates_that_are_none(ctx: dtl.Context) -> None:
    none = dtl.zeros(ctx, 0, "m8[s]")
    same(none.sum(), np.timedelta64(0, "s"))
    for reduce in (dtl.min, dtl.argmax):
        with pytest.raises(dtl.InvalidArgumentError, match=r"empty|zero-size"):
            reduce(none)
    with pytest.raises(dtl.InvalidTypeError, match="takes no dtype"):
        dtl.sum(dtl.zeros(ctx, 3, "m8[s]"), dtype=np.float64)


def test_what_is_not_held(ctx: dtl.Context) -> None:
    for dtype in (f"S{2**24 + 1}", [("none", "S0")]):
        with pytest.raises(dtl.InvalidArgumentError, match="1 to 16777216 bytes"):
            dtl.zeros(ctx, 3, dtype)
    with pytest.raises(dtl.DTLError):
        dtl.zeros(ctx, 3, [("a", object)])
    vec = dtl.zeros(ctx, 3, "S4")
    for value in (b"longer", "text", 1.5):
        with pytest.raises(dtl.InvalidTypeError, match="would not stay"):
            vec[0] = value
    with pytest.raises(dtl.OverflowError, match="float16"):
        dtl.zeros(ctx, 3, np.float16)[0] = 1e6
    with pytest.raises(dtl.InvalidTypeError, match="cannot be sent"):
        dtl.allreduce(ctx, _days)


@pytest.mark.mpi(min_size=2)
def test_ranks_with_other_units_disagree(ctx: dtl.Context) -> None:
    with pytest.raises(dtl.CollectiveMismatchError):
        dtl.zeros(ctx, 3, "M8[s]" if ctx.rank else "M8[ms]")
    with pytest.raises(dtl.CollectiveMismatchError):
        dtl.zeros(ctx, 3, "M8[s]" if ctx.rank else "u8")
    with pytest.raises(dtl.CollectiveMismatchError):
        dtl.zeros(ctx, 3, "S5" if ctx.rank else "S6")


def same(got: Any, wanted: Any) -> None:
    assert got.dtype == wanted.dtype
    assert np.asarray(got).tobytes() == np.asarray(wanted).tobytes() or np.array_equal(got, wanted, equal_nan=True)


def assert_same(got: Any, wanted: Any) -> None:
    """Check dtype, shape and this rank's elements, of which a NaN is one too."""
    assert got.dtype == wanted.dtype
    assert got.shape == wanted.shape
    indices = np.ix_(*(got.local_indices(d) for d in range(wanted.ndim)))
    view = got.to_numpy()
    assert view.dtype == wanted.dtype
    assert np.ascontiguousarray(view).tobytes() == np.ascontiguousarray(wanted[indices]).tobytes()


@pytest.mark.parametrize(
    ("one", "other"), [("f2", "u2"), ("f2", "f8"), ("M8[s]", "M8[D]"), ("M8[s]", "u8"), ("S8", "U2")]
)
def test_plans_between_other_elements_are_refused(ctx: dtl.Context, one: str, other: str) -> None:
    """Also where the core moves both as the same type."""
    a, b = dtl.zeros(ctx, 4, one), dtl.zeros(ctx, 4, other)
    for src, dst in ((a, b), (b, a)):
        text = f"elements of {src.dtype} cannot move to elements of {dst.dtype}"
        with pytest.raises(dtl.InvalidArgumentError, match=re.escape(text)):
            dtl.RedistributionPlan(src, dst)
    dtl.RedistributionPlan(a, dtl.zeros(ctx, 4, one)).execute()
