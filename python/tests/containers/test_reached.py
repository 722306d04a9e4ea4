"""One-sided access to a rank that waits in a call, or computes: the MPI library does it in that rank's calls only."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, Callable, Iterator

import numpy as np
import pytest

import dtl
from dtl.exceptions import InvalidArgumentError

pytestmark = pytest.mark.mpi(min_size=2)


@pytest.fixture
def window(mpi: Any) -> Iterator[Any]:
    """Yield a window that the library knows nothing of, in which each rank has the numbers from 0 to 99."""
    opened = mpi.Win.Create(np.arange(100.0), 8, comm=mpi.COMM_WORLD)
    opened.Lock_all()
    yield opened
    opened.Unlock_all()
    opened.Free()


@pytest.fixture(params=["board", "messages"])
def sharing(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have contexts meet in shared memory, or by messages."""
    monkeypatch.setenv("DTL_SHARED_MEMORY", str(int(request.param == "board")))


def read(window: Any) -> None:
    """Read numbers of rank 0, which takes part in none of it."""
    got = np.empty(1)
    for i in range(20):
        window.Get(got, 0, i)
        window.Flush(0)
        assert got[0] == i


_WAITS: dict[str, Callable[[dtl.Context], object]] = {
    "barrier": lambda ctx: ctx.barrier(),
    "allreduce": lambda ctx: dtl.allreduce(ctx, np.ones(20_000)),
    "broadcast": lambda ctx: dtl.broadcast(ctx, np.ones(3), 1),
    "ibarrier": lambda ctx: dtl.ibarrier(ctx).wait(),
    "recv": lambda ctx: dtl.recv(ctx, 1) if ctx.rank == 0 else ctx.rank == 1 and dtl.send(ctx, np.ones(3), 0),
    "irecv": lambda ctx: dtl.irecv(ctx, 1).wait() if ctx.rank == 0 else ctx.rank == 1 and dtl.send(ctx, np.ones(3), 0),
}


@pytest.mark.usefixtures("sharing")
@pytest.mark.parametrize("wait", _WAITS)
def test_a_rank_that_waits(mpi: Any, window: Any, wait: str) -> None:
    with dtl.Context(comm=mpi.COMM_WORLD) as ctx:
        if ctx.rank == 1:
            read(window)
        _WAITS[wait](ctx)


@pytest.mark.parametrize("progress", ["thread", "poll"])
def test_a_rank_that_computes(mpi: Any, window: Any, progress: str, tmp_path: Path) -> None:
    mark = Path(mpi.COMM_WORLD.bcast(str(tmp_path), 1)) / "read"
    with dtl.Context(comm=mpi.COMM_WORLD, progress=progress) as ctx, ctx.dup() as other:
        last = dtl.irecv(ctx, 1) if ctx.rank == 0 else None
        ctx.barrier()
        if ctx.rank == 0:
            deadline = time.monotonic() + 30
            while not mark.exists() and time.monotonic() < deadline:
                sum(range(1000))
                if progress == "poll":
                    dtl.iprobe(other)
            assert mark.exists()
        elif ctx.rank == 1:
            read(window)
            mark.touch()
            dtl.send(ctx, np.ones(3), 0)
        if last is not None:
            last.wait()
        ctx.barrier()


def test_a_window_of_a_rank_that_computes(mpi: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DTL_SHARED_MEMORY", "0")
    mark = Path(mpi.COMM_WORLD.bcast(str(tmp_path), 1)) / "read"
    with dtl.Context(comm=mpi.COMM_WORLD, progress="thread") as ctx, dtl.Window(ctx, size=64) as win:
        win.local_view(np.float64)[:] = ctx.rank + 5
        ctx.barrier()
        if ctx.rank == 0:
            deadline = time.monotonic() + 30
            while not mark.exists() and time.monotonic() < deadline:
                sum(range(1000))
            assert mark.exists()
        elif ctx.rank == 1:
            with win.locked(0):
                got = dtl.rma_get(win, target=0, offset=8, size=8, dtype=np.float64)
            assert got[0] == 5
            mark.touch()
        ctx.barrier()


def test_a_collective_of_ranks_that_compute(mpi: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of the sum comes while no rank makes a call."""
    monkeypatch.setenv("DTL_SHARED_MEMORY", "0")
    with dtl.Context(comm=mpi.COMM_WORLD, progress="thread") as ctx:
        out = np.zeros(1_000_000)
        total = dtl.iallreduce(ctx, np.ones(1_000_000), out=out)
        deadline = time.monotonic() + 30
        while not (out == ctx.size).all() and time.monotonic() < deadline:
            sum(range(1000))
        arrived = (out == ctx.size).all()
        total.wait()
        assert arrived


def test_the_thread_leaves_requests_as_they_are(mpi: Any) -> None:
    with dtl.Context(comm=mpi.COMM_WORLD, progress="thread") as ctx:
        for size in (1, 5_000, 300_000):
            right, left = (ctx.rank + 1) % ctx.size, (ctx.rank - 1) % ctx.size
            requests = []
            for i in range(20):
                requests += [dtl.irecv(ctx, left, tag=i), dtl.isend(ctx, np.full(size, i + ctx.rank), right, tag=i)]
            total = dtl.iallreduce(ctx, np.full(size, ctx.rank))
            results = dtl.waitall(requests)
            for i, received in enumerate(results[::2]):
                assert (received == i + left).all()
            assert (total.wait() == sum(range(ctx.size))).all()


def test_what_is_no_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidArgumentError, match="progress is 'threads'; it must be one of 'none', 'poll', 'thread'"):
        dtl.Context(progress="threads")
    monkeypatch.setenv("DTL_PROGRESS", "1")
    with pytest.raises(InvalidArgumentError, match="DTL_PROGRESS is '1'"):
        dtl.Context()
