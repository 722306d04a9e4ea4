"""Drawn programs of calls with a root and others, in which one rank makes another call: all raise, and go on."""

from __future__ import annotations

import os
import random
import re
from typing import Any, Callable, Iterator

import numpy as np
import pytest

import dtl
from dtl._native import library

pytestmark = pytest.mark.mpi(min_size=2)

GONE_ON = re.compile(r" in an earlier call, from which this rank had gone on( at [\w<>.]+:\d+)?")
SEEDS = range(int(os.environ.get("DTL_TEST_SEEDS", "12")))
LENGTH = 40  # calls of a program at most, before the one that differs


@pytest.fixture(params=["as they are", "apart"])
def on(request: pytest.FixtureRequest, ctx: dtl.Context) -> Iterator[tuple[dtl.Context, dtl.Context]]:
    """Return two contexts of all ranks."""
    library.set_sharing(request.param == "as they are")
    try:
        made = ctx.dup(), ctx.dup()
    finally:
        library.set_sharing(True)
    yield made
    for one in made:
        one.close()


def leave_out() -> None:
    """Make no call."""


class Program:
    """Calls that follow from a seed: the same on all ranks, but for one call of one rank."""

    def __init__(self, seed: int, a: dtl.Context, b: dtl.Context) -> None:
        self.draw, self.a, self.b = random.Random(seed), a, b
        self.agrees = True  # whether all ranks have made the same calls so far

    def rooted(self) -> tuple[Callable[[], Any], int]:
        """Draw a call with a root on the first context, which checks what comes, and its root."""
        a, name = self.a, self.draw.choice(["broadcast", "broadcast", "scatter", "reduce", "gather"])
        root, count, n = (
            self.draw.randrange(a.size),
            self.draw.choice([1, 3, 100, 1000, 3000, 8000]),
            self.draw.randrange(1000),
        )
        value, has_out = np.full(count, n), self.draw.random() < 0.5

        def out(*shape: int) -> Any:
            return np.zeros(shape, value.dtype) if has_out else None

        def call() -> None:
            if name == "broadcast":
                got = dtl.broadcast(a, value if a.rank == root else None, root=root, out=out(count))
                assert not self.agrees or ((got == n).all() and got.shape == (count,))
            elif name == "scatter":
                each = np.full((a.size, count), n) + np.arange(a.size)[:, None]
                got = dtl.scatter(a, each if a.rank == root else None, root=root, out=out(count))
                assert not self.agrees or (got == n + a.rank).all()
            elif name == "reduce":
                got = dtl.reduce(a, value + a.rank, root=root, out=out(count) if a.rank == root else None)
                assert not self.agrees or a.rank != root or (got == n * a.size + a.size * (a.size - 1) // 2).all()
            else:
                got = dtl.gather(a, value + a.rank, root=root, out=out(a.size, count) if a.rank == root else None)
                assert not self.agrees or a.rank != root or (got == n + np.arange(a.size)[:, None]).all()

        return call, root

    def other(self) -> Callable[[], Any]:
        """Draw another call."""
        a, b, rank = self.a, self.b, self.a.rank
        source, dest = self.draw.sample(range(a.size), 2)

        def message() -> None:
            on = a if source < dest else b
            if rank == source:
                dtl.send(on, 7, dest)
            elif rank == dest:
                assert dtl.recv(on, source) == 7

        def total() -> None:
            assert dtl.allreduce(b, rank) == a.size * (a.size - 1) // 2

        return self.draw.choice(
            [a.barrier, message, total, lambda: dtl.ibarrier(a).wait(), lambda: dtl.broadcast(b, 1)]
        )

    def step(self) -> Callable[[], Any]:
        return self.rooted()[0] if self.draw.random() < 0.9 else self.other()

    def odd(self, not_root: int) -> Callable[[], Any]:
        """Draw what the odd rank calls in place of a call with a root, which is no root there."""
        a, root = self.a, self.draw.choice([rank for rank in range(self.a.size) if rank != not_root])
        return self.draw.choice(
            [
                lambda: dtl.broadcast(a, np.ones(2), root=root),
                lambda: dtl.broadcast(a, np.ones(77), root=root, out=np.ones(77)),
                lambda: dtl.broadcast(a, 1, root=a.size),
                lambda: dtl.scatter(a, np.ones((a.size, 5), np.int8), root=root, out=np.ones(5, np.int8)),
                lambda: dtl.scatter(a, np.ones(a.size + 1), root=a.rank),
                lambda: dtl.reduce(a, np.ones(7), root=root),
                lambda: dtl.gather(a, np.ones(7), root=root),
                lambda: dtl.gather(a, "text", root=root),
                lambda: dtl.allreduce(a, np.ones(1000)),
                lambda: dtl.DistributedVector(a, 10),
                lambda: dtl.ibarrier(a).wait(),
                a.barrier,
                leave_out,
            ]
        )


def differ(a: dtl.Context, b: dtl.Context, seed: int) -> str:
    """Make a drawn program, check what is right before the call that differs, and return the error after it."""
    p = Program(seed, a, b)
    for _ in range(p.draw.randrange(LENGTH)):
        p.step()()
    odd_rank, rooted = p.draw.randrange(a.size), [p.rooted() for _ in range(1 + p.draw.randrange(20))]
    odd = p.odd(rooted[0][1])
    p.agrees = False
    try:
        (odd if a.rank == odd_rank else rooted[0][0])()
        for call, _ in rooted[1:]:
            call()
        elsewhere = p.other()
        if odd is not leave_out:  # else that rank is elsewhere, and nobody is to know that it does not come
            elsewhere()
        a.barrier()
        dtl.allreduce(a, np.ones(3))
        a.dup().close()
    except dtl.DTLError as error:
        return GONE_ON.sub("", str(error))
    return ""


@pytest.mark.parametrize("seed", SEEDS)
def test_drawn(on: tuple[dtl.Context, dtl.Context], seed: int) -> None:
    a, b = on
    text = differ(a, b, seed)
    everybody = dtl.allgather_object(b, text)
    assert all(everybody), everybody
    for _ in range(3):
        assert dtl.broadcast(a, seed if a.is_root else None) == seed
        into = None if a.is_root else np.zeros(5000, int)
        got = dtl.broadcast(a, np.full(5000, seed) if a.is_root else None, out=into)
        assert (got == seed).all()  # and not elements that were sent in the call before the error
        got = dtl.gather(a, np.full(700, a.rank), root=a.size - 1)
        assert a.rank < a.size - 1 or (got == np.arange(a.size)[:, None]).all()
    assert dtl.allreduce(a, 1) == a.size
