"""Columns of text as vectors of str: the same rows as columns of codes, and what containers of str are besides."""

from __future__ import annotations

from typing import Any, Iterator

import numpy as np
import pytest
from refusals import ARGUMENT, TYPE, refused

import dtl

pa = pytest.importorskip("pyarrow", "14", reason="needs pyarrow 14; runs where the extra io is")

NAMES = ["n1", None, "élan", "n1", "", "a text that is longer", "zoë", "n2"]


def table(rows: int = 50) -> Any:
    names = [NAMES[(7 * row) % len(NAMES)] or (None if row % 3 else "") for row in range(rows)]
    return pa.table({"name": pa.array(names, pa.string()), "row": np.arange(rows)})


@pytest.fixture
def columns(ctx: dtl.Context) -> Iterator[dtl.Columns]:
    with dtl.Columns.from_arrow(ctx, table() if ctx.rank == ctx.size - 1 else None, strings=["name"]) as made:
        yield made


def rows_of(columns: dtl.Columns) -> list[Any]:
    """Return the rows on every rank."""
    made = dtl.broadcast_object(columns["row"].context, columns.gather_to(0), 0)
    return list(zip(*(made[name].to_pylist() for name in columns)))


def test_all_of_them_or_some(ctx: dtl.Context) -> None:
    of = table().append_column("other", pa.array(["x"] * 50)) if ctx.is_root else None
    for strings, held in (
        (None, []),
        (False, []),
        (True, ["name", "other"]),
        ("other", ["other"]),
        (("name", "other"), ["name", "other"]),
    ):
        with dtl.Columns.from_arrow(ctx, of, strings=strings) as made:
            assert [name for name in made if made._vector(name).dtype.kind == "U"] == held
            assert made.categories.keys() == {"name", "other"} - set(held)
    assert rows_of(dtl.Columns.from_arrow(ctx, of, strings=True)) == rows_of(dtl.Columns.from_arrow(ctx, of))


@pytest.mark.parametrize("suffix", ["csv", "parquet", "arrow"])
@pytest.mark.parametrize("partition", ["block", "cyclic"])
def test_files(ctx: dtl.Context, folder: str, columns: dtl.Columns, suffix: str, partition: str) -> None:
    path = f"{folder}/t.{suffix}"
    dtl.save(columns, path)
    expected = rows_of(columns)
    if suffix == "csv":  # in which "" without quotes is a missing value, and Arrow writes quotes
        read = dtl.Columns.read_csv(ctx, path, strings=["name"], partition=partition)
    elif suffix == "parquet":
        read = dtl.Columns.read_parquet(ctx, path, strings=True, partition=partition)
    else:
        with pytest.raises(dtl.InvalidTypeError, match="has text"):
            dtl.load(ctx, path, name="name")
        return
    with read:
        assert read._vector("name").dtype == "U21"
        assert rows_of(read) == expected
        assert [*read.local_text("name")] == [expected[row][0] for row in read["row"].local_view()]


def test_no_rows_and_nothing_but_missing_values(ctx: dtl.Context) -> None:
    for of in (table(0), pa.table({"name": pa.array([None, None], pa.string()), "row": [0, 1]})):
        with dtl.Columns.from_arrow(ctx, of if ctx.is_root else None, strings=True) as made:
            assert made._vector("name").dtype == "U1"
            assert rows_of(made) == list(zip(of["name"].to_pylist(), of["row"].to_pylist()))


def test_what_is_done_with_rows(ctx: dtl.Context, columns: dtl.Columns) -> None:
    rows = rows_of(columns)
    assert rows_of(columns.take([3, 1, 3])) == [rows[3], rows[1], rows[3]]
    whole = [row for row in rows if row[0] is not None]
    assert rows_of(columns.drop_missing("name")) == whole
    ordered = sorted(whole, key=lambda row: (row[0], -row[1])) + [row for row in rows[::-1] if row[0] is None]
    assert rows_of(columns.sort_by(["name", "row"], reverse=[False, True])) == ordered
    for value in ("?", "a text that is longer than all others"):
        with columns.filled("name", value) as filled:
            got = dtl.broadcast_object(ctx, filled.gather_to(0), 0)
            assert got.tolist() == [value if name is None else name for name, _ in rows]


def test_a_vector_of_str_is_a_container(ctx: dtl.Context, columns: dtl.Columns) -> None:
    names = columns.filled("name", "none")
    expected = np.array([name if name is not None else "none" for name, _ in rows_of(columns)])
    keys, counts = (dtl.broadcast_object(ctx, each.gather_to(0)) for each in np.unique(names, return_counts=True))
    for got, wanted in zip((keys, counts), np.unique(expected, return_counts=True)):
        np.testing.assert_array_equal(got, wanted)
    assert (names == "n1").sum() == (expected == "n1").sum()


@pytest.mark.parametrize("how", ["inner", "left", "outer", "semi"])
def test_joins(ctx: dtl.Context, how: str) -> None:
    left = pa.table({"name": ["plum", "fig", "fig", "a much longer name"]})
    right = pa.table({"name": ["fig", "kiwi", "plum"]})
    given = [(each if ctx.is_root else None) for each in (left, right)]
    pairs = []
    for strings in (True, False):
        one, other = (dtl.Columns.from_arrow(ctx, each, strings=strings) for each in given)
        result = one.join(other, "name", how)  # type: ignore[call-overload]
        parts = result if isinstance(result, tuple) else (result,)
        pairs.append(sorted(zip(*(dtl.broadcast_object(ctx, each.gather_to(0)).tolist() for each in parts))))
    assert pairs[0] == pairs[1]


def test_refusals(ctx: dtl.Context, folder: str, columns: dtl.Columns) -> None:
    of = table() if ctx.is_root else None

    def made(strings: Any, table: Any = of) -> Any:
        return dtl.Columns.from_arrow(ctx, table, strings=strings)

    refused(lambda: made(["nome"]), ARGUMENT, 100, "'nome'", "['name', 'row']")
    refused(lambda: made("row"), TYPE, 101, "'row'", "int64")
    refused(lambda: made(3), TYPE, 101, "strings")
    refused(lambda: made([3]), TYPE, 101, "3")
    refused(lambda: made(True, pa.table({"name": ["a\0"]}) if ctx.is_root else None), TYPE, 101, "NUL")
    refused(lambda: columns["name"], ARGUMENT, 100, "str with missing values", "filled('name', value)")
    refused(lambda: columns.filled("name"), TYPE, 101, "value")
    refused(lambda: columns.filled("name", 3), TYPE, 101, "value")
    with made(None) as codes:
        refused(lambda: columns.join(codes, "name"), TYPE, 101, "is of str", "of text")
    path = f"{folder}/t.csv"
    dtl.save(columns, path)
    refused(lambda: dtl.Columns.read_csv(ctx, path, strings=["nome"]), ARGUMENT, 100, "'nome'")
    refused(lambda: dtl.Columns.read_csv(ctx, path, ["row"], strings=["name"]), ARGUMENT, 100, "'name'")


@pytest.mark.mpi(min_size=2)
def test_ranks_that_differ(ctx: dtl.Context) -> None:
    with pytest.raises(dtl.CollectiveMismatchError, match="from_arrow"):
        dtl.Columns.from_arrow(ctx, table(), strings=ctx.is_root)


def test_a_text_that_is_no_number_raises_on_every_rank(ctx: dtl.Context) -> None:
    texts = np.array(["7"] * 20)
    np.testing.assert_array_equal(dtl.asarray(ctx, texts).astype(int).local_view(), 7)
    for at in (0, 19):
        wrong = texts.copy()
        wrong[at] = "x"
        vec = dtl.asarray(ctx, wrong)
        for dtype in (int, float, "M8[D]"):
            with pytest.raises(ValueError, match="x"):
                vec.astype(dtype)
