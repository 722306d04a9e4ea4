"""Tables of pandas' frames: their index, their names and what no column holds."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pytest
from test_table import everywhere

import dtl

pa = pytest.importorskip("pyarrow", "14", reason="tables are pyarrow's")
pd = pytest.importorskip("pandas", "1.5", reason="frames are pandas'")

FRAME = pd.DataFrame({"what": ["plum", "fig", None], "price": [1.5, np.nan, 2.0]})

made = pytest.mark.parametrize("make", [dtl.Table, dtl.Table.from_arrow], ids=["Table", "from_arrow"])


def whole(ctx: dtl.Context, make: Any, frame: Any) -> dict[str, Any]:
    """Return the columns of a table of a frame, which one rank passes, or all of them."""
    alone = make is not dtl.Table and ctx.rank
    found: dict[str, Any] = everywhere(make(ctx, None if alone else frame)).to_pydict()
    return found


@made
def test_an_index_without_a_name_is_left_out(ctx: dtl.Context, make: Any) -> None:
    wanted = {"what": ["plum", None], "price": [1.5, 2.0]}
    assert whole(ctx, make, FRAME[FRAME["price"].notna()]) == wanted
    assert whole(ctx, make, FRAME.set_axis([5, 3, 9]).loc[[5, 9]]) == wanted


@made
def test_an_index_with_names_becomes_columns(ctx: dtl.Context, make: Any) -> None:
    keyed = FRAME.set_index("what")
    assert whole(ctx, make, keyed) == {"what": ["plum", "fig", None], "price": [1.5, None, 2.0]}
    for index in (pd.RangeIndex(3, name="row"), pd.date_range("2024-01-01", periods=3, name="day")):
        frame = FRAME.set_index(index)
        wanted = frame.reset_index()
        found = whole(ctx, make, frame)
        assert list(found) == list(wanted)
        assert found[index.name] == list(wanted[index.name])
    levels = pd.MultiIndex.from_arrays([[1, 1, 2], list("aba")], names=["n", None])
    assert whole(ctx, make, FRAME.set_index(levels))["n"] == [1, 1, 2]
    assert whole(ctx, make, FRAME.set_index(levels)).keys() == {"n", "what", "price"}


def test_names_that_are_no_text(ctx: dtl.Context) -> None:
    assert dtl.Table(ctx, pd.DataFrame([[1, 2.5]])).columns == ["0", "1"]
    assert dtl.Table(
        ctx, pd.DataFrame([[1, 2.5]], columns=pd.MultiIndex.from_tuples([("a", 1), ("b", 2)]))
    ).columns == [
        "('a', 1)",
        "('b', 2)",
    ]


BAD: dict[str, tuple[Any, str, Any]] = {
    "two types": (dtl.InvalidTypeError, "'x'.*object", pd.DataFrame({"x": ["a", 1]}, dtype=object)),
    "two types of numbers": (dtl.InvalidArgumentError, "'x'", pd.DataFrame({"x": [1, "a"]}, dtype=object)),
    "objects": (dtl.InvalidArgumentError, "'x'", pd.DataFrame({"x": [object(), object()]})),
    "complex": (dtl.InvalidTypeError, "'x'.*complex", pd.DataFrame({"x": [1j]})),
    "one name twice": (dtl.InvalidArgumentError, "two columns 'a'", pd.DataFrame([[1, 2]], columns=["a", "a"])),
    "one text twice": (dtl.InvalidArgumentError, "two columns '1'", pd.DataFrame([[1, 2]], columns=["1", 1])),
    "the index's name": (
        dtl.InvalidArgumentError,
        "two columns 'a'",
        pd.DataFrame({"a": [1]}, index=pd.Index([2], name="a")),
    ),
    "no columns": (dtl.InvalidArgumentError, "no column", pd.DataFrame()),
}


@made
@pytest.mark.parametrize("case", BAD)
def test_refused(ctx: dtl.Context, case: str, make: Any) -> None:
    error, text, frame = BAD[case]
    with pytest.raises(error, match=text):
        make(ctx, frame)
    if make is not dtl.Table:  # of one rank's frame, every rank hears
        with pytest.raises(error, match=text):
            make(ctx, frame if ctx.rank == ctx.size - 1 else pd.DataFrame({"x": [1]}))


@made
def test_objects_of_several_kinds_are_refused(ctx: dtl.Context, make: Any) -> None:
    """Of which pyarrow takes numbers for microseconds, and the date of a datetime."""
    day = datetime.datetime(2024, 1, 2, 3)
    for wrong in ([day, 1], [day.date(), day], [b"a", "b"], [datetime.timedelta(1), 2.5]):
        with pytest.raises(dtl.InvalidTypeError, match="'x'"):
            make(ctx, pd.DataFrame({"x": pd.Series(wrong, dtype=object)}))
    right = pd.DataFrame({"x": pd.Series([day, pd.NaT, None, pd.Timestamp(day)], dtype=object)})
    assert dtl.Table(ctx, right)["x"].count() == 2
