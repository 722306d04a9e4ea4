"""How tables are made, and what they say of themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dtl

pa = pytest.importorskip("pyarrow", "14", reason="tables are pyarrow's")


def casts_views() -> bool:
    """Say whether pyarrow has views of text, and casts them: 16 and 17 have them alone."""
    return hasattr(pa, "string_view") and int(pa.__version__.partition(".")[0]) > 17


def everywhere(table: Any) -> Any:
    """Return all rows of a table on every rank, as pyarrow's table."""
    return dtl.broadcast_object(table.context, table.to_arrow())


def divided(ctx: dtl.Context, table: Any, order: str = "even") -> dtl.Table:
    """Return a table of rows that every rank has: dealt out evenly, or all on the last rank."""
    if order == "last":
        return dtl.Table.from_arrow(ctx, table if ctx.rank == ctx.size - 1 else None)
    return dtl.Table(ctx, table)


def test_made_of_arrays_scalars_and_containers(ctx: dtl.Context) -> None:
    table = dtl.Table(
        ctx,
        {
            "list": ["plum", None, "fig", "plum", "kiwi"],
            "array": np.arange(5, dtype=np.int16),
            "vector": dtl.arange(ctx, 5.0),
            "word": "here",
            "number": np.float32(1.5),
            "day": np.datetime64("2024-02-29"),
            "nothing": None,
        },
    )
    assert table.shape == (5, 7)
    assert len(table) == 5
    assert list(table) == table.columns == table.keys()
    assert "day" in table
    assert "night" not in table
    assert [str(kind) for kind in table.dtypes.values()] == [
        "string",
        "int16",
        "double",
        "string",
        "float",
        "date32[day]",
        "null",
    ]
    whole = everywhere(table)
    assert whole["list"].to_pylist() == ["plum", None, "fig", "plum", "kiwi"]
    assert whole["array"].to_pylist() == list(range(5))
    assert whole["vector"].to_pylist() == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert set(whole["word"].to_pylist()) == {"here"}
    assert set(whole["number"].to_pylist()) == {1.5}
    assert [str(day) for day in whole["day"].to_pylist()] == ["2024-02-29"] * 5
    assert whole["nothing"].null_count == 5
    assert len(table.to_arrow(local=True)) == dtl.arange(ctx, 5).local_size


def test_units_of_time_that_arrow_has_not(ctx: dtl.Context) -> None:
    hours = np.array(["2024-02-29T05", "NaT"], "datetime64[h]")
    table = dtl.Table(ctx, {"h": hours, "M": hours.astype("datetime64[M]"), "D": np.arange(2).astype("timedelta64[D]")})
    assert [str(kind) for kind in table.dtypes.values()] == ["timestamp[s]", "date32[day]", "duration[s]"]
    whole = everywhere(table)
    assert whole["h"].to_numpy().tolist() == hours.astype("datetime64[s]").tolist()
    assert [str(day) for day in whole["M"].to_pylist()] == ["2024-02-01", "None"]
    for values in (
        np.array([1], "timedelta64[M]"),
        np.array([1], "datetime64[ps]"),
        np.array([2**60], "datetime64[h]"),
    ):
        with pytest.raises(ValueError, match=r"unit|hold"):
            dtl.Table(ctx, {"x": values})


@pytest.mark.parametrize("rows", [0, 1, 7])
def test_each_ranks_rows(ctx: dtl.Context, rows: int) -> None:
    mine = pa.table({"x": pa.array([ctx.rank] * (rows * ctx.rank), pa.int64()), "y": pa.nulls(rows * ctx.rank)})
    table = dtl.Table.from_arrow(ctx, mine)
    assert everywhere(table)["x"].to_pylist() == [rank for rank in range(ctx.size) for _ in range(rows * rank)]
    again = dtl.Table(ctx, {"z": table["x"], "one": 1})
    assert again.to_arrow(local=True).num_rows == rows * ctx.rank
    assert again.columns == ["z", "one"]


def test_columns_of_files(ctx: dtl.Context) -> None:
    given = pa.table(
        {"n": [1, None, 3], "text": ["x", None, "y"], "at": pa.array([0, 1, None], pa.timestamp("ms", "UTC"))}
    )
    with dtl.Columns.from_arrow(ctx, given if ctx.is_root else None) as columns:
        table = dtl.Table(ctx, columns)
    whole = everywhere(table)
    assert whole.to_pylist() == given.to_pylist()
    assert whole.schema.types == given.schema.types


def test_every_form_of_text_and_categories(ctx: dtl.Context) -> None:
    values = ["a", None, "b", "a"]
    kinds = [pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.large_string())]
    kinds += [pa.dictionary(pa.uint16(), pa.string())]
    columns = {str(kind): pa.array(values, pa.string()).cast(pa.string()) for kind in kinds}
    for kind in kinds:
        texts = pa.array(values, pa.string())
        columns[str(kind)] = texts.dictionary_encode().cast(kind) if pa.types.is_dictionary(kind) else texts.cast(kind)
    with_null = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 0]), pa.array(["a", None, "b"]))
    columns["null among the values"] = with_null
    columns["runs"] = pa.compute.run_end_encode(pa.array(values))
    if casts_views():
        columns["view"] = pa.array(values, pa.string_view())
    table = dtl.Table(ctx, columns)
    assert {str(kind) for kind in table.dtypes.values()} == {"string", str(pa.dictionary(pa.int32(), pa.string()))}
    for column in everywhere(table).columns:
        assert column.to_pylist() == values
        assert column.null_count == 1


def test_categories_in_order_are_alike_on_every_rank(ctx: dtl.Context) -> None:
    sizes = ["small", "large", "huge"]
    mine = pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(sizes[: 2 + ctx.rank % 2]), ordered=True)
    table = dtl.Table.from_arrow(ctx, pa.table({"size": mine}))
    column = table.to_arrow(local=True)["size"]
    assert column.to_pylist() == ["small", "large"]
    assert {tuple(chunk.dictionary.to_pylist()) for chunk in column.chunks} == {tuple(sizes[: 2 + (ctx.size > 1)])}


@pytest.mark.mpi(min_size=2)
def test_ranks_of_other_types(ctx: dtl.Context) -> None:
    text = pa.array(["a", "b"])
    table = dtl.Table.from_arrow(ctx, pa.table({"x": text.dictionary_encode() if ctx.is_root else text}))
    assert str(table["x"].dtype) == "string"
    none = pa.table({"x": pa.nulls(1) if ctx.is_root else pa.array([1.5])})
    assert everywhere(dtl.Table.from_arrow(ctx, none))["x"].to_pylist() == [None] + [1.5] * (ctx.size - 1)
    for mine in ({"x": [1] if ctx.is_root else [1.5]}, {"x" if ctx.is_root else "y": [1]}):
        with pytest.raises(dtl.InvalidArgumentError, match=r"on another|another's"):
            dtl.Table.from_arrow(ctx, pa.table(mine))
    with pytest.raises(dtl.CollectiveMismatchError):
        dtl.Table(ctx, {"x": [1.0, ctx.rank]})


@pytest.mark.parametrize(
    ("data", "error", "words"),
    [
        ({}, ValueError, "no column says how many rows"),
        ({"a": 1}, ValueError, "no column says how many rows"),
        ({"a": [1, 2], "b": [1, 2, 3]}, ValueError, "'a' has 2 rows, and 'b' has 3"),
        ({"a": [1, "x"]}, ValueError, "the values of a"),
        ({"a": [object()]}, ValueError, "the values of a"),
        ({1: [1]}, TypeError, "name of a column must be text"),
        ({"a": np.ones((2, 2))}, ValueError, "has one"),
        ({"a": np.ones(2, complex)}, TypeError, "complex128"),
        (3, TypeError, "is no table"),
        (None, TypeError, "is no table"),
    ],
)
def test_refused(ctx: dtl.Context, data: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words) as caught:
        dtl.Table(ctx, data)
    assert isinstance(caught.value, dtl.DTLError)


def test_refused_containers(ctx: dtl.Context) -> None:
    here = dtl.zeros(ctx, 6)
    for other in (dtl.zeros(ctx, 7), dtl.zeros(ctx, (2, 3))):
        with pytest.raises(dtl.InvalidArgumentError):
            dtl.Table(ctx, {"a": here, "b": other})
    if ctx.size > 1:
        sizes = (6, *[0] * (ctx.size - 1))
        for other in (dtl.zeros(ctx, 6, partition=sizes), dtl.zeros(ctx, 6, partition="cyclic")):
            with pytest.raises(dtl.InvalidArgumentError, match=r"in the same way|redistribute"):
                dtl.Table(ctx, {"a": here, "b": other})


def test_unknown_columns(ctx: dtl.Context) -> None:
    table = dtl.Table(ctx, {"price": [1], "prize": [2], "x": [3]})
    with pytest.raises(KeyError, match=r"no column 'prices'; did you mean 'price' or 'prize'\?"):
        table["prices"]
    with pytest.raises(KeyError, match="no column 'y'"):
        table[["x", "y"]]
    with pytest.raises(ValueError, match="twice"):
        table[["x", "x"]]
    with pytest.raises(TypeError):
        table[3]  # type: ignore[call-overload,unused-ignore]
    with pytest.raises(TypeError, match=r"table\[-1:\]"):
        table[-1]
    with pytest.raises(TypeError, match=r"table\[\['x', 'price'\]\]"):
        table["x", "price"]
    assert table[["x", "price"]].columns == ["x", "price"]
    assert (table["x"].name, str(table["x"].dtype), len(table["x"]), table["x"].shape) == ("x", "int64", 1, (1,))


def test_names_in_a_set_are_in_one_order_on_all_ranks(ctx: dtl.Context) -> None:
    """Python gives a set of texts another order in each process."""
    names = [f"{letter}{number}" for letter in "abcdef" for number in range(4)]
    table = dtl.Table(ctx, {name: [3, 1, 1] for name in names})
    assert len(table.drop_duplicates(set(names))) == 2
    assert table.drop(set(names[1:])).columns == names[:1]
    assert len(table.dropna(frozenset(names))) == 3
    assert table.group_by(set(names)).size().columns == [*names, "size"]
    found = table.group_by("a0").agg({"b0": {"min", "max", "sum", "count"}})
    assert found.columns == ["a0", "b0_count", "b0_max", "b0_min", "b0_sum"]


def test_what_has_parts_is_no_array_that_every_rank_has(ctx: dtl.Context) -> None:
    table = dtl.Table(ctx, {"a": [1, 2, 3]})
    assert dtl.Table(ctx, table["a"]).columns == dtl.Table(ctx, table).columns == ["a"]
    for value in (table, dtl.Columns()):
        with pytest.raises(TypeError, match="each rank has a part"):
            table["b"] = value
        with pytest.raises(TypeError, match="each rank has a part"):
            dtl.Table(ctx, {"b": value})
    with pytest.raises(TypeError, match="each rank has a part"):
        table[table]
    assert table.columns == ["a"]


def test_to_pandas_and_back(ctx: dtl.Context) -> None:
    pd = pytest.importorskip("pandas", reason="the frame is pandas'")
    frame = pd.DataFrame(
        {"x": [1.5, None, 2.5], "size": pd.Categorical(["s", None, "l"], ["s", "m", "l"], ordered=True)}
    )
    table = dtl.Table.from_arrow(ctx, frame if ctx.is_root else None)
    back = table.to_pandas()
    assert (back is None) == (not ctx.is_root)
    if back is not None:
        pd.testing.assert_frame_equal(back, frame)


def test_narwhals_takes_the_rows_of_each_rank(ctx: dtl.Context) -> None:
    narwhals = pytest.importorskip("narwhals", "2", reason="scikit-learn from 1.9 on brings it")
    table = dtl.Table(ctx, {"a": np.arange(10)})
    with pytest.raises(TypeError, match="Unsupported dataframe type"):
        narwhals.from_native(table)
    local = narwhals.from_native(table.to_arrow(local=True))
    assert local.shape == narwhals.from_arrow(table, backend="pyarrow").shape == (table.rows.counts[ctx.rank], 1)
