"""Arrow's rarer types: rows that are taken, moved, ordered, written and read again are the rows that were given."""

from __future__ import annotations

import ctypes
import datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from test_table import casts_views, divided, everywhere

import dtl

pa = pytest.importorskip("pyarrow", "14", reason="tables are pyarrow's")
pytest.importorskip("pyarrow.parquet", reason="needs pyarrow with Parquet")

ROWS = 7


def coded(values: Any, width: Any = None, ordered: bool = False) -> Any:
    indices = pa.array([0, 1, 2, None, 0, 1, 2], width or pa.int8())
    return pa.DictionaryArray.from_arrays(indices, pa.array(values), ordered=ordered)


def lists(values: list[Any], kind: Any) -> Any:
    return pa.array([values[:1], None, [], values, values[:2], [None], []], kind)


def runs(ends: list[int], width: Any, values: Any) -> Any:
    return pa.RunEndEncodedArray.from_arrays(ends, values, pa.run_end_encoded(width, values.type))


def views() -> dict[str, Any]:
    """Return columns of types that came with pyarrow 16 to 18."""
    if not casts_views():
        return {}
    text, data = pa.string_view(), pa.binary_view()
    return {
        "string view": pa.array(["a", None, "longer than twelve", "é", "", "x", "y"], text),
        "binary view": pa.array([b"a", None, b"longer than twelve", b"\xff", b"", b"x", b"y"], data),
        "categories of views": coded(["a", "b", "c"]).cast(pa.dictionary(pa.int8(), pa.string())),
        "list view": lists([1, 2, 3], pa.list_view(pa.int8())),
        "large list view of views": lists(["a", "b", "c"], pa.large_list_view(text)),
        "list of views": lists(["a", "b", "c"], pa.list_(text)),
        "list of lists of views": lists([["a"], ["b", None], []], pa.list_(pa.list_view(text))),
        "fixed list of views": pa.array([["a", "b"], None, *[["c", None]] * 5], pa.list_(text, 2)),
        "struct of views": pa.array([{"a": "x", "b": b"y"}, None, *[{"a": None, "b": b""}] * 5],
            pa.struct({"a": text, "b": data})),
        "map of views": pa.array([[("a", "b")], None, [], *[[("c", None)]] * 4], pa.map_(text, text)),
    }  # fmt: skip


COLUMNS = {
    **{f"categories by {kind}": coded(["a", "b", None], kind) for kind in (pa.uint8(), pa.uint16(), pa.int64())},
    "categories by uint64": coded(["a", "b", "c"], pa.uint64()),
    "categories twice": coded(["a", "a", None]),
    "ordered integers": coded([9, 3, 5], pa.uint16(), ordered=True),
    "categories of dates": coded([datetime.date(2020, 1, 1), datetime.date(1960, 2, 3), None]),
    "categories of decimals": coded([Decimal("1.5"), Decimal("-2.25"), None]),
    "categories of floats": coded([1.5, float("nan"), None]),
    "categories of bytes": coded([b"x", b"", None]),
    "runs": runs([3, 5, 7], pa.int16(), pa.array(["a", None, "b"])),
    "runs of categories": runs([2, 3, 6, 7], pa.int64(), coded("abc")[1:5]),
    "large text": pa.array(["a", None, "b", "é", "", "x", "y"], pa.large_string()),
    "large list of large text": lists(["a", "b", "c"], pa.large_list(pa.large_string())),
    "list of categories": pa.ListArray.from_arrays([0, 1, 3, 3, 4, 5, 7, 7], coded(["a", "b", None])),
    "lists of a size of categories": pa.FixedSizeListArray.from_arrays(
        pa.array([*["a", "b", None] * 4, "a", "c"]).dictionary_encode(), 2
    ),
    "categories of lists": pa.DictionaryArray.from_arrays(
        pa.array([0, 1, None, 2, 0, 0, 1], pa.int8()), pa.array([["a", None], [], None])
    ),
    "struct of categories": pa.StructArray.from_arrays([coded(["a", "b", None])], ["d"]),
    "list of runs": pa.ListArray.from_arrays([0, 1, 3, 3, 4, 5, 7, 7], runs([3, 7], pa.int32(), pa.array([1, None]))),
    "null": pa.nulls(ROWS),
    "durations": pa.array([1, None, -3, 4, 5, 6, 7], pa.duration("ms")),
    "times of day": pa.array([1, None, 3, 4, 5, 6, 7], pa.time32("s")),
    "dates of milliseconds": pa.array([datetime.date(2020, 1, 1), None, *[datetime.date(1960, 1, 1)] * 5], pa.date64()),
    "wide decimals": pa.array([Decimal("1.5"), None, *[Decimal("-2.25")] * 5], pa.decimal256(60, 2)),
    "bytes of a width": pa.array([b"abc", None, *[b"xyz"] * 5], pa.binary(3)),
    "map": pa.array([[("a", 1)], None, [], *[[("b", None)]] * 4], pa.map_(pa.string(), pa.int8())),
    **views(),
}

if hasattr(pa, "decimal32"):  # as pyarrow has from 18 on
    COLUMNS["narrow decimals"] = pa.array([Decimal("1.5"), None, *[Decimal("-2.25")] * 5], pa.decimal32(5, 2))

#: Those that Parquet has not.
ELSEWHERE = {
    "months": pa.array([pa.MonthDayNano([1, 2, 3]), None, *[pa.MonthDayNano([0, 0, 0])] * 5]),
    "union": pa.UnionArray.from_sparse(
        pa.array([0, 1, 0, 1, 0, 1, 0], pa.int8()), [pa.array(range(7)), pa.array(list("abcdefg"))]
    ),
}

NEW = int(pa.__version__.partition(".")[0]) > 14
(COLUMNS if NEW else ELSEWHERE)["half"] = pa.array(np.array([1, 2, np.nan, np.inf, 0.1, -0.0, 65504], np.float16))


@pytest.mark.parametrize("name", [*COLUMNS, *ELSEWHERE])
def test_rows_are_carried(ctx: dtl.Context, folder: str, name: str) -> None:
    column = {**COLUMNS, **ELSEWHERE}[name]
    values = column.to_pylist()

    def check(table: dtl.Table, wanted: list[Any]) -> None:
        assert repr(everywhere(table)["x"].to_pylist()) == repr(wanted)  # NaN is alike

    def given(lo: int, hi: int) -> Any:
        return pa.table({"x": column.slice(lo, hi - lo), "i": range(lo, hi)})

    if name == "months" and not NEW:
        with pytest.raises(TypeError, match="'x' is of month_day_nano_interval, whose values pyarrow 14"):
            dtl.from_arrow(ctx, given(0, ROWS))
        return
    bounds = [ROWS * rank // ctx.size for rank in range(ctx.size + 1)]
    table = dtl.from_arrow(ctx, given(bounds[ctx.rank], bounds[ctx.rank + 1]))
    check(dtl.from_arrow(ctx, given(0, ROWS) if ctx.is_root else None), values)
    check(dtl.Table(ctx, {"x": column}), values)
    check(table[table["i"] > 2], values[3:])
    check(table.sort_values("i", ascending=False).concat(table[2:4]), values[::-1] + values[2:4])
    check(table.merge(table[["i"]][1:], on="i"), values[1:])
    for path in ("a.arrow/", *(("a.parquet",) if name in COLUMNS else ("b.arrow",))):
        table.save(f"{folder}/{path}")
        check(dtl.load(ctx, f"{folder}/{path}"), values)
    if name in ELSEWHERE:
        with pytest.raises(TypeError, match=r"Parquet has no column of .*, as 'x' is"):
            table.save(f"{folder}/a.parquet")


def test_decimals_of_fewer_bits(ctx: dtl.Context) -> None:
    if not hasattr(pa, "decimal32"):
        return
    for kind in (pa.decimal32(5, 2), pa.decimal64(12, 2)):
        table = divided(ctx, pa.table({"x": pa.array([Decimal("1.5"), None, Decimal("-2.25")], kind)}), "last")
        assert everywhere(table.sort_values("x"))["x"].to_pylist() == [Decimal("-2.25"), Decimal("1.50"), None]
        assert table["x"].sum() == Decimal("-0.75")


def test_types_without_an_order(ctx: dtl.Context) -> None:
    columns = [pa.array([[2, 1], None], pa.list_(pa.int64(), 2))]
    if hasattr(pa, "uuid"):
        columns.append(pa.ExtensionArray.from_storage(pa.uuid(), pa.array([b"b" * 16, None], pa.binary(16))))
    for column in columns:
        table = divided(ctx, pa.table({"x": column}))
        for call in (lambda t: t.sort_values("x"), lambda t: t["x"].argsort(), lambda t: t.nlargest(1, "x")):
            with pytest.raises(TypeError, match=r"'x' is of .*, by which no rows are sorted"):
                call(table)
        for call in (lambda t: t.group_by("x").size(), lambda t: t["x"].mode()):
            with pytest.raises(TypeError, match=r"'x' is of .*, which is no key"):
                call(table)


def test_types_that_polars_has_not(ctx: dtl.Context) -> None:
    for kind in (pa.decimal256(60, 2), *([pa.month_day_nano_interval()] if NEW else [])):
        for column in (pa.nulls(2, kind), pa.nulls(2, pa.list_(kind))):
            with pytest.raises(TypeError, match=r"'x' is of .*, which Polars has not"):
                dtl.Table(ctx, {"x": column}).to_polars()


def _null_over(number: int) -> Any:
    """Return 1, null and 3, of which the null lies over a number."""
    memory = np.array([1, number, 3]).tobytes()
    return pa.Array.from_buffers(pa.int64(), 3, [pa.py_buffer(b"\5"), pa.py_buffer(memory)])


@pytest.mark.parametrize(
    "within",
    [
        lambda values: values,
        lambda values: pa.ListArray.from_arrays([0, 2, 3], values),
        lambda values: pa.FixedSizeListArray.from_arrays(values, 3),
        lambda values: pa.StructArray.from_arrays([values], ["part"]),
        lambda values: pa.MapArray.from_arrays([0, 2, 3], pa.array(["a", "b", "c"]), values),
    ],
    ids=["numbers", "lists", "lists of a size", "structs", "maps"],
)
def test_what_lies_under_nulls_is_no_value(ctx: dtl.Context, within: Any) -> None:
    column = within(_null_over(ctx.rank))
    assert everywhere(dtl.Table(ctx, {"x": column}))["x"].to_pylist() == column.to_pylist()


def test_what_lies_behind_truths_is_no_value(ctx: dtl.Context) -> None:
    column = pa.array([True, False, True, ctx.is_root]).slice(0, 3)
    assert everywhere(dtl.Table(ctx, {"x": column}))["x"].to_pylist() == [True, False, True]


def test_intervals_that_pyarrow_does_not_know(ctx: dtl.Context, folder: str) -> None:
    table = pa.Table.from_batches([], pa.schema([("span", _month_interval())]))
    with pytest.raises(TypeError, match="'span' is of month_interval"):
        dtl.from_arrow(ctx, table if ctx.is_root else None)
    if ctx.is_root:
        pa.ipc.new_file(f"{folder}/a.arrow", table.schema).close()
    ctx.barrier()
    with pytest.raises(TypeError, match="'span' is of month_interval"):
        dtl.read_arrow(ctx, f"{folder}/a.arrow")


class _Schema(ctypes.Structure):
    """A schema of Arrow's C data interface."""

    _fields_ = [
        ("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_char_p),
        ("flags", ctypes.c_int64), ("n_children", ctypes.c_int64), ("children", ctypes.c_void_p),
        ("dictionary", ctypes.c_void_p), ("release", ctypes.c_void_p), ("private_data", ctypes.c_void_p),
    ]  # fmt: skip


@ctypes.CFUNCTYPE(None, ctypes.POINTER(_Schema))
def _release(schema: Any) -> None:
    schema[0].release = None


def _month_interval() -> Any:
    """Return the type, of which pyarrow has no function, as another library passes it."""
    schema = _Schema(b"tiM", b"", None, 2, 0, None, None, ctypes.cast(_release, ctypes.c_void_p), None)
    return pa.DataType._import_from_c(ctypes.addressof(schema))


def test_random_lists_of_views(ctx: dtl.Context) -> None:
    """pyarrow's own cast of views of lists is not asked: that of pyarrow 26 loses values behind a null."""
    if not casts_views():
        return
    draw = np.random.default_rng(5)
    values = [
        None if draw.random() < 0.2 else [str(n) for n in draw.integers(0, 99, draw.integers(4))] for _ in range(99)
    ]
    column = pa.array(values, pa.list_view(pa.string_view()))
    assert everywhere(divided(ctx, pa.table({"x": column})))["x"].to_pylist() == values
