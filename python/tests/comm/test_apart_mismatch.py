"""Collectives that do not block where ranks disagree and share no memory: all raise, and the context goes on."""

from __future__ import annotations

from itertools import permutations
from typing import Callable, Iterator

import numpy as np
import pytest
from test_nonblocking_mismatch import ARGUMENTS, BAD, CALLS, ORDERS, in_order

import dtl


@pytest.fixture
def apart(monkeypatch: pytest.MonkeyPatch) -> Iterator[dtl.Context]:
    """A context whose ranks meet by messages."""
    monkeypatch.setenv("DTL_SHARED_MEMORY", "0")
    with dtl.Context() as ctx:
        yield ctx


def refused(ctx: dtl.Context, order: str, odd: int, start: Callable[[dtl.Context], dtl.Request]) -> dtl.DTLError:
    """Check that a collective raises on this rank, and that the next does not; return the error."""
    with pytest.raises(dtl.DTLError) as caught:
        in_order(ctx, order, odd, lambda: start(ctx))
    assert dtl.allreduce(ctx, 1) == ctx.size
    assert dtl.iallreduce(ctx, 1).wait() == ctx.size
    return caught.value


@pytest.mark.mpi(min_size=2)
@pytest.mark.parametrize("order", ORDERS)
class TestDisagreement:
    @pytest.mark.parametrize(("one", "other"), list(permutations(CALLS, 2)), ids="-".join)
    def test_of_operations(self, apart: dtl.Context, one: str, other: str, order: str) -> None:
        odd = apart.size - 1
        error = refused(apart, order, odd, lambda ctx: CALLS[other if ctx.rank == odd else one](ctx))
        assert isinstance(error, dtl.CollectiveMismatchError)
        assert f"called {one}(" in str(error)
        assert f"rank {odd} called {other}(" in str(error)

    @pytest.mark.parametrize("name", ARGUMENTS)
    def test_of_arguments(self, apart: dtl.Context, name: str, order: str) -> None:
        usual, other, text = ARGUMENTS[name]
        for odd in range(apart.size):
            error = refused(apart, order, odd, lambda ctx: (other if ctx.rank == odd else usual)(ctx))  # noqa: B023
            assert isinstance(error, dtl.CollectiveMismatchError), error
            assert text in str(error)

    @pytest.mark.parametrize("name", BAD)
    def test_bad_argument_of_one(self, apart: dtl.Context, name: str, order: str) -> None:
        call, kind = BAD[name]
        odd = apart.size - 1
        error = refused(apart, order, odd, lambda ctx: call(ctx) if ctx.rank == odd else dtl.iallreduce(ctx, 1.0))
        assert isinstance(error, kind)
        if apart.rank != odd:
            assert f"rank {odd}: " in str(error)


@pytest.mark.mpi(min_size=2)
def test_many_at_once_in_any_order(apart: dtl.Context) -> None:
    """What is waited for last has begun by then: the others wait for it in calls that block."""
    sums = [dtl.iallreduce(apart, np.full(n, n + apart.rank)) for n in (3, 100_000, 1)]
    rows = dtl.ialltoallv(apart, np.full(apart.size, apart.rank), [1] * apart.size)
    sent = dtl.ibroadcast(apart, np.arange(5_000) if apart.rank == 1 else None, root=1)
    if apart.is_root:
        sums[0].wait()
    apart.barrier()
    assert rows.wait().tolist() == list(range(apart.size))
    for request, n in reversed(list(zip(sums, (3, 100_000, 1)))):
        assert (request.wait() == sum(range(n, n + apart.size))).all()
    assert (sent.wait() == np.arange(5_000)).all()


@pytest.mark.mpi(min_size=2)
def test_ranks_that_trust_each_other_ask_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DTL_SHARED_MEMORY", "0")
    with dtl.Context(check="node") as ctx:
        assert dtl.iallreduce(ctx, ctx.rank).wait() == sum(range(ctx.size))
        dtl.ibarrier(ctx).wait()


@pytest.mark.mpi(min_size=2)
def test_a_dup_asks_as_its_original_does(apart: dtl.Context, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DTL_SHARED_MEMORY", "0")
    with dtl.Context(check="node"), apart.dup() as own, pytest.raises(dtl.CollectiveMismatchError):
        dtl.iallreduce(own, np.ones(3 + own.rank)).wait()
