"""Functions of the rows of groups, compared with pandas, and what they may not return."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dtl
from dtl.tables import owners

pa = pytest.importorskip("pyarrow", "14", reason="tables are pyarrow's")
pd = pytest.importorskip("pandas", "2.2", reason="functions get frames of pandas")

DRAW = np.random.default_rng(8)
FRAME = pd.DataFrame(
    {"k": DRAW.choice(["c", "a", "b", None], 30), "x": DRAW.integers(0, 9, 30), "y": DRAW.random(30)},
)


@pytest.fixture(params=["everywhere", "in ranges"], autouse=True)
def few(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(owners, "FEW", owners.FEW if request.param == "everywhere" else 0)


def lists(ctx: dtl.Context, table: Any) -> Any:
    """Return a table as lists, on every rank."""
    whole = dtl.broadcast_object(ctx, table.to_arrow())
    return whole.to_pydict() if isinstance(whole, pa.Table) else whole.to_pylist()


def plain(frame: Any) -> Any:
    return pa.Table.from_pandas(frame, preserve_index=False).to_pydict()


def test_filter(ctx: dtl.Context) -> None:
    made = dtl.Table(ctx, FRAME).group_by("k").filter(lambda group: group["x"].sum() > 30 and group["k"].notna().all())
    assert lists(ctx, made) == plain(FRAME.groupby("k").filter(lambda group: group["x"].sum() > 30))
    column = dtl.Table(ctx, FRAME).group_by("k")["x"].filter(lambda values: bool(values.max() > 7))
    assert lists(ctx, column) == FRAME.groupby("k")["x"].filter(lambda values: values.max() > 7).tolist()
    assert len(dtl.Table(ctx, FRAME).group_by("k").filter(lambda group: False)) == 0


def test_apply(ctx: dtl.Context) -> None:
    groups = dtl.Table(ctx, FRAME).group_by("k")
    pandas = [(key, group.drop(columns="k")) for key, group in FRAME.groupby("k")]
    keys = [key for key, _ in pandas]
    made = lists(ctx, groups.apply(lambda group: float(group["x"].max() - group["y"].min())))
    assert made == {"k": keys, "value": [group["x"].max() - group["y"].min() for _, group in pandas]}
    made = lists(ctx, groups.apply(lambda group: {"n": len(group), "names": "".join(group.columns)}))
    assert made == {"k": keys, "n": [len(group) for _, group in pandas], "names": ["xy"] * len(keys)}
    made = lists(ctx, groups.apply(lambda group: group.nlargest(2, "y")))
    best = [group.nlargest(2, "y") for _, group in pandas]
    assert made == {"k": [key for key in keys for _ in range(2)], **pd.concat(best).to_dict("list")}
    made = lists(ctx, groups["x"].apply(lambda values: values.iloc[0]))
    assert made == {"k": keys, "value": [group["x"].iloc[0] for _, group in pandas]}


def test_no_rows(ctx: dtl.Context) -> None:
    groups = dtl.Table(ctx, FRAME).head(0).group_by("k")
    assert lists(ctx, groups.apply(len)) == {"k": []}
    assert len(groups.filter(len)) == 0


def test_groupby(ctx: dtl.Context) -> None:
    table = dtl.Table(ctx, FRAME)
    made = table.groupby("k", as_index=False, sort=True, observed=True, dropna=False).size()
    assert lists(ctx, made) == lists(ctx, table.group_by("k", dropna=False).size())
    for name in ("as_index", "sort", "observed"):
        with pytest.raises(dtl.InvalidArgumentError, match=name):
            table.groupby("k", **{name: name == "as_index"})


BAD: dict[str, tuple[type[Exception], str, Any]] = {
    "no function": (dtl.InvalidTypeError, "is no function", lambda g: g.apply(3)),
    "no truth": (dtl.InvalidTypeError, "must return True or False", lambda g: g.filter(lambda group: 1)),
    "different things": (
        dtl.InvalidTypeError,
        "rows and single values",
        lambda g: g.apply(lambda group: {"n": 1} if group["x"].iloc[0] > 1 else 1),
    ),
    "a key": (dtl.InvalidArgumentError, "two columns of the result", lambda g: g.apply(lambda group: {"k": 1})),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input(ctx: dtl.Context, case: str) -> None:
    error, text, call = BAD[case]
    groups = dtl.Table(ctx, {"k": np.arange(8), "x": np.arange(8)}).group_by("k")
    with pytest.raises(error, match=text):
        call(groups)
    assert len(groups.apply(len)) == 8


def test_a_function_that_raises(ctx: dtl.Context) -> None:
    groups = dtl.Table(ctx, {"k": np.arange(8), "x": np.arange(8)}).group_by("k")
    with pytest.raises((ZeroDivisionError, dtl.CommunicationError), match="by zero"):
        groups.apply(lambda group: 1 // int(group["x"].iloc[0]))
    assert len(groups.apply(len)) == 8
