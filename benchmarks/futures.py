"""What a future costs, beside those of Python; and two sorts at once, beside one after the other."""

from __future__ import annotations

import asyncio
import concurrent.futures
from typing import Any

import numpy as np
from blocks import Block, alternate, python_block
from rows import Row, at_most, best, deliver

import dtl

_SIZE = 2_000_000
_CALLS = 10_000
_ROUNDS = 15
_MAKE = "future = make(); future.{set}(1); future.{get}()"


def _made() -> dict[str, Block]:
    loop = asyncio.new_event_loop()
    return {
        "DTL": python_block(_MAKE.format(set="set", get="get"), _CALLS, make=dtl.Future),
        "concurrent.futures": python_block(
            _MAKE.format(set="set_result", get="result"), _CALLS, make=concurrent.futures.Future
        ),
        "asyncio": python_block(_MAKE.format(set="set_result", get="result"), _CALLS, make=loop.create_future),
    }


def _sorted(ctx: dtl.Context) -> dict[str, Block]:
    rng = np.random.default_rng(ctx.rank)
    parts = [rng.random(_SIZE) for _ in range(2)]
    vectors = [dtl.DistributedVector(ctx, _SIZE * ctx.size) for _ in parts]
    views = [vec.local_view() for vec in vectors]
    names: dict[str, Any] = {
        "a": vectors[0],
        "b": vectors[1],
        "v": views[0],
        "w": views[1],
        "x": parts[0],
        "y": parts[1],
    }
    fill = "v[:] = x; w[:] = y"
    return {
        "both at once": python_block(
            f"{fill}; f, g = sort(a), sort(b); f.get(); g.get()", 1, sort=dtl.async_sort, **names
        ),
        "one after the other": python_block(f"{fill}; sort(a); sort(b)", 1, sort=dtl.sort, **names),
        "async, one after the other": python_block(
            f"{fill}; sort(a).get(); sort(b).get()", 1, sort=dtl.async_sort, **names
        ),
    }


def _called(ctx: dtl.Context) -> dict[str, Block]:
    vec = dtl.DistributedVector(ctx, 1000, fill=1.0)
    return {
        "async": python_block("f(a).get()", 500, f=dtl.async_reduce, a=vec),
        "blocking": python_block("f(a)", 500, f=dtl.reduce, a=vec),
    }


def main() -> None:
    """Measure, and report."""
    rows: list[Row] = []
    times = alternate(_made(), _ROUNDS)
    taken = min(times["DTL"])
    rows.append(Row("a future made, set and asked", "≤ 5 µs", f"{taken * 1e6:.2f} µs", best(times), taken <= 5e-6))
    rows.append(at_most("a future made, set and asked", times, "DTL", "concurrent.futures", None))
    rows.append(at_most("a future made, set and asked", times, "DTL", "asyncio", None))
    with dtl.Context() as ctx:
        times = alternate(_sorted(ctx), _ROUNDS)
        rows.append(at_most("`async_sort` of two vectors of 2 M", times, "both at once", "one after the other", 0.8))
        times = alternate(_called(ctx), _ROUNDS)
        rows.append(at_most("`async_reduce` of 1000 elements", times, "async", "blocking", None))
    deliver(rows, __doc__ or "")


if __name__ == "__main__":
    main()
