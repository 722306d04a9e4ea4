"""No call waits for a rank that has closed the context or ended its program, or is in another call."""

from __future__ import annotations

import re
import time
from itertools import product
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest
from programs import ranks, succeeded

import dtl

#: What rank 0 may wait for that the last rank does. The sends are too long to end before they are received.
WAITS: dict[str, Callable[[dtl.Context, int], Any]] = {
    "recv": lambda ctx, last: dtl.recv(ctx, last, tag=5),
    "recv of any": lambda ctx, last: dtl.recv(ctx, dtl.ANY_SOURCE, tag=5),
    "recv_object": lambda ctx, last: dtl.recv_object(ctx, last, tag=5),
    "probe": lambda ctx, last: dtl.probe(ctx, last, tag=5),
    "send": lambda ctx, last: dtl.send(ctx, np.zeros(1_000_000), last, tag=5),
    "isend": lambda ctx, last: dtl.isend(ctx, np.zeros(1_000_000), last, tag=5).wait(),
    "irecv": lambda ctx, last: dtl.irecv(ctx, last, tag=5).wait(),
    "irecv, asked": lambda ctx, last: asked(dtl.irecv(ctx, last, tag=5)),
    "waitany": lambda ctx, last: dtl.waitany([dtl.irecv(ctx, last, tag=5)]),
    "sendrecv": lambda ctx, last: dtl.sendrecv(ctx, 1.0, last, last, 0, 5),
    "barrier": lambda ctx, last: ctx.barrier(),
    "allreduce": lambda ctx, last: dtl.allreduce(ctx, 1.0),
    "allreduce, long": lambda ctx, last: dtl.allreduce(ctx, np.zeros(100_000)),
    "ibarrier": lambda ctx, last: dtl.ibarrier(ctx).wait(),
    "iallreduce": lambda ctx, last: dtl.iallreduce(ctx, 1.0).wait(),
    "vector": lambda ctx, last: dtl.DistributedVector(ctx, 10),
}


def asked(request: dtl.Request) -> Any:
    """Ask a request whether it is over until it is."""
    while not request.done:
        pass
    return request.wait()


@pytest.fixture(params=["1", "0"], ids=["sharing memory", "apart"])
def own(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> dtl.Context:
    """Return a context of all ranks that they close themselves."""
    monkeypatch.setenv("DTL_SHARED_MEMORY", request.param)
    return dtl.Context()


@pytest.mark.mpi(min_size=2)
@pytest.mark.parametrize("name", WAITS)
def test_others_have_closed_the_context(ctx: dtl.Context, own: dtl.Context, name: str) -> None:
    last = ctx.size - 1
    if not ctx.is_root:
        dtl.send(own, np.arange(3) + ctx.rank, 0)
        own.close()
        ctx.barrier()
        return
    started = time.monotonic()
    with pytest.raises(dtl.CommunicationError, match="has closed the context") as caught:
        WAITS[name](own, last)
    assert time.monotonic() - started < 20  # one, where nobody else uses the cores
    assert re.search(r"ranks? [1-9].* ha(s|ve) closed the context", str(caught.value))
    for source in range(1, ctx.size):
        assert (dtl.recv(own, source) == np.arange(3) + source).all()  # which it has sent before
    own.close()
    ctx.barrier()


PROGRAM = """
import sys, time
import dtl
from test_absence import WAITS

ctx = dtl.Context()
if ctx.rank == 1:
    dtl.send(ctx, "word" and 7, 0)
    sys.exit(0)
for name, wait in WAITS.items():
    started = time.monotonic()
    try:
        wait(ctx, 1)
    except dtl.CommunicationError as error:
        if "rank 1 has ended its program" in str(error) and time.monotonic() - started < 2:
            continue
        sys.stdout.write(f"{name}: {error} after {time.monotonic() - started}")
    sys.stdout.write(f"{name} returned")
assert dtl.recv(ctx, 1) == 7
sys.stdout.write("all raised")
"""


@pytest.mark.jobs("starts ranks itself")
@pytest.mark.skipif(not dtl.has_mpi(), reason="there is no MPI library; runs in the environments of make setup")
@pytest.mark.parametrize("sharing", ["1", "0"], ids=["sharing memory", "apart"])
def test_the_other_has_ended(tmp_path: Path, sharing: str) -> None:
    here = Path(__file__).parent
    code = f"import sys; sys.path[:0] = {[str(here), str(here.parent)]}\n" + PROGRAM
    assert succeeded(ranks(2, code, tmp_path, DTL_SHARED_MEMORY=sharing)).endswith("all raised")


#: Calls that block, on a rank that makes them, here, while another is away.
BLOCKING: dict[str, Callable[[dtl.Context, int, int], Any]] = {
    "barrier": lambda ctx, here, away: ctx.barrier(),
    "allreduce": lambda ctx, here, away: dtl.allreduce(ctx, np.ones(1000)),
    "reduce": lambda ctx, here, away: dtl.reduce(ctx, 1.0, root=here),
    "broadcast": lambda ctx, here, away: dtl.broadcast(ctx, 1.0, root=away),
    "gather": lambda ctx, here, away: dtl.gather(ctx, 1.0, root=here),
    "allgather": lambda ctx, here, away: dtl.allgather(ctx, np.ones(100_000)),
    "scatter": lambda ctx, here, away: dtl.scatter(ctx, np.ones(ctx.size), root=away),
    "scan": lambda ctx, here, away: dtl.scan(ctx, 1.0),
    "alltoallv": lambda ctx, here, away: dtl.alltoallv(ctx, np.ones(ctx.size), [1] * ctx.size),
    "vector": lambda ctx, here, away: dtl.DistributedVector(ctx, 10),
    "dup": lambda ctx, here, away: ctx.dup(),
    "window": lambda ctx, here, away: dtl.Window(ctx, size=8),
}

STARTING: dict[str, Callable[[dtl.Context, int], dtl.Request]] = {
    "ibarrier": lambda ctx, root: dtl.ibarrier(ctx),
    "iallreduce": lambda ctx, root: dtl.iallreduce(ctx, np.ones(3)),
    "ibroadcast": lambda ctx, root: dtl.ibroadcast(ctx, np.ones(3), root=root),
    "igather": lambda ctx, root: dtl.igather(ctx, np.ones(3), root=0),
    "iallgather": lambda ctx, root: dtl.iallgather(ctx, np.ones(3)),
    "ialltoallv": lambda ctx, root: dtl.ialltoallv(ctx, np.ones(ctx.size), [1] * ctx.size),
}

#: Calls that block and that do not, and whether rank 0 makes the first: then a gather's root does not wait for it.
PAIRS = [
    (call, name, first)
    for call, name, first in product(BLOCKING, STARTING, (True, False))
    if (call == "barrier" or name == "ibarrier") and (name, first) != ("igather", True)
]


@pytest.mark.mpi(min_size=2)
@pytest.mark.parametrize(("call", "name", "first"), PAIRS)
def test_one_is_in_a_call_that_blocks(own: dtl.Context, call: str, name: str, first: bool) -> None:
    """All ranks hear of it, and what blocks goes on."""

    def calls() -> None:
        ends = (0, own.size - 1) if first else (own.size - 1, 0)
        if own.is_root == first:
            BLOCKING[call](own, *ends)
        else:
            STARTING[name](own, ends[0]).wait()
        own.barrier()  # who gives root its value does not wait for it, and hears of it now

    with pytest.raises(dtl.CollectiveMismatchError) as caught:
        calls()
    assert f"called {name}(" in str(caught.value)
    assert call != "barrier" or "called barrier() at " in str(caught.value)
    assert dtl.allreduce(own, 1) == own.size
    with pytest.raises(dtl.CollectiveMismatchError, match="go on with a dup"):
        dtl.ibarrier(own)
    own.close()
