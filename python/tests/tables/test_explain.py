"""What calls of tables say that they would send, compared with what traces count of the calls."""

from __future__ import annotations

import collections
from typing import Any, Callable

import numpy as np
import pytest

import dtl
from dtl._native import slow_paths as told
from dtl.tables import owners, partners

pa = pytest.importorskip("pyarrow", "14", reason="tables are pyarrow's")

ROWS = 6000


@pytest.fixture
def table(ctx: dtl.Context) -> dtl.Table:
    number = np.arange(ROWS)
    columns = {"k": number % 50, "a": number % 7, "x": number * 1.5, "s": [f"v{each % 9}" for each in number]}
    return dtl.Table(ctx, columns)


def second(ctx: dtl.Context, rows: int) -> dtl.Table:
    return dtl.Table(ctx, {"k": np.arange(rows) * 3, "y": np.arange(rows)})


def _some(group: Any) -> bool:
    return len(group) > 0


#: Calls, what they send in which order, and whether all bytes are known before.
CALLS: dict[str, tuple[Callable[[Any], Any], list[str], bool]] = {
    "agg": (lambda t: t.group_by(["a", "s"]).agg({"x": "sum"}), ["each rank's groups"], True),
    "column's agg": (lambda t: t.group_by("a")["x"].mean(), ["each rank's groups"], True),
    "agg of values": (lambda t: t.group_by("k").agg({"x": ["median", "sum"]}), ["each rank's groups", "values"], False),
    "transform": (lambda t: t.group_by("k")["x"].transform("sum"), ["each rank's groups", "results"], False),
    "rank": (lambda t: t.group_by("k")["x"].rank(), ["each rank's groups", "values", "results"], False),
    "drop_duplicates": (lambda t: t.drop_duplicates(["a", "s"]), ["each rank's groups", "results"], False),
    "sort_values": (lambda t: t.sort_values(["s", "x"]), ["a few rows", "rows to the ranks"], True),
    "shift": (lambda t: t["x"].shift(2), ["halo"], True),
    "nunique": (lambda t: t["s"].nunique(), ["each rank's distinct values"], True),
    "table's nunique": (lambda t: t.nunique(), ["each rank's distinct values"], True),
    "table's shift": (lambda t: t.shift(2), ["halo"], True),
    "to_arrow": (lambda t: t.to_arrow(), ["all rows to one rank"], True),
    "small merge": (lambda t: t.merge(second(t.context, 100), on="k"), ["the second table"], True),
    "large merge": (lambda t: t.merge(second(t.context, 5000), on="k"), ["which keys", "rows of the second"], True),
    "cross join": (lambda t: t.merge(second(t.context, 3)[["y"]], how="cross"), ["the second table"], True),
    "concat": (lambda t: t.concat(second(t.context, 4000)), ["rows in equal parts"], False),
    "head": (lambda t: t.head(7), [], True),
    "group's head": (lambda t: t.group_by("k").head(2), ["each rank's groups", "values", "results"], False),
    "ngroup": (lambda t: t.group_by("k").ngroup(), ["each rank's groups", "results"], False),
    "filter": (lambda t: t.group_by("k").filter(_some), ["each rank's groups", "values", "results"], False),
    "asof": (
        lambda t: t.merge_asof(second(t.context, 3000), left_on="x", right_on="k"),
        ["rows of the second"],
        True,
    ),
    "sum": (lambda t: t["x"].sum(), [], True),
}


@pytest.mark.parametrize("name", CALLS)
def test_as_counted(ctx: dtl.Context, table: dtl.Table, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partners, "SMALL", 1 << 12)
    call, whats, exact = CALLS[name]
    moves = call(table.explain())
    with dtl.trace() as trace:
        call(table)
    sums = dtl.broadcast_object(ctx, trace.sums(ctx))
    counted: collections.Counter[str] = collections.Counter()
    for each in sums:  # of each column by itself, where a call goes over columns
        if ": " in each.operation:
            counted[each.operation.partition(": ")[2]] += each.bytes
    assert {move.what: move.bytes for move in moves}.keys() == counted.keys()
    if ctx.size == 1:
        assert (counted, moves.bytes) == ({}, 0)
        assert str(moves).endswith("no row moves")
        return
    assert [move.what[: len(what)] for move, what in zip(moves, whats)] == whats
    assert len(moves) == len(whats)
    for move in moves:
        known = pytest.approx(counted[move.what], rel=0.0 if exact else 0.4, abs=0 if exact else 4000)
        assert move.bytes == known, (move, counted)
    assert all(move.what in str(moves) for move in moves)


def test_names_of_calls_in_traces(ctx: dtl.Context, table: dtl.Table) -> None:
    with dtl.trace() as trace:
        table.merge(second(ctx, 10), on="k", validate="m:1")
        table.group_by(["a", "s"]).agg({"x": "median"})
        table.sort_values("x", ascending=False)
    names = {record.operation.partition(": ")[0] for record in trace if ": " in record.operation}
    wanted = {"merge on 'k'", "group_by 'a', 's', agg", "sort_values by 'x'"}
    assert names == (wanted if ctx.size > 1 else set())


@pytest.mark.parametrize("how", ["right", "outer"])
def test_what_is_not_known_before(ctx: dtl.Context, table: dtl.Table, how: str) -> None:
    moves = table.explain().merge(second(ctx, 10), on="k", how=how, validate="m:1")
    unknown = [move.what for move in moves if move.bytes is None]
    even = ["rows in equal parts"] if how == "outer" else []
    assert unknown == (["keys of the right table, for validate", *even] if ctx.size > 1 else [])


def test_asof_in_groups(ctx: dtl.Context, table: dtl.Table) -> None:
    other = second(ctx, 3000)
    moves = table.explain().merge_asof(other, left_on="x", right_on="k", left_by="a", right_by="y")
    wanted = ["the first and last rows of each group", "rows of the second table to the ranks of near keys"]
    assert [move.what for move in moves] == (wanted if ctx.size > 1 else [])
    assert [move.bytes is None for move in moves] == ([False, True] if ctx.size > 1 else [])


def test_nothing_is_changed(ctx: dtl.Context, table: dtl.Table, folder: str) -> None:
    before = table.to_arrow()
    plan = table.explain()
    plan.drop_duplicates("k")
    assert plan.shape == table.shape
    assert {"merge", "save"}.intersection(dir(plan)) == {"merge"}
    for name in ("save", "show", "info"):
        with pytest.raises(dtl.InvalidArgumentError, match=f"{name} is not explained"):
            getattr(plan, name)
    with pytest.raises(dtl.KeyNotFoundError, match="there is no column 'c'"):
        plan.group_by("c")
    with pytest.raises(dtl.InvalidTypeError, match=r"right must be a dtl\.Table"):
        plan.merge(3)
    assert dtl.broadcast_object(ctx, table.to_arrow()).equals(dtl.broadcast_object(ctx, before))


def test_second_table_in_the_ledger(ctx: dtl.Context, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partners, "SMALL", 1 << 10)
    other = dtl.Table(ctx, {"k": np.arange(1000), "y": np.arange(1000)})
    table = dtl.Table(ctx, {"k": np.arange(40_000) % 1000})
    with dtl.slow_paths() as slow:
        table.merge(other, on="k")
    found = [(record.kind, record.operation, record.bytes) for record in slow]
    assert found == ([(told.SECOND_TABLE, "merge on 'k'", 16_000)] if ctx.size > 1 else [])
    assert not found or "select the rows and columns" in str(slow)


def test_uneven_groups_in_the_ledger(ctx: dtl.Context, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(owners, "_MUCH", 1 << 10)
    for keys, uneven in ((np.zeros(9000, np.int64), True), (np.arange(9000) % 100, False)):
        table = dtl.Table(ctx, {"k": keys, "x": np.arange(9000.0)})
        with dtl.slow_paths() as slow:
            table.group_by("k").agg({"x": "median"})
            table.group_by("k").agg({"x": "mean"})
        found = [(record.kind, record.operation) for record in slow]
        wanted = [(told.UNEVEN, "group_by 'k', agg")] if uneven and ctx.size > 1 and ctx.rank == 0 else []
        assert found == wanted
