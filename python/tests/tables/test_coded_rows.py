"""Texts that Parquet has by numbers: held as categories, and texts to every call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dtl
from dtl.runtime import threaded
from dtl.tables import owners
from dtl.tables.coded_rows import CodedRows

pa = pytest.importorskip("pyarrow", "14", reason="tables are pyarrow's")

ROWS = 3000
FRUIT = ["plum", None, "fig", "", "kiwi", "öl"]


@pytest.fixture(autouse=True)
def parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let columns be of several tasks, and groups go to the ranks of their ranges."""
    monkeypatch.setattr(threaded, "ROWS", 500)
    monkeypatch.setattr(owners, "FEW", 0)


def rows() -> list[dict[str, Any]]:
    draw = np.random.default_rng(3)
    what = [FRUIT[i] for i in draw.integers(0, len(FRUIT), ROWS)]
    shop = [f"shop {i}" for i in draw.integers(0, 30, ROWS)]
    price = [None if i % 11 == 0 else i % 7 for i in range(ROWS)]
    return [dict(zip(("what", "shop", "price"), row)) for row in zip(what, shop, price)]


KINDS = [("what", "string"), ("shop", "string"), ("price", "int64")]


@pytest.fixture
def table(ctx: dtl.Context, tmp_path: Path) -> dtl.Table:
    """Return rows of three files, whose groups of rows have texts in other orders."""
    import pyarrow.parquet as pq

    whole = pa.Table.from_pylist(rows(), pa.schema([(name, getattr(pa, kind)()) for name, kind in KINDS]))
    folder = dtl.broadcast_object(ctx, str(tmp_path))
    if ctx.is_root:
        for number in range(3):
            pq.write_table(whole.slice(1000 * number, 1000), f"{folder}/{number}.parquet", row_group_size=400)
    ctx.barrier()
    return dtl.read_parquet(ctx, folder)


def everywhere(table: Any) -> Any:
    return dtl.broadcast_object(table.context, table.to_arrow())


def test_texts_are_categories_until_they_are_asked_for(table: dtl.Table) -> None:
    held = table.rows
    assert isinstance(held, CodedRows)
    assert [str(kind) for kind in table.dtypes.values()] == [kind for _, kind in KINDS]
    some = table[["shop", "price"]].dropna("price")
    assert isinstance(some.rows, CodedRows)
    assert pa.types.is_dictionary(some.rows.held.schema.field("shop").type)
    assert pa.types.is_dictionary(held.held.schema.field("what").type)
    assert everywhere(table).to_pylist() == rows()
    assert pa.types.is_string(held.held.schema.field("what").type)
    assert everywhere(some).to_pylist() == [
        {"shop": row["shop"], "price": row["price"]} for row in rows() if row["price"] is not None
    ]


CALLS: dict[str, Any] = {
    "groups": lambda t: t.group_by(["what", "shop"], dropna=False).agg(p=("price", "sum"), n=("what", "size")),
    "groups without null": lambda t: t.group_by("what").agg(p=("price", "sum"), last=("shop", "max")),
    "groups after dropna": lambda t: t.dropna().group_by("shop").agg(a=("what", "first"), n=("what", "nunique")),
    "transform": lambda t: t.assign(m=t.group_by("what")["price"].transform("max")),
    "mask": lambda t: t[t["what"] == "fig"],
    "text": lambda t: t.assign(w=t["what"].str.upper() + t["shop"]),
    "sort": lambda t: t.sort_values(["shop", "what", "price"]),
    "merge": lambda t: t.merge(dtl.Table(t.context, {"what": FRUIT, "n": range(len(FRUIT))}), on="what"),
    "merge of categories": lambda t: t.merge(
        t.drop_duplicates(["what", "shop"])[["what", "shop", "price"]], on=["shop", "what"], how="left"
    ),
    "merge by categories": lambda t: t.merge(t[5:900:10].rename({"what": "w", "price": "p"}), on="shop"),
    "semi": lambda t: t.merge(t[:40][["what", "shop"]], how="semi"),
    "outer": lambda t: t.merge(t[5:900:10].rename({"what": "w", "price": "p"}), on="shop", how="outer"),
    "slice": lambda t: t[700:2200:3],
    "distinct": lambda t: t[["what", "shop"]].drop_duplicates(),
    "largest": lambda t: t.nlargest(7, ["shop", "price"]),
    "smallest": lambda t: t.nsmallest(9, ["what", "price"]),
    "counts": lambda t: t["what"].value_counts(),
    "dropna of texts": lambda t: t.dropna(["what"]),
    "none left": lambda t: t[t["price"] > 100].dropna(),
    "groups of none": lambda t: t.dropna()[:0].group_by("what").agg(p=("price", "sum")),
    "rename": lambda t: t.rename({"what": "w"})[["w"]],
}


@pytest.mark.parametrize("call", CALLS)
def test_calls_are_those_of_texts(ctx: dtl.Context, table: dtl.Table, call: str) -> None:
    plain = dtl.Table(ctx, {name: [row[name] for row in rows()] for name, _ in KINDS})
    assert not isinstance(plain.rows, CodedRows)
    made, want = CALLS[call](table), CALLS[call](plain)
    assert made.dtypes == want.dtypes
    assert everywhere(made).to_pylist() == everywhere(want).to_pylist()


def test_categories_stay(table: dtl.Table) -> None:
    """Rows that masks, slices and joins choose are as the rows are that they are of."""
    second = table[:300].drop_duplicates("shop")[["shop", "what"]].rename({"what": "w"})
    for made in (table[table["price"] > 2], table[5:2500], table.merge(second, on="shop")):
        assert pa.types.is_dictionary(made.rows.held.schema.field("what").type)
    for made in (table.merge(table, on=["shop", "price"], how="semi"), table[["what"]][::2]):
        assert pa.types.is_dictionary(made.rows.held.schema.field("what").type)


def test_filters(ctx: dtl.Context, table: dtl.Table, tmp_path: Path) -> None:
    folder = dtl.broadcast_object(ctx, str(tmp_path))
    some = dtl.read_parquet(ctx, folder, filters=[("price", ">", 2)], columns=["what", "shop"])
    assert isinstance(some.rows, CodedRows)
    want = [(row["what"], row["shop"]) for row in rows() if row["price"] is not None and row["price"] > 2]
    assert [tuple(row.values()) for row in everywhere(some).to_pylist()] == want
    none = dtl.read_parquet(ctx, folder, filters=[("price", ">", 200)])
    assert everywhere(none).schema.types == [pa.string(), pa.string(), pa.int64()]


def test_a_file_without_numbers(ctx: dtl.Context, table: dtl.Table, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    folder = dtl.broadcast_object(ctx, str(tmp_path))
    if ctx.is_root:
        more = pa.Table.from_pylist(rows()[:10], pa.schema([(name, getattr(pa, kind)()) for name, kind in KINDS]))
        pq.write_table(more, f"{folder}/3.parquet", use_dictionary=False)
    ctx.barrier()
    whole = dtl.read_parquet(ctx, folder)
    assert everywhere(whole).to_pylist() == rows() + rows()[:10]
    groups = everywhere(whole.group_by("what", dropna=False).size())
    assert sum(groups["size"].to_pylist()) == ROWS + 10
    assert groups["what"].to_pylist() == ["", "fig", "kiwi", "plum", "öl", None]
