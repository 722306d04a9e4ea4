"""Columns as a matrix, and how they vary together, compared with NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dtl

pa = pytest.importorskip("pyarrow", "14", reason="tables are pyarrow's")

DRAW = np.random.default_rng(3)
VALUES = {"x": DRAW.random(50) + 1e6, "y": DRAW.integers(0, 9, 50), "z": DRAW.random(50).astype(np.float32)}


def test_a_tensor_of_columns(ctx: dtl.Context) -> None:
    table = dtl.Table(ctx, {**VALUES, "word": "here", "true": VALUES["y"] > 4})
    assert np.array_equal(dtl.allgather_object(ctx, table.to_tensor().shape), [(50, 3)] * ctx.size)
    whole = dtl.broadcast_object(ctx, table.to_tensor(["z", "true"])[...].gather_to())
    assert whole.dtype == np.float32
    assert np.array_equal(whole, np.stack([VALUES["z"], VALUES["y"] > 4], axis=1))
    some = dtl.broadcast_object(ctx, table[table["y"] > 4].to_tensor("y")[...].gather_to())
    assert some.ravel().tolist() == VALUES["y"][VALUES["y"] > 4].tolist()


def test_correlation_and_covariance(ctx: dtl.Context) -> None:
    table = dtl.Table(ctx, {**VALUES, "word": "here"})
    for made, want in ((table.corr(), np.corrcoef), (table.cov(), np.cov)):
        whole = dtl.broadcast_object(ctx, made.to_arrow())
        assert whole.column("column").to_pylist() == ["x", "y", "z"]
        got = np.stack([whole.column(name).to_numpy() for name in "xyz"])
        np.testing.assert_allclose(got, want(np.stack(list(VALUES.values()))), rtol=1e-6, atol=1e-12)


def test_pairs_without_null(ctx: dtl.Context) -> None:
    null = np.arange(50) % 7 == 0
    other = np.arange(50) % 5 == 0
    table = dtl.Table(ctx, {"x": pa.array(VALUES["x"], mask=null), "y": pa.array(VALUES["y"], mask=other), "one": 1})
    whole = dtl.broadcast_object(ctx, table.corr().to_arrow())
    both = ~null & ~other
    want = np.corrcoef(VALUES["x"][both], VALUES["y"][both])[0, 1]
    np.testing.assert_allclose(whole.column("x").to_pylist()[:2], [1, want])
    assert whole.column("one").to_pylist() == [None] * 3


BAD: dict[str, tuple[type[Exception], str, Any]] = {
    "no such column": (dtl.KeyNotFoundError, "no column 'z'", lambda t: t.corr(["z"])),
    "text": (dtl.InvalidTypeError, "'text' is of string", lambda t: t.to_tensor(["text"])),
    "nulls": (dtl.InvalidArgumentError, "'null' has 1 nulls", lambda t: t.to_tensor()),
    "no numbers": (dtl.InvalidArgumentError, "no column of numbers", lambda t: t[["text"]].cov()),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input(ctx: dtl.Context, case: str) -> None:
    error, text, call = BAD[case]
    table = dtl.Table(ctx, {"x": [1, 2], "null": [None, 1.5], "text": ["a", "b"]})
    with pytest.raises(error, match=text):
        call(table)
    assert table.to_tensor("x").shape == (2, 1)
