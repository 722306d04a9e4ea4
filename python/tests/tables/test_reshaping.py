"""Ranks, counts of values, melted and exploded tables, shifts with values, and rows of groups, compared with pandas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_table import divided, everywhere

import dtl

pa = pytest.importorskip("pyarrow", "14", reason="tables are pyarrow's")
pd = pytest.importorskip("pandas", "3", reason="as pandas does")

RNG = np.random.default_rng(4)
ROWS = 23
WHOLE = pa.table(
    {
        "k": [None if i % 9 == 4 else f"k{i % 3}" for i in range(ROWS)],
        "x": [None if i % 7 == 2 else int(RNG.integers(0, 6)) for i in range(ROWS)],
        "y": [float(RNG.integers(0, 9)) / 2 for _ in range(ROWS)],
        "s": [("b", "a", None, "c")[i % 4] for i in range(ROWS)],
        "t": pa.array([i * i % 5 for i in range(ROWS)], pa.timestamp("s")),
    }
)


def both(ctx: dtl.Context, order: str = "even") -> tuple[Any, dtl.Table]:
    """Return the rows as a frame of Arrow's types and as a table."""
    return WHOLE.to_pandas(types_mapper=pd.ArrowDtype), divided(ctx, WHOLE, order)


def plain(found: Any) -> list[Any]:
    """Return rows of a frame or of pyarrow's table, with None for what is missing."""
    table = pa.Table.from_pandas(found, preserve_index=False) if isinstance(found, pd.DataFrame) else found
    return [list(row.values()) for row in table.to_pylist()]


@pytest.mark.parametrize("order", ["even", "last"])
@pytest.mark.parametrize("ascending", [True, False])
@pytest.mark.parametrize("method", ["average", "min", "max", "first", "dense"])
def test_rank(ctx: dtl.Context, method: Any, ascending: bool, order: str) -> None:
    frame, table = both(ctx, order)
    for name in ("x", "y", "s", "t"):
        found = dtl.broadcast_object(ctx, table[name].rank(method=method, ascending=ascending).to_list())
        values = frame[name].astype("int64") if name == "t" else frame[name]
        wanted = values.rank(method=method, ascending=ascending)
        assert found == [None if pd.isna(each) else each for each in wanted]
    assert table[["x", "y"]].rank(method=method).columns == ["x", "y"]


def test_rank_of_nan_is_that_in_groups(ctx: dtl.Context) -> None:
    table = dtl.Table(ctx, {"k": 1, "x": [2.0, float("nan"), -0.0, 0.0, None, float("nan")]})
    for ascending in (True, False):
        one, other = table["x"].rank(ascending=ascending), table.group_by("k")["x"].rank(ascending=ascending)
        assert dtl.broadcast_object(ctx, one.to_list()) == dtl.broadcast_object(ctx, other.to_list())
    with pytest.raises(dtl.InvalidArgumentError, match="method must be one of average"):
        table["x"].rank(method="middle")
    with pytest.raises(dtl.InvalidTypeError, match="has no rank"):
        dtl.Table(ctx, {"x": [[1], [2]]})["x"].rank()


@pytest.mark.parametrize("dropna", [True, False])
@pytest.mark.parametrize("normalize", [True, False])
def test_value_counts(ctx: dtl.Context, dropna: bool, normalize: bool) -> None:
    frame, table = both(ctx)
    for ascending in (True, False):
        found = plain(everywhere(table["s"].value_counts(dropna=dropna, normalize=normalize, ascending=ascending)))
        wanted = frame["s"].value_counts(dropna=dropna, normalize=normalize)
        numbers = {None if key is pd.NA else key: number for key, number in wanted.items()}
        assert dict(found) == numbers
        key = [(number if ascending else -number, each or "~") for each, number in found]
        assert key == sorted(key)
    found = plain(everywhere(table.value_counts(["s", "x"], dropna=dropna, normalize=normalize, sort=False)))
    kept = frame.dropna(subset=["s", "x"]) if dropna else frame
    first = kept.drop_duplicates(["s", "x"])[["s", "x"]]
    assert [row[:2] for row in found] == plain(first)
    assert sum(row[2] for row in found) == pytest.approx(1 if normalize else len(kept))
    with pytest.raises(dtl.InvalidArgumentError, match="'proportion'"):
        table.rename({"s": "proportion"}).value_counts("proportion", normalize=True)


def test_melt(ctx: dtl.Context) -> None:
    frame, table = both(ctx)
    for words in ({"id_vars": "k", "value_vars": ["x", "y"]}, {"id_vars": ["k", "s", "t"], "var_name": "of"}):
        found = table.melt(**words)
        assert max(found.rows.counts) - min(found.rows.counts) <= 1
        assert plain(everywhere(found)) == plain(frame.melt(**words))
    assert everywhere(table[["x"]].melt()).column_names == ["variable", "value"]
    with pytest.raises(dtl.InvalidTypeError, match="astype makes them alike"):
        table.melt("k", ["x", "s"])
    with pytest.raises(dtl.InvalidArgumentError, match="two columns of the result would be called 'k'"):
        table.melt("k", ["x"], value_name="k")
    with pytest.raises(dtl.KeyNotFoundError, match="'z'"):
        table.melt("z")


LISTS = pa.table(
    {
        "n": [0, 1, 2, 3, 4],
        "l": pa.array([[1, 2], [], None, [3, None], [7]]),
        "w": pa.array([["a", "b"], [], None, ["c", "d"], [None]]),
    }
)


@pytest.mark.parametrize("order", ["even", "last"])
def test_explode(ctx: dtl.Context, order: str) -> None:
    table = divided(ctx, LISTS, order)
    frame = pd.DataFrame({name: LISTS[name].to_pylist() for name in LISTS.column_names})
    for columns in ("l", ["l", "w"], ["w"]):
        found = everywhere(table.explode(columns))
        wanted = frame.explode(columns)
        for name in [columns] if isinstance(columns, str) else columns:
            assert found[name].to_pylist() == [None if pd.isna(each) else each for each in wanted[name]]
        assert found["n"].to_pylist() == wanted["n"].tolist()
    sliced = everywhere(table[1:].explode("w"))
    assert sliced["w"].to_pylist() == [None, None, "c", "d", None]
    assert dtl.broadcast_object(ctx, table["l"].explode().to_list()) == [1, 2, None, None, 3, None, 7]
    with pytest.raises(dtl.InvalidTypeError, match="'n' is of int64, which has no lists"):
        table.explode("n")
    uneven = table.assign(l=pa.array([[1], [2], [3], [4], [5]]))
    with pytest.raises(dtl.InvalidArgumentError, match=r"row \d has 1 values of .l., and \d of .w."):
        uneven.explode(["l", "w"])


@pytest.mark.parametrize("by", [1, -2, 40])
def test_shift_with_a_value(ctx: dtl.Context, by: int) -> None:
    frame, table = both(ctx)
    found = dtl.broadcast_object(ctx, table["x"].shift(by, fill_value=9).to_list())
    assert found == pa.array(frame["x"].shift(by, fill_value=9)).to_pylist()
    assert plain(everywhere(table[["x", "y"]].shift(by, fill_value=1))) == plain(
        frame[["x", "y"]].shift(by, fill_value=1)
    )
    found = dtl.broadcast_object(ctx, table.group_by("k")["x"].shift(by, fill_value=9).to_list())
    assert found == pa.array(frame.groupby("k")["x"].shift(by, fill_value=9)).to_pylist()
    assert everywhere(table.group_by("k")[["x", "y"]].shift(by, fill_value=0)).column_names == ["x", "y"]
    with pytest.raises(dtl.InvalidTypeError, match="has no value"):
        table["x"].shift(by, fill_value="a")


@pytest.mark.parametrize("how", ["any", "all"])
@pytest.mark.parametrize("n", [0, 1, -1])
def test_nth_without_null(ctx: dtl.Context, n: int, how: Any) -> None:
    frame, table = both(ctx)
    assert plain(everywhere(table.group_by("k").nth(n, dropna=how))) == plain(frame.groupby("k").nth(n, dropna=how))
    found = dtl.broadcast_object(ctx, table.group_by("k")["x"].nth(n, dropna=how).to_list())
    assert found == pa.array(frame.groupby("k")["x"].nth(n, dropna=how)).to_pylist()
    with pytest.raises(dtl.InvalidArgumentError, match="neither any nor all"):
        table.group_by("k").nth(n, dropna="some")


def test_several_quantiles_of_groups(ctx: dtl.Context) -> None:
    frame, table = both(ctx)
    wanted = frame.groupby("k")[["x", "y"]].quantile([0.25, 0.9]).reset_index()
    found = everywhere(table.group_by("k")[["x", "y"]].quantile([0.25, 0.9]))
    assert found.column_names == ["k", "quantile", "x", "y"]
    for one, other in zip(found.column_names, wanted.columns):
        assert found[one].to_pylist() == pytest.approx(wanted[other].tolist())
    days = table.resample("1s", on="t")["x"].quantile([0.5, 1.0])
    assert days.columns == ["t", "quantile", "x"]


def test_nunique_with_null(ctx: dtl.Context) -> None:
    frame, table = both(ctx)
    assert table.nunique(dropna=False) == frame.nunique(dropna=False).to_dict()


@pytest.mark.parametrize("order", ["even", "last"])
def test_interpolate_and_expanding(ctx: dtl.Context, order: str) -> None:
    values = [None, None, 3.0, None, None, 9.0, 1.0, None, *[None] * 6, 4.5, None, None]
    whole = pa.table({"x": values, "n": [None if i % 3 == 1 else i * i % 7 for i in range(len(values))]})
    table, frame = divided(ctx, whole, order), whole.to_pandas()
    for name in ("x", "n"):
        found = dtl.broadcast_object(ctx, table[name].interpolate().to_list())
        assert found == pytest.approx(
            [None if each != each else each for each in frame[name].interpolate().tolist()]  # noqa: PLR0124 - of NaN
        )
        for least in (0, 1, 3):
            for how in ("sum", "mean", "min", "max", "count"):
                made = getattr(table[name].expanding(least), how)()
                wanted = getattr(frame[name].expanding(least), how)()
                found = dtl.broadcast_object(ctx, made.to_list())
                assert found == pytest.approx([None if pd.isna(each) else each for each in wanted]), (how, least)
    assert table.interpolate().columns == ["x", "n"]
    with pytest.raises(dtl.InvalidTypeError, match="interpolate is of numbers"):
        dtl.Table(ctx, {"s": ["a"]})["s"].interpolate()
    with pytest.raises(dtl.BoundsError, match="min_periods -1"):
        table["x"].expanding(-1)
    with pytest.raises(dtl.InvalidTypeError, match="has no windows"):
        dtl.Table(ctx, {"s": ["a"]})["s"].expanding()
