"""Groups of rows of which nearly each has its own: the rows go to the ranks of their ranges of keys."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import dtl
from dtl.tables import by_ranges, dividing, grouping

pa = pytest.importorskip("pyarrow", "14", reason="tables are pyarrow's")

ROWS = 900


@pytest.fixture
def moves(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Let rows move however few they are, and return whether those of each call have."""
    found: list[bool] = []

    def spied(*given: Any) -> Any:
        made = by_ranges.by_ranges(*given)
        found.append(made is not None)
        return made

    monkeypatch.setattr(by_ranges, "_LEAST", 0)
    monkeypatch.setattr(grouping, "by_ranges", spied)
    return found


def mine(rank: int) -> Any:
    """Return a rank's rows, some of whose keys other ranks have, too."""
    chance = np.random.default_rng(rank)
    numbers = chance.permutation(4 * ROWS)[:ROWS]
    floats = np.where(chance.random(ROWS) < 0.02, np.nan, numbers % 7 - 3.0)
    floats[floats == 0] *= chance.choice([-1, 1], (floats == 0).sum())  # -0.0
    return pa.table(
        {
            "f": pa.array(floats, mask=chance.random(ROWS) < 0.02),
            "t": pa.array([f"text {n % 50}" for n in numbers], mask=chance.random(ROWS) < 0.02),
            "c": pa.array([f"c{n % 3}" if n % 3 else f"r{rank}" for n in numbers]).dictionary_encode(),
            "n": pa.array(numbers, mask=chance.random(ROWS) < 0.01),
            "v": pa.array(chance.integers(0, 100, ROWS), mask=chance.random(ROWS) < 0.1),
            "w": chance.integers(0, 1000, ROWS),
        }
    )


def in_order(key: tuple[Any, ...]) -> Any:
    """Return what keys are sorted by: NaN comes after numbers, and null after it."""
    return [
        (2, 0) if each is None else (1, 0) if isinstance(each, float) and math.isnan(each) else (0, each)
        for each in key
    ]


@pytest.mark.parametrize("dropna", [True, False])
@pytest.mark.parametrize("keys", [["n"], ["f", "t", "c", "n"], ["c", "n", "t"]])
def test_against_loops(ctx: dtl.Context, moves: list[bool], keys: list[str], dropna: bool) -> None:
    rows = [row for rank in range(ctx.size) for row in mine(rank).to_pylist()]
    groups: dict[str, tuple[Any, list[Any]]] = {}
    for row in rows:
        key = tuple(row[name] + 0.0 if name == "f" and row[name] is not None else row[name] for name in keys)
        if not (dropna and None in key):
            groups.setdefault(repr(key), (key, []))[1].append(row)
    wanted = []
    for key, some in sorted(groups.values(), key=lambda group: in_order(group[0])):
        known = [row["v"] for row in some if row["v"] is not None]
        mean = sum(known) / len(known) if known else None
        wanted.append([*key, sum(known), mean, len(some), some[0]["w"], some[-1]["w"]])
    how = {"s": ("v", "sum"), "m": ("v", "mean"), "z": ("v", "size"), "a": ("w", "first"), "b": ("w", "last")}
    made = dtl.from_arrow(ctx, mine(ctx.rank)).group_by(keys, dropna=dropna).agg(**how)
    found = dtl.broadcast_object(ctx, made.to_arrow())
    assert repr([list(row.values()) for row in found.to_pylist()]) == repr(wanted)
    assert len(found) == made.shape[0] == len(wanted)
    assert moves == [ctx.size > 1]


def test_few_groups_and_numbers_of_rows_do_not_move(ctx: dtl.Context, moves: list[bool]) -> None:
    table = dtl.from_arrow(ctx, mine(ctx.rank))
    table.group_by("t").agg({"v": "sum"})
    assert moves == [False]
    table.group_by("n").agg({"v": "idxmin"})
    table.group_by("n").agg({"v": "median"})
    assert moves == [False]


def test_a_key_is_aggregated(ctx: dtl.Context, moves: list[bool]) -> None:
    table = dtl.from_arrow(ctx, mine(ctx.rank))
    made = table.group_by(["n", "t"]).agg(n2=("n", "max"), longest=("t", "max"))
    found = dtl.broadcast_object(ctx, made.to_arrow())
    assert found["n2"].equals(found["n"])
    assert found["longest"].equals(found["t"])
    assert moves == [ctx.size > 1]


def test_ranks_with_few_rows_do_not_say_how_many_others_have_at_a_time() -> None:
    for lengths, sizes, wanted in (
        ([4000, 0, 10], [500, 1, 10], 250),
        ([4000, 0, 10], [4000, 1, 10], 2000),
        ([0, 0], [1, 1], 1),
        ([7], [3], 3),
    ):
        assert dividing.rows_of_rank(np.array(lengths), np.array(sizes)) == wanted
