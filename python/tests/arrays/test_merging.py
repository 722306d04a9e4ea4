"""Tables of the rows of two tables that belong together, against pandas, and rows that are not there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from divisions import vector

import dtl

pa = pytest.importorskip("pyarrow", "14", reason="needs pyarrow 14; runs where the extra io is")
pandas = pytest.importorskip("pandas", reason="not installed; runs in the environments of `make setup`")

#: Keys of the left and of the right side, of which some occur several times, some on one side only.
KEYS: dict[str, tuple[Any, Any]] = {
    "text": (["b", None, "a", "b", "d", "a", None], ["z", "a", None, "b", "b", "c"]),
    "int": ([2, None, 1, 2, 4, 1, None], [9, 1, None, 2, 2, 3]),
    "int8 and int64": (pa.array([2, 1, 2, 4, 1], pa.int8()), [9, 1, None, 2, 2, 3]),
    "no missing keys": ([2, 1, 2, 4, 1], [9, 1, 2, 2, 3]),
    "float": ([2.5, None, 1.0, 2.5, 4.0], [9.0, 1.0, None, 2.5, 2.5]),
    "time": (
        pa.array([2, None, 1, 2, 4], pa.timestamp("s", "UTC")),
        pa.array([9, 1, None, 2, 2], pa.timestamp("s", "UTC")),
    ),
    "no row on the right": (["a", "b", None], pa.array([], pa.string())),
    "no row on the left": (pa.array([], pa.int64()), [1, 2, 2]),
    "nothing in common": (["a", "b", None], ["x", None]),
    "all missing": (pa.array([None, None], pa.int64()), [1, None]),
}


def rows(table: Any) -> list[tuple[Any, ...]]:
    """Return the rows of a table in an order that does not depend on that of the table."""
    return sorted(zip(*(table[name].to_pylist() for name in sorted(table.column_names))), key=repr)


def sides(kind: str) -> tuple[Any, Any]:
    """Return two tables. One column has a name that both have, and some have missing values of their own."""
    left, right = KEYS[kind]
    n, m = len(left), len(right)
    return (
        pa.table({"key": left, "x": np.arange(n), "same": pa.array([None, *range(n)][:n], pa.int64())}),
        pa.table(
            {
                "key": right,
                "y": pa.array([f"text {row % 3}" for row in range(m)], pa.string()),
                "same": np.arange(m) / 2,
                "when": pa.array(range(m), pa.timestamp("ms", "Europe/Berlin")),
                "flag": pa.array([row % 2 == 0 for row in range(m)], pa.bool_()),
            }
        ),
    )


def on_root(ctx: dtl.Context, table: Any, **more: Any) -> dtl.Columns:
    """Return columns of a table that the last rank has, all rows of it."""
    return dtl.Columns.from_arrow(ctx, table if ctx.rank == ctx.size - 1 else None, **more)


def merged(left: Any, right: Any, how: str) -> list[tuple[Any, ...]]:
    """Return the rows that pandas finds. Missing keys are equal there, so they stand apart here."""
    frames = [table.to_pandas(types_mapper=pandas.ArrowDtype) for table in (left, right)]
    known = [frame[frame["key"].notna()] for frame in frames]
    found = [known[0].merge(known[1], "inner" if how == "semi" else how, on="key")]
    if how in ("left", "outer"):
        found.append(frames[0][frames[0]["key"].isna()].merge(frames[1].head(0), "left", on="key"))
    if how in ("right", "outer"):
        found.append(frames[0].head(0).merge(frames[1][frames[1]["key"].isna()], "right", on="key"))
    return sorted((row for each in found for row in rows(pa.Table.from_pandas(each, preserve_index=False))), key=repr)


@pytest.mark.parametrize("how", ["inner", "left", "right", "outer"])
@pytest.mark.parametrize("kind", list(KEYS))
def test_merge(ctx: dtl.Context, kind: str, how: Any) -> None:
    left, right = sides(kind)
    expected = merged(left, right, how)
    with on_root(ctx, left) as lefts, on_root(ctx, right, partition="cyclic") as rights:
        both = lefts.merge(rights, "key", how)
    with both:
        assert list(both) == ["key", "x", "same_x", "y", "same_y", "when", "flag"]
        made = dtl.broadcast_object(ctx, both.gather_to(0), 0)
        made.validate(full=True)
        assert rows(made) == expected
        assert made.schema.field("when").type == right.schema.field("when").type
        assert made.schema.field("x").type == pa.int64()
        assert both._vectors["x"].local_size == both._vectors["y"].local_size


@pytest.mark.parametrize("how", ["left", "outer", "semi", "anti"])
@pytest.mark.parametrize("kind", ["text", "int", "float", "all missing"])
def test_join_with_missing_keys(ctx: dtl.Context, kind: str, how: Any) -> None:
    """The recipe of the guide: -1 stands for no row, and is taken as missing values."""
    left, right = sides(kind)
    held = kind == "text"
    with on_root(ctx, left, strings=held) as lefts, on_root(ctx, right, strings=held) as rights:
        found = lefts.join(rights, "key", how)
        each = found if isinstance(found, tuple) else (found,)
        places = [dtl.broadcast_object(ctx, vec.gather_to(0), 0).tolist() for vec in each]
        keys = [table["key"].to_pylist() for table in (left, right)]
        pairs = [(a, b) for a, one in enumerate(keys[0]) for b, other in enumerate(keys[1]) if one == other is not None]
        alone = [row for row in range(len(keys[0])) if row not in [a for a, _ in pairs]]
        others = [row for row in range(len(keys[1])) if row not in [b for _, b in pairs]]
        if how in ("semi", "anti"):
            assert sorted(places[0]) == (alone if how == "anti" else sorted({a for a, _ in pairs}))
            return
        expected = pairs + [(row, -1) for row in alone] + [(-1, row) for row in others if how == "outer"]
        assert sorted(zip(*places)) == sorted(expected)
        with pytest.raises(dtl.BoundsError, match=r"index -1 outside .* allow_fill=True"):
            rights.take(found[1])
        with rights.take(found[1], allow_fill=True) as taken:
            made = dtl.broadcast_object(ctx, taken.gather_to(0), 0)
        for name in ("y", "same", "when", "flag"):
            values = right[name].to_pylist()
            assert made[name].to_pylist() == [values[row] if row >= 0 else None for row in places[1]]


def test_rows_that_are_not_there(ctx: dtl.Context) -> None:
    table = pa.table({"word": ["fig", None, "plum"], "n": [1, 2, None], "s": ["a", "b", "c"]})
    with dtl.Columns.from_arrow(ctx, table if ctx.is_root else None, strings=["s"]) as columns:
        for indices in ([2, -1, 0, -1], np.array([1, 1], np.uint8), [], [-1] * 5):
            expected = [
                table.slice(row, 1).to_pylist()[0] if row >= 0 else dict.fromkeys(table.column_names)
                for row in np.array(indices, int).tolist()
            ]
            with columns.take(indices, allow_fill=True) as made:
                assert dtl.broadcast_object(ctx, made.gather_to(0), 0).to_pylist() == expected
            chosen = vector(ctx, np.array(indices, np.int64), "cyclic")
            with chosen, columns.take(chosen, allow_fill=True) as made:
                assert dtl.broadcast_object(ctx, made.gather_to(0), 0).to_pylist() == expected
                assert made._vectors["n"].partition_policy is dtl.PARTITION_CYCLIC
        for indices, fill, text in (
            ([0, -1], False, r"index -1 outside \[0, 3\).*allow_fill"),
            ([-2], True, r"index -2 outside \[-1, 3\)"),
            ([3], True, r"index 3 outside \[-1, 3\)"),
        ):
            with pytest.raises(dtl.BoundsError, match=text):
                columns.take(indices, allow_fill=fill)
            with vector(ctx, np.array(indices), "cyclic") as chosen, pytest.raises(dtl.BoundsError, match=text):
                columns.take(chosen, allow_fill=fill)
        with pytest.raises(dtl.InvalidTypeError, match="allow_fill"):
            columns.take([0], allow_fill="yes")  # type: ignore[arg-type]


def test_what_merge_refuses(ctx: dtl.Context) -> None:
    table = pa.table({"k": ["a", "b"], "x": [1, 2], "x_y": [3, 4], "t": pa.array([1, 2], pa.timestamp("s"))})
    with dtl.Columns.from_arrow(ctx, table if ctx.is_root else None) as columns:
        for on, more, kind, text in (
            ("none", {}, dtl.KeyNotFoundError, "no column 'none'"),
            ("k", {"other_on": "none"}, dtl.KeyNotFoundError, "no column 'none'"),
            ("k", {"other_on": "x"}, dtl.InvalidTypeError, "'k' is of text, and 'x' of numbers"),
            ("x", {"other_on": "t"}, dtl.InvalidTypeError, "'x' is of numbers, and 't' of datetime64"),
            ("k", {"how": "semi"}, dtl.InvalidArgumentError, "how 'semi' is none of"),
            ("k", {"suffixes": ["", "_y"]}, dtl.InvalidArgumentError, "two columns would be called 'x_y'"),
            ("k", {"suffixes": ["_x"]}, dtl.InvalidArgumentError, "are not two"),
        ):
            with pytest.raises(kind, match=text):
                columns.merge(columns, on, **more)  # type: ignore[arg-type]
        with pytest.raises(dtl.InvalidTypeError, match="other must be Columns, not dict"):
            columns.merge({}, "k")  # type: ignore[arg-type]
        with columns.merge(columns, "k", other_on="k", suffixes=("", " there")) as both:
            assert list(both) == [*table.column_names, *(f"{name} there" for name in table.column_names)]
        if ctx.size > 1:
            with pytest.raises(dtl.CollectiveMismatchError):
                columns.merge(columns, "k", "left" if ctx.is_root else "right")
            with pytest.raises(dtl.CollectiveMismatchError):
                columns.take([0], allow_fill=ctx.is_root)


@pytest.mark.parametrize("orders", [("small", "large"), ("large", "small")])
def test_ordered_keys(ctx: dtl.Context, orders: tuple[str, ...]) -> None:
    """Their order stays where the other side has no further texts."""
    codes = pa.array([0, 1], pa.int8())
    left = pa.table({"k": pa.DictionaryArray.from_arrays(codes, ["small", "large"], ordered=True)})
    for more, ordered in ((list(orders), True), ([orders[0], "huge"], False)):
        right = pa.table({"k": pa.DictionaryArray.from_arrays(codes, more, ordered=True), "n": [1, 2]})
        with on_root(ctx, left) as lefts, on_root(ctx, right) as rights, lefts.merge(rights, "k", "outer") as both:
            assert both.ordered == (["k"] if ordered else [])
            made = dtl.broadcast_object(ctx, both.gather_to(0), 0)
            number = dict(zip(more, (1, 2)))
            texts = {"small", "large", *more}
            assert dict(zip(made["k"].to_pylist(), made["n"].to_pylist())) == {key: number.get(key) for key in texts}
