"""Threads that share a context: their calls do not mix, none is kept from signals, and a close ends them."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest
from programs import REPORTING, alone, ranks, succeeded

import dtl

pytestmark = [
    pytest.mark.jobs("starts ranks itself"),
    pytest.mark.skipif(not dtl.has_mpi(), reason="there is no MPI library; runs in the environments of make setup"),
]

# Each call on each rank has a number, and the result of a call says which calls of the other ranks it met. Which of the
# threads' calls meet is not said; but all ranks say the same of those that did.
MIXED = """
import sys, threading, time
import numpy as np
import dtl

def same(ident, part):
    assert (part == ident).all(), (ident, part)
    return ident

def counted(ctx, ident):
    return dtl.alltoallv(ctx, np.full(ctx.size, ident), [1] * ctx.size).tolist()

def rows(ctx, ident):
    return [same(part[0], part) for part in dtl.alltoallv(ctx, np.full((ctx.size, 9000), ident), [1] * ctx.size)]

def gathered(ctx, ident):
    parts = dtl.gatherv(ctx, np.full((1, 9000), ident), root=0)
    return [same(part[0], part) for part in parts] if ctx.is_root else None

def scattered(ctx, ident):
    part = dtl.scatterv(ctx, np.full((ctx.size, 3000), ident), [1] * ctx.size, root=0)
    same(part[0][0], part)

def told(ctx, ident):
    same(*dtl.broadcast_object(ctx, (ident, np.full(3000, ident)), root=0))

def objects(ctx, ident):
    return [same(*one) for one in dtl.allgather_object(ctx, (ident, np.full(3000, ident)))]

with dtl.Context() as ctx:
    for call in (counted, rows, objects, gathered, scattered, told):
        got, failed = {}, []

        def work(me, call=call):
            try:
                for n in range(COUNT):
                    if (n + ctx.rank) % 3 == 0:
                        time.sleep(0.0001 * (n * me % 3))
                    got[1000 * me + n] = call(ctx, 1000 * me + n)
            except BaseException as error:
                failed.append(repr(error))
                raise

        COUNT = 40
        threads = [threading.Thread(target=work, args=(me,)) for me in range(1, 4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failed, (call, failed)
        everyones = dtl.allgather_object(ctx, got)
        for ident, met in got.items():
            for rank, other in enumerate(met or ()):
                assert everyones[rank][other] in (None, met), (call, ident, met)
    if ctx.is_root:
        print("none mixed")
"""


@pytest.mark.parametrize(("count", "shared"), [(3, "1"), (2, "0")], ids=["shared memory", "messages"])
def test_calls_of_threads_do_not_mix(tmp_path: Path, count: int, shared: str) -> None:
    ended = ranks(count, MIXED, tmp_path, DTL_TIMEOUT="20", DTL_SHARED_MEMORY=shared)
    assert "none mixed" in succeeded(ended)


ASTRAY = """
import os, signal, threading
import dtl

with dtl.Context() as ctx:
    other = ctx.dup()
    if ctx.rank == 0:
        begun, astray = threading.Event(), []

        def failing():
            while True:
                try:
                    dtl.send(ctx, 1.0, dest=99)
                except dtl.BoundsError:
                    begun.set()
                except BaseException as error:
                    astray.append(error)
                    return

        threading.Thread(target=failing, daemon=True).start()
        begun.wait()
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            ctx.barrier()
        except KeyboardInterrupt:
            print("interrupted", astray)
        other.barrier()
    else:
        other.barrier()
    other.close()
"""


def test_an_interrupt_is_the_main_threads(tmp_path: Path) -> None:
    """Others fail meanwhile, and raise what is theirs."""
    assert "interrupted []" in succeeded(ranks(2, ASTRAY, tmp_path))


BEHIND = f"""{REPORTING}
import signal, threading
import dtl

with dtl.Context() as ctx:
    other = ctx.dup()
    if ctx.rank == 0:
        thread = threading.Thread(target=ctx.barrier)
        thread.start()
        reported("in barrier()")  # which has the turn

        def interrupt():
            reported("in allreduce, behind another thread's call")
            os.kill(os.getpid(), signal.SIGINT)

        threading.Thread(target=interrupt).start()
        try:
            dtl.allreduce(ctx, 1.0)
        except KeyboardInterrupt:
            print("interrupted")
        other.barrier()
        thread.join()
    else:
        other.barrier()
        ctx.barrier()
    assert dtl.allreduce(ctx, 1) == ctx.size  # the context goes on
    other.close()
"""


def test_who_waits_for_its_turn_is_interrupted(tmp_path: Path) -> None:
    for _ in range(3):
        assert "interrupted" in succeeded(ranks(2, BEHIND, tmp_path, DTL_HANG_REPORT="0.1"))


def test_who_waits_for_its_turn_is_reported_and_gives_up(tmp_path: Path) -> None:
    program = """
    import threading
    import dtl

    told = pathlib.Path(__file__).with_name("told")
    with dtl.Context() as ctx:
        ctx.barrier()
        if ctx.rank == 0:
            def first():
                try:
                    ctx.barrier()
                except dtl.CommunicationError:
                    pass
            thread = threading.Thread(target=first)
            thread.start()
            reported("in barrier()")
            try:
                dtl.allreduce(ctx, 1.0)
            except dtl.CommunicationError as error:
                print(error)
            thread.join()
            print(_said.read_text())
            told.touch()
        else:
            await_file(told)
    """
    program = REPORTING + textwrap.dedent(program)
    said = succeeded(ranks(2, program, tmp_path, DTL_TIMEOUT="1", DTL_HANG_REPORT="0.3"))
    # The first to give up is the barrier, of which the allreduce hears if it has not given up by then.
    heard = r"allreduce: (rank 0 gave up in barrier\(\) at program\.py:\d+: )?no end after 1s: rank 0 in "
    assert re.search(heard, said), said
    assert re.search(r"in allreduce, behind another thread's call at program.py:\d+", said), said


HANDLER = """
import os, signal, threading
import dtl

with dtl.Context() as ctx:
    def handler(*_):
        for call in (
            ctx.barrier,
            ctx.dup,
            lambda: dtl.allreduce(ctx, 1),
            lambda: dtl.allgatherv(ctx, [1.0]),
            lambda: dtl.broadcast_object(ctx, 1),
        ):
            try:
                call()
            except dtl.CommunicationError as error:
                print(error)
        dtl.send(ctx, 7, 1, tag=3)  # a message is no collective call

    signal.signal(signal.SIGUSR1, handler)
    ctx.barrier()
    if ctx.rank == 0:
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGUSR1)).start()
    else:
        dtl.recv(ctx, 0, tag=3)
    ctx.barrier()  # goes on
    assert dtl.allreduce(ctx, 1) == ctx.size
"""


def test_a_signal_handler_makes_no_collective_call_within_one(tmp_path: Path) -> None:
    out = succeeded(ranks(2, HANDLER, tmp_path))
    for op in ("barrier", "dup", "allreduce", "allgatherv", "broadcast_object"):
        assert f"{op}: this thread is in a collective call on the same context, and runs a signal handler" in out, out


CLOSING = """
import threading
import numpy as np
import dtl

ctx = dtl.Context()
ctx.barrier()

def call():
    try:
        {call}
    except (dtl.InvalidHandleError, dtl.CommunicationError) as error:
        print(f"{{type(error).__name__}}: {{error}}")

if ctx.rank == 0:
    thread = threading.Thread(target=call)
    thread.start()
    reported("in {op}")
    ctx.close()
    thread.join(5)
    pathlib.Path({closed!r}).touch()
    print("ended" if not thread.is_alive() else "waits for ever")
else:
    await_file({closed!r})
    try:
        ctx.barrier()
    except dtl.CommunicationError as error:
        print("rank 1 hears")
    ctx.close()
"""

CALLS = {
    "send": "dtl.send(ctx, np.ones(1_000_000), 1)",
    "barrier": "ctx.barrier()",
    "allreduce": "dtl.allreduce(ctx, np.ones(100_000))",
    "broadcast": "dtl.broadcast(ctx, None, 1)",
    "recv": "dtl.recv(ctx, 1)",
    "allgather_object": "dtl.allgather_object(ctx, 1)",
}


@pytest.mark.parametrize("op", list(CALLS))
def test_a_close_ends_the_calls_of_other_threads(tmp_path: Path, op: str) -> None:
    program = REPORTING + CLOSING.format(op=op, call=CALLS[op], closed=str(tmp_path / "closed"))
    out = succeeded(ranks(2, program, tmp_path, DTL_HANG_REPORT="0.1"))
    assert f"InvalidHandleError: {op}: another thread has closed the context" in out
    assert "ended" in out
    assert "rank 1 hears" in out


STREAMS = """
import threading
import dtl

for n in range(6):
    ctx = dtl.Context()
    vec = dtl.DistributedVector(ctx, 2000, fill=1.0)
    begun, said = threading.Event(), []

    def work():
        try:
            while True:
                dtl.async_sort(vec).get()
                begun.set()
        except dtl.InvalidHandleError as error:
            said.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    begun.wait()
    ctx.close(wait=True)
    thread.join(10)
    assert said, "the future never ends"
"""


def test_futures_end_when_the_context_is_closed() -> None:
    succeeded(alone(STREAMS))


LEFT_BEHIND = f"""{REPORTING}
import threading
import dtl

ctx = dtl.Context()
waits = [lambda: dtl.recv(ctx, ctx.rank, tag=9)] * 3
if ctx.rank == 0:
    waits.append(ctx.barrier)
for wait in waits:
    threading.Thread(target=wait, daemon=True).start()
reported("in recv", len(waits))
print("ended")
"""


def test_daemon_threads_that_wait_when_the_program_ends(tmp_path: Path) -> None:
    """MPI ends after Python, and they call neither then."""
    for _ in range(3):
        assert succeeded(ranks(2, LEFT_BEHIND, tmp_path, DTL_HANG_REPORT="0.06")).count("ended") == 2


FIRST = """
import dtl
from dtl._native import library

def made_and_closed(*args, make=library.context_dup_for):
    stream = make(*args)
    if ctx.rank == 1:  # as another thread does, between two steps of the call
        ctx.close()
    return stream

library.context_dup_for = made_and_closed
with dtl.Context() as home:
    ctx = home.dup()
    vec = dtl.DistributedVector(ctx, 10)
    try:
        dtl.async_sort(vec).get()
    except dtl.DTLError as error:
        print(f"rank {home.rank}: {error}")
    ctx.close()
"""


def test_a_close_beside_the_first_asynchronous_call(tmp_path: Path) -> None:
    """The rank that closes frees the stream that was being made, and the others hear of it."""
    out = succeeded(ranks(2, FIRST, tmp_path, DTL_TIMEOUT="30"))
    assert "rank 1 has closed the context, and does not come to sort" in out
    assert re.search("rank 1: .*the context is closed", out)
