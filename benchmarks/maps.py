"""What a distributed map costs: beside one Python dict, by the number of keys, and in memory."""

from __future__ import annotations

import statistics
import time
from typing import Any

import numpy as np
from blocks import Block, alternate
from mpi4py import MPI
from rows import Row, at_most, deliver, seconds
from slowest import slowest

import dtl
from dtl._native import library

_ROUNDS = 7
_KEYS = 1_000_000
_SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
_FLAT = 2.0
_WORLD = MPI.COMM_WORLD

_MAP, _DICT = "map", "dict"


def _keys(count: int) -> Any:
    """Return different keys in no order."""
    return np.arange(count, dtype=np.int64) * 0x9E3779B97F4A7C1 % (1 << 60)


def _map(ctx: dtl.Context, mine: Any, times: int = 1) -> Block:
    def block() -> float:
        start = time.perf_counter()
        for _ in range(times):
            with dtl.DistributedMap(ctx, np.int64, np.int64) as m:
                m.insert_many(mine, mine)
                values, found = m.find_many(mine)
        taken = (time.perf_counter() - start) / times
        if not found.all() or not np.array_equal(values, mine):
            raise SystemExit("the map did not find what was inserted")
        return taken

    return block


def _dict(keys: Any) -> Block:
    """Return a block that does the same with one dict, on rank 0 alone."""

    def block() -> float:
        if _WORLD.rank:
            return 0.0
        start = time.perf_counter()
        held = {}
        for key in keys.tolist():
            held[key] = key
        for key in keys.tolist():
            held[key]
        return time.perf_counter() - start

    return block


def _beside_dict(ctx: dtl.Context) -> Row:
    keys = _keys(_KEYS)
    contenders = {_MAP: _map(ctx, keys[ctx.rank :: ctx.size].copy()), _DICT: _dict(keys)}
    times = alternate(contenders, _ROUNDS, slowest)
    return at_most("insert and find 1 M int64 keys", times, _MAP, _DICT, 1.0)


def _by_size(ctx: dtl.Context) -> Row:
    names = {count: f"{count:_}" for count in _SIZES}
    contenders = {
        names[count]: _map(ctx, _keys(count)[ctx.rank :: ctx.size].copy(), max(1, 1_000_000 // count))
        for count in _SIZES
    }
    times = alternate(contenders, _ROUNDS, slowest)
    costs = {name: statistics.median(times[name]) / count for count, name in names.items()}
    least, most = (costs[names[count]] for count in (_SIZES[0], _SIZES[-1]))
    detail = ", ".join(f"{name} keys {seconds(cost)} a key" for name, cost in costs.items())
    target = f"10 M ÷ 10 k keys ≤ {_FLAT}"
    return Row("cost a key, insert and find", target, f"{most / least:.2f}", detail, most / least <= _FLAT)


def _memory(ctx: dtl.Context) -> Row:
    mine = _keys(_KEYS)[ctx.rank :: ctx.size].copy()
    before = library.memory_in_use()
    with dtl.DistributedMap(ctx, np.int64, np.int64) as m:
        m.insert_many(mine, mine)
        m.find_many(mine)
        held = _WORLD.allreduce(library.memory_in_use() - before)
    most = _WORLD.allreduce(library.memory_peak() - before)
    entries = 16 * _KEYS
    detail = f"{held / entries:.2f} held at the end, of {entries / 1e6:.0f} MB"
    return Row(
        "memory of 1 M entries, all ranks", "peak ÷ entries ≤ 4", f"{most / entries:.2f}", detail, most <= 4 * entries
    )


def main() -> None:
    """Measure the rows of maps."""
    with dtl.Context() as ctx:
        rows = [_memory(ctx), _beside_dict(ctx), _by_size(ctx)]  # memory first: the peak is the process's
    if _WORLD.rank == 0:
        deliver(rows, __doc__ or "")


if __name__ == "__main__":
    main()
