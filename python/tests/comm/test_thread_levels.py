"""Calls from a second thread where MPI was initialised below MPI_THREAD_MULTIPLE: an error that says so."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from programs import AWAITING, ranks, succeeded

import dtl

pytestmark = [
    pytest.mark.jobs("starts ranks itself"),
    pytest.mark.skipif(
        not dtl.has_mpi() or importlib.util.find_spec("mpi4py") is None,
        reason="needs MPI and mpi4py; runs in the environments of make setup",
    ),
]

PROGRAM = """
import pathlib, sys, threading, time
import mpi4py
mpi4py.rc.thread_level = {level!r}
try:
    from mpi4py import MPI
except ImportError:
    sys.exit(print("no mpi4py for this library"))
import numpy as np
import dtl

if MPI.Query_thread() > {number}:
    sys.exit(print("the library gives more"))

def elsewhere(call):
    \"\"\"Return what a call says in another thread.\"\"\"
    said = []
    def run():
        try:
            said.append(call())
        except dtl.DTLError as error:
            said.append(error)
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return said[0]

with dtl.Context() as ctx:
    right, left = (ctx.rank + 1) % ctx.size, (ctx.rank - 1) % ctx.size
    {body}
    assert dtl.allreduce(ctx, np.ones(100_000)).sum() == 100_000 * ctx.size
print("end")
"""

FUNNELED = """
request = dtl.irecv(ctx, left)
for call in (lambda: dtl.send(ctx, 1, right), lambda: dtl.recv(ctx, left), lambda: dtl.isend(ctx, 1, right),
             request.wait, request.test, lambda: dtl.iprobe(ctx), lambda: dtl.iallreduce(ctx, np.ones(9999)),
             lambda: dtl.allreduce(ctx, np.ones(100_000)), lambda: dtl.DistributedVector(ctx, 10), ctx.dup):
    error = elsewhere(call)
    assert isinstance(error, dtl.CommunicationError), error
    assert "only the thread that did may make this call" in str(error), error
    assert "MPI_THREAD_" in str(error)
dtl.isend(ctx, 7, right).wait()
assert request.wait() == 7
assert elsewhere(lambda: (ctx.rank, ctx.size)) == (ctx.rank, ctx.size)
"""

SERIALIZED = """
assert (elsewhere(lambda: dtl.allreduce(ctx, np.ones(100_000))) == ctx.size).all()
seen = pathlib.Path(__file__).with_name("seen")
if ctx.rank == 0:
    request = elsewhere(lambda: dtl.irecv(ctx, left, 5))
    def wait():
        while True:
            try:
                return request.wait()
            except dtl.CommunicationError:  # it came while the other thread was in its call
                time.sleep(0.001)
    waits = threading.Thread(target=wait)
    waits.start()
    text = ""
    while not text and waits.is_alive():
        try:
            dtl.iprobe(ctx, left, 9)
        except dtl.CommunicationError as error:
            text = str(error)
    assert "another thread is in a call, and MPI was initialised with MPI_THREAD_SERIALIZED" in text, text
    seen.write_text("yes")
    waits.join()
    assert request.wait() == 3.5
else:
    await_file(seen)
    dtl.send(ctx, 3.5, right, 5)
"""


def program(level: str, number: int, body: str) -> str:
    return AWAITING + PROGRAM.format(level=level, number=number, body=body.strip().replace("\n", "\n    "))


@pytest.mark.parametrize(
    ("level", "number", "body"),
    [("single", 0, FUNNELED), ("funneled", 1, FUNNELED), ("serialized", 2, SERIALIZED)],
    ids=["single", "funneled", "serialized"],
)
def test_second_thread(tmp_path: Path, level: str, number: int, body: str) -> None:
    out = succeeded(ranks(2, program(level, number, body), tmp_path))
    if "more" in out or "no mpi4py" in out:
        pytest.skip(f"{out.strip()}; runs with Open MPI")
    assert out.count("end") == 2
