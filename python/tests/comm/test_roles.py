"""Roles: who has which, their contexts, and the messages and collectives between them, on any number of ranks."""

from __future__ import annotations

import gc
import weakref
from typing import Any, Callable, Iterator

import numpy as np
import pytest
from test_moved_elements import ARRAYS, same

import dtl
from dtl._native import library
from dtl.roles.role_manager import lines_of

DTYPES = ["float64", "float32", "int64", "int32", "int16", "int8", "uint64", "uint32", "uint16", "uint8", "bool"]
DTYPES += ["complex64", "complex128"]


def odd(rank: int, size: int) -> bool:
    return rank % 2 == 1


def everybody(rank: int, size: int) -> bool:
    return True


#: Roles by name, and the ranks that must have them of a number of ranks.
Expected = Callable[[int], "dict[str, list[int]]"]
DIVISIONS: dict[str, tuple[list[tuple[str, Any]], Expected]] = {
    "one role of one rank": ([("lead", 1)], lambda n: {"lead": [0]}),
    "some ranks have none": ([("lead", lambda r, n: r == n - 1)], lambda n: {"lead": [n - 1]}),
    "several roles a rank": (
        [("all", everybody), ("odd", odd), ("lead", 1)],
        lambda n: {"all": list(range(n)), "odd": list(range(1, n, 2)), "lead": [0]},
    ),
    "a role that nobody has": (
        [("none", lambda r, n: False), ("all", everybody)],
        lambda n: {"none": [], "all": [*range(n)]},
    ),
    "NumPy's truths": ([("odd", lambda r, n: np.bool_(r % 2))], lambda n: {"odd": list(range(1, n, 2))}),
    "a name of many letters": ([("Écriture, 'x' : \n", 1)], lambda n: {"Écriture, 'x' : \n": [0]}),
}


@pytest.fixture
def manager(ctx: dtl.Context) -> Iterator[dtl.RoleManager]:
    """Reader on the first rank, workers on all others, or on it where it is alone, and all."""
    with dtl.RoleManager(ctx) as mgr:
        mgr.add_role("reader", 1)
        mgr.add_role("worker", lambda rank, size: rank > 0 or size == 1)
        mgr.add_role("all", everybody)
        mgr.initialize()
        yield mgr


def posted(mgr: dtl.RoleManager, role: str, rank: int, value: Any, tag: int = 0) -> list[dtl.Request]:
    """Send, and return what is to be waited for: MPI may keep a rank that sends to itself until it receives."""
    dest = mgr._members[role][rank]
    if dest == mgr._context.rank:
        return [dtl.isend(lines_of(mgr).messages, value, dest, tag)]
    dtl.intergroup_send(mgr, role, rank, value, tag=tag)
    return []


@pytest.mark.parametrize("name", DIVISIONS)
def test_who_has_which_role(ctx: dtl.Context, name: str) -> None:
    roles, expected = DIVISIONS[name]
    with dtl.RoleManager(ctx) as mgr:
        assert not mgr.initialized
        for role, ranks in roles:
            mgr.add_role(role, ranks)
        mgr.initialize()
        assert mgr.initialized
        wanted = expected(ctx.size)
        assert mgr.roles == tuple(wanted)
        for role, members in wanted.items():
            assert mgr.role_size(role) == len(members)
            assert mgr.has_role(role) is (ctx.rank in members)
            if ctx.rank in members:
                part = mgr.role_context(role)
                assert (part.rank, part.size) == (members.index(ctx.rank), len(members))
                assert mgr.role_rank(role) == part.rank
                assert dtl.allgather(part, ctx.rank).tolist() == members
    assert not mgr.initialized


def test_numbers_take_one_rank_after_the_other(ctx: dtl.Context) -> None:
    with dtl.RoleManager(ctx) as mgr:
        for rank in range(ctx.size):
            mgr.add_role(f"role {rank}", 1)
        mgr.initialize()
        assert [mgr.has_role(role) for role in mgr.roles] == [rank == ctx.rank for rank in range(ctx.size)]


def test_two_managers_do_not_meet(ctx: dtl.Context, manager: dtl.RoleManager) -> None:
    with dtl.RoleManager(ctx) as other:
        other.add_role("all", everybody)
        other.initialize()
        after = (ctx.rank + 1) % ctx.size
        before = (ctx.rank - 1) % ctx.size
        requests = [dtl.isend(ctx, 3, after)]
        for mgr, value in ((manager, 1), (other, 2)):
            requests += posted(mgr, "all", after, value)
        assert dtl.recv(ctx, dtl.ANY_SOURCE, dtl.ANY_TAG) == 3
        assert dtl.intergroup_recv(other, "all", before, tag=dtl.ANY_TAG) == 2
        assert dtl.intergroup_recv(manager, "all", before) == 1
        dtl.waitall(requests)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (5,), (3, 2), (40_000,)])
def test_messages_between_roles(manager: dtl.RoleManager, dtype: str, shape: tuple[int, ...]) -> None:
    value = np.ones(shape, dtype)
    if manager.has_role("reader"):
        sent = [dtl.isend(lines_of(manager).messages, value, rank, tag=9) for rank in manager._members["worker"]]
    if manager.has_role("worker"):
        got = dtl.intergroup_recv(manager, "reader", 0, count=value.size, dtype=dtype, tag=9)
        assert (got.dtype, got.shape) == (value.dtype, value.shape)
        assert (got == value).all()
    if manager.has_role("reader"):
        dtl.waitall(sent)


def test_a_message_there_and_back(manager: dtl.RoleManager) -> None:
    """As in the API reference: rank 0 gives each worker a number, and gets its square."""
    workers = range(manager.role_size("worker"))
    requests: list[dtl.Request] = []
    if manager.has_role("reader"):
        for worker in workers:
            requests += posted(manager, "worker", worker, np.array([worker + 2], np.int32), tag=1)
    if manager.has_role("worker"):
        task = dtl.intergroup_recv(manager, "reader", 0, count=1, dtype=np.int32, tag=1)
        requests += posted(manager, "reader", 0, task**2, tag=2)
    if manager.has_role("reader"):
        out = np.empty(1, np.int32)
        squares = [int(dtl.intergroup_recv(manager, "worker", worker, tag=2, out=out)[0]) for worker in workers]
        assert squares == [(worker + 2) ** 2 for worker in workers]
    dtl.waitall(requests)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (7,), (2, 3), (60_000,)])
@pytest.mark.parametrize("root", ["reader", "worker"])
def test_broadcast_to_a_role(manager: dtl.RoleManager, root: str, dtype: str, shape: tuple[int, ...]) -> None:
    """From outside the role, or alone from itself; and from its last rank."""
    number = manager.role_size(root) - 1
    here = manager.has_role(root) and manager.role_rank(root) == number
    value = np.full(shape, 3, dtype)
    if here or manager.has_role("worker"):
        got = np.asarray(dtl.intergroup_broadcast(manager, (root, number), "worker", value if here else None))
        assert (got.dtype, got.shape) == (value.dtype, value.shape)
        assert (got == value).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (7,), (2, 3), (20_000,)])
@pytest.mark.parametrize("root", ["reader", "worker"])
def test_gather_from_a_role(manager: dtl.RoleManager, root: str, dtype: str, shape: tuple[int, ...]) -> None:
    number = manager.role_size(root) - 1
    here = manager.has_role(root) and manager.role_rank(root) == number
    if not here and not manager.has_role("worker"):
        return
    mine = np.full(shape, manager._context.rank % 2, dtype) if manager.has_role("worker") else None
    got = dtl.intergroup_gather(manager, [root, number], "worker", mine)
    if here:
        assert got.dtype == np.dtype(dtype)
        assert (got == np.array([np.full(shape, rank % 2, dtype) for rank in manager._members["worker"]])).all()
    else:
        assert got is None


@pytest.mark.parametrize("root", ["reader", "worker"])
@pytest.mark.parametrize("name", ["days", "float16", "bytes", "text", "records", "records of dates"])
def test_elements_that_are_moved(manager: dtl.RoleManager, root: str, name: str) -> None:
    """From and to a rank outside the role, as within it, also where they are in another byte order."""
    number = manager.role_size(root) - 1
    here = manager.has_role(root) and manager.role_rank(root) == number
    if not here and not manager.has_role("worker"):
        return
    array = ARRAYS[name]
    for value in (array, array.astype(array.dtype.newbyteorder()), array[:0], array[2:3].reshape(())):
        got = dtl.intergroup_broadcast(manager, (root, number), "worker", value if here else None)
        same(got, value.astype(array.dtype))
        back = dtl.intergroup_gather(manager, (root, number), "worker", value if manager.has_role("worker") else None)
        if here:
            same(back, np.stack([value.astype(array.dtype)] * manager.role_size("worker")))


def test_calls_follow_each_other(manager: dtl.RoleManager) -> None:
    for step in range(5):
        if manager.has_role("reader") or manager.has_role("worker"):
            got = dtl.intergroup_broadcast(
                manager, ("reader", 0), "worker", step if manager.has_role("reader") else None
            )
            assert got == step
            back = dtl.intergroup_gather(manager, ("reader", 0), "worker", got * 2)
            assert back is None or back.tolist() == [step * 2] * manager.role_size("worker")


@pytest.mark.parametrize("call", [dtl.intergroup_broadcast, dtl.intergroup_gather])
def test_what_cannot_be_sent_is_refused_on_all_that_take_part(manager: dtl.RoleManager, call: Any) -> None:
    last = manager.role_size("worker") - 1
    giver = ("reader", 0) if call is dtl.intergroup_broadcast else ("worker", last)
    if manager.has_role("reader") or manager.has_role("worker"):
        bad = manager.has_role(giver[0]) and manager.role_rank(giver[0]) == giver[1]
        with pytest.raises(dtl.InvalidTypeError, match="cannot be sent"):
            call(manager, ("reader", 0), "worker", object() if bad else 1)
        value = dtl.intergroup_broadcast(manager, ("reader", 0), "worker", 4)  # and the roles go on
        assert value == 4


@pytest.mark.mpi(min_size=3)
def test_values_of_different_shapes_are_refused_on_all_that_take_part(manager: dtl.RoleManager) -> None:
    with pytest.raises(dtl.CollectiveMismatchError):
        dtl.intergroup_gather(manager, ("reader", 0), "worker", np.ones(manager._context.rank))


@pytest.mark.mpi(min_size=3)
def test_roots_that_differ_within_the_role(ctx: dtl.Context) -> None:
    with dtl.RoleManager(ctx) as mgr:
        mgr.add_role("all", ctx.size)
        mgr.initialize()
        with pytest.raises(dtl.CollectiveMismatchError, match=r"root \('all', 1\)"):
            dtl.intergroup_broadcast(mgr, ("all", min(ctx.rank, 1)), "all", 1)


def test_roles_of_a_part(ctx: dtl.Context) -> None:
    with ctx.split(ctx.rank % 2) as half, dtl.RoleManager(half) as mgr:
        mgr.add_role("lead", 1)
        mgr.initialize()
        assert mgr.has_role("lead") is (half.rank == 0)


def test_the_context_stays_its_owners(ctx: dtl.Context) -> None:
    own = ctx.dup()
    with dtl.RoleManager(own) as mgr:
        mgr.add_role("all", everybody)
        mgr.initialize()
        part = mgr.role_context("all")
        own.close()  # the roles have communicators of their own
        assert dtl.allreduce(part, 1) == ctx.size
    with pytest.raises(dtl.InvalidHandleError):
        dtl.allreduce(part, 1)
    assert dtl.allreduce(ctx, 1) == ctx.size


def test_nothing_stays_behind(ctx: dtl.Context) -> None:
    before, bytes_before = len(dtl.live()), library.memory_in_use()
    for _ in range(3):
        with dtl.RoleManager(ctx) as mgr:
            mgr.add_role("all", everybody)
            mgr.add_role("odd", odd)
            mgr.initialize()
            dtl.intergroup_broadcast(mgr, ("all", 0), "all", np.ones(1000))
    assert len(dtl.live()) == before
    gc.collect()
    assert library.memory_in_use() == bytes_before


def test_a_manager_is_in_no_cycle(ctx: dtl.Context) -> None:
    gc.collect()
    gc.disable()
    try:
        mgr = dtl.RoleManager(ctx)
        mgr.add_role("all", everybody)
        mgr.initialize()
        mgr.destroy()
        gone = weakref.ref(mgr)
        del mgr
        assert gone() is None
    finally:
        gc.enable()


def test_repr(ctx: dtl.Context) -> None:
    mgr = dtl.RoleManager(ctx)
    mgr.add_role("lead", 1)
    assert repr(mgr) == f"<dtl.RoleManager rank {ctx.rank} of {ctx.size}, not initialised>"
    mgr.initialize()
    assert repr(mgr) == f"<dtl.RoleManager rank {ctx.rank} of {ctx.size}, lead on rank 0>"
    mgr.destroy()
    mgr.destroy()
    assert repr(mgr) == f"<dtl.RoleManager rank {ctx.rank} of {ctx.size}, destroyed>"
