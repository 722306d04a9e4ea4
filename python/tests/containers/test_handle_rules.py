"""The rules of MPI's opaque objects and of the runtime and handle model, each by its own words."""

from __future__ import annotations

import copy
import gc
import importlib.util
import pickle
import weakref
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest
from programs import ranks, succeeded

import dtl
from dtl._native import library
from dtl.roles.role_manager import lines_of

pytestmark = pytest.mark.few("looks at one rank's objects")


def given(ctx: dtl.Context) -> dtl.RoleManager:
    """Return a manager whose rank has its role."""
    roles = dtl.RoleManager(ctx)
    roles.add_role("all", ctx.size)
    roles.initialize()
    return roles


OWNERS: dict[str, Callable[[dtl.Context], Any]] = {
    "environment": lambda ctx: dtl.Environment(),
    "context": lambda ctx: ctx.dup(),
    "vector": lambda ctx: dtl.DistributedVector(ctx, 10),
    "array": lambda ctx: dtl.DistributedArray(ctx, 10),
    "tensor": lambda ctx: dtl.DistributedTensor(ctx, (4, 5)),
    "map": lambda ctx: dtl.DistributedMap(ctx, np.int64, np.float64),
    "plan": lambda ctx: dtl.RedistributionPlan(dtl.DistributedVector(ctx, 10), dtl.DistributedVector(ctx, 10)),
    "halo": lambda ctx: dtl.Halo(dtl.DistributedVector(ctx, 10), 1),
    "window": lambda ctx: dtl.Window(ctx, size=8),
    "window of a vector": lambda ctx: dtl.DistributedVector(ctx, 10).window(),
    "counter": dtl.Counter,
    "lock": dtl.Lock,
    "grid with a context": lambda ctx: dtl.Cart(ctx, [0], reorder=True),
    "roles that are given": given,
}
BORROWERS: dict[str, Callable[[dtl.Context], Any]] = {
    "span": lambda ctx: dtl.DistributedSpan(dtl.DistributedVector(ctx, 10)),
    "request that is over": dtl.ibarrier,
    "persistent request": lambda ctx: dtl.send_init(ctx, np.ones(3), ctx.rank),
    "roles": dtl.RoleManager,
    "grid": lambda ctx: dtl.Cart(ctx, [0]),
    "graph": lambda ctx: dtl.Graph(ctx, [ctx.rank], [ctx.rank]),
    "future": lambda ctx: dtl.async_sort(dtl.DistributedVector(ctx, 10)),
}
EVERY = {**OWNERS, **BORROWERS}


def owner_in(made: Any) -> Any:
    """Return what holds the handle: the object, or what it has made for itself alone."""
    if isinstance(made, dtl.Lock):
        return made._window
    if isinstance(made, dtl.Cart):
        return made.context
    return lines_of(made).messages if isinstance(made, dtl.RoleManager) else made


def finish(made: Any) -> None:
    """Wait for what is under way."""
    if isinstance(made, (dtl.Request, dtl.Future)) and not isinstance(made, dtl.PersistentRequest):
        made.wait()


@pytest.mark.parametrize("name", OWNERS)
def test_a_wrapper_owns_its_handle(alone: dtl.Context, name: str) -> None:
    """Wrappers own native handles; create and destroy come in pairs, and the second destroy does nothing."""
    gc.collect()
    before = len(dtl.live())
    made = OWNERS[name](alone)
    assert len(dtl.live()) > before
    handle = owner_in(made)._handle
    assert handle > 0
    made.close()
    made.close()
    assert owner_in(made)._handle == 0
    other = OWNERS[name](alone)
    assert owner_in(other)._handle != handle, "a handle never means another object"
    other.close()


@pytest.mark.parametrize("name", EVERY)
def test_ownership_has_no_cycles(alone: dtl.Context, name: str) -> None:
    """What nobody has ends at once, without the garbage collector."""
    gc.collect()
    gc.disable()
    try:
        made = EVERY[name](alone)
        finish(made)
        gone = weakref.ref(made)
        del made
        assert gone() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("transfer", [pickle.dumps, copy.copy, copy.deepcopy], ids=["pickle", "copy", "deepcopy"])
def test_a_handle_stays_in_its_process(alone: dtl.Context, name: str, transfer: Callable[[Any], Any]) -> None:
    """It cannot be transferred to another process, and has one owner. A container is copied by its elements."""
    made = EVERY[name](alone)
    elements = isinstance(made, dtl.DistributedContainer) and transfer is not pickle.dumps
    finish(made)
    if elements:
        assert transfer(made)._handle != made._handle
    else:
        with pytest.raises(TypeError):
            transfer(made)


@pytest.mark.parametrize("name", EVERY)
def test_handles_are_compared(alone: dtl.Context, name: str) -> None:
    """They take part in assignment and comparison: as Python's objects do, by identity."""
    one, other = EVERY[name](alone), EVERY[name](alone)
    finish(one)
    finish(other)
    same = one
    assert same is one
    if not isinstance(one, dtl.DistributedContainer):  # those compare their elements
        assert same == one
        assert one != other


def test_what_is_pending_ends_though_its_object_is_closed(ctx: dtl.Context) -> None:
    """A deallocation invalidates the handle at once; operations that are pending complete."""
    after, before = (ctx.rank + 1) % ctx.size, (ctx.rank - 1) % ctx.size
    vec = dtl.DistributedVector.from_local(ctx, np.full(5000, ctx.rank))
    view = vec.local_view()
    received = dtl.irecv(ctx, before, out=np.empty(5000, view.dtype))
    sent = dtl.isend(ctx, view, after)
    handle = vec._handle
    vec.close()
    del view
    with pytest.raises(dtl.InvalidHandleError, match="closed"):
        library.container_views(handle)
    assert (received.wait() == before).all()
    sent.wait()


def test_three_failures_are_three_errors(alone: dtl.Context) -> None:
    """Errors distinguish an invalid handle from an unavailable backend and from an operation that failed."""
    closed = alone.dup()
    closed.close()
    calls: dict[type[dtl.DTLError], Callable[[], Any]] = {
        dtl.InvalidHandleError: closed.barrier,
        dtl.BackendUnavailableError: lambda: alone.with_cuda(0),
        dtl.CommunicationError: lambda: dtl.probe(alone),
    }
    for error, call in calls.items():
        with pytest.raises(error) as caught:
            call()
        assert [kind for kind in calls if isinstance(caught.value, kind)] == [error]


PREDEFINED = """
from mpi4py import MPI
import dtl
for comm in (MPI.COMM_WORLD, MPI.COMM_SELF):
    for _ in range(3):
        ctx = dtl.Context(comm=comm)
        vec = dtl.DistributedVector(ctx, 10)
        ctx.close()
        ctx.close()
        assert comm != MPI.COMM_NULL and comm.allreduce(1) == comm.size == ctx.size
with dtl.Context() as ctx, dtl.RoleManager(ctx) as mgr:
    mgr.add_role("all", ctx.size)
    mgr.initialize()
assert MPI.COMM_WORLD.allreduce(1) == MPI.COMM_WORLD.size == 2
assert MPI.Comm.Compare(MPI.COMM_WORLD, MPI.COMM_WORLD) == MPI.IDENT
lent = dtl.Context()
out = lent.to_mpi4py()
lent.close()
assert out.allreduce(1) == 2
out.Free()
print("usable")
"""


@pytest.mark.jobs("starts ranks itself")
@pytest.mark.skipif(not dtl.has_mpi(), reason="there is no MPI library; runs in the environments of make setup")
def test_predefined_objects_are_never_freed(tmp_path: Path) -> None:
    if importlib.util.find_spec("mpi4py") is None:
        pytest.skip("mpi4py is not installed; runs in the environments of make setup")
    assert succeeded(ranks(2, PREDEFINED, tmp_path)).count("usable") == 2


@pytest.mark.parametrize("name", OWNERS)
def test_early_returns_leave_nothing_open(alone: dtl.Context, name: str) -> None:
    """Cleanup happens on all failure paths."""
    before, memory = dtl.live(), library.memory_in_use()

    def fails() -> None:
        made = OWNERS[name](alone)
        with made:
            raise KeyError

    with pytest.raises(KeyError):
        fails()
    gc.collect()
    assert len(dtl.live()) == len(before)
    assert library.memory_in_use() == memory
