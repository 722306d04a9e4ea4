"""Every rank makes the same drawn collective calls, many in a row, and checks what it gets from each.

Roots, elements and lengths are drawn: what travels in a rank's entry, in its payloads, and by other means follows each
other on one communicator. Ranks take different ways to the same call, through C or through Go, and now and then one is
late. They outnumber the processors, so that a rank may lose its processor anywhere.
"""

from __future__ import annotations

import random
import sys
import time
from typing import Any, Callable, NamedTuple

import numpy as np
import rank
from jobs import TIMEOUT, family, series

import dtl

BURSTS = 100_000

#: The most that a trial takes.
SECONDS = 25.0

#: How many bytes an element has, of what each rank brings: none, an entry's, several payloads of a ring, and more.
SIZES = (0, 8, 8, 8, 24, 32, 40, 200, 1024, 2552, 2560, 5000, 8000, 10_240, 12_000, 40_000, 70_000, 300_000)

DTYPES = ("f8", "f8", "i8", "f4", "i2", "u1")


def trial(seed: int, python: str, seconds: float) -> tuple[str, list[str]]:
    """Run one job of many bursts, and return what it was and what went wrong."""
    rng = random.Random(f"bursts {seed} {family(python)}")
    ranks = rng.choice([2, 3, 4, 8, 9])
    means = rng.choice([{}, {}, {"DTL_BACKEND": "local"}, {"DTL_NODES_OF": "4"}, {"DTL_SHARED_MEMORY": "0"}])
    # Ranks that outnumber the processors yield, and Linux may then keep a thread waiting for many seconds.
    variables = {"DTL_TIMEOUT": str(6 * TIMEOUT), **means}
    done, wrong = series(python, ranks, "bursts.py", rng.randrange(2**32), BURSTS, seconds, variables)
    said = "".join(f", {name}={value}" for name, value in means.items())
    return f"{done} bursts of calls on {ranks} ranks{said}", wrong


def main() -> None:
    """Make the bursts of a seed from one number on: the program of a rank."""
    seed, number, last = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else BURSTS
    with dtl.Context() as ctx:
        log = rank.Log(ctx)
        for burst in range(number, last):
            log.begin(burst, f"burst {burst}")
            make(ctx, random.Random(f"{seed} {burst}"), random.Random(f"{seed} {burst} {ctx.rank}"), log)
        log.begin(last, "the end")


class Call(NamedTuple):
    """One call: what it is, of which elements, and whether a rank makes it through the core."""

    name: str
    root: int
    elements: Callable[[int], Any]
    through_core: bool
    has_out: bool


def make(ctx: dtl.Context, rng: random.Random, own: random.Random, log: rank.Log) -> None:
    """Make a burst of drawn calls; own draws what differs between ranks."""
    names = rng.choice([list(CALLS), ["broadcast"], ["reduce"], ["gather", "scatter"], rng.sample(list(CALLS), 3)])
    roots = rng.choice([range(ctx.size), [rng.randrange(ctx.size)]])
    sizes = SIZES if ctx.size <= 4 else SIZES[:-2]
    lengths = rng.choice([sizes, sizes[:6], [rng.choice(sizes)]])
    lazy, core = own.choice([0.0, 0.0, 0.02]), own.choice([0.0, 0.0, 0.3, 1.0])
    for number in range(rng.choice([1, 3, 10, 40, 100, 100]) if ctx.size <= 8 else rng.choice([3, 10, 40])):
        name, root, dtype = rng.choice(names), rng.choice(roots), np.dtype(rng.choice(DTYPES))
        count, salt = rng.choice(lengths) // dtype.itemsize, rng.randrange(50)
        if own.random() < lazy:
            time.sleep(own.random() / 1000)  # it computes
        call = Call(
            name,
            root,
            lambda r: (np.arange(count) % 7 + (salt + 3 * r) % 11).astype(dtype),  # noqa: B023 - called at once
            own.random() < core,
            own.random() < 0.5,
        )
        log.at(f"call {number}, {name} of {count} {dtype} from {root}")
        got, expected = CALLS[name](ctx, call)
        if not np.array_equal(got, expected):
            what = f"rank {ctx.rank}: call {number}, {name} of {count} {dtype} from {root}"
            log.found(f"{what}: {got!r}, not {expected!r}")
            sys.exit(1)


def chosen(function: Any, call: Call) -> Callable[..., Any]:
    """Return a function, or what stands behind it, which goes through Python and Go."""
    return function.__wrapped__ if call.through_core else function  # type: ignore[no-any-return]


def _into(call: Call, like: Any) -> dict[str, Any]:
    return {"out": np.zeros_like(like)} if call.has_out else {}


def _broadcast(ctx: dtl.Context, call: Call) -> tuple[Any, Any]:
    whole, here = call.elements(call.root), ctx.rank == call.root
    into = {} if here else _into(call, whole)
    return chosen(dtl.broadcast, call)(ctx, whole if here else None, call.root, **into), whole


def _scatter(ctx: dtl.Context, call: Call) -> tuple[Any, Any]:
    mine = call.elements(ctx.rank)
    parts = np.array([call.elements(r) for r in range(ctx.size)]) if ctx.rank == call.root else None
    return chosen(dtl.scatter, call)(ctx, parts, call.root, **_into(call, mine)), mine


def _gather(ctx: dtl.Context, call: Call) -> tuple[Any, Any]:
    whole = np.array([call.elements(r) for r in range(ctx.size)]) if ctx.rank == call.root else None
    into = {} if whole is None else _into(call, whole)
    return chosen(dtl.gather, call)(ctx, call.elements(ctx.rank), call.root, **into), whole


def _allgather(ctx: dtl.Context, call: Call) -> tuple[Any, Any]:
    whole = np.array([call.elements(r) for r in range(ctx.size)])
    return chosen(dtl.allgather, call)(ctx, call.elements(ctx.rank), **_into(call, whole)), whole


def _total(ctx: dtl.Context, call: Call) -> Any:
    mine = call.elements(0)
    return np.add.reduce([call.elements(r) for r in range(ctx.size)], dtype=mine.dtype).astype(mine.dtype)


def _reduce(ctx: dtl.Context, call: Call) -> tuple[Any, Any]:
    total = _total(ctx, call) if ctx.rank == call.root else None
    into = {} if total is None else _into(call, total)
    return chosen(dtl.reduce, call)(ctx, call.elements(ctx.rank), dtl.SUM, call.root, **into), total


def _allreduce(ctx: dtl.Context, call: Call) -> tuple[Any, Any]:
    total = _total(ctx, call)
    return chosen(dtl.allreduce, call)(ctx, call.elements(ctx.rank), dtl.SUM, **_into(call, total)), total


def _barrier(ctx: dtl.Context, call: Call) -> tuple[Any, Any]:
    dtl.Context.barrier.__wrapped__(ctx) if call.through_core else ctx.barrier()  # type: ignore[attr-defined]
    return 0, 0


CALLS: dict[str, Callable[[dtl.Context, Call], tuple[Any, Any]]] = {
    "broadcast": _broadcast,
    "scatter": _scatter,
    "gather": _gather,
    "allgather": _allgather,
    "reduce": _reduce,
    "allreduce": _allreduce,
    "barrier": _barrier,
}

if __name__ == "__main__":
    main()
