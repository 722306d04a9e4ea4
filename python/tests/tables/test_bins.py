"""Numbers in bins, compared with pandas'."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dtl

pa = pytest.importorskip("pyarrow", "14", reason="tables are pyarrow's")
pd = pytest.importorskip("pandas", "1.5", reason="the names of bins are pandas'")

#: So many that no quantile asked for is one of them, beside which NumPy's versions round in several ways.
DRAWN = np.random.default_rng(4).random(42) * 30 - 10
WHOLE = np.arange(17) * 5 % 17 + 1


def everywhere(ctx: dtl.Context, column: dtl.Column) -> list[Any]:
    """Return the values of a column on every rank."""
    values: list[Any] = dtl.broadcast_object(ctx, column.to_arrow()).to_pylist()
    return values


def texts(found: Any) -> list[Any]:
    """Return pandas' intervals as text, None where there is none. One beside NaN would have floats as ends."""
    return [None if code < 0 else str(found.categories[code]) for code in found.codes]


@pytest.mark.parametrize("right", [True, False])
@pytest.mark.parametrize("bins", [1, 4, [0, 2, 15], [-5, 0, 7.25, 20], [0, 1e-5, 3]], ids=str)
@pytest.mark.parametrize("values", [DRAWN, WHOLE], ids=["drawn", "whole"])
def test_cut(ctx: dtl.Context, values: Any, bins: Any, right: bool) -> None:
    column = dtl.Table(ctx, {"x": values})["x"]
    made = column.cut(bins, right=right)
    assert made.dtype.ordered
    assert everywhere(ctx, made) == texts(pd.cut(values, bins, right=right))
    numbers = pd.cut(values, bins, right=right, labels=False)
    got = everywhere(ctx, column.cut(bins, right=right, labels=False))
    assert got == [None if np.isnan(number) else number for number in numbers]


@pytest.mark.parametrize("q", [1, 3, 10, [0, 0.25, 0.9], [0.1, 0.2, 1]], ids=str)
@pytest.mark.parametrize("values", [DRAWN, WHOLE], ids=["drawn", "whole"])
def test_qcut(ctx: dtl.Context, values: Any, q: Any) -> None:
    assert everywhere(ctx, dtl.Table(ctx, {"x": values})["x"].qcut(q)) == texts(pd.qcut(values, q))


def test_null_and_nan_are_in_no_bin(ctx: dtl.Context) -> None:
    column = dtl.Table(ctx, {"x": pa.array([1.0, None, float("nan"), 2.0])})["x"]
    assert everywhere(ctx, column.cut([0, 1, 2], labels=["a", "b"])) == ["a", None, None, "b"]


BAD: dict[str, tuple[type[Exception], str, Any]] = {
    "edges": (dtl.InvalidArgumentError, "ascending order", lambda c: c.cut([2, 1])),
    "no bins": (dtl.BoundsError, "0 bins", lambda c: c.cut(0)),
    "labels": (dtl.InvalidArgumentError, "1 entries, but there are 2 bins", lambda c: c.cut(2, labels=["a"])),
    "labels of text": (dtl.InvalidTypeError, "must be text", lambda c: c.cut(2, labels=[1, 2])),
    "labels alike": (dtl.InvalidArgumentError, "two bins alike", lambda c: c.cut(2, labels=["a", "a"])),
    "text": (dtl.InvalidTypeError, "must be a number of bins", lambda c: c.cut("many")),
    "quantiles": (dtl.BoundsError, "outside", lambda c: c.qcut([0, 2])),
    "equal quantiles": (dtl.InvalidArgumentError, "not all different", lambda c: (c * 0).qcut(2)),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input(ctx: dtl.Context, case: str) -> None:
    error, text, call = BAD[case]
    table = dtl.Table(ctx, {"x": [1, 2, 3]})
    with pytest.raises(error, match=text):
        call(table["x"])
    assert len(table["x"].cut(2)) == 3
