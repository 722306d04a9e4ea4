"""Columns of random values on ranks with random numbers of rows, some none: beside lists of Python's."""

from __future__ import annotations

import datetime
import math
import operator
import random
from decimal import Decimal
from typing import Any, Callable

import numpy as np
import pytest
from test_column import alike, values

import dtl

pa = pytest.importorskip("pyarrow", "14", reason="tables are pyarrow's")

DRAWN: dict[str, tuple[Any, Callable[[random.Random], Any]]] = {
    "i8": (pa.int8(), lambda draw: draw.choice([-128, 127, 0, 1, -1, 5])),
    "i64": (pa.int64(), lambda draw: draw.choice([0, 1, -1, 2**63 - 1, -(2**63), 7])),
    "u64": (pa.uint64(), lambda draw: draw.choice([0, 1, 2**64 - 1, 2**63])),
    "f64": (pa.float64(), lambda draw: draw.choice([0.0, -0.0, 1.5, math.nan, math.inf, -3.0])),
    "flag": (pa.bool_(), lambda draw: draw.random() < 0.5),
    "text": (pa.string(), lambda draw: draw.choice(["", "a", "b", "é", "a b"])),
    "kind": (pa.string(), lambda draw: draw.choice(["x", "y", "z"])),
    "at": (pa.timestamp("us"), lambda draw: datetime.datetime(2020, 1, draw.randint(1, 28), draw.randint(0, 23))),
    "money": (pa.decimal128(10, 2), lambda draw: Decimal(draw.randint(-500, 500)) / 4),
}


class Drawn:
    """Two columns of each type, as lists and as a table whose rows are cut anywhere."""

    def __init__(self, ctx: dtl.Context, seed: int) -> None:
        self.draw = draw = random.Random(seed)
        self.rows = draw.choice([0, 1, 2, 3, 7, 20])
        self.lists, arrays = {}, {}
        for name, (kind, one) in DRAWN.items():
            for which in (name, f"{name} 2"):
                self.lists[which] = [None if draw.random() < 0.2 else one(draw) for _ in range(self.rows)]
                array = pa.array(self.lists[which], kind)
                arrays[which] = array.dictionary_encode() if name == "kind" else array
        cuts = [0, *sorted(draw.randint(0, self.rows) for _ in range(ctx.size - 1)), self.rows]
        mine = pa.table(arrays).slice(cuts[ctx.rank], cuts[ctx.rank + 1] - cuts[ctx.rank])
        if draw.random() < 0.5 and len(mine) > 1:  # the ranks draw alike
            mine = pa.concat_tables([mine.slice(0, 1), mine.slice(1)])
        self.table = dtl.Table.from_arrow(ctx, mine)

    def of_both(self, f: Callable[[Any, Any], Any], left: str, right: str) -> list[Any]:
        return [None if None in (x, y) else f(x, y) for x, y in zip(self.lists[left], self.lists[right])]


def check(ctx: dtl.Context, seed: int) -> None:
    drawn = Drawn(ctx, seed)
    t, lists, draw = drawn.table, drawn.lists, drawn.draw
    for name in DRAWN:
        column, other, given = t[name], t[f"{name} 2"], lists[name]
        f = draw.choice([operator.eq, operator.ne, operator.lt, operator.ge])
        assert values(f(column, other)) == drawn.of_both(f, name, f"{name} 2"), (name, f)
        assert alike(values(column.fillna(other)), [y if x is None else x for x, y in zip(given, lists[f"{name} 2"])])
        bounds = slice(draw.randint(-9, 9), draw.randint(-9, 9), draw.choice([1, 1, 2, 3]))
        assert alike(values(t[bounds][name]), given[bounds]), (name, bounds)
        some = t[t["flag"]]
        assert alike(values(some[name]), [x for x, keep in zip(given, lists["flag"]) if keep]), name
        chosen = [x if keep else y for x, y, keep in zip(given, lists[f"{name} 2"], lists["flag"])]
        assert alike(values(column.where(t["flag"], other)), chosen), name
        known = {"nan" if x != x else x for x in given if x is not None}  # noqa: PLR0124 - of NaN
        assert column.nunique() == len(known), name
        if name != "f64":
            wanted = [x for x in given if x is not None and draw.random() < 0.5]
            if wanted:
                assert values(column.isin(wanted)) == [x in wanted for x in given], name
    assert values(t["i64"] == t["u64"]) == drawn.of_both(operator.eq, "i64", "u64")
    assert values(t["kind"] + "-" + t["text"]) == drawn.of_both(lambda x, y: f"{x}-{y}", "kind", "text")
    assert t["money"].sum() == sum((x for x in lists["money"] if x is not None), Decimal(0))
    whole = np.array([x for x in lists["i64"] if x is not None], np.int64)
    assert t["i64"].sum() == whole.sum()


@pytest.mark.parametrize("seed", range(6))
def test_random_columns(ctx: dtl.Context, seed: int) -> None:
    check(ctx, seed)


@pytest.mark.matrix("more seeds of the test above")
@pytest.mark.parametrize("seed", range(100, 300))
def test_more_random_columns(ctx: dtl.Context, seed: int) -> None:
    check(ctx, seed)
