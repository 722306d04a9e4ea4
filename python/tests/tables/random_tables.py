"""Random tables of every type of column, and how they are divided among the ranks."""

from __future__ import annotations

import datetime
import decimal
from typing import Any

import pytest
from grouped_rows import alike
from hypothesis import strategies as st

import dtl

pa = pytest.importorskip("pyarrow", "14", reason="tables are pyarrow's")

NAN = float("nan")
D = decimal.Decimal
DAY = datetime.date(2020, 2, 29)

#: Values of each type, of which random tables are made.
VALUES: dict[Any, list[Any]] = {
    pa.int64(): [3, 1, None, -2, 2**40],
    pa.int8(): [-128, 127, 0, None],
    pa.uint64(): [2**64 - 1, 2**63, 0, None],
    pa.float64(): [1.5, NAN, None, 0.0, -0.0, -2.25],
    pa.float32(): [1.5, NAN, None, 0.25],
    pa.bool_(): [True, False, None],
    pa.string(): ["b", "", None, "a", "\u00e9"],
    pa.binary(): [b"\xff", b"", None],
    pa.dictionary(pa.int32(), pa.string()): ["b", "a", None],
    pa.date32(): [DAY, datetime.date(1969, 1, 1), None],
    pa.timestamp("us", "UTC"): [datetime.datetime(2020, 1, day, tzinfo=datetime.timezone.utc) for day in (1, 2)],
    pa.duration("ms"): [datetime.timedelta(1), datetime.timedelta(-3), None],
    pa.decimal128(20, 2): [D("1.50"), D("-3.25"), D("100000000000000000.01"), None],
    pa.null(): [None],
}


def table_of(ctx: dtl.Context, rows: list[dict[str, Any]], schema: Any, ends: list[int]) -> dtl.Table:
    """Return a table of rows that every rank has, of which each rank has those up to its end."""
    made = {}
    for field in schema:
        values = pa.array([row[field.name] for row in rows], _plain(field.type))
        made[field.name] = values.dictionary_encode() if pa.types.is_dictionary(field.type) else values
    whole = pa.table(made)
    begin, end = [0, *ends][ctx.rank], ends[ctx.rank]
    return dtl.Table.from_arrow(ctx, whole.slice(begin, end - begin))


def _plain(kind: Any) -> Any:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def compare(ctx: dtl.Context, made: dtl.Table, want: list[list[Any]]) -> None:
    """Compare the rows of a table with lists, on every rank."""
    whole = dtl.broadcast_object(ctx, made.to_arrow())
    assert sum(made.rows.counts) == len(want) == len(whole)
    assert made.rows.counts[ctx.rank] == len(made.rows.local)
    for name, column, values in zip(whole.column_names, whole.columns, zip(*want) if want else [[]] * 99):
        got = column.to_pylist()
        assert all(map(alike, got, values)), (name, got, list(values))


@st.composite
def tables(draw: Any, most: int = 30) -> tuple[list[dict[str, Any]], Any, list[int]]:
    """Draw rows with the columns a, b and x, and where the rows of three ranks end."""
    kinds = {name: draw(st.sampled_from(list(VALUES))) for name in ("a", "b", "x")}
    count = draw(st.integers(0, most))
    drawn = [draw(st.lists(st.sampled_from(VALUES[kind]), min_size=count, max_size=count)) for kind in kinds.values()]
    rows = [dict(zip(kinds, each)) for each in zip(*drawn)]
    cuts = sorted(draw(st.lists(st.integers(0, count), min_size=3, max_size=3)))
    return rows, pa.schema(list(kinds.items())), cuts


def ends_of(ctx: dtl.Context, rows: list[Any], cuts: list[int]) -> list[int]:
    """Return where the rows of each rank end."""
    return [*cuts[: ctx.size - 1], *[len(rows)] * (ctx.size - min(ctx.size - 1, len(cuts)))]
