"""Messages that the receiver copies from the sender's memory, where the sender gives up, or there is no such memory."""

from __future__ import annotations

from pathlib import Path

import pytest
from programs import AWAITING, ranks, succeeded

import dtl

pytestmark = [
    pytest.mark.jobs("starts ranks itself"),
    pytest.mark.skipif(not dtl.has_mpi(), reason="there is no MPI library; runs in the environments of make setup"),
]

GIVEN_UP = """
import pathlib, sys, time
import numpy as np
import dtl

def raised_on(rank):
    return pathlib.Path(__file__).with_name(f"raised{{rank}}")

with dtl.Context() as ctx:
    value, out = np.ones(100_000), np.zeros(100_000)
    try:
        if ctx.rank == 0:
            {send}(ctx, value, 1)
        else:
            await_file(raised_on(0))
            {recv}(ctx, 0, out=out)
    except dtl.CommunicationError as error:
        sys.stdout.write(f"rank {{ctx.rank}}: {{error}}\\n")
        raised_on(ctx.rank).touch()
    if ctx.rank == 0:
        await_file(raised_on(1))
        dtl.send(ctx, 2 * value, 1, 1)
    else:
        assert (dtl.recv(ctx, 0, 1, out=out) == 2).all()
    sys.stdout.write(f"rank {{ctx.rank}} goes on\\n")
"""


@pytest.mark.parametrize(("send", "recv"), [("dtl.send", "dtl.recv"), ("dtl.send.__wrapped__", "dtl.recv.__wrapped__")])
def test_sender_that_gives_up(tmp_path: Path, send: str, recv: str) -> None:
    """Nobody reads its memory after that: the receiver hears of it, and what comes next comes."""
    ended = ranks(2, AWAITING + GIVEN_UP.format(send=send, recv=recv), tmp_path, DTL_TIMEOUT="2")
    out = succeeded(ended)
    assert "rank 0: send: no end after 2s" in out
    assert "rank 1: recv: rank 0 gave the message up before it was received" in out
    assert out.count("goes on") == 2


@pytest.mark.parametrize("shared", ["0", "1"])
def test_ranks_that_share_no_memory(tmp_path: Path, shared: str) -> None:
    program = """
import numpy as np
import dtl

with dtl.Context() as ctx:
    out = np.zeros(100_000)
    for turn in range(20):
        if ctx.rank == turn % 2:
            dtl.send(ctx, np.full(100_000, turn), 1 - ctx.rank)
        else:
            assert (dtl.recv(ctx, 1 - ctx.rank, out=np.zeros(100_000, int)) == turn).all()
"""
    succeeded(ranks(2, program, tmp_path, DTL_SHARED_MEMORY=shared))


PENDING = """
import sys
import numpy as np
import dtl

with dtl.Context() as ctx:
    right, left = (ctx.rank + 1) % ctx.size, (ctx.rank - 1) % ctx.size
    out = np.zeros(100_000)
    request = dtl.irecv(ctx, left, out=out)
    ctx.barrier()
    if ctx.rank:
        dtl.send(ctx, np.full(100_000, float(ctx.rank)), right)
    {waits}
    if not ctx.rank:
        dtl.send(ctx, np.full(100_000, float(ctx.rank)), right)
    request.wait()
    assert (out == left).all()
    sys.stdout.write("all is there\\n")
"""


@pytest.mark.parametrize("check", ["full", "node"])
@pytest.mark.parametrize("waits", ["ctx.barrier()", "dtl.allreduce(ctx, 1)"])
@pytest.mark.parametrize("shared", ["0", "1"])
def test_a_long_message_comes_while_its_receiver_is_in_a_collective_call(
    tmp_path: Path, check: str, waits: str, shared: str
) -> None:
    program = PENDING.format(waits=waits)
    ended = ranks(3, program, tmp_path, DTL_SHARED_MEMORY=shared, DTL_CHECK=check, DTL_TIMEOUT="10")
    assert succeeded(ended).count("all is there") == 3


@pytest.mark.parametrize("count", [1, 2])
def test_close_while_another_thread_sends_what_nobody_receives(count: int, tmp_path: Path) -> None:
    """The message stays with MPI, and so does the communicator; the thread and the program go on."""
    code = """
    import sys, threading, numpy as np, dtl

    world, errors = dtl.Context(), []
    for _ in range(3):
        ctx = world.dup()

        def send():
            try:
                dtl.send(ctx, np.zeros(1_000_000), (ctx.rank + 1) % ctx.size)
            except dtl.DTLError as error:
                errors.append(error)

        thread = threading.Thread(target=send, daemon=True)
        thread.start()
        thread.join(0.1)
        ctx.close()
        thread.join(10)
    assert len(errors) == 3, errors
    assert dtl.allreduce(world, 1) == world.size
    sys.stdout.write("all well\\n")
    """
    assert succeeded(ranks(count, code, tmp_path, DTL_SHARED_MEMORY="0")).count("all well") == count
