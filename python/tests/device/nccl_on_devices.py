"""Collectives of arrays on GPUs that NCCL connects, on any number of ranks.

With the driver and the NCCL that test_devices.py compiles, or with real ones.
"""

from __future__ import annotations

import ctypes
import functools
import os
import re
import time
from pathlib import Path
from typing import Any, Iterator

import numpy as np
import pytest
from on_a_device import LINKERS, VENDOR, linked
from oracle import DTYPES, values

import dtl
from dtl._native import library

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


@pytest.fixture(scope="module")
def gpus(ctx: dtl.Context) -> Iterator[dtl.Context]:
    with linked(ctx) as made:
        yield made


@pytest.fixture(scope="module")
def fake() -> Any:
    """The library, with the functions that it has for tests."""
    try:
        library = ctypes.CDLL(LINKERS[VENDOR])
    except OSError:  # a real one may be beside Python's packages
        library = None
    if not hasattr(library, "fake_nccl_open"):
        pytest.skip("the library is a real one, or there is none; runs with the one that test_devices.py compiles")
    library.fake_nccl_open.restype = ctypes.c_long
    return library


@pytest.fixture
def failing(fake: Any) -> Iterator[Any]:
    """Have calls of the library fail until the test ends: symbol:n:result."""
    yield lambda text: fake.fake_nccl_fail(text.encode())
    fake.fake_nccl_fail(b"")


class There:
    """An array on this rank's GPU, and the container that holds it."""

    def __init__(self, ctx: dtl.Context, elements: Array) -> None:
        flat = np.ascontiguousarray(elements)
        self.container = dtl.DistributedTensor(ctx, (ctx.size, *flat.shape), flat.dtype, placement="device")
        with dtl.DistributedTensor.from_local(ctx, flat[np.newaxis]) as host:
            dtl.copy(host, self.container)
        self.array = dtl.from_dlpack(_Shaped(self.container.local_view(), flat.shape))

    def __enter__(self) -> Any:
        return self.array

    def __exit__(self, *_: object) -> None:
        self.container.close()


class _Shaped:
    """A view of another shape."""

    def __init__(self, view: Any, shape: Any) -> None:
        self.view = view
        self.__cuda_array_interface__ = {**view.__cuda_array_interface__, "shape": shape}


def of_ranks(ctx: dtl.Context, dtype: Any, shape: Any) -> list[Array]:
    """Return each rank's array."""
    return [values(dtype, (*shape, ctx.size), 1)[..., rank].copy() for rank in range(ctx.size)]


def test_the_context(ctx: dtl.Context, gpus: dtl.Context) -> None:
    assert (gpus.has_nccl, gpus.nccl_mode, gpus.device_id) == (True, dtl.DTL_NCCL_MODE_HYBRID_PARITY, ctx.rank)
    assert (gpus.rank, gpus.size) == (ctx.rank, ctx.size)
    assert not ctx.has_nccl
    for op in dtl.nccl.Operation:
        native = op not in (dtl.DTL_NCCL_OP_BARRIER, dtl.DTL_NCCL_OP_SCAN)
        assert gpus.nccl_supports_native(op) is native
        assert gpus.nccl_supports_hybrid(op) is True
        assert ctx.nccl_supports_hybrid(op) is False
    with gpus.dup() as twin:
        assert (twin.has_nccl, twin.device_id) == (False, ctx.rank)
    assert dtl.allreduce(gpus, 1) == ctx.size  # what is on the host stays there
    gpus.barrier()


@pytest.mark.parametrize("op", ["SUM", "PROD", "MIN", "MAX", "LAND", "LOR", "BAND", "BOR", "BXOR"])
def test_reductions(gpus: dtl.Context, op: str) -> None:
    """What the same call gives of the host's arrays; what the GPUs do not combine goes there."""
    root = gpus.size - 1
    for dtype in DTYPES:
        mine = of_ranks(gpus, dtype, (gpus.size, 3))[gpus.rank]
        if mine.dtype.kind == "f":
            mine.flat[gpus.rank] = np.nan
        try:
            want = dtl.allreduce(gpus, mine, op)
        except dtl.DTLError:
            with There(gpus, mine) as there, pytest.raises(dtl.DTLError, match="is not defined for"):
                dtl.allreduce(gpus, there, op)
            continue
        with There(gpus, mine) as there, There(gpus, np.zeros_like(mine)) as out, dtl.trace() as trace:
            got = dtl.allreduce(gpus, there, op)
            assert type(got) is np.ndarray
            assert got.dtype == want.dtype
            np.testing.assert_allclose(got, want)
            assert dtl.reduce(gpus, there, op, root, out=out) is (out if gpus.rank == root else None)
            np.testing.assert_allclose(out.to_numpy(), want if gpus.rank == root else np.zeros_like(mine))
            np.testing.assert_allclose(dtl.reduce_scatter(gpus, there, op), want[gpus.rank])
            assert dtl.allreduce(gpus, there, op, out=there) is there
            np.testing.assert_allclose(there.to_numpy(), want)
        wholly = op not in ("LAND", "LOR") or mine.dtype == bool
        way = "nccl" if wholly else "staged"
        assert {f"{name} ({way})" for name in ("allreduce", "reduce", "reduce_scatter")} <= {
            record.operation for record in trace.records
        }, (dtype, op)


def test_moves(gpus: dtl.Context) -> None:
    size, rank, root = gpus.size, gpus.rank, gpus.size - 1
    for dtype in ("float64", "int16", "complex64", "bool"):
        all_of = of_ranks(gpus, dtype, (size, 2))
        mine = all_of[rank]
        whole = np.stack(all_of)
        with There(gpus, mine) as there, There(gpus, np.zeros_like(mine)) as out, There(
            gpus, np.zeros_like(whole)
        ) as every, dtl.trace() as trace:
            assert dtl.broadcast(gpus, there if rank == root else None, root, out=out) is out
            np.testing.assert_array_equal(out.to_numpy(), all_of[root])
            got = dtl.broadcast(gpus, there, root)
            assert got is there if rank == root else type(got) is np.ndarray
            if rank != root:
                np.testing.assert_array_equal(got, all_of[root])
            np.testing.assert_array_equal(dtl.allgather(gpus, there), whole)
            assert dtl.allgather(gpus, there, out=every) is every
            np.testing.assert_array_equal(every.to_numpy(), whole)
            assert dtl.allgather(gpus, dtl.IN_PLACE, out=every) is every
            np.testing.assert_array_equal(every.to_numpy(), whole)
            gathered = dtl.gather(gpus, there, root)
            assert (gathered is None) is (rank != root)
            if rank == root:
                np.testing.assert_array_equal(gathered, whole)
            assert dtl.gather(gpus, there, root, out=every) is (every if rank == root else None)
            exchanged = np.stack([one[rank] for one in all_of])
            np.testing.assert_array_equal(dtl.alltoall(gpus, there), exchanged)
            assert dtl.alltoall(gpus, there, out=there) is there
            np.testing.assert_array_equal(there.to_numpy(), exchanged)
        assert {"broadcast (nccl)", "allgather (nccl)", "gather (nccl)", "alltoall (nccl)"} <= {
            record.operation for record in trace.records
        }
        with There(gpus, whole[0]) as there, There(gpus, np.zeros_like(mine[0])) as out:
            assert dtl.scatter(gpus, there if rank == root else None, root, out=out) is out
            np.testing.assert_array_equal(out.to_numpy(), whole[0][rank])
            host = whole[1 % size] if rank == root else None
            assert dtl.scatter(gpus, host, root, out=out) is out
            np.testing.assert_array_equal(out.to_numpy(), whole[1 % size][rank])


def test_long_and_empty(gpus: dtl.Context) -> None:
    mine = np.arange(100_003, dtype=np.float32) + gpus.rank
    want = sum(np.arange(100_003, dtype=np.float32) + rank for rank in range(gpus.size))
    with There(gpus, mine) as there:
        dtl.allreduce(gpus, there, out=there)
        np.testing.assert_array_equal(there.to_numpy(), want)
        out = np.empty_like(mine)
        assert dtl.allreduce(gpus, there, "max", out=out) is out
        np.testing.assert_array_equal(out, want)
    with There(gpus, np.zeros(0)) as there:
        assert dtl.allreduce(gpus, there).shape == (0,)
        assert dtl.allgather(gpus, there).shape == (gpus.size, 0)
    with There(gpus, np.ones(1)) as there:  # fewer elements than ranks
        assert dtl.allreduce(gpus, there, "min").tolist() == [1]


def test_what_nccl_lacks(ctx: dtl.Context, gpus: dtl.Context) -> None:
    with There(gpus, np.arange(3, dtype=np.int16)) as there, dtl.trace() as trace:
        np.testing.assert_array_equal(dtl.scan(gpus, there), np.arange(3) * (gpus.rank + 1))
        dtl.allreduce(gpus, there, dtl.LAND)
        assert {"scan (staged)", "allreduce (staged)"} <= {record.operation for record in trace.records}
    with ctx.with_nccl(ctx.rank, mode=dtl.DTL_NCCL_MODE_NATIVE_ONLY) as native:
        assert native.nccl_mode == dtl.DTL_NCCL_MODE_NATIVE_ONLY
        assert native.nccl_supports_native(dtl.DTL_NCCL_OP_ALLREDUCE)
        assert not native.nccl_supports_hybrid(dtl.DTL_NCCL_OP_SCAN)
        native.barrier()
        assert native.nccl_supports_hybrid(dtl.DTL_NCCL_OP_BARRIER)
        with There(native, np.arange(3, dtype=np.int16)) as there:
            for call in (lambda: dtl.scan(native, there), lambda: dtl.allreduce(native, there, dtl.LAND)):
                with pytest.raises(dtl.InvalidArgumentError, match="the context's mode is NATIVE_ONLY"):
                    call()
            after, before = (native.rank + 1) % native.size, (native.rank - 1) % native.size
            assert dtl.sendrecv(native, there, after, before).tolist() == [0, 1, 2]
            np.testing.assert_array_equal(dtl.allgather(native, there), [[0, 1, 2]] * native.size)


def test_parts(ctx: dtl.Context, gpus: dtl.Context) -> None:
    with ctx.split_nccl(color=ctx.rank % 2, key=-ctx.rank, device_id=ctx.rank) as part:
        assert part.has_nccl
        assert part.size == len(range(ctx.rank % 2, ctx.size, 2))
        with There(part, np.ones(2)) as there:
            assert dtl.allreduce(part, there).tolist() == [part.size] * 2
    with ctx.split_nccl(0) as part:
        assert part.device_id == ctx.rank % dtl.Topology.num_gpus()
    for call in (lambda: ctx.split_nccl(-1), lambda: ctx.with_nccl(-1), lambda: ctx.with_nccl(99)):
        with pytest.raises((dtl.BoundsError, dtl.InvalidArgumentError)):
            call()


def test_ranks_that_differ(gpus: dtl.Context) -> None:
    first = gpus.rank == 0
    with There(gpus, np.ones(4)) as there, There(gpus, np.ones(5)) as longer:
        if gpus.size > 1:
            for call in (
                lambda: dtl.allreduce(gpus, there if first else longer),
                lambda: dtl.allreduce(gpus, there if first else np.ones(4)),  # where they are is no rank's own affair
                lambda: dtl.allreduce(gpus, there, "sum" if first else "max"),
                lambda: dtl.broadcast(gpus, there if first else None),
                lambda: dtl.allgather(gpus, there) if first else dtl.allreduce(gpus, there),
            ):
                with pytest.raises(dtl.CollectiveMismatchError):
                    call()
        for root in (gpus.size, -1):
            with pytest.raises(dtl.BoundsError, match=rf"root {root} outside \[0, {gpus.size}\)"):
                dtl.broadcast(gpus, there, root if first else 0)
            with pytest.raises(dtl.BoundsError, match=rf"root {root} outside \[0, {gpus.size}\)"):
                dtl.reduce(gpus, there, root=root)
        with pytest.raises(dtl.InvalidArgumentError, match="root has no value to send"):
            dtl.broadcast(gpus, None if first else there, out=there)
        for call in (
            lambda: dtl.allreduce(gpus, there, out=longer if first else there),
            lambda: dtl.allreduce(gpus, there, "nonsense" if first else "sum"),
            lambda: dtl.reduce_scatter(gpus, longer if first and gpus.size != 5 else there, out=longer),
        ):
            with pytest.raises(dtl.DTLError):
                call()
        assert dtl.allreduce(gpus, there).tolist() == [gpus.size] * 4


def test_modes_that_differ(ctx: dtl.Context, gpus: dtl.Context) -> None:
    if ctx.size == 1:
        return
    mode = dtl.DTL_NCCL_MODE_NATIVE_ONLY if ctx.rank else dtl.DTL_NCCL_MODE_HYBRID_PARITY
    for call in (lambda: ctx.with_nccl(ctx.rank, mode), lambda: ctx.split_nccl(0, device_id=ctx.rank, mode=mode)):
        with pytest.raises(dtl.CollectiveMismatchError, match="mode NATIVE_ONLY"):
            call()
    with ctx.split_nccl(ctx.rank, device_id=ctx.rank, mode=mode) as alone:  # parts may have different ones
        assert alone.nccl_mode == mode


def test_two_ranks_on_one_gpu(ctx: dtl.Context, gpus: dtl.Context) -> None:
    if ctx.size > 1:
        with pytest.raises(
            dtl.InvalidArgumentError, match=r"ranks 0, 1.* are on one GPU, and NCCL connects one rank a GPU"
        ):
            ctx.with_nccl(0)


def test_arrays_of_another_gpu(ctx: dtl.Context, gpus: dtl.Context) -> None:
    if dtl.Topology.num_gpus() <= ctx.size:
        pytest.skip("there is no GPU more than ranks; runs with the driver that test_devices.py compiles")
    with ctx.with_cuda(ctx.size) as other, There(other, np.ones(3)) as there, pytest.raises(
        dtl.InvalidArgumentError, match=f"on GPU {ctx.size}, and NCCL connects GPU {ctx.rank}|NCCL connects"
    ):
        dtl.allreduce(gpus, there)


SYMBOLS = ["ncclGetUniqueId", "ncclCommInitRankConfig", "ncclCommGetAsyncError"]


@pytest.mark.parametrize("symbol", SYMBOLS)
def test_links_that_fail(ctx: dtl.Context, failing: Any, fake: Any, symbol: str) -> None:
    before = fake.fake_nccl_open(0)
    if ctx.rank == 0:
        failing(f"{symbol}:1:2")
    said = "" if symbol == "ncclCommGetAsyncError" else f": {symbol}"  # what NCCL said last of no communicator
    with pytest.raises(dtl.DTLError, match=f"{symbol} failed: error 2 .unhandled system error.{said}"):
        ctx.with_nccl(ctx.rank)
    failing("")
    assert fake.fake_nccl_open(0) == before
    with ctx.with_nccl(ctx.rank) as gpus, There(gpus, np.ones(2)) as there:
        assert dtl.allreduce(gpus, there).tolist() == [ctx.size] * 2


CALLS: Any = {
    "ncclAllReduce": dtl.allreduce,
    "ncclReduce": lambda ctx, x: dtl.reduce(ctx, x, "sum", 0),
    "ncclReduceScatter": dtl.reduce_scatter,
    "ncclBroadcast": lambda ctx, x: dtl.broadcast(ctx, x, 0),
    "ncclAllGather": dtl.allgather,
    "ncclGroupStart": dtl.alltoall,
    "ncclGroupEnd": dtl.alltoall,
    "ncclSend": dtl.alltoall,
    "ncclRecv": dtl.alltoall,
}


@pytest.mark.parametrize("later", [False, True])
@pytest.mark.parametrize("symbol", CALLS)
def test_calls_that_fail(ctx: dtl.Context, failing: Any, symbol: str, later: bool) -> None:
    """On one rank: at once, or when it is queued. All ranks hear of it, and nothing connects the GPUs any more."""
    if later and symbol in ("ncclGroupStart", "ncclSend", "ncclRecv"):
        return
    if ctx.size == 1 and (symbol in ("ncclSend", "ncclRecv") or (later and symbol == "ncclGroupEnd")):
        return  # it sends itself nothing
    gpus = ctx.with_nccl(ctx.rank)
    with There(gpus, np.ones((ctx.size, 2))) as there:
        if ctx.rank == ctx.size - 1:
            failing(f"{symbol}:1:{2003 if later else 3}")
        with pytest.raises(dtl.DTLError, match=r"NCCL: .* failed: error 3 .internal error|gave up"):
            CALLS[symbol](gpus, there)
        failing("")
        with pytest.raises(dtl.DTLError, match=r"NCCL connects the ranks' GPUs no more|gave up"):
            dtl.allreduce(gpus, there)
    gpus.close()


HEADER = Path(__file__).parents[3] / "backends" / "nccl" / "library.h"

#: All functions of NCCL that DTL calls, but the version's, which is asked for once (test_devices.py).
FUNCTIONS = sorted(set(re.findall(r"X\(\w+, (nccl\w+),", HEADER.read_text())) - {"ncclGetVersion"})


#: Functions that are called when another one has failed, and change nothing of the error but its words.
AFTER_ERRORS = ("ncclGetErrorString", "ncclGetLastError", "ncclCommAbort")


def _all_collectives(ctx: dtl.Context, there: Any) -> None:
    for call in CALLS.values():
        call(ctx, there)
    ctx.barrier()  # of the last one, a rank may have had its result when another one gives up


@pytest.mark.parametrize("symbol", FUNCTIONS)
def test_whichever_call_of_the_library_fails(ctx: dtl.Context, failing: Any, fake: Any, symbol: str) -> None:
    """On one rank: all ranks get an error in the same step, nobody waits for ever, and nothing is left."""
    last = ctx.rank == ctx.size - 1
    for n in range(1, 200):
        before = fake.fake_nccl_open(0)
        told: list[Any] = []
        if last or symbol == "ncclGetUniqueId":  # which only rank 0 calls
            failing(f"{symbol}:{n}:3" + ",ncclAllReduce:1:3" * (symbol in AFTER_ERRORS))
        gpus = _attempt(told, "link", lambda: ctx.with_nccl(ctx.rank))
        if gpus is not None:
            with There(gpus, np.ones((ctx.size, 2))) as there:
                _attempt(told, "collectives", functools.partial(_all_collectives, gpus, there))
            _attempt(told, "close", gpus.close)
        failing("")
        all_told = dtl.allgather_object(ctx, told)
        steps = [[step for step, _ in each if step != "close"] for each in all_told]  # from which ranks return alone
        assert all(each == steps[0] for each in steps), all_told
        assert fake.fake_nccl_open(0) == before + (symbol == "ncclCommAbort" and last)
        if symbol in AFTER_ERRORS:
            assert steps[0] == ["collectives"]
            return
        if not any(all_told):
            assert n > 1 or ctx.size == 1, "it is never called"
            return
    raise AssertionError("it is never complete")


def _attempt(told: list[Any], step: str, call: Any) -> Any:
    """Make a call, and take note of its error."""
    try:
        return call()
    except dtl.DTLError as error:
        told.append((step, str(error)))
        return None


def test_a_rank_that_does_not_come(ctx: dtl.Context, failing: Any) -> None:
    """NCCL stalls: the limit of waits ends it on every rank."""
    gpus = ctx.with_nccl(ctx.rank)
    with There(gpus, np.ones(2)) as there:
        if ctx.rank == 0:
            failing("ncclAllReduce:1:1000")
        library.set_wait_limits(0.0, 0.5)
        begun = time.monotonic()
        with pytest.raises(dtl.DTLError, match=r"no end after|gave up"):
            dtl.allreduce(gpus, there)
        assert time.monotonic() - begun < 20
        library.set_wait_limits(10.0, float(os.environ.get("DTL_TIMEOUT") or 0))
    gpus.close()


def test_nothing_is_left(ctx: dtl.Context, gpus: dtl.Context, fake: Any) -> None:
    before = fake.fake_nccl_open(0)
    for _ in range(3):
        with ctx.with_nccl(ctx.rank) as made, There(made, np.ones(2)) as there:
            dtl.allreduce(made, there)
    assert fake.fake_nccl_open(0) == before
