"""The bytes that cross between the ranks in joins and groups, counted on 4 and on 64 ranks, which are threads."""

from __future__ import annotations

import functools
import threading
from typing import Any, Callable

import numpy as np
import pytest

import dtl
from dtl.tables import exchange, owners, partners

pa = pytest.importorskip("pyarrow", "14", reason="tables are pyarrow's")

pytestmark = pytest.mark.alone("starts ranks of its own")

RANKS = pytest.mark.parametrize("ranks", [4, pytest.param(64, marks=pytest.mark.matrix("counts on more ranks"))])

SECONDS = 120

#: What Arrow's stream of a table has beside the rows, at most, with counts and the like that accompany it.
HEAD = 2048


class Meter:
    """Counts the bytes that each rank sends to others by the collectives of tables."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.sent: dict[int, int] = {}
        self._lock = threading.Lock()
        for module in (exchange, owners, partners):
            for name in ("alltoallv", "allgather", "allgatherv", "allreduce"):
                if hasattr(module, name):
                    monkeypatch.setattr(module, name, functools.partial(self._call, getattr(module, name), name))

    def _call(self, function: Any, name: str, ctx: dtl.Context, data: Any, *rest: Any) -> Any:
        data = np.asarray(data)
        if name == "alltoallv":
            nbytes = data.itemsize * (sum(rest[0]) - rest[0][ctx.rank])
        else:
            nbytes = data.nbytes * (ctx.size - 1)
        with self._lock:
            self.sent[ctx.rank] = self.sent.get(ctx.rank, 0) + int(nbytes)
        return function(ctx, data, *rest)

    def of(self, ranks: int, compute: Callable[[dtl.Context], Any]) -> tuple[int, list[Any]]:
        """Return how many bytes cross in a function of each rank, and what it returns on each."""
        self.sent.clear()
        made = dtl.launch(compute, ranks, in_process=True, timeout=SECONDS)
        return sum(self.sent.values()), made


@pytest.fixture
def meter(monkeypatch: pytest.MonkeyPatch) -> Meter:
    return Meter(monkeypatch)


@RANKS
def test_the_larger_table_of_a_join_stays(meter: Meter, ranks: int) -> None:
    few = pa.table({"key": np.arange(50), "name": [f"name {n}" for n in range(50)]})

    def compute(ctx: dtl.Context) -> int:
        rng = np.random.default_rng(ctx.rank)
        many = pa.table({"key": rng.integers(0, 50, 4000), "value": rng.random(4000)})
        mine = few.slice(50 * ctx.rank // ctx.size, 50 * (ctx.rank + 1) // ctx.size - 50 * ctx.rank // ctx.size)
        return len(dtl.from_arrow(ctx, many).merge(dtl.from_arrow(ctx, mine), on="key"))

    crossed, lengths = meter.of(ranks, compute)
    assert sum(set(lengths)) == 4000 * ranks
    assert crossed <= (ranks - 1) * (few.nbytes + ranks * HEAD)


@RANKS
def test_a_row_of_the_second_table_travels_once_to_each_rank_that_has_its_key(
    meter: Meter, monkeypatch: pytest.MonkeyPatch, ranks: int
) -> None:
    monkeypatch.setattr(partners, "SMALL", 0)
    rows = 1 << 18
    keys = np.random.default_rng(3).permutation(2 * rows)
    first, second = keys[:rows], np.random.default_rng(4).permutation(keys[rows // 2 :])[:rows]

    def mine(ctx: dtl.Context, all_keys: Any) -> Any:
        return all_keys[rows * ctx.rank // ctx.size : rows * (ctx.rank + 1) // ctx.size]

    def compute(ctx: dtl.Context) -> tuple[int, int]:
        left, right = mine(ctx, first), mine(ctx, second)
        table = pa.table({"key": right, "a": right / 2, "b": right * 3, "c": right.astype(str)})
        made = dtl.from_arrow(ctx, pa.table({"key": left})).merge(dtl.from_arrow(ctx, table), on="key")
        return made.rows.local.nbytes, len(made)

    crossed, made = meter.of(ranks, compute)
    assert made[0][1] == np.isin(first, second).sum()
    needed = sum(nbytes for nbytes, _ in made)
    hashes = 8 * (len(first) + len(second)) * 2
    assert crossed <= needed + hashes + ranks**2 * HEAD


@RANKS
@pytest.mark.parametrize("groups", [20, 50000])
def test_no_rank_gets_more_of_groups_than_all_have_aggregated(meter: Meter, ranks: int, groups: int) -> None:
    keys = np.random.default_rng(5).integers(0, groups, ranks * 2 * owners.FEW // 4).reshape(ranks, -1)

    def compute(ctx: dtl.Context) -> int:
        table = pa.table({"key": keys[ctx.rank], "x": np.arange(keys.shape[1])})
        return len(dtl.from_arrow(ctx, table).group_by("key").agg(total=("x", "sum"), mean=("x", "mean")))

    crossed, lengths = meter.of(ranks, compute)
    assert lengths == [len(np.unique(keys))] * ranks
    aggregated = sum(len(np.unique(each)) for each in keys)
    nbytes = 8 * (1 + 3) * aggregated  # of a key, two sums and a count
    if aggregated <= owners.FEW:  # each rank gets all
        nbytes *= ranks - 1
    sample = 16 * 32 * ranks**2
    assert crossed <= nbytes + sample + ranks**2 * HEAD
