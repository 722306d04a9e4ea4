"""``cat`` of columns beside pandas'."""

from __future__ import annotations

from typing import Any, Callable

import pytest
from test_column import values
from test_table import divided

import dtl

pa = pytest.importorskip("pyarrow", "14", reason="tables are pyarrow's")
pd = pytest.importorskip("pandas", "2", reason="the oracle")

SIZES = ["m", "s", None, "l", "s", None, "m"]

CALLS: dict[str, Callable[[Any], Any]] = {
    "set": lambda c: c.set_categories(["s", "m", "x"]),
    "set in order": lambda c: c.set_categories(["s", "m", "l", "xl"], ordered=True),
    "reorder": lambda c: c.reorder_categories(["s", "m", "l"], ordered=True),
    "add": lambda c: c.add_categories("xl"),
    "add several": lambda c: c.add_categories(["xl", "xs"]),
    "remove": lambda c: c.remove_categories(["m"]),
    "rename": lambda c: c.rename_categories({"m": "middle", "q": "no"}),
    "rename all": lambda c: c.rename_categories(["1", "2", "3"]),
    "rename to numbers": lambda c: c.rename_categories([1, 2, 3]),
    "rename by a function": lambda c: c.rename_categories(str.upper),
    "as_ordered": lambda c: c.as_ordered(),
    "as_unordered": lambda c: c.as_unordered(),
}


def plain(series: Any) -> list[Any]:
    return [None if pd.isna(v) else v for v in series]


@pytest.mark.parametrize("order", ["even", "last"])
@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("name", list(CALLS))
def test_calls(ctx: dtl.Context, name: str, ordered: bool, order: str) -> None:
    series = pd.Series(pd.Categorical(SIZES, ["l", "m", "s"], ordered=ordered))
    column = divided(ctx, pa.table({"x": pa.Array.from_pandas(series)}), order)["x"]
    assert (column.cat.categories, column.cat.ordered) == (["l", "m", "s"], ordered)
    made, wanted = CALLS[name](column.cat), CALLS[name](series.cat)
    assert values(made) == plain(wanted)
    assert made.cat.categories == list(wanted.cat.categories)
    assert made.cat.ordered == wanted.cat.ordered
    assert values(made.cat.codes) == wanted.cat.codes.tolist()
    assert made[:0].cat.categories == made.cat.categories
    left = made[made == wanted.dropna().iloc[0]].cat.remove_unused_categories()
    assert left.cat.categories == [wanted.dropna().iloc[0]]
    sorted_values = values(made.sort_values())
    if made.cat.ordered:
        assert sorted_values == plain(wanted.sort_values())


def test_categories_that_differ_between_ranks(ctx: dtl.Context) -> None:
    """As ranks have them that were given one each."""
    mine = pa.array([f"c{ctx.rank}", None, "all"]).dictionary_encode()
    column = dtl.from_arrow(ctx, pa.table({"x": mine}))["x"]
    known = column.cat.categories
    assert sorted(known) == ["all", *(f"c{rank}" for rank in range(ctx.size))]
    codes = dtl.broadcast_object(ctx, column.cat.codes.to_list())
    assert [None if code < 0 else known[code] for code in codes] == values(column)
    assert values(column.cat.set_categories(["all"])) == [None, None, "all"] * ctx.size
    assert sorted(column[column == "all"].cat.remove_unused_categories().cat.categories) == ["all"]


BAD: dict[str, tuple[Any, str, Callable[[Any], Any]]] = {
    "twice": (dtl.InvalidArgumentError, "different values", lambda c: c.set_categories(["s", "s"])),
    "null": (dtl.InvalidArgumentError, "different values", lambda c: c.set_categories(["s", None])),
    "others": (dtl.InvalidArgumentError, "in another order", lambda c: c.reorder_categories(["s"])),
    "one that is there": (dtl.InvalidArgumentError, "already", lambda c: c.add_categories("m")),
    "one that is not there": (dtl.InvalidArgumentError, "none of", lambda c: c.remove_categories("q")),
    "too few names": (dtl.InvalidArgumentError, "1 names", lambda c: c.rename_categories(["a"])),
    "names alike": (dtl.InvalidArgumentError, "different values", lambda c: c.rename_categories(lambda _: "a")),
    "ordered": (dtl.InvalidTypeError, "ordered", lambda c: c.set_categories(["a"], ordered="yes")),
    "no list": (dtl.InvalidTypeError, "", lambda c: c.set_categories(3)),
}


@pytest.mark.parametrize("case", BAD)
def test_refused(ctx: dtl.Context, case: str) -> None:
    error, text, call = BAD[case]
    column = divided(ctx, pa.table({"x": pa.array(SIZES).dictionary_encode()}), "last")["x"]
    with pytest.raises(error, match=text or "."):
        call(column.cat)
    assert column.count() == 5
    with pytest.raises(TypeError, match="astype"):
        column.astype("string").cat  # noqa: B018 - which raises
