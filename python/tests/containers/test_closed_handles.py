"""Objects that are closed, of another kind, or no objects of ours."""

from __future__ import annotations

import operator
from typing import Any, Callable

import numpy as np
import pytest

import dtl

pytestmark = pytest.mark.few("looks at one rank's objects")

#: Ways of calls through C, beside the public calls, which test_hostile_arguments.py has.
ON_CONTEXT: dict[str, Callable[[Any], Any]] = {
    "a scalar": lambda ctx: dtl.allreduce(ctx, 1.5),
    "into out": lambda ctx: dtl.allreduce(ctx, np.ones(3), out=np.ones(3)),
}

METHODS: dict[str, Callable[[dtl.Context], Any]] = {
    "barrier": lambda ctx: ctx.barrier(),
    "fence": lambda ctx: ctx.fence(),
    "dup": lambda ctx: ctx.dup(),
    "split": lambda ctx: ctx.split(0),
}

ON_VECTOR: dict[str, Callable[[dtl.DistributedVector], Any]] = {
    "local_view": lambda vec: vec.local_view(),
    "to_numpy": lambda vec: vec.to_numpy(),
    "owner": lambda vec: vec.owner(0),
    "is_local": lambda vec: vec.is_local(0),
    "global_size": lambda vec: vec.global_size,
    "local_size": lambda vec: vec.local_size,
    "local_offset": lambda vec: vec.local_offset,
    "len": len,
    "shape": lambda vec: vec.shape,
    "local_shape": lambda vec: vec.local_shape,
    "grid": lambda vec: vec.grid,
    "views_out": lambda vec: vec.views_out,
    "local_indices": lambda vec: vec.local_indices(),
    "element": lambda vec: vec[0],
    "elements": lambda vec: vec[[0, 1]],
    "slice": lambda vec: vec[:2],
    "all": lambda vec: vec[...],
    "set element": lambda vec: operator.setitem(vec, 0, 1.0),
    "set slice": lambda vec: operator.setitem(vec, slice(2), 1.0),
    "get": lambda vec: vec.get([0]),
    "put": lambda vec: vec.put([0], 1.0),
    "gather_to": lambda vec: vec.gather_to(),
    "resize": lambda vec: vec.resize(5),
    "redistribute": lambda vec: vec.redistribute(dtl.PARTITION_CYCLIC),
    "span": dtl.DistributedSpan,
    "plan to": lambda vec: dtl.RedistributionPlan(dtl.DistributedVector(vec.context, 3), vec),
    "plan from": lambda vec: dtl.RedistributionPlan(vec, dtl.DistributedVector(vec.context, 3)),
    "source of an assignment": lambda vec: operator.setitem(dtl.DistributedVector(vec.context, 3), ..., vec),
}


@pytest.mark.parametrize("name", [*ON_CONTEXT, *METHODS])
def test_closed_context(alone: dtl.Context, name: str) -> None:
    alone.close()
    with pytest.raises(dtl.InvalidHandleError, match="the context is closed") as caught:
        {**ON_CONTEXT, **METHODS}[name](alone)
    assert caught.value.code == 102
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, dtl.InvalidArgumentError)


@pytest.mark.parametrize("name", ON_VECTOR)
def test_closed_vector(alone: dtl.Context, name: str) -> None:
    vec = dtl.DistributedVector(alone, 3)
    vec.close()
    with pytest.raises(dtl.InvalidHandleError, match="the container is closed") as caught:
        ON_VECTOR[name](vec)
    assert caught.value.code == 102


def test_closing_twice_is_fine(alone: dtl.Context) -> None:
    vec = dtl.DistributedVector(alone, 3)
    env = dtl.Environment()
    for thing in (vec, alone, env):
        thing.close()
        thing.close()
        with thing:
            pass


@pytest.mark.parametrize("name", [*ON_CONTEXT])
@pytest.mark.parametrize("thing", [None, 5, "ctx", object(), np.zeros(3), 0, dtl.Context], ids=repr)
def test_no_context(name: str, thing: Any) -> None:
    with pytest.raises(dtl.InvalidTypeError, match=rf"not (numpy\.)?{type(thing).__name__}") as caught:
        ON_CONTEXT[name](thing)
    assert caught.value.code == 101
    assert isinstance(caught.value, TypeError)


def test_environment_where_a_context_is_wanted() -> None:
    with dtl.Environment() as env:
        with pytest.raises(dtl.InvalidHandleError, match="an environment handle where a context is wanted"):
            dtl.allreduce(env, 1.5)
        with pytest.raises(dtl.InvalidTypeError, match=r"ctx must be a dtl\.Context, not Environment"):
            dtl.DistributedVector(env, 3)


@pytest.mark.parametrize("comm", [42, "x", object(), 1.5, [], dtl], ids=repr)
def test_no_communicator(comm: Any) -> None:
    with pytest.raises(dtl.InvalidTypeError) as caught:
        dtl.Context(comm=comm)
    assert caught.value.code == 101
    assert f"not {comm!r} of type {type(comm).__name__}" in str(caught.value)


@pytest.mark.parametrize("handle", ["text", 1.5, None, [1]])
def test_communicator_whose_handle_is_no_integer(handle: Any) -> None:
    class Communicator:
        pass

    comm = Communicator()
    comm.handle = handle
    with pytest.raises(dtl.InvalidTypeError, match=r"with an integer handle, not .* of type Communicator"):
        dtl.Context(comm=comm)


def test_handle_of_a_closed_context_never_means_a_new_one(alone: dtl.Context) -> None:
    """The slot is used again, the handle is not."""
    bare = dtl._native.library.bridge.Handle()
    other = dtl.Environment().make_cpu_context()
    bare._handle = other._handle
    other.close()
    again = dtl.Environment().make_cpu_context()
    assert bare._handle != again._handle
    with pytest.raises(dtl.InvalidHandleError, match=f"context handle {bare._handle} is closed"):
        dtl.allreduce(bare, 1.5)
    again.close()


def test_object_that_was_never_made() -> None:
    """Closing and collecting what failed in its constructor does nothing."""
    for kind in (
        dtl.Context,
        dtl.DistributedArray,
        dtl.DistributedSpan,
        dtl.DistributedTensor,
        dtl.DistributedVector,
        dtl.Environment,
        dtl.RedistributionPlan,
    ):
        thing = kind.__new__(kind)
        assert thing._handle == 0
        thing.close()
        del thing


def test_vector_that_failed_leaves_no_memory(alone: dtl.Context) -> None:
    before = dtl._native.library.memory_in_use()
    for _ in range(100):
        with pytest.raises(dtl.InvalidArgumentError):
            dtl.DistributedVector(alone, 100_000, fill="x")
    assert dtl._native.library.memory_in_use() == before


def gpu_reason(number: Any) -> None:
    with pytest.raises(dtl.BackendUnavailableError) as caught:
        dtl.Context(device_id=number)
    assert caught.value.code == 401
    assert isinstance(caught.value, RuntimeError)
    assert isinstance(caught.value, dtl.BackendError)
    assert str(dtl.backends.why_not("cuda")) in str(caught.value)


def test_gpu_that_is_not_there() -> None:
    gpu_reason(0)
    gpu_reason(7)
    with dtl.Environment() as env, pytest.raises(dtl.BackendUnavailableError):
        env.make_world_context(device_id=0)


@pytest.mark.parametrize("number", ["0", 1.5, [0]])
def test_gpu_that_is_no_number(number: Any) -> None:
    with pytest.raises(dtl.InvalidTypeError, match="device_id must be an integer"):
        dtl.Context(device_id=number)


def test_gpu_for_a_context(ctx: dtl.Context) -> None:
    with pytest.raises(dtl.BackendUnavailableError) as caught:
        ctx.with_cuda(0)
    assert str(dtl.backends.why_not("cuda")) in str(caught.value)
    with pytest.raises(dtl.BackendUnavailableError, match="GPU"):
        dtl.DistributedVector(ctx, 3, placement=dtl.PLACEMENT_DEVICE)
    for call in (lambda: ctx.with_nccl(0), lambda: ctx.split_nccl(0, device_id=0)):
        with pytest.raises(dtl.BackendUnavailableError) as caught:
            call()
        assert str(dtl.backends.why_not("nccl")) in str(caught.value)


def test_context_whose_init_never_ran() -> None:
    class Forgetful(dtl.Context):
        def __init__(self) -> None:
            pass

    for ctx in (Forgetful(), dtl.Context.__new__(dtl.Context)):
        assert repr(ctx) == "<dtl.Context rank 0 of 1, no backend, closed>"
        assert not ctx.has_mpi
        for call in (dtl.allreduce, dtl.broadcast, dtl.gather, dtl.allgather, dtl.scatter, dtl.reduce):
            with pytest.raises(dtl.InvalidHandleError):
                call(ctx, [1.0])
        with pytest.raises(dtl.InvalidHandleError):
            ctx.barrier()
        ctx.close()
