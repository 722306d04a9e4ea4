"""Ranks of several nodes, which DTL_NODES_OF pretends on one: they meet on their nodes, and the nodes by messages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from programs import alone, ranks, succeeded

import dtl

pytestmark = [
    pytest.mark.jobs("starts ranks itself"),
    pytest.mark.skipif(not dtl.has_mpi(), reason="there is no MPI library; runs in the environments of make setup"),
]

CALLS = """
import numpy as np
import dtl

with dtl.Context() as ctx:
    with ctx.split_by_node() as node:
        print(f"rank {ctx.rank} is {node.rank} of {node.size}\\n", end="", flush=True)  # in one write
    with ctx.split(0, -ctx.rank) as turned:
        for on in (ctx, turned, ctx.split(ctx.rank % 2)):
            for count in (1, 100, 1000, 1024, 2000, 100_000):
                mine = np.arange(count) + 1000.5 * on.rank
                each = np.arange(count) + 1000.5 * np.arange(on.size)[:, None]
                assert np.array_equal(dtl.allreduce(on, mine), each.sum(0))
                assert np.array_equal(dtl.allreduce(on, mine, op=dtl.MAX), each.max(0))
                assert np.array_equal(dtl.allgather(on, mine), each)
                assert np.array_equal(dtl.scan(on, mine), each[: on.rank + 1].sum(0))
                for root in range(on.size):
                    got = dtl.broadcast(on, mine if on.rank == root else None, root=root)
                    assert np.array_equal(got, each[root])
                    got = dtl.scatter(on, each if on.rank == root else None, root=root)
                    assert np.array_equal(got, mine)
                    got = dtl.reduce(on, mine, root=root)
                    assert on.rank != root or np.array_equal(got, each.sum(0))
                    for out in (None, np.zeros((on.size, count))):
                        got = dtl.gather(on, mine, root=root, out=out if on.rank == root else None)
                        assert on.rank != root or np.array_equal(got, each)
                right, left = (on.rank + 1) % on.size, (on.rank - 1) % on.size
                assert np.array_equal(dtl.sendrecv(on, mine, dest=right, source=left), each[left])
                on.barrier()
"""

EQUAL = """
import os
import numpy as np
import dtl

with dtl.Context() as ctx:
    for count in (1, 1000) if os.environ["DTL_NODES_OF"] == "1" else (1, 1000, 2000, 8192):
        mine = np.random.default_rng(ctx.rank).standard_normal(count)
        whole = dtl.allreduce(ctx, mine)
        for root in range(ctx.size):
            for call in range(3):
                got = dtl.reduce(ctx, mine, root=root)
                assert got is None or np.array_equal(got, whole), f"call {call} of {count} to {root}"
"""

DIFFER = """
import dtl

with dtl.Context() as ctx:
    for odd in range(ctx.size):
        try:
            dtl.allreduce(ctx, 1 if ctx.rank == odd else 1.0)
        except dtl.CollectiveMismatchError as error:
            print(f"{odd}: {error}\\n", end="", flush=True)
        assert dtl.allreduce(ctx, 1) == ctx.size
"""

TO_ROOT = """
import re, dtl

def differ(ctx, odd, call):
    for _ in range(3):
        dtl.gather(ctx, 1)
    try:
        dtl.reduce(ctx, 1 if ctx.rank == odd else 1.0, root=1)
        call(ctx)
        ctx.barrier()
    except dtl.CollectiveMismatchError as error:
        return re.sub(" in an earlier call, from which this rank had gone on( at [^ ]+:[0-9]+)?", "", str(error))
    return "no error"

with dtl.Context() as ctx:
    for odd in range(ctx.size):
        for call in (lambda c: dtl.reduce(c, 1.0, root=1), lambda c: dtl.broadcast(c, 1), lambda c: None):
            text = differ(ctx, odd, call)
            print(f"{odd}: {text}\\n", end="", flush=True)
            assert dtl.allreduce(ctx, 1) == ctx.size
"""

#: Of numbers of ranks, all and of a node, those that ``make test`` has no time for.
MATRIX = pytest.mark.matrix("runs on other numbers of ranks")


@pytest.mark.parametrize(
    ("count", "on_each"), [*(pytest.param(*each, marks=MATRIX) for each in ((3, 2), (4, 2))), (5, 2), (4, 3)]
)
def test_calls(tmp_path: Path, count: int, on_each: int) -> None:
    out = succeeded(ranks(count, CALLS, tmp_path, DTL_NODES_OF=str(on_each)))
    for rank in range(count):
        size = min(on_each, count - rank // on_each * on_each)
        assert f"rank {rank} is {rank % on_each} of {size}\n" in out


@pytest.mark.parametrize(
    ("count", "on_each"),
    [(3, 1), (5, 2), (7, 1), (8, 3), *(pytest.param(*each, marks=MATRIX) for each in ((3, 2), (6, 1), (7, 2)))],
)
def test_equal_calls_have_equal_bits(tmp_path: Path, count: int, on_each: int) -> None:
    """The first reduce of a row meets all ranks, and the others do not."""
    succeeded(ranks(count, EQUAL, tmp_path, DTL_NODES_OF=str(on_each)))


def test_calls_that_differ(tmp_path: Path) -> None:
    """Whichever rank differs, all get one error, which names the ranks, their calls and lines."""
    out = succeeded(ranks(4, DIFFER, tmp_path, DTL_NODES_OF="2"))
    for odd in range(4):
        texts = re.findall(rf"{odd}: (collective call: .*)", out)
        assert len(texts) == 4
        assert len(set(texts)) == 1
        assert f"rank {odd} called allreduce(1 element of int64, SUM) at program.py:7" in texts[0]


def in_the_call(text: str) -> set[int]:
    """Return the ranks that an error names with a line: they have not gone on."""
    named = ", ".join(re.findall(r"ranks? ([\d, -]+) called [^;]* at program\.py:8", text))
    return {
        rank
        for first, last in re.findall(r"(\d+)(?:-(\d+))?", named)
        for rank in range(int(first), int(last or first) + 1)
    }


@pytest.mark.parametrize(
    ("count", "on_each"), [(3, 1), (7, 3), *(pytest.param(*each, marks=MATRIX) for each in ((4, 2), (5, 2)))]
)
def test_calls_to_root_that_differ(tmp_path: Path, count: int, on_each: int) -> None:
    """Whichever rank differs, all get one error, also those that bring root the elements of their node."""
    out = succeeded(ranks(count, TO_ROOT, tmp_path, DTL_NODES_OF=str(on_each)))
    for odd in range(count):
        texts = re.findall(rf"{odd}: (.*)", out)
        assert len(texts) == 3 * count
        assert len(set(texts)) == 1
        assert f"rank {odd} called reduce(1 element of int64, SUM, root 1)" in texts[0]
        first = odd // on_each * on_each
        bundles = first != 1 // on_each * on_each and min(on_each, count - first) > 1
        assert in_the_call(texts[0]) == {1} | ({first} if bundles else set())


@pytest.mark.parametrize("text", ["two", "0", "-1", "1.5"])
def test_no_number_of_ranks(text: str) -> None:
    ended = alone("import dtl; dtl.Context()", DTL_NODES_OF=text)
    assert f"InvalidArgumentError: DTL_NODES_OF is '{text}'; it must be a number of ranks" in ended.err
