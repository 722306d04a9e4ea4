"""What is made of the rows of groups, compared with pandas with Arrow's types."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import pytest

import dtl
from dtl.tables import owners

pa = pytest.importorskip("pyarrow", "14", reason="tables are pyarrow's")
pd = pytest.importorskip("pandas", "3", reason="needs pandas with Arrow's types")

DRAW = np.random.default_rng(11)
ROWS = 40

WHOLE = pa.table(
    {
        "k": pa.array(DRAW.integers(0, 6, ROWS), mask=DRAW.random(ROWS) < 0.2),
        "j": DRAW.choice(["b", "a"], ROWS),
        "i": pa.array(DRAW.integers(-9, 9, ROWS), mask=DRAW.random(ROWS) < 0.3),
        "f": pa.array(DRAW.random(ROWS) + 1, mask=DRAW.random(ROWS) < 0.4),
    }
)

#: Calls that are the same of a table's groups and of a frame's.
CALLS: dict[str, Callable[[Any], Any]] = {
    "head": lambda g: g.head(2),
    "head of all but some": lambda g: g.head(-2),
    "head of none": lambda g: g.head(0),
    "tail": lambda g: g.tail(3),
    "tail of all but some": lambda g: g.tail(-1),
    "nth": lambda g: g.nth(1),
    "nth from the last": lambda g: g.nth(-2),
    "nth of several": lambda g: g.nth([0, -1, 3]),
    "ngroup": lambda g: g.ngroup(),
    "ngroup down": lambda g: g.ngroup(ascending=False),
    "cumcount": lambda g: g.cumcount(),
    "cumcount down": lambda g: g.cumcount(ascending=False),
    "shift": lambda g: g.shift(-1),
    "cumsum": lambda g: g[["i", "f"]].cumsum(),
    "diff": lambda g: g[["i", "f"]].diff(),
    "diff of one": lambda g: g["i"].diff(2),
    "pct_change": lambda g: g["f"].pct_change(),
    "ffill": lambda g: g.ffill(),
    "ffill with a limit": lambda g: g["f"].ffill(limit=1),
    "bfill": lambda g: g[["i", "f"]].bfill(),
    "bfill with a limit": lambda g: g["i"].bfill(limit=1),
    "rank": lambda g: g[["i", "f"]].rank(),
    "transform": lambda g: g[["i", "f"]].transform("sum"),
    "transform by a method": lambda g: g[["f", "i"]].transform("cummax"),
    "head of some columns": lambda g: g[["f", "j"]].head(2),
    "head of a column": lambda g: g["i"].head(1),
}


def plain(ctx: dtl.Context, found: Any) -> list[Any]:
    """Return a column, table, frame or series as lists."""
    if isinstance(found, (dtl.Column, dtl.Table)):
        whole = dtl.broadcast_object(ctx, found.to_arrow())
        columns = [whole] if isinstance(found, dtl.Column) else whole.columns
    else:
        columns = [found] if isinstance(found, pd.Series) else [found[name] for name in found.columns]
        columns = [
            pa.array(column.astype("int64[pyarrow]") if column.dtype == "int64" else column) for column in columns
        ]
    return [column.to_pylist() for column in columns]


@pytest.mark.parametrize("few", ["everywhere", "in ranges"])
@pytest.mark.parametrize("keys", ["k", ["j", "k"]], ids=str)
@pytest.mark.parametrize("call", CALLS)
def test_pandas(ctx: dtl.Context, call: str, keys: Any, few: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(owners, "FEW", owners.FEW if few == "everywhere" else 0)
    frame = WHOLE.to_pandas(types_mapper=pd.ArrowDtype)
    want = plain(ctx, CALLS[call](frame.groupby(keys)))
    made = plain(ctx, CALLS[call](dtl.Table(ctx, WHOLE).group_by(keys)))
    if call in {"ngroup", "ngroup down", "cumcount", "cumcount down"}:
        dropped = WHOLE["k"].is_null().to_pylist()
        want = [[None if none else value for none, value in zip(dropped, column)] for column in want]
    assert len(made) == len(want)
    for one, other in zip(made, want):
        assert one == [each if each is None else pytest.approx(each) for each in other]


BAD: dict[str, tuple[type[Exception], str, Any]] = {
    "no number": (dtl.InvalidTypeError, "n must be", lambda g: g.head("x")),
    "no number among some": (dtl.InvalidTypeError, "n must be", lambda g: g.nth([1, 2.5])),
    "limit": (dtl.InvalidArgumentError, "limit 0 is less than 1", lambda g: g["i"].ffill(limit=0)),
    "text": (dtl.InvalidTypeError, "-", lambda g: g["text"].diff()),
    "no name": (dtl.InvalidArgumentError, "the list names no column", lambda g: g[[]]),
    "no column": (dtl.InvalidArgumentError, "no column beside its keys", lambda g: g[["k"]].shift()),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input(ctx: dtl.Context, case: str) -> None:
    error, text, call = BAD[case]
    groups = dtl.Table(ctx, {"k": [1, 2], "i": [1, 2], "text": ["a", "b"]}).group_by("k")
    with pytest.raises(error, match=text):
        call(groups)
    assert len(groups.ngroup()) == 2
