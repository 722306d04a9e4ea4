"""Beside mpi4py: its communicators, and both in one program in either order."""

from __future__ import annotations

import importlib
import importlib.util
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oracle import assert_same, everyones, reduced, values
from programs import alone as alone_program
from programs import ranks, succeeded

import dtl

#: mpi4py initialises MPI when it is imported, so it is not imported into the run on one rank without MPI.
with_mpi = pytest.mark.mpi


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


@with_mpi
def test_freed_communicator(world: Any) -> None:
    own = world.Dup()
    own.Free()
    with pytest.raises(dtl.InvalidArgumentError, match="MPI_COMM_NULL"):
        dtl.Context(comm=own)


@with_mpi
def test_other_handles_of_mpi4py(mpi: Any, world: Any) -> None:
    """What is no communicator has a handle, too."""
    group, request, window = world.Get_group(), mpi.COMM_SELF.Ibarrier(), mpi.Win.Create(None, comm=mpi.COMM_SELF)
    others = [group, mpi.DOUBLE, mpi.SUM, mpi.INFO_ENV, mpi.INFO_NULL, mpi.ERRORS_RETURN, mpi.ERRHANDLER_NULL]
    others += [request, mpi.REQUEST_NULL, window, mpi.WIN_NULL, mpi.GROUP_EMPTY, mpi.DATATYPE_NULL, mpi.FILE_NULL]
    others += [mpi.Status(), mpi.MESSAGE_NULL]
    for other in others:
        with pytest.raises(dtl.InvalidTypeError, match="comm must be a communicator") as caught:
            dtl.Context(comm=other)
        assert isinstance(caught.value, TypeError)
    request.Wait()
    group.Free()
    window.Free()


@with_mpi
def test_a_class_that_derives_from_mpi4pys(ctx: dtl.Context, mpi: Any, world: Any) -> None:
    class Own(mpi.Intracomm):  # type: ignore[misc]
        """A program's own communicator."""

    class Group(mpi.Group):  # type: ignore[misc]
        """No communicator."""

    with dtl.Context(comm=Own(world)) as own:
        assert dtl.allreduce(own, 1) == ctx.size
    with pytest.raises(dtl.InvalidTypeError, match="comm must be a communicator"):
        dtl.Context(comm=Group())


@with_mpi
def test_cartesian_communicator(ctx: dtl.Context, world: Any) -> None:
    cart = world.Create_cart([ctx.size], periods=[True])
    with dtl.Context(comm=cart) as grid:
        assert (grid.rank, grid.size) == (cart.rank, cart.size)
        left, right = cart.Shift(0, 1)
        assert dtl.sendrecv(grid, grid.rank, right, left) == (grid.rank - 1) % grid.size
        row = cart.Sub([True])
        with dtl.Context(comm=row) as line:
            assert dtl.allgather(line, line.rank).tolist() == list(range(ctx.size))
        row.Free()
    assert cart.Get_coords(cart.rank) == [cart.rank]
    cart.Free()


@with_mpi
@pytest.mark.skipif(
    "DTL_NODES_OF" in os.environ, reason="MPI does not pretend the nodes that DTL pretends; runs without DTL_NODES_OF"
)
def test_communicator_of_a_node(ctx: dtl.Context, mpi: Any, world: Any) -> None:
    shared = world.Split_type(mpi.COMM_TYPE_SHARED)
    with dtl.Context(comm=shared) as node, node.split_by_node() as again:
        assert (again.rank, again.size) == (shared.rank, shared.size)
    shared.Free()


@pytest.mark.mpi(min_size=2)
def test_intercommunicator(ctx: dtl.Context, world: Any) -> None:
    part = world.Split(world.rank % 2)
    inter = part.Create_intercomm(0, world, 1 - world.rank % 2)
    with pytest.raises(dtl.InvalidArgumentError, match="connects two groups"):
        dtl.Context(comm=inter)
    assert inter.remote_size > 0
    inter.Free()
    part.Free()


class TestToMpi4py:
    @with_mpi
    def test_same_ranks(self, ctx: dtl.Context, mpi: Any) -> None:
        comm = ctx.to_mpi4py()
        assert type(comm) is mpi.Intracomm
        assert (comm.rank, comm.size) == (ctx.rank, ctx.size)
        assert mpi.Comm.Compare(comm, mpi.COMM_WORLD) == (mpi.CONGRUENT if ctx.has_mpi else mpi.UNEQUAL)
        mine, total = values("float64", (5,), ctx.rank), np.empty(5)
        comm.Allreduce(mine, total)
        assert_same(total, reduced(dtl.SUM, everyones("float64", (5,), ctx.size)))
        assert comm.allgather(("any", ctx.rank)) == [("any", rank) for rank in range(ctx.size)]
        comm.Free()

    @with_mpi
    def test_it_stays_when_the_context_is_closed(self, ctx: dtl.Context, mpi: Any) -> None:
        other = ctx.dup()
        comm = other.to_mpi4py()
        other.close()
        assert comm.allreduce(1) == ctx.size
        comm.Free()

    @with_mpi
    def test_the_context_stays_when_it_is_freed(self, ctx: dtl.Context, mpi: Any) -> None:
        comm = ctx.to_mpi4py()
        comm.Free()
        assert comm == mpi.COMM_NULL
        assert dtl.allreduce(ctx, 1) == ctx.size

    @with_mpi
    def test_traffic_never_meets(self, ctx: dtl.Context, world: Any) -> None:
        right, left = (ctx.rank + 1) % ctx.size, (ctx.rank - 1) % ctx.size
        first, second = ctx.to_mpi4py(), ctx.to_mpi4py()
        requests = [comm.isend(name, right, tag=4) for comm, name in ((world, "w"), (first, "1"), (second, "2"))]
        dtl.send(ctx, 42, right, tag=4)
        assert second.recv(source=left, tag=4) == "2"
        assert dtl.recv(ctx, dtl.ANY_SOURCE, dtl.ANY_TAG) == 42
        assert first.recv(source=left, tag=4) == "1"
        assert world.recv(source=left, tag=4) == "w"
        for request in requests:
            request.wait()
        first.Free()
        second.Free()

    @with_mpi
    def test_parts(self, ctx: dtl.Context, mpi: Any) -> None:
        with ctx.split(ctx.rank % 2, -ctx.rank) as part:
            comm = part.to_mpi4py()
            assert (comm.rank, comm.size) == (part.rank, part.size)
            assert comm.allgather(ctx.rank) == dtl.allgather(part, ctx.rank).tolist()
            comm.Free()

    @with_mpi
    def test_there_and_back(self, ctx: dtl.Context, mpi: Any) -> None:
        comm = ctx.to_mpi4py()
        with dtl.Context(comm=comm) as back:
            comm.Free()
            assert dtl.allgather(back, ctx.rank).tolist() == list(range(ctx.size))

    @with_mpi
    def test_errors_are_exceptions(self, ctx: dtl.Context, mpi: Any) -> None:
        comm = ctx.to_mpi4py()
        with pytest.raises(mpi.Exception):
            comm.send(1, dest=ctx.size + 5)
        comm.Free()

    @with_mpi
    def test_of_this_process_alone(self, alone: dtl.Context, mpi: Any) -> None:
        comm = alone.to_mpi4py()
        assert mpi.Comm.Compare(comm, mpi.COMM_SELF) == mpi.CONGRUENT
        comm.Free()


ALONE = """
import sys
import dtl
with dtl.Context() as ctx:
    assert not ctx.has_mpi and "mpi4py" not in sys.modules
    comm = ctx.to_mpi4py()
    assert (comm.rank, comm.size) == (0, 1) and comm.allreduce(5) == 5
assert comm.allreduce(5) == 5
comm.Free()
print("alone")
"""


@pytest.mark.jobs("starts processes that initialise MPI")
@pytest.mark.skipif(not dtl.has_mpi(), reason="there is no MPI library; runs in the environments of make setup")
def test_to_mpi4py_without_a_launcher() -> None:
    if importlib.util.find_spec("mpi4py") is None:
        pytest.skip("mpi4py is not installed; runs in the environments of make setup")
    assert succeeded(alone_program(ALONE)) == "alone\n"


@pytest.mark.jobs("starts processes")
def test_to_mpi4py_without_mpi4py() -> None:
    for hidden in ("sys.modules['mpi4py'] = None", "sys.modules['mpi4py.MPI'] = None"):
        ended = alone_program(
            f"""
            import sys
            {hidden}
            import dtl
            with dtl.Context() as ctx:
                try:
                    ctx.to_mpi4py()
                except dtl.BackendUnavailableError as error:
                    print(error)
            """
        )
        assert "mpi4py cannot be imported" in succeeded(ended)


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
lent = ctx.to_mpi4py()
right = 1 - ctx.rank
requests = [comm.isend("world", right), lent.isend("lent", right)]
dtl.send(ctx, "dtl".encode()[0], right)
with dtl.Context(comm=lent) as back:
    dtl.send(back, 7, right)
    assert dtl.recv(back, dtl.ANY_SOURCE, dtl.ANY_TAG) == 7
assert dtl.recv(ctx, dtl.ANY_SOURCE, dtl.ANY_TAG) == ord("d")
assert lent.recv() == "lent" and comm.recv() == "world"
MPI.Request.waitall(requests)
lent.Free()
paths = {line.split()[-1] for line in open("/proc/self/maps") if "/libmpi.so" in line or "/libmpi_abi.so" in line}
assert len(paths) == 1, paths
print("both agree")
"""


@pytest.mark.jobs("starts ranks itself")
@pytest.mark.skipif(not dtl.has_mpi(), reason="there is no MPI library; runs in the environments of make setup")
@pytest.mark.parametrize("closed", [True, False], ids=["closed", "left open"])
@pytest.mark.parametrize("order", ORDERS)
def test_either_order_of_imports(order: str, closed: bool, tmp_path: Path) -> None:
    if importlib.util.find_spec("mpi4py") is None:
        pytest.skip("mpi4py is not installed; runs in the environments of make setup")
    code = ORDERS[order] + BOTH + ("ctx.close()\n" if closed else "")
    assert succeeded(ranks(2, code, tmp_path)).count("both agree") == 2
