"""How much memory groups and joins take at their peak, beside the columns that they are of."""

from __future__ import annotations

import ctypes
import gc
from typing import Any, Callable

import numpy as np
import pytest

import dtl
from dtl.tables import partners

pa = pytest.importorskip("pyarrow", "14", reason="tables are pyarrow's")

#: Rows of each rank. What calls need in any case is small beside them.
ROWS = 400_000

#: The columns and all else, in columns, where the result is as large: of groups, whose numbers take 40 bytes a row.
OF_GROUPS, OF_JOINS = 3.5, 2.6

#: The same of values that go to the owners of their groups, of which nothing is left but a median.
OF_MEDIANS = 3.2


def size(of: str) -> int:
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) << 10 for line in lines if line.startswith(of))


def at_peak(nbytes: int, call: Callable[[], Any]) -> float:
    """Return how many times so many bytes there are at the peak of a call, these among it: the least of three.

    What malloc keeps of calls before may serve one, or lie beside it.
    """
    return min(_at_one_peak(nbytes, call) for _ in range(3))


def _at_one_peak(nbytes: int, call: Callable[[], Any]) -> float:
    gc.collect()
    pa.default_memory_pool().release_unused()
    ctypes.CDLL(None).malloc_trim(0)
    before = size("VmRSS")
    with open("/proc/self/clear_refs", "w") as refs:
        refs.write("5")  # the peak begins anew
    made = call()
    peak = size("VmHWM")
    del made
    return (nbytes + peak - before) / nbytes


def mine(ctx: dtl.Context, seed: int) -> Any:
    """Return rows of as many keys as there are rows, in any order."""
    number = np.random.default_rng(seed).permutation(ROWS * ctx.size)[ROWS * ctx.rank : ROWS * (ctx.rank + 1)]
    texts = pa.array([f"text {n}" for n in range(100)]).take(pa.array(number % 100))
    return pa.table({"k": number, "l": number % 1000, "t": texts, f"v{seed}": number / 3, f"w{seed}": number / 7})


def test_groups_of_one_row(ctx: dtl.Context) -> None:
    local = mine(ctx, 0)
    table = dtl.from_arrow(ctx, local)

    def call() -> Any:
        return table.group_by(["t", "l", "k"]).agg(v=("v0", "sum"), n=("w0", "count"))

    call()
    assert at_peak(local.nbytes, call) < OF_GROUPS


def test_medians(ctx: dtl.Context) -> None:
    local = mine(ctx, 0).select(["k", "l", "v0"])
    local = local.set_column(0, "k", pa.array(local.column("k").to_numpy() % 10))
    table = dtl.from_arrow(ctx, local)

    def call() -> Any:
        return table.group_by(["l", "k"]).agg(m=("v0", "median"), s=("v0", "std"))

    call()
    assert at_peak(local.nbytes, call) < OF_MEDIANS


def test_joins(ctx: dtl.Context, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partners, "_AT_ONCE", 0)
    local = [mine(ctx, seed) for seed in range(2)]
    table, other = (dtl.from_arrow(ctx, each) for each in local)

    def call() -> Any:
        return table.merge(other, on="k")

    call()
    assert at_peak(sum(each.nbytes for each in local), call) < OF_JOINS
