"""The table of Dask's calls in the guide, each of which is made with DTL, and with Dask or pandas.

Where Dask is not installed, such as in ``make test``, its calls are made of a frame of pandas, which has most of them.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
from test_from_pandas import GUIDE, WHOLE, made, plain

import dtl

pa = pytest.importorskip("pyarrow", "14", reason="tables are pyarrow's")
pd = pytest.importorskip("pandas", "3", reason="the guide was made with pandas 3")

try:
    import dask.dataframe as dd
except ImportError:
    dd = None

TOWNS = pa.table({"what": ["fig", "plum", "pear"], "town": ["Ulm", "Rome", "Bonn"]})

#: What pandas does not have of Dask's.
OF_DASK = re.compile(r"\bdd\.|compute\(|persist\(|npartitions|to_dask_array|rename\(columns=\{0")


def rows() -> list[tuple[str, str]]:
    """Return the calls of the guide."""
    text = GUIDE.split("## From Dask DataFrame")[1]
    return re.findall(r"^\| `(.+)` \| `(.+)` \|$", text, re.M)


def unordered(value: Any) -> Any:
    """Return rows so that those of any order are equal."""
    if isinstance(value, dict):
        return list(value), sorted(zip(*value.values()), key=repr)
    return sorted(value, key=repr) if isinstance(value, list) else pytest.approx(value)


def by_dask(ctx: dtl.Context, code: str, names: dict[str, Any]) -> Any:
    """Return what Dask's call gives on rank 0; None if it is no call of pandas', and there is no Dask."""
    frame, towns = (each.to_pandas(types_mapper=pd.ArrowDtype) for each in (WHOLE, TOWNS))
    if dd is None:
        found = None if OF_DASK.search(code) else made(code, {**names, "ddf": frame, "towns": towns}, "ddf")
    else:
        import dask

        with dask.config.set(scheduler="synchronous"):
            collection = dd.from_pandas(frame, npartitions=3)
            found = made(code, {**names, "dd": dd, "ddf": collection, "towns": towns}, "ddf")
            found = found.compute() if hasattr(found, "compute") else found
    return plain(ctx, found)


@pytest.mark.filterwarnings("ignore:Dask currently has limited support")
@pytest.mark.parametrize("number", range(len(rows())))
def test_call(ctx: dtl.Context, number: int, folder: str) -> None:
    of_dask, of_dtl = rows()[number]
    names = {"pd": pd, "dtl": dtl, "ctx": ctx, "folder": folder}
    if ctx.is_root:
        frame = WHOLE.to_pandas()
        frame.to_parquet(f"{folder}/a.parquet")
        frame.drop(columns="at").to_csv(f"{folder}/a.csv", index=False)
    ctx.barrier()
    found = made(of_dtl, {**names, "t": dtl.Table(ctx, WHOLE), "towns": TOWNS}, "t")
    found = dtl.broadcast_object(ctx, found.gather_to()) if isinstance(found, dtl.DistributedVector) else found
    found = dtl.broadcast_object(ctx, found) if isinstance(found, (pd.DataFrame, type(None))) else found
    wanted = by_dask(ctx, of_dask, names)
    assert wanted is None or unordered(plain(ctx, found)) == unordered(wanted)


def test_rows_are_found() -> None:
    assert len(rows()) > 30
