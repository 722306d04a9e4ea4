"""Rows of Arrow's tables between ranks, compared with plain lists of all ranks' rows."""

from __future__ import annotations

import datetime
import decimal
from typing import Any

import numpy as np
import pytest

import dtl
from dtl._native.library import bridge
from dtl.tables import exchange
from dtl.tables.hashes import hashed, ranks_of

pa = pytest.importorskip("pyarrow")

NAN = float("nan")

#: Values of a column of each kind that is a key, all unequal, but for the first two, which are equal.
EQUAL: dict[str, tuple[Any, list[Any]]] = {
    "int64": (pa.int64(), [5, 5, 0, -1, 2**62, None]),
    "uint8": (pa.uint8(), [5, 5, 0, 255, None]),
    "float64": (pa.float64(), [0.0, -0.0, NAN, 1.5, None, float("inf")]),
    "nan": (pa.float32(), [NAN, -NAN, 0.0, None]),
    "bool": (pa.bool_(), [True, True, False, None]),
    "string": (pa.string(), ["a" * 9, "a" * 9, "", "a", "a" * 8, "a\0", "é", None]),
    "binary": (pa.binary(), [b"\xff", b"\xff", b"", b"\xff\x00", None]),
    "fixed": (pa.binary(3), [b"abc", b"abc", b"abd", None]),
    "dictionary": (pa.dictionary(pa.int32(), pa.string()), ["b", "b", "a", None]),
    "date": (pa.date32(), [datetime.date(2020, 1, 1)] * 2 + [datetime.date(1970, 1, 1), None]),
    "timestamp": (pa.timestamp("us", "UTC"), [datetime.datetime(2020, 1, 1)] * 2 + [datetime.datetime(1970, 1, 1)]),
    "decimal": (pa.decimal128(30, 2), [decimal.Decimal(value) for value in ("1.50", "1.5", "-1.5", "1e20")]),
    "null": (pa.null(), [None, None]),
}


def table(rank: int, rows: int) -> Any:
    """Return rows that differ between ranks, of types of every layout, some of them sliced."""
    draw = np.random.default_rng(rank)
    number = draw.integers(0, 9, rows + 3)
    text = [None if one % 4 == 0 else f"text {one}" for one in number]
    made = pa.table(
        {
            "number": pa.chunked_array([number[:2], number[2:]]),
            "text": text,
            "category": pa.array(text).dictionary_encode(),
            "list": [None if one == 3 else [rank, int(one)] for one in number],
            "nothing": pa.nulls(rows + 3),
            "bool": number % 2 == 0,
        },
        pa.schema(
            [
                ("number", pa.int64()),
                ("text", pa.string()),
                ("category", pa.dictionary(pa.int32(), pa.string())),
                ("list", pa.list_(pa.int64())),
                ("nothing", pa.null()),
                ("bool", pa.bool_()),
            ]
        ),
    )
    return made.slice(3)


def rows_of(ctx: dtl.Context, case: int) -> list[int]:
    """Return how many rows each rank has: some, none, one on the last rank, more on some."""
    return [[20] * ctx.size, [0] * ctx.size, [0] * (ctx.size - 1) + [1], list(range(ctx.size))][case]


@pytest.mark.parametrize("case", range(4))
def test_rows_go_to_ranks_in_order(ctx: dtl.Context, case: int) -> None:
    counts = rows_of(ctx, case)
    tables = [table(rank, rows) for rank, rows in enumerate(counts)]
    targets = [np.random.default_rng(99 + rank).integers(0, ctx.size, rows) for rank, rows in enumerate(counts)]
    got = exchange.by_rank(ctx, "test", tables[ctx.rank], targets[ctx.rank])
    want = [row for one, where in zip(tables, targets) for row, to in zip(one.to_pylist(), where) if to == ctx.rank]
    assert got.to_pylist() == want
    assert got.schema == tables[0].schema


@pytest.mark.parametrize("case", range(4))
def test_gathered_and_balanced(ctx: dtl.Context, case: int) -> None:
    counts = rows_of(ctx, case)
    tables = [table(rank, rows) for rank, rows in enumerate(counts)]
    every = [row for one in tables for row in one.to_pylist()]
    mine = tables[ctx.rank]
    assert exchange.gathered_everywhere(ctx, "test", mine).to_pylist() == every
    root = ctx.size - 1
    on_root = exchange.gathered_to(ctx, "test", mine, root)
    assert (on_root.to_pylist() if ctx.rank == root else on_root) == (every if ctx.rank == root else None)
    wanted = [0] * ctx.size
    wanted[ctx.size // 2] = len(every)
    got = exchange.balanced(ctx, "test", mine, counts, wanted)
    assert got.to_pylist() == (every if ctx.rank == ctx.size // 2 else [])


def test_few_rows_take_few_categories_along(ctx: dtl.Context) -> None:
    many = pa.array([f"text {one}" for one in range(5000)]).dictionary_encode()
    mine = pa.table({"x": many}).slice(7, 2)
    got = exchange.gathered_everywhere(ctx, "test", mine)
    assert got.to_pydict() == {"x": ["text 7", "text 8"] * ctx.size}
    assert ctx.size == 1 or all(len(chunk.dictionary) < 10 for chunk in got.column(0).chunks)


@pytest.mark.few("hashes do not depend on the ranks")
@pytest.mark.parametrize("kind", EQUAL)
def test_equal_keys_hash_alike(kind: str) -> None:
    of, values = EQUAL[kind]
    column = pa.array(values, pa.string() if pa.types.is_dictionary(of) else of)
    found = hashed(pa.table({"x": column}), ["x"])
    assert found[0] == found[1]
    assert len(np.unique(found)) == len(values) - 1
    several = pa.chunked_array([column.slice(0, 1), column.slice(1), column.slice(0, 0)])
    assert np.array_equal(hashed(pa.table({"x": several}), ["x"]), found)
    if not pa.types.is_null(of):
        coded = column.dictionary_encode()
        assert np.array_equal(hashed(pa.table({"x": coded}), ["x"]), found)
    if pa.types.is_integer(of):
        wide = column.slice(0, 3).cast(pa.int32())
        assert np.array_equal(hashed(pa.table({"x": wide}), ["x"]), found[:3])


@pytest.mark.few("hashes do not depend on the ranks")
def test_the_order_of_keys_counts_and_hashes_spread() -> None:
    rows = pa.table({"x": np.arange(1000), "y": np.arange(1000)[::-1]})
    both = hashed(rows, ["x", "y"])
    assert len(np.unique(both)) == 1000
    assert not np.array_equal(both, hashed(rows, ["y", "x"]))
    shares = np.bincount(ranks_of(both, 4), minlength=4)
    assert len(shares) == 4
    assert shares.min() > 200


def test_keys_that_are_none(ctx: dtl.Context) -> None:
    with pytest.raises(dtl.InvalidTypeError, match="'x' is of list"):
        hashed(pa.table({"x": [[1]]}), ["x"])


def scattered(word: int) -> int:
    """Return what SplitMix64 makes of a word."""
    word = (word + 0x9E3779B97F4A7C15) % 2**64
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    word = (word ^ word >> 27) * 0x94D049BB133111EB % 2**64
    return word ^ word >> 31


def test_hashes_of_texts_are_of_their_lengths_and_bytes() -> None:
    texts = [b"x" * n + b"%d" % n for n in range(40)] + [b"", b"\0", b"\0\0"]
    wanted = []
    for text in texts:
        word = scattered(len(text))
        for first in range(0, len(text), 8):
            word = scattered(word ^ int.from_bytes(text[first : first + 8], "little"))
        wanted.append(scattered(word))
    for first in (0, 5):
        column = pa.array(texts, pa.binary()).slice(first)
        assert hashed(pa.table({"x": column}), ["x"]).tolist() == wanted[first:]
    assert len(set(wanted)) == len(texts)
    with pytest.raises(ValueError, match="bytes"):
        bridge.hash_texts(np.zeros(1, np.uint64), np.zeros(2, np.int32), 2, b"", 0)
