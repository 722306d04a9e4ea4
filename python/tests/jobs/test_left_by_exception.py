"""An exception on one rank that ends the blocks of what is collective: the others hear of it, and nobody waits."""

from __future__ import annotations

from pathlib import Path

import pytest
from job import on
from programs import ranks, succeeded

PROGRAM = """
    import contextlib
    import warnings
    import numpy as np
    import dtl

    warnings.simplefilter("ignore", ResourceWarning)

    def roles(ctx):
        made = dtl.RoleManager(ctx)
        made.add_role("worker", ctx.size)
        made.initialize()
        return made

    def halo(ctx):
        made = dtl.Halo(dtl.DistributedVector(ctx, 4 * ctx.size), 1, periodic=True)
        made.begin()
        return made

    makers = {
        "window": lambda ctx: dtl.Window(ctx, size=8),
        "epoch": lambda ctx: dtl.Window(ctx, size=8).epoch(),
        "counter": dtl.Counter,
        "lock": lambda ctx: contextlib.nullcontext(dtl.Lock(ctx)),
        "roles": roles,
        "halo": halo,
        "map": lambda ctx: dtl.DistributedMap(ctx, np.int64, np.int64),
        "cart": lambda ctx: dtl.Cart(ctx, [0], reorder=True),
    }
    whole = dtl.Context()

    def lose(kind):
        with whole.dup() as ctx, makers[kind](ctx):
            if ctx.rank == 1:
                raise KeyError("lost")
            ctx.barrier()

    for kind in makers:
        try:
            lose(kind)
        except (KeyError, dtl.DTLError) as error:
            heard = isinstance(error, dtl.DTLError) and "rank 1" in str(error)
            assert heard == (whole.rank != 1) and "lost" in str(error), (kind, error)
        else:
            raise AssertionError(f"{kind}: rank {whole.rank} heard of nothing")
        assert dtl.allreduce(whole, 1) == whole.size, kind

    def close_alone():
        with whole.dup() as ctx:
            dtl.Window(ctx, size=8)
            if ctx.rank == 1:
                raise KeyError("lost")

    try:
        close_alone()
    except (KeyError, dtl.CommunicationError) as error:
        assert "lost" in str(error), error
    assert dtl.allreduce(whole, 1) == whole.size


    ctx = whole.dup()
    vec = dtl.DistributedVector(ctx, 30, fill=1.0)
    assert dtl.async_reduce(vec).get() == 30
    try:
        with ctx:
            if ctx.rank == 1:
                raise KeyError("lost")
            dtl.async_reduce(vec).get()
    except (KeyError, dtl.CommunicationError) as error:
        assert "lost" in str(error), error
    else:
        raise AssertionError("an asynchronous call that ended")
    assert dtl.allreduce(whole, 1) == whole.size
    whole.close()
    print("heard", flush=True)
"""


@pytest.mark.jobs("starts ranks")
@pytest.mark.parametrize("shared", ["1", "0"])
@pytest.mark.parametrize("count", [on(2), on(3)])
def test_caught(count: int, shared: str, tmp_path: Path) -> None:
    out = succeeded(ranks(count, PROGRAM, tmp_path, DTL_SHARED_MEMORY=shared, DTL_TIMEOUT="20"))
    assert out.count("heard") == count
