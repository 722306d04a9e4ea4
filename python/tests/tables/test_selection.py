"""Rows and columns that are selected, added and changed: beside Python's lists and pandas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_table import divided, everywhere

import dtl

pa = pytest.importorskip("pyarrow", "14", reason="tables are pyarrow's")

ROWS = 11

WHOLE = pa.table(
    {
        "n": pa.array([3, None, 1, 4, 1, 5, None, 9, 2, 6, 5]),
        "x": pa.array([0.5, float("nan"), None, -0.0, 0.0, 2.5, 1e300, -1.0, 7.0, None, 3.0]),
        "text": pa.array(["plum", "fig", None, "plum", "", "kiwi", "fig", "é", "plum", None, "fig"]),
        "size": pa.array(["s", "l", None, "s", "m", "m", "l", "s", "s", "l", None]).dictionary_encode(),
    }
)

orders = pytest.mark.parametrize("order", ["even", "last"])


@orders
@pytest.mark.parametrize(
    "which",
    [
        slice(None),
        slice(2, 7),
        slice(-3, None),
        slice(None, -4),
        slice(8, 3),
        slice(100),
        slice(1, 10, 3),
        slice(0, None, 20),
        slice(ROWS, None),
    ],
    ids=str,
)
def test_slices(ctx: dtl.Context, which: slice, order: str) -> None:
    part = divided(ctx, WHOLE, order)[which]
    assert everywhere(part)["text"].to_pylist() == WHOLE["text"].to_pylist()[which]
    assert len(part) == len(range(ROWS)[which])
    assert sum(dtl.allgather(ctx, len(part.to_arrow(local=True)))) == len(part)


@orders
@pytest.mark.parametrize("n", [0, 1, 5, 30, -4, -30])
def test_head_and_tail(ctx: dtl.Context, n: int, order: str) -> None:
    table = divided(ctx, WHOLE, order)
    numbers = WHOLE["n"].to_pylist()
    assert everywhere(table.head(n))["n"].to_pylist() == numbers[:n]
    assert everywhere(table.tail(n))["n"].to_pylist() == (numbers[-n:] if n else [])


@orders
@pytest.mark.parametrize("kind", ["array", "list", "column", "arrow with null", "container"])
def test_masks(ctx: dtl.Context, kind: str, order: str) -> None:
    table = divided(ctx, WHOLE, order)
    wanted = [i % 3 != 1 for i in range(ROWS)]
    with_null = pa.array([each or None for each in wanted])
    mine = len(table.to_arrow(local=True))
    sizes = tuple(dtl.allgather(ctx, mine).tolist())
    made = {
        "array": lambda: np.array(wanted),
        "list": lambda: wanted,
        "column": lambda: table.assign(mask=with_null)["mask"],
        "arrow with null": lambda: with_null,
        "container": lambda: dtl.DistributedVector.from_numpy(ctx, np.array(wanted), partition=sizes),
    }
    found = table[made[kind]()]
    assert everywhere(found)["text"].to_pylist() == [v for v, k in zip(WHOLE["text"].to_pylist(), wanted) if k]
    assert len(found) == sum(wanted)


def test_masks_of_no_and_all_rows(ctx: dtl.Context) -> None:
    table = divided(ctx, WHOLE)
    assert len(table[np.zeros(ROWS, bool)]) == 0
    assert everywhere(table[np.ones(ROWS, bool)])["text"].to_pylist() == WHOLE["text"].to_pylist()
    empty = table[:0]
    assert len(empty[np.ones(0, bool)]) == 0
    assert everywhere(empty).schema.names == WHOLE.schema.names


def test_refused_rows(ctx: dtl.Context) -> None:
    table = divided(ctx, WHOLE)
    with pytest.raises(ValueError, match=r"3 rows, and the table has 11"):
        table[[True, False, True]]
    with pytest.raises(TypeError, match="a mask is of bool"):
        table[np.arange(ROWS)]
    with pytest.raises(TypeError, match="a mask is of bool"):
        table[table["text"]]
    with pytest.raises(ValueError, match="backwards"):
        table[::-1]
    with pytest.raises(TypeError, match="no integers"):
        table["a":"b"]  # type: ignore[misc,unused-ignore]
    with pytest.raises(TypeError, match=r"table\[3:4\]"):
        table[3]
    with pytest.raises(ValueError, match="same table"):
        divided(ctx, WHOLE, "last")[table.assign(m=True)[:4]["m"]]


def test_added_and_left_out(ctx: dtl.Context) -> None:
    table = divided(ctx, WHOLE)
    before = table[["n", "x"]]
    table["new"] = np.arange(ROWS)
    table["n"] = table["x"]
    table["word"] = "same"
    del table["size"]
    assert table.columns == ["n", "x", "text", "new", "word"]
    assert before.columns == ["n", "x"]
    assert everywhere(before)["n"].to_pylist() == WHOLE["n"].to_pylist()
    whole = everywhere(table)
    assert whole["new"].to_pylist() == list(range(ROWS))
    assert whole["n"].null_count == 2
    made = table.assign(a=lambda t: t["new"], b=lambda t: t["a"], new=1)
    assert everywhere(made)["b"].to_pylist() == list(range(ROWS))
    assert set(everywhere(made)["new"].to_pylist()) == {1}
    assert made.drop("a").drop(["b", "new"]).columns == ["n", "x", "text", "word"]
    assert table.rename({"n": "m"}).columns == ["m", "x", "text", "new", "word"]
    assert table.rename(str.upper).columns == ["N", "X", "TEXT", "NEW", "WORD"]


def test_refused_columns(ctx: dtl.Context) -> None:
    table = divided(ctx, WHOLE)
    for value in ([1, 2], np.ones((ROWS, 1)), dtl.zeros(ctx, 3)):
        with pytest.raises(ValueError, match=r"rows|dimensions"):
            table["new"] = value
    if ctx.size > 1:
        with pytest.raises(ValueError, match="in the same way"):
            table["new"] = divided(ctx, WHOLE, "last")["n"]
    with pytest.raises(KeyError, match="did you mean 'text'"):
        table.drop("txt")
    with pytest.raises(KeyError):
        del table["nothing"]
    with pytest.raises(KeyError):
        table.rename({"nothing": "n"})
    for names in ({"n": "x"}, lambda _: "same"):
        with pytest.raises(ValueError, match="two columns would be"):
            table.rename(names)
    with pytest.raises(ValueError, match="at least one"):
        table.drop(WHOLE.column_names)
    with pytest.raises(ValueError, match="at least one"):
        table[[]]
    with pytest.raises(TypeError):
        table.rename({"n": 3})  # type: ignore[dict-item]
    with pytest.raises(TypeError):
        table[3] = 1  # type: ignore[index]
    assert table.columns == WHOLE.column_names


def test_other_types(ctx: dtl.Context) -> None:
    table = divided(ctx, WHOLE)
    made = table.astype({"n": np.float32, "text": "category", "size": str})
    assert [str(kind) for kind in made.dtypes.values()] == ["float", "double", str(WHOLE["size"].type), "string"]
    assert everywhere(made).to_pydict()["n"] == WHOLE["n"].to_pylist()
    assert everywhere(made)["text"].to_pylist() == WHOLE["text"].to_pylist()
    assert everywhere(made)["size"].to_pylist() == WHOLE["size"].to_pylist()
    assert str(table[["n"]].astype(pa.large_string())["n"].dtype) == "string"
    for kinds in ({"x": int}, {"n": "uint8x"}, {"n": None}, {"text": float}, {"y": int}):
        with pytest.raises(dtl.DTLError):
            table.astype(kinds)
    with pytest.raises(ValueError, match=r"'x'.*truncated"):
        table.astype({"x": "int64"})


@pytest.mark.parametrize("n", [0, 4, ROWS])
@orders
def test_samples(ctx: dtl.Context, n: int, order: str) -> None:
    table = divided(ctx, WHOLE, order).assign(row=np.arange(ROWS))
    chosen = everywhere(table.sample(n, seed=5))["row"].to_pylist()
    assert len(set(chosen)) == n
    assert chosen == sorted(chosen)
    alone = np.random.Generator(np.random.PCG64(5)).choice(ROWS, n, replace=False, shuffle=False) if n else []
    assert chosen == sorted(alone)  # which no number of ranks changes
    assert len(table.sample(frac=0.5)) == 6
    assert len(table.sample(30, replace=True, seed=1)) == 30


def test_refused_samples(ctx: dtl.Context) -> None:
    table = divided(ctx, WHOLE)
    for given in ({}, {"n": 1, "frac": 0.5}, {"n": 12}, {"n": -1}, {"frac": -1.0}, {"n": 1.5}, {"n": 1, "seed": -3}):
        with pytest.raises(ValueError, match=r"."):
            table.sample(**given)  # type: ignore[arg-type]


def test_what_is_shown(ctx: dtl.Context, capsys: pytest.CaptureFixture[str]) -> None:
    table = divided(ctx, WHOLE, "last")
    table["when"] = np.datetime64("2024-02-29T12:00:00.000000001", "ns")
    table["long"] = "x" * 99
    text = repr(table)
    assert text.startswith(f"<dtl.Table of {ROWS} rows x 6 columns")
    assert ("2024-02-29 12:00:00.000000001" in text) == (ctx.rank == ctx.size - 1)
    assert "<table>" in table._repr_html_()
    table.show()
    shown = capsys.readouterr().out
    if ctx.is_root:
        assert "dictionary" in shown
        assert "xxxx…" in shown
        assert f"{ROWS - 1}  " in shown
    else:
        assert shown == ""
    table.info()
    known = capsys.readouterr().out
    assert ("not null" in known) == ctx.is_root
    many = dtl.Table(ctx, {f"<{i}>": [i] for i in range(30)})
    assert "&lt;0&gt;" in many._repr_html_()
    assert "…" in repr(many) or len(many.to_arrow(local=True)) == 0
    rows: Any = divided(ctx, pa.table({"x": pa.array([], pa.int64())}))
    assert "0 rows" in repr(rows)
    rows.show()
