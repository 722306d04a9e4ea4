"""Beside mpi4py: its communicators, and both in one program in either order."""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oracle import assert_same, everyones, reduced, values
from programs import ranks, succeeded

import dtl

#: mpi4py initialises MPI when it is imported, so it is not imported into the run on one rank without MPI.
with_mpi = pytest.mark.mpi


@pytest.fixture(scope="module")
def mpi() -> Any:
    try:
        return importlib.import_module("mpi4py.MPI")
    except ImportError as error:
        pytest.skip(f"{error}; runs with Open MPI, and with MPICH's own ABI")


@pytest.fixture(scope="module")
def world(mpi: Any) -> Any:
    return mpi.COMM_WORLD


@with_mpi
def test_world(ctx: dtl.Context, world: Any) -> None:
    with dtl.Context(comm=world) as other:
        assert (other.rank, other.size, other.has_mpi) == (world.rank, world.size, True)
        assert_same(
            dtl.allreduce(other, values("float64", (5,), ctx.rank)),
            reduced(dtl.SUM, everyones("float64", (5,), ctx.size)),
        )


@with_mpi
def test_parts_of_the_world(ctx: dtl.Context, world: Any) -> None:
    part = world.Split(world.rank % 2, -world.rank)
    with dtl.Context(comm=part) as sub:
        assert (sub.rank, sub.size) == (part.rank, part.size)
        members = [rank for rank in range(ctx.size) if rank % 2 == ctx.rank % 2][::-1]
        assert dtl.allgather(sub, ctx.rank).tolist() == members
        with dtl.DistributedVector(sub, 1000) as vec:
            assert dtl.allreduce(sub, vec.local_size) == 1000
    part.Free()


@with_mpi
def test_oneself(ctx: dtl.Context, mpi: Any) -> None:
    with dtl.Context(comm=mpi.COMM_SELF) as own:
        assert (own.rank, own.size, own.has_mpi) == (0, 1, True)
        assert dtl.sendrecv(own, ctx.rank, 0, 0) == ctx.rank
        assert dtl.allreduce(own, 1) == 1


@with_mpi
def test_the_original_stays_its_owners(ctx: dtl.Context, world: Any) -> None:
    own = world.Dup()
    context = dtl.Context(comm=own)
    assert dtl.allreduce(context, 1) == own.allreduce(1) == ctx.size
    context.close()
    assert own.allreduce(1) == ctx.size
    own.Free()


@with_mpi
def test_context_outlives_the_original(ctx: dtl.Context, world: Any) -> None:
    own = world.Dup()
    context = dtl.Context(comm=own)
    own.Free()
    assert dtl.allreduce(context, 1) == ctx.size
    context.close()


@with_mpi
def test_traffic_never_meets(ctx: dtl.Context, world: Any) -> None:
    right, left = (ctx.rank + 1) % ctx.size, (ctx.rank - 1) % ctx.size
    with dtl.Context(comm=world) as other:
        theirs = world.isend("mpi4py", right, tag=4)
        dtl.send(other, 42, right, tag=4)
        assert dtl.recv(other, dtl.ANY_SOURCE, dtl.ANY_TAG) == 42
        assert world.recv(source=left, tag=4) == "mpi4py"
        theirs.wait()


@with_mpi
def test_local_views_in_calls_of_mpi4py(ctx: dtl.Context, world: Any) -> None:
    a = dtl.DistributedVector(ctx, 1000 * ctx.size, fill=float(ctx.rank))
    b = dtl.DistributedVector(ctx, 1000 * ctx.size)
    world.Allreduce(a.local_view(), b.local_view())
    assert_same(b.to_numpy(), np.full(1000, float(sum(range(ctx.size)))))


@with_mpi
def test_null_communicator(mpi: Any) -> None:
    with pytest.raises((dtl.InvalidArgumentError, dtl.CommunicationError)):
        dtl.Context(comm=mpi.COMM_NULL)


ORDERS = {
    "mpi4py first": "from mpi4py import MPI\nimport dtl\nctx = dtl.Context()",
    "dtl first, mpi4py before the context": "import dtl\nfrom mpi4py import MPI\nctx = dtl.Context()",
    "context first": "import dtl\nctx = dtl.Context()\nfrom mpi4py import MPI",
    "context of its world": "from mpi4py import MPI\nimport dtl\nctx = dtl.Context(comm=MPI.COMM_WORLD)",
}

BOTH = """
import numpy as np
comm = MPI.COMM_WORLD
assert (ctx.rank, ctx.size) == (comm.rank, comm.size) and ctx.size == 2 and ctx.has_mpi
mine = np.arange(1000.0) + ctx.rank
theirs = np.empty_like(mine)
for _ in range(3):
    comm.Allreduce(mine, theirs)
    assert (dtl.allreduce(ctx, mine) == theirs).all()
    assert dtl.allreduce(ctx, 1) == comm.allreduce(1) == 2
paths = {line.split()[-1] for line in open("/proc/self/maps") if "/libmpi.so" in line or "/libmpi_abi.so" in line}
assert len(paths) == 1, paths
print("both agree")
"""


@pytest.mark.alone("starts ranks itself")
@pytest.mark.skipif(not dtl.has_mpi(), reason="there is no MPI library; runs in the environments of make setup")
@pytest.mark.parametrize("closed", [True, False], ids=["closed", "left open"])
@pytest.mark.parametrize("order", ORDERS)
def test_either_order_of_imports(order: str, closed: bool, tmp_path: Path) -> None:
    if importlib.util.find_spec("mpi4py") is None:
        pytest.skip("mpi4py is not installed; runs in the environments of make setup")
    code = ORDERS[order] + BOTH + ("ctx.close()\n" if closed else "")
    assert succeeded(ranks(2, code, tmp_path)).count("both agree") == 2
