"""Columns in memory: their order, their rows, and what Arrow, pandas and polars make of them and give."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from divisions import DIVISIONS, vector

import dtl

pa = pytest.importorskip("pyarrow", "14", reason="needs pyarrow 14; runs where the extra io is")
compute = pytest.importorskip("pyarrow.compute", reason="needs pyarrow; runs where the extra io is")

WORDS = ["plum", "fig", None, "apple", "fig", "élan", "", "fig", "apple"]


def table(rows: int = 40) -> Any:
    rng = np.random.default_rng(rows)
    return pa.table(
        {
            "word": pa.array([WORDS[i] for i in rng.integers(0, len(WORDS), rows)], pa.string()),
            "number": pa.array([None if n == 3 else int(n) for n in rng.integers(0, 6, rows)], pa.int64()),
            "share": pa.array(np.where(np.arange(rows) % 7 == 5, np.nan, rng.integers(0, 3, rows) / 2)),
            "day": pa.array(rng.integers(0, 9, rows), pa.int32()).cast(pa.date32()),
            "flag": pa.array(rng.integers(0, 2, rows) == 1),
            "row": pa.array(np.arange(rows)),
        }
    )


def part(ctx: dtl.Context, of: Any) -> Any:
    """Return this rank's rows: as many as its number asks for, and of the last one all that are left."""
    sizes = [(rank * 7) % 11 for rank in range(ctx.size)]
    start = sum(sizes[: ctx.rank])
    return of.slice(start, sizes[ctx.rank] if ctx.rank < ctx.size - 1 else None)


def gathered(columns: dtl.Columns) -> Any:
    """Return the table of all rows on every rank."""
    made = dtl.broadcast_object(columns["row"].context, columns.gather_to(0), 0)
    made.validate(full=True)
    return made


def same(a: Any, b: Any) -> bool:
    """Say whether two tables are, NaNs being equal."""
    return bool(a.schema.equals(b.schema) and repr(a.to_pylist()) == repr(b.to_pylist()))


@pytest.mark.parametrize("division", DIVISIONS)
def test_arrow_in_and_out(ctx: dtl.Context, division: str) -> None:
    for rows in (0, 1, 40):
        of = table(rows)
        name = "block" if division == "explicit" else division
        with dtl.Columns.from_arrow(ctx, part(ctx, of), partition=name) as columns:
            assert same(gathered(columns), of)
            local = pa.table(columns)
            assert local.num_rows == columns["row"].local_size
            assert same(local, of.take(columns["row"].local_indices()))
            asked = pa.schema([field.with_type(pa.int32()) if field.name == "row" else field for field in of.schema])
            stream = columns.__arrow_c_stream__(asked.__arrow_c_schema__())
            assert pa.RecordBatchReader._import_from_c_capsule(stream).schema.names == of.column_names
    of = table(5)
    with dtl.Columns.from_arrow(ctx, of if ctx.rank == ctx.size - 1 else None) as columns:
        assert same(gathered(columns), of)
        assert columns.gather_to(ctx.size - 1) is None or ctx.rank == ctx.size - 1


def test_types_that_differ_by_rank(ctx: dtl.Context) -> None:
    """What has no values on one rank has the type that it has on another."""
    empty = pa.table({"row": pa.array([1]), "a": pa.array([None]), "b": pa.array([None])})
    full = pa.table({"row": pa.array([2]), "a": pa.array(["x"]), "b": pa.array([2.5])})
    with dtl.Columns.from_arrow(ctx, full if ctx.rank == ctx.size - 1 else empty) as columns:
        rows = gathered(columns).to_pylist()
    assert rows == [{"row": 1, "a": None, "b": None}] * (ctx.size - 1) + [{"row": 2, "a": "x", "b": 2.5}]
    kinds = [pa.large_string(), pa.dictionary(pa.int8(), pa.string()), pa.uint8(), pa.float32(), pa.duration("us")]
    for kind in kinds:
        text = pa.types.is_dictionary(kind) or pa.types.is_large_string(kind)
        array = pa.array(["b", "a"] if text else [1, 2]).cast(kind)
        with dtl.Columns.from_arrow(ctx, pa.table({"row": array})) as columns:
            made = gathered(columns)["row"]
            assert made.to_pylist() == array.to_pylist() * ctx.size
            assert made.type == (pa.string() if text else kind)


def test_pandas(ctx: dtl.Context) -> None:
    pandas = pytest.importorskip("pandas", reason="not installed; runs in the environments of `make setup`")
    frame = table().drop_columns("day").to_pandas()
    with dtl.Columns.from_arrow(ctx, frame if ctx.is_root else None, partition="cyclic") as columns:
        assert "share" in columns.masks
        again = gathered(columns).to_pandas()
        pandas.testing.assert_frame_equal(again, frame, check_dtype=False)
        local = pa.table(columns).to_pandas()
        pandas.testing.assert_frame_equal(
            local, frame.iloc[columns["row"].local_indices()].reset_index(drop=True), check_dtype=False
        )


@pytest.mark.parametrize("division", ["block", "cyclic", "replicated"])
def test_missing_values(ctx: dtl.Context, division: str) -> None:
    of = table()
    for name, every in (("share", 3), ("day", 4), ("flag", 5)):
        values = [None if row % every == 0 else value for row, value in enumerate(of[name].to_pylist())]
        of = of.set_column(of.column_names.index(name), name, pa.array(values, of[name].type))
    with dtl.Columns.from_arrow(ctx, of if ctx.is_root else None, partition=division) as columns:
        assert set(columns.masks) == {"word", "number", "share", "flag", "day"}
        for name in ("number", "share", "flag", "day"):
            with pytest.raises(dtl.InvalidArgumentError, match=f"column .{name}. is .* with missing values"):
                columns[name]
        known = of.drop_null()
        with columns.drop_missing() as made:
            assert made["number"].partition_policy is columns["row"].partition_policy
            assert not made.masks.keys() & {"number", "share", "flag", "day"}
            assert same(gathered(made), known)
            assert made["number"].mean() == pytest.approx(np.mean(known["number"].to_pylist()))
        with columns.drop_missing(["number"]) as made:
            assert "share" in made.masks
            assert same(gathered(made), of.filter(of["number"].is_valid()))
        numbers = [np.nan if value is None else float(value) for value in of["number"].to_pylist()]
        with columns.filled("number") as filled:
            np.testing.assert_array_equal(np.asarray(dtl.broadcast_object(ctx, filled.gather_to(0), 0)), numbers)
        for name, value in (("number", 7), ("share", 0.5), ("flag", True)):
            expected = [value if one is None else one for one in of[name].to_pylist()]
            with columns.filled(name, value) as filled:
                got = dtl.broadcast_object(ctx, filled.gather_to(0), 0)
            assert got.dtype == {"number": np.int64, "share": np.float64, "flag": np.bool_}[name]
            np.testing.assert_array_equal(got, expected)
        with columns.filled("day") as filled:
            days = dtl.broadcast_object(ctx, filled.gather_to(0), 0).view(columns.times["day"])
        assert np.isnat(days).tolist() == of["day"].is_null().to_pylist()
        for name, value, error in (
            ("none", 0, dtl.KeyNotFoundError),
            ("word", 0, dtl.InvalidTypeError),
            ("number", 1.5, dtl.InvalidTypeError),
            ("number", 2**70, OverflowError),
            ("number", [1, 2], dtl.InvalidTypeError),
            ("number", "x", dtl.InvalidTypeError),
        ):
            with pytest.raises(error):
                columns.filled(name, value)
        for names, error in (("none", dtl.KeyNotFoundError), ([], dtl.InvalidArgumentError), (3, dtl.InvalidTypeError)):
            with pytest.raises(error):
                columns.drop_missing(names)


@pytest.mark.parametrize("division", ["block", "cyclic", "replicated"])
def test_sort_by(ctx: dtl.Context, division: str) -> None:
    of = table()
    rows = of.to_pylist()
    with dtl.Columns.from_arrow(ctx, of if ctx.is_root else None, partition=division) as columns:
        for by in (["word"], ["number", "word"], ["share", "flag", "day"]):
            for down in list(itertools.product([False, True], repeat=len(by)))[:: len(by)]:
                order = list(rows)
                for name, reverse in list(zip(by, down))[::-1]:
                    known = [row for row in order if row[name] is not None and row[name] == row[name]]
                    last = [row for row in order if row[name] is not None and row[name] != row[name]]
                    none = [row for row in order if row[name] is None]
                    order = sorted(known, key=lambda row: row[name], reverse=reverse) + last + none
                with columns.sort_by(by, reverse=list(down)) as made:
                    assert made["row"].partition_policy is columns["row"].partition_policy
                    assert same(gathered(made), of.take([row["row"] for row in order])), (by, down)
        with columns.sort_by("row", reverse=True) as made:
            assert gathered(made)["row"].to_pylist() == list(range(40))[::-1]
        for by, more, text in (
            ("none", {}, "no column 'none'"),
            ([], {}, "no column to sort by"),
            ([3], {}, "must be text"),
            (b"row", {}, "must be a name"),
            (3, {}, "must be a name"),
            ("row", {"reverse": [True, False]}, "reverse has 2 values for 1"),
            ("row", {"reverse": "yes"}, "reverse"),
        ):
            with pytest.raises((dtl.InvalidArgumentError, dtl.KeyNotFoundError), match=text):
                columns.sort_by(by, **more)


def test_take(ctx: dtl.Context) -> None:
    of = table()
    two = pa.table({"row": [2, 4], "name": ["two", "four"]})
    with dtl.Columns.from_arrow(ctx, part(ctx, of)) as columns:
        with columns.take([3, 39, 3]) as made:
            assert same(gathered(made), of.take([3, 39, 3]))
        with vector(ctx, np.array([5, 2, 2, 7, 39]), "cyclic") as chosen, columns.take(chosen) as made:
            assert same(gathered(made), of.take([5, 2, 2, 7, 39]))
            assert made["word"].partition_policy is dtl.PARTITION_CYCLIC
        with pytest.raises(dtl.BoundsError, match="index 40 outside"):
            columns.take([40])
        # The rows of both sides of a join.
        with dtl.Columns.from_arrow(ctx, two if ctx.is_root else None) as names:
            left, right = dtl.join(columns.filled("number", -1), names["row"])
            with columns.take(left) as lefts, names.take(right) as rights:
                numbers, words = gathered(lefts)["number"].to_pylist(), gathered(rights)["name"].to_pylist()
            expected = [{2: "two", 4: "four"}[n] for n in sorted(of["number"].fill_null(0).to_pylist()) if n in (2, 4)]
            assert words == expected
            assert {2: "two", 4: "four"}[numbers[0]] == words[0]


@pytest.mark.parametrize("how", ["inner", "left", "outer", "semi", "anti"])
def test_join_of_text(ctx: dtl.Context, how: str) -> None:
    """The tables number their texts differently, and neither has all."""
    words = ["plum", None, "fig", "kiwi", "fig", "apple"]
    others = ["kiwi", "zest", None, "fig", "apricot"]
    left = dtl.Columns.from_arrow(ctx, part(ctx, pa.table({"what": words})))
    right = dtl.Columns.from_arrow(ctx, part(ctx, pa.table({"of": others})), partition="cyclic")
    with left, right:
        found = left.join(right, "what", how, other_on="of")
        rows = [vec.gather_to() for vec in (found if isinstance(found, tuple) else (found,))]
    inner = [(2, 3), (4, 3), (3, 0)]
    alone, alone_there = [(1, -1), (5, -1), (0, -1)], [(-1, 2), (-1, 4), (-1, 1)]
    expected: dict[str, list[tuple[int, ...]]] = {
        "inner": inner,
        "left": inner + alone,
        "outer": inner + alone + alone_there,
        "semi": [(2,), (4,), (3,)],
        "anti": [(1,), (5,), (0,)],
    }
    if ctx.is_root:
        assert list(zip(*(each.tolist() for each in rows))) == expected[how]


def test_join_refuses(ctx: dtl.Context) -> None:
    mine = pa.table({"word": ["a"], "row": [1], "day": np.array(["2026-01-01"], "M8[D]")})
    left = dtl.Columns.from_arrow(ctx, part(ctx, mine))
    with left:
        for other, on, more, kind, text in (
            (left, "word", {"other_on": "row"}, dtl.InvalidTypeError, "'word' is of text, and 'row' of numbers"),
            (left, "row", {"other_on": "day"}, dtl.InvalidTypeError, "'row' is of numbers, and 'day' of datetime64"),
            (left, "none", {}, dtl.KeyNotFoundError, "no column 'none'"),
            ({}, "row", {}, dtl.InvalidTypeError, "other must be Columns, not dict"),
        ):
            with pytest.raises(kind, match=text):
                left.join(other, on, **more)
    # The codes of two tables, and times of two units, are numbers that do not mean the same.
    times = [pa.array([1], pa.timestamp(unit, zone)) for unit, zone in (("s", None), ("ms", None), ("s", "UTC"))]
    tables = [pa.table({"word": [word], "t": t, "row": [1]}) for word, t in zip(["a", "b", "c"], times)]
    made = [dtl.Columns.from_arrow(ctx, each if ctx.is_root else None) for each in tables]
    for name in ("word", "t"):
        for other in made[1:]:
            with pytest.raises(dtl.InvalidTypeError, match=r"columns of .* whose numbers do not mean the same"):
                dtl.join(made[0][name], other[name])
        assert len(dtl.join(made[0][name], made[0][name])[0]) == 1
    assert len(dtl.join(made[0]["row"], made[1]["row"])[0]) == 1


def test_refusals(ctx: dtl.Context) -> None:
    right = pa.table({"row": [1]})
    for wrong, text in (
        (3, "int has no method __arrow_c_stream__"),
        ({"a": [1]}, "dict has no method"),
        (pa.Table, "has no method"),
        (pa.chunked_array([[1]]), "pyarrow .* takes no ChunkedArray"),
        (pa.table({"row": pa.array([[1]])}), "'row' of list<.*> is not held"),
        (pa.table([[1], [2]], ["row", "row"]), "two columns of one name"),
    ):
        with pytest.raises(dtl.InvalidArgumentError, match=text):
            dtl.Columns.from_arrow(ctx, wrong)
    with pytest.raises(dtl.InvalidArgumentError, match="no rank has a table"):
        dtl.Columns.from_arrow(ctx, None)
    if ctx.size > 1:
        with pytest.raises(dtl.InvalidTypeError, match="int has no method"):
            dtl.Columns.from_arrow(ctx, 3 if ctx.rank == 1 else right)
        for other, text in (
            ({"row": ["a"]}, "of int64 on one rank, and of string"),
            ({"a": [1]}, r"has the columns \['row"),
        ):
            with pytest.raises(dtl.InvalidArgumentError, match=text):
                dtl.Columns.from_arrow(ctx, pa.table(other) if ctx.rank == 1 else right)
    with dtl.Columns.from_arrow(ctx, right) as columns:
        with pytest.raises(dtl.BoundsError, match="root 9 outside"):
            columns.gather_to(9)
        if ctx.size > 1:
            with pytest.raises(dtl.CollectiveMismatchError):
                columns.sort_by("row", reverse=ctx.rank == 0)
    with pytest.raises(dtl.InvalidArgumentError, match="there are no columns"):
        dtl.Columns().gather_to()
