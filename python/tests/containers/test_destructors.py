"""What is dropped talks to nobody: ranks collect at different times, and the others may be in any call."""

from __future__ import annotations

import concurrent.futures
import gc
import importlib
import os
import sys
import warnings
from typing import Any, Callable

import numpy as np
import pytest
from destructors import classes, offences

import dtl
from dtl._native import library

bridge = library.bridge

#: What a destructor may ask of the native library; of a request, also whether it is over.
LOCAL = {
    "pydtl_ContainerClose",
    "pydtl_EnvironmentClose",
    "pydtl_HaloDrop",
    "pydtl_MapClose",
    "pydtl_PlanClose",
    "pydtl_WindowDrop",
}


def vector(ctx: dtl.Context) -> Any:
    return dtl.DistributedVector(ctx, 4 * ctx.size)


def begun(ctx: dtl.Context) -> Any:
    halo = dtl.Halo(vector(ctx), 1, periodic=True)
    halo.begin()
    return halo


def managed(ctx: dtl.Context) -> Any:
    manager = dtl.RoleManager(ctx)
    manager.add_role("worker", ctx.size)
    manager.initialize()
    return manager


def alias(ctx: dtl.Context) -> Any:
    owning: Any = importlib.import_module("dtl.containers.owning")
    vec = vector(ctx)
    return vec, owning._StreamAlias(library.container_on(vec._handle, ctx._handle))


def stream(ctx: dtl.Context) -> Any:
    streams: Any = importlib.import_module("dtl.asynchronous.streams")
    return streams.StreamContext._adopt_handle(library.context_dup(ctx._handle))


def opened(module: str, kind: str, path: str) -> Any:
    io: Any = importlib.import_module(f"dtl.io.{module}")
    return getattr(io, kind)(path)


#: Each makes one of what there is. Where there are other ranks, those in LEFT warn when they are dropped, and those in
#: ENDED unless their context was closed.
MAKERS: dict[str, Callable[[dtl.Context], Any]] = {
    "context": lambda ctx: ctx.dup(),
    "environment": lambda ctx: dtl.Environment(),
    "vector": vector,
    "array": lambda ctx: dtl.DistributedArray(ctx, 4 * ctx.size),
    "tensor": lambda ctx: dtl.DistributedTensor(ctx, (2, 4 * ctx.size)),
    "span": lambda ctx: dtl.DistributedSpan(vector(ctx)),
    "vector of parts": lambda ctx: dtl.DistributedVector.from_local(ctx, np.arange(3)),
    "alias": alias,
    "map": lambda ctx: dtl.DistributedMap(ctx, np.int64, np.int64),
    "plan": lambda ctx: dtl.RedistributionPlan(vector(ctx), vector(ctx)),
    "halo": lambda ctx: dtl.Halo(vector(ctx), 1),
    "halo that exchanges": begun,
    "window": lambda ctx: dtl.Window(ctx, size=8),
    "window of an array": lambda ctx: dtl.Window(ctx, base=np.zeros(3)),
    "counter": dtl.Counter,
    "lock": dtl.Lock,
    "remote": lambda ctx: vector(ctx).remote(0),
    "roles": managed,
    "cart": lambda ctx: dtl.Cart(ctx, [0]),
    "cart with a context": lambda ctx: dtl.Cart(ctx, [0], reorder=True),
    "request": lambda ctx: dtl.irecv(ctx, source=ctx.rank, tag=7),
    "persistent request": lambda ctx: dtl.recv_init(ctx, source=ctx.rank, tag=7),
    "collective request": dtl.ibarrier,
    "future": lambda ctx: dtl.Future(),
    "future of a request": lambda ctx: dtl.Future.of(dtl.ibarrier(ctx)),
    "borrowed future": lambda ctx: dtl.Future.of(concurrent.futures.Future()),
    "future of a call": lambda ctx: dtl.async_reduce(vector(ctx)),
    "stream": stream,
    "file that is read": lambda ctx: opened("flat", "LocalFile", __file__),
    "store that is read": lambda ctx: opened("zarr_store", "_Opened", os.path.dirname(__file__)),
}
LEFT = {"context", "roles", "cart with a context"}
ENDED = {"window", "window of an array", "counter", "lock"}

#: Operations under way, which close refuses.
ACTIVE = {"halo that exchanges", "request", "collective request", "future of a request", "future of a call"}


def asked(drop: Callable[[], Any]) -> set[str]:
    """Return what the native library is asked while something is dropped."""
    names = set()

    def spy(frame: Any, event: str, called: Any) -> None:
        if event != "c_call":
            return
        if called is bridge.call:
            if frame.f_locals.get("code") != bridge.TEST:
                names.add(f"bridge.call in {frame.f_code.co_name}")
        elif called.__name__.startswith("pydtl_"):
            names.add(called.__name__)

    gc.collect()
    gc.disable()
    sys.setprofile(spy)
    try:
        drop()
    finally:
        sys.setprofile(None)
        gc.enable()
    return names


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_each_class_with_a_destructor_is_made_here(ctx: dtl.Context) -> None:
    kernels: Any = importlib.import_module("dtl.containers.places.kernels")
    known: set[type] = {dtl.PersistentRequest, kernels._Whole}  # which is on a GPU, for the time of a call
    with ctx.dup() as other:
        for name, maker in MAKERS.items():
            made = maker(other)
            for one in made if isinstance(made, tuple) else (made,):
                held = [value for value in vars(one).values()] if hasattr(one, "__dict__") else []
                known.update(base for thing in (one, *held) for base in type(thing).__mro__)
            if name == "request":
                dtl.send(other, 1, dest=other.rank, tag=7)
            del made, one, held
        gc.collect()
        other.close(wait=True)
    assert {made for made in classes() if made not in known} == set()


@pytest.mark.parametrize(
    ("name", "state"),
    [
        (name, state)
        for name in MAKERS
        for state in ("open", "closed", "ended by an exception")
        if state != "closed" or name not in ACTIVE
    ],
)
def test_dropped_on_one_rank_before_a_collective_and_on_others_after_it(
    ctx: dtl.Context, name: str, state: str
) -> None:
    other = ctx.dup()
    made = [MAKERS[name](other)]
    if state == "closed":
        other.close()
    elif state != "open":
        with pytest.raises(KeyError), other:
            raise KeyError
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if ctx.rank > 0:
            ctx.barrier()
        names = asked(made.clear)
        if ctx.rank == 0:
            ctx.barrier()
    assert names <= LOCAL | ({"pydtl_ContextClose", "pydtl_ContextSize"} if ctx.size == 1 else set())
    if ctx.size > 1 and (name in LEFT or (name in ENDED and state != "closed")):
        assert ResourceWarning in {warning.category for warning in caught}
    if state == "open":
        if name == "request":
            dtl.send(other, 1, dest=other.rank, tag=7)
        other.close(wait=True)


@pytest.mark.parametrize("by", ["del", "with"])
def test_a_halo_whose_exchange_no_other_rank_has_begun(ctx: dtl.Context, by: str) -> None:
    other = ctx.dup()
    halo = dtl.Halo(vector(other), 1, periodic=True)
    if ctx.rank == 0:
        halo.begin()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            if by == "with":
                with pytest.raises(KeyError), halo:
                    raise KeyError
            del halo
        assert [warning.category for warning in caught] == [ResourceWarning] * (ctx.size > 1)
        ctx.barrier()
    else:
        ctx.barrier()
        halo.exchange()
        del halo
    ctx.barrier()
    other.close(wait=True)
    assert "halo" not in [handle.kind for handle in dtl.live()]


def test_a_window_that_was_forgotten_ends_with_its_context(ctx: dtl.Context) -> None:
    before = len(dtl.live())
    with ctx.dup() as other:
        array = np.zeros(3)
        alive = sys.getrefcount(array)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            dtl.Window(other, base=array)
        if ctx.size > 1:
            assert sys.getrefcount(array) > alive, "the other ranks reach for it"
    assert len(dtl.live()) == before
    assert sys.getrefcount(array) == alive


def test_close_after_the_context_was_ended_by_an_exception(ctx: dtl.Context) -> None:
    other = ctx.dup()
    win, counter, lock = dtl.Window(other, size=8), dtl.Counter(other), dtl.Lock(other)
    with pytest.raises(KeyError), other:
        raise KeyError
    if ctx.rank > 0:
        ctx.barrier()
    for owner in (win, counter, lock):
        owner.close()
    if ctx.rank == 0:
        ctx.barrier()


def test_the_watch_sees_a_destructor_that_communicates(ctx: dtl.Context, monkeypatch: pytest.MonkeyPatch) -> None:
    """As that of windows did where their context had been ended by an exception."""

    def close(win: Any) -> bool:
        library.window_close(win._handle)
        win._end()
        return True

    monkeypatch.setattr(dtl.Window, "_drop", close)
    win = dtl.Window(ctx, size=8)
    del win
    assert offences == ["the destructor of Window called pydtl_WindowClose"]
    offences.clear()
