"""Functions of groups, and steps over groups, of more rows than may be in memory: beside the same calls in memory."""

from __future__ import annotations

import datetime
import warnings
from typing import Any, Callable

import numpy as np
import pytest

import dtl
from dtl.tables import group_rows, groups_in_pieces, on_disk

pa = pytest.importorskip("pyarrow", "14", reason="tables are pyarrow's")
pd = pytest.importorskip("pandas", "2.2", reason="functions get frames of pandas")


def rows_of(ctx: dtl.Context) -> dtl.Table:
    """Return rows of some hundreds of groups, of which the second of three ranks has none."""
    count = 1500 + 7 * ctx.rank if ctx.size < 3 or ctx.rank != 1 else 0
    numbers = np.random.default_rng(ctx.rank).integers(0, 200, count)
    places = np.arange(count)
    return dtl.from_arrow(
        ctx,
        pa.table(
            {
                "k": pa.array(numbers, mask=numbers % 13 == 0),
                "word": pa.array([f"text {n % 5}" for n in numbers], pa.string()),
                "x": pa.array(places / 4, mask=places % 17 == 0),
                "n": pa.array(places, mask=numbers == 7),  # the values of one group are null
                "alone": pa.array(places, mask=numbers % 13 == 0),  # null where the key is
                "truth": pa.array(places % 2 == 0, mask=numbers == 8),
                "text": pa.array([f"row {n}" for n in places], pa.string()),
                "kind": pa.array(["u", "v", None] * count, pa.string())[:count].dictionary_encode(),
            }
        ),
    )


def some(group: Any) -> Any:
    """Return the first rows of a group, of which some are none."""
    return group[group["x"] > 100].head(2)[["text", "x", "n"]]


def of_some_columns(group: Any) -> Any:
    """Return a dict that lacks a value for some groups."""
    return {"n": len(group), "dtype": str(group["n"].dtype)} if len(group) > 7 else {"n": len(group), "few": 1}


CALLS: dict[str, Callable[[Any], Any]] = {
    "values": lambda groups: groups.apply(lambda group: group["x"].sum()),
    "values of two types": lambda groups: groups.apply(lambda group: len(group) if len(group) % 2 else 0.5),
    "some nulls": lambda groups: groups.apply(lambda group: None if len(group) % 2 else group["text"].iloc[0]),
    "days": lambda groups: groups.apply(lambda group: datetime.date(2020, 1, len(group) % 28 + 1)),
    "frames": lambda groups: groups.apply(some),
    "dicts": lambda groups: groups.apply(of_some_columns),
    "types": lambda groups: groups.apply(lambda group: " ".join(map(str, group.dtypes))),
    "a series": lambda groups: groups["n"].apply(lambda values: str(values.dtype)),
    "transform": lambda groups: groups["x"].transform(lambda values: values - values.mean()),
    "transform of several": lambda groups: groups[["x", "n", "text"]].transform(lambda values: values.iloc[0]),
    "types of transform": lambda groups: groups[["n", "truth"]].transform(lambda values: len(values) % 2 or 0.5),
    "filter": lambda groups: groups.filter(lambda group: bool(group["x"].sum() > 500)),
    "filter of a column": lambda groups: groups["text"].filter(lambda values: len(values) > 7),
    "agg": lambda groups: groups.agg(
        most=("x", lambda values: values.max() if len(values) else -1), mean=("x", "mean"), median=("n", "median")
    ),
    "agg of two types": lambda groups: groups.agg(r=("n", lambda values: len(values) if len(values) % 2 else 0.5)),
    "agg of texts": lambda groups: groups["text"].agg(lambda values: "".join(values[:2])),
    "ngroup": lambda groups: groups.ngroup(),
    "ngroup down": lambda groups: groups.ngroup(ascending=False),
    "steps": lambda groups: [(key, everywhere(rows), rows.rows.counts) for key, rows in groups],
    "steps over a column": lambda groups: [(key, everywhere(rows)) for key, rows in groups["text"]],
}


def everywhere(made: Any) -> Any:
    """Return all rows on each rank, with values in the place of categories."""
    whole = made.to_frame() if isinstance(made, dtl.Column) else made
    found = dtl.broadcast_object(whole.context, whole.to_arrow())
    return pa.table(
        [c.cast(pa.string()) if pa.types.is_dictionary(c.type) else c for c in found.columns], found.column_names
    )


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize(("keys", "dropna"), [(["k"], True), (["k"], False), (["word", "k"], True), (["kind"], False)])
def test_functions_of_groups_of_more_rows_than_memory(
    ctx: dtl.Context, monkeypatch: pytest.MonkeyPatch, keys: list[str], dropna: bool, name: str
) -> None:
    groups = rows_of(ctx).group_by(keys, dropna=dropna)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of pandas: frames without rows
        wanted = CALLS[name](groups)
        divided = count_of_ranges(monkeypatch)
        monkeypatch.setattr(on_disk.library, "memory_limit", lambda: 3 << 20)
        found = CALLS[name](groups)
        monkeypatch.undo()
    assert len(divided) == 1
    assert max(dtl.allgather(ctx, divided[0]).ravel()) > (1 if keys != ["kind"] else 0)
    if isinstance(wanted, list):
        assert found == wanted
        return
    if isinstance(found, dtl.Column) or name.startswith("filter"):
        assert found.rows.counts == wanted.rows.counts
    assert everywhere(found).equals(everywhere(wanted))


def count_of_ranges(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list to which each division of rows by their keys adds how many ranges have rows."""
    found: list[int] = []

    class Noted(group_rows.DividedRows):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            found.append(len(self.numbers()))

    for module in (group_rows, groups_in_pieces):
        monkeypatch.setattr(module, "DividedRows", Noted)
    return found


def test_groups_are_steps_whose_rows_outlive_them(ctx: dtl.Context, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of a group are read after the next steps, and when the table has gone."""
    table = rows_of(ctx)
    wanted = {key: everywhere(rows) for key, rows in table.group_by("k")}
    monkeypatch.setattr(on_disk.library, "memory_limit", lambda: 3 << 20)
    found = dict(table.group_by("k"))
    del table
    assert list(found) == list(wanted)
    for key, rows in found.items():
        assert everywhere(rows) == wanted[key]


@pytest.mark.parametrize("name", ["apply", "transform", "filter", "agg"])
def test_errors_of_functions_of_some_groups(ctx: dtl.Context, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """The rank whose function raises raises the function's own error, whatever its class, the others that of ranks."""
    monkeypatch.setattr(on_disk.library, "memory_limit", lambda: 3 << 20)
    groups = rows_of(ctx).group_by("k")["x"]

    def raises(values: Any) -> Any:
        if 77.25 in list(values):
            raise TypeError("not these")
        return len(values) > 3

    with pytest.raises((TypeError, dtl.CommunicationError)) as caught:
        getattr(groups, name)(raises)
    own = [type(caught.value) is TypeError, isinstance(caught.value, dtl.CommunicationError)]
    assert sum(own) == 1
    assert "not these" in str(caught.value)
    assert dtl.allgather(ctx, own[0]).sum() >= 1
    assert len(groups.agg("sum")) > 0


def test_floating_point_errors_are_the_programs(ctx: dtl.Context, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_disk.library, "memory_limit", lambda: 3 << 20)
    groups = rows_of(ctx).group_by("k")["x"]
    for call in (groups.agg, groups.transform, groups.apply):
        with np.errstate(all="raise"), pytest.raises((FloatingPointError, dtl.CommunicationError)):
            call(lambda values: np.float64(1) / np.float64(0) if len(values) > 3 else 1.0)


def test_frames_have_the_same_types_on_each_rank(ctx: dtl.Context) -> None:
    """An integer column with null in one group is of floats in all of them, on any number of ranks."""
    count = 40
    table = dtl.Table(ctx, {"k": np.arange(count) // 4, "n": [None, *range(1, count)]})
    made = everywhere(table.group_by("k")["n"].apply(lambda values: str(values.dtype)))
    assert set(made["value"].to_pylist()) == {"float64"}
