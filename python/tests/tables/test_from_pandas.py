"""The table of pandas' calls in the guide, each of which is made with pandas and with DTL."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_table import everywhere

import dtl

pa = pytest.importorskip("pyarrow", "14", reason="tables are pyarrow's")
pd = pytest.importorskip("pandas", "3", reason="the guide was made with pandas 3")

GUIDE = (Path(__file__).parents[3] / "docs/guide/tables.md").read_text(encoding="utf-8")
ALIKE, DIFFERENT = GUIDE.split("## From pandas")[1].split("## From Dask")[0].split("### Where results differ")

ROWS = 12

WHOLE = pa.table(
    {
        "what": [("plum", "fig", None, "kiwi")[i % 4] for i in range(ROWS)],
        "price": [None if i % 5 == 3 else i * 0.75 for i in range(ROWS)],
        "count": [i % 6 for i in range(ROWS)],
        "flag": [i % 3 == 0 for i in range(ROWS)],
        "at": pa.array([None if i == 7 else 1_709_000_000 + i * 40_000 for i in range(ROWS)], pa.timestamp("s")),
    }
)


def rows() -> list[tuple[str, str]]:
    """Return the calls of the guide."""
    return [
        (one.replace("\\|", "|"), other.replace("\\|", "|"))
        for one, other in re.findall(r"^\| `(.+)` \| `(.+)` \|$", ALIKE, re.M)
    ]


def made(code: str, names: dict[str, Any], subject: str) -> Any:
    """Return what an expression is, or what the subject is after a statement."""
    tree = ast.parse(code)
    if isinstance(tree.body[0], ast.Expr):
        return eval(code, names)
    exec(code, names)
    return names[subject]


def plain(ctx: dtl.Context, found: Any) -> Any:
    """Return a frame, series or number as Python's."""
    if isinstance(found, dtl.Column):
        found = dtl.broadcast_object(ctx, found.to_arrow()).to_pylist()
    elif isinstance(found, dtl.Table):
        return everywhere(found).to_pydict()
    elif isinstance(found, pd.DataFrame):
        return pa.Table.from_pandas(found, preserve_index=False).to_pydict()
    elif isinstance(found, pd.Series):
        found = pa.array(found).to_pylist()
    elif isinstance(found, dtl.DistributedTensor):
        found = dtl.broadcast_object(ctx, found[...].gather_to()).tolist()
    elif isinstance(found, np.ndarray):
        found = found.tolist()
    return found


def test_rows_are_found() -> None:
    assert len(rows()) > 30


@pytest.mark.parametrize("number", range(len(rows())))
def test_call(ctx: dtl.Context, number: int) -> None:
    of_pandas, of_dtl = rows()[number]
    names = {"pd": pd, "np": np, "dtl": dtl, "ctx": ctx}
    frame = WHOLE.to_pandas(types_mapper=pd.ArrowDtype)
    wanted = plain(ctx, made(of_pandas, {**names, "df": frame}, "df"))
    found = plain(ctx, made(of_dtl, {**names, "t": dtl.Table(ctx, WHOLE)}, "t"))
    if isinstance(wanted, (int, float)):
        assert found == pytest.approx(wanted)
    else:
        assert found == wanted


def test_what_differs(ctx: dtl.Context) -> None:
    names: dict[str, Any] = {}
    exec(re.findall(r"```python\n(.*?)```", DIFFERENT, re.S)[0], names)
    table = dtl.Table(ctx, names["t"])
    calls = re.findall(r"^\| `(.+)` \| `(.+)` \| `(.+)` \| .*\|$", DIFFERENT, re.M)
    assert len(calls) > 10
    for call, of_pandas, of_dtl in calls:
        made = eval(call, names), eval(call, {**names, "t": table})
        found = [plain(ctx, each.tolist() if isinstance(each, (np.generic, pd.Series)) else each) for each in made]
        wanted = [eval(each, {"nan": np.nan}) for each in (of_pandas, of_dtl)]
        assert [repr(each) for each in found] == [repr(each) for each in wanted], call
