"""Containers on GPUs, on any number of ranks: with the driver that test_devices.py compiles, or with a real one.

``make test-gpu`` runs it with a real one. What asks the driver itself has the mark ``pretended``.
"""

from __future__ import annotations

import ctypes
import gc
import re
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Iterator

import numpy as np
import pytest
from divisions import DIVISIONS, division, part
from dlpack_structures import Tensor, VersionedTensor
from oracle import DTYPES, values

import dtl

PLACES = ("device", "unified")

#: Whose driver is used, and which names HIP has for CUDA's functions in the driver that test_devices.py compiles.
DRIVERS = {"cuda": "libcuda.so.1", "hip": "libamdhip64.so.6"}
LINKERS = {"cuda": "libnccl.so.2", "hip": "librccl.so.1"}
VENDOR = "hip" if dtl.has_hip() and not dtl.has_cuda() else "cuda"
NAMES = Path(__file__).parents[3] / "backends" / "internal" / "gpu" / "gputest" / "driver" / "hip" / "names.h"
OTHERWISE = {"fake_copy": "hipMemcpyAsync", "fake_push": "hipGetDevice", "fake_pop": "hipSetDevice"}

#: DLPack's numbers of memory of a GPU, and of managed memory.
KINDS = {"cuda": (2, 13), "hip": (10, 10)}[VENDOR]


def vendors(text: str) -> str:
    """Return a text that names functions of CUDA with the names that the driver has for them."""
    if VENDOR == "hip":
        for cuda, hip in re.findall(r"#define (cu\w+) (\w+)", NAMES.read_text()):
            text = re.sub(rf"\b{cuda}\b", OTHERWISE.get(hip, hip), text)
    return text


Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


@pytest.fixture(scope="session")
def fake() -> Any:
    """The driver, with the functions that it has for tests."""
    driver = ctypes.CDLL(DRIVERS[VENDOR])
    if not hasattr(driver, "fake_peek"):
        pytest.skip("the driver is a real one; runs with the one that test_devices.py compiles")
    driver.fake_peek.argtypes = [ctypes.c_void_p, ctypes.c_ulonglong, ctypes.c_size_t]
    driver.fake_outstanding.restype = ctypes.c_long
    return driver


@pytest.fixture
def failing(fake: Any) -> Iterator[Any]:
    """Have calls of the driver fail until the test ends: symbol:n:error."""
    yield lambda text: fake.fake_fail(vendors(text).encode())
    fake.fake_fail(b"")


def fails_at(symbol: str, nth: int) -> str:
    """Return the specification of a call of the driver that fails: of an allocation also the one after a trim."""
    return f"{symbol}:{nth}:2,{symbol}:{nth + 1}:2" if "Alloc" in symbol else f"{symbol}:{nth}:719"


def told_by_all(ctx: dtl.Context, failing: Any, call: Any) -> Any:
    """Return what each rank is told of a call that fails on all ranks, or on none. After it, nothing fails any more."""
    told = ""
    try:
        call()
    except dtl.DTLError as error:
        told = str(error) or repr(error)
    failing("")
    all_told = dtl.allgather_object(ctx, told)
    assert all(all_told) or not any(all_told), all_told
    return all_told


def linked(ctx: dtl.Context) -> dtl.Context:
    """Return a context of all ranks, whose GPUs NCCL connects."""
    if not dtl.has_nccl():
        pytest.skip(f"{dtl.backends.why_not('nccl')}; runs with the NCCL that test_devices.py compiles")
    if dtl.Topology.num_gpus() < ctx.size:
        pytest.skip("NCCL needs a GPU a rank; runs with the driver that test_devices.py compiles")
    return ctx.with_nccl(ctx.rank)


def holds(container: Any, whole: Array) -> None:
    """Check dtype, shape and this rank's elements."""
    assert container.dtype == whole.dtype
    assert container.shape == whole.shape
    got = container.to_numpy()
    assert got.dtype == whole.dtype
    np.testing.assert_array_equal(got, part(container, whole))


def made(ctx: dtl.Context, whole: Array, name: str = "block", placement: Any = "device") -> Any:
    """Return a container of elements that rank 0 has."""
    kind = dtl.DistributedVector if whole.ndim == 1 else dtl.DistributedTensor
    divided = division(name, whole.shape[0], ctx.size)
    return kind.from_numpy(ctx, whole if ctx.rank == 0 else None, placement=placement, **divided)


def test_that_there_is_a_device(ctx: dtl.Context) -> None:
    assert dtl.has_cuda() or dtl.has_hip()
    assert dtl.backends.why_not(VENDOR) is None
    assert all(dtl.placement_available(placement) for placement in dtl.policies.Placement)


def test_contexts_for_the_cpu_alone(ctx: dtl.Context) -> None:
    """Those of device_id -1, and what is made of them. None leaves it to the containers."""
    with dtl.Context(device_id=-1) as alone, alone.dup() as twin, alone.split(0) as part:
        with dtl.Environment() as environment, environment.make_cpu_context() as single:
            for on in (alone, twin, part, single):
                assert (on.device_id, on.has_device, on.has_cuda) == (-1, False, False)
                for placement in PLACES:
                    with pytest.raises(dtl.BackendUnavailableError, match="for the CPU alone; with_cuda"):
                        dtl.DistributedVector(on, 3, placement=placement)
                with dtl.DistributedVector(on, 3, placement="device_preferred") as vec:
                    assert vec.placement_policy is dtl.PLACEMENT_HOST
        with alone.with_cuda(0) as gpu, dtl.DistributedVector(gpu, 3 * gpu.size, placement="device") as vec:
            assert vec.placement_policy is dtl.PLACEMENT_DEVICE
            with pytest.raises(dtl.BackendUnavailableError, match="for the CPU alone"):
                dtl.DistributedVector.from_local(alone, vec.local_view())
            np.testing.assert_array_equal(dtl.allreduce(alone, vec.local_view()), np.zeros(3))
    with dtl.Context() as usual, dtl.DistributedVector(usual, 3, placement="device") as vec:
        assert usual.device_id == -1
        assert vec.placement_policy is dtl.PLACEMENT_DEVICE


def test_a_rank_with_a_wrong_device(ctx: dtl.Context) -> None:
    """All ranks are told, and nobody waits."""
    count, last = dtl.Topology.num_gpus(), ctx.rank == ctx.size - 1
    for number in (count, -2):
        for make in (lambda device: dtl.Context(device_id=device), ctx.with_cuda):
            with pytest.raises(dtl.BoundsError, match=rf"device {number} outside \[0, {count}\)|device -2 is negative"):
                make(number if last else 0)
    for wrong in (True, "0", 1.5):
        with pytest.raises(dtl.InvalidTypeError, match="device_id must be"):
            ctx.with_cuda(wrong if last else 0)  # type: ignore[arg-type]
        with pytest.raises(dtl.InvalidTypeError, match="device_id must be"):
            dtl.Context(device_id=wrong)  # type: ignore[arg-type]
    assert dtl.allreduce(ctx, 1) == ctx.size
    with dtl.Context(device_id=0) as made_again:
        assert made_again.topology.gpu_id(ctx.rank) == 0


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("placement", PLACES)
def test_fill_and_zeros(ctx: dtl.Context, dtype: str, placement: str) -> None:
    value = values(dtype, (3,), 1)[2]
    with dtl.DistributedVector(ctx, 11, dtype, placement=placement) as zeros:
        assert zeros.placement_policy.name == placement.upper()
        holds(zeros, np.zeros(11, dtype))
    with dtl.DistributedTensor(ctx, (5, 3), dtype, fill=value, placement=placement) as tensor:
        holds(tensor, np.full((5, 3), value))
        dtl.fill(tensor, 1)
        holds(tensor, np.ones((5, 3), dtype))
    with dtl.DistributedArray(ctx, 0, dtype, fill=value, placement=placement) as empty:
        holds(empty, np.zeros(0, dtype))
        assert empty.gather_to(0) is None or ctx.rank == 0


@pytest.mark.parametrize("name", DIVISIONS)
@pytest.mark.parametrize("placement", PLACES)
def test_from_numpy_and_back(ctx: dtl.Context, name: str, placement: str) -> None:
    for shape in ((1,), (23,), (7, 4)):
        whole = values("complex64", shape, 2)
        with made(ctx, whole, name, placement) as container:
            holds(container, whole)
            back = container.gather_to(0)
            if ctx.rank == 0:
                np.testing.assert_array_equal(back, whole)


@pytest.mark.parametrize("source", ["host", *PLACES])
@pytest.mark.parametrize("target", ["host", *PLACES])
@pytest.mark.parametrize("name", ["block", "cyclic", "replicated"])
def test_copies_between_places(ctx: dtl.Context, source: str, target: str, name: str) -> None:
    whole = values("float64", (40,), 1)
    with made(ctx, whole, "block", source) as src, made(ctx, 0 * whole, name, target) as dst:
        dtl.copy(src, dst)
        dtl.fill(src, 9)  # after what was read of it
        holds(dst, whole)
        holds(src, whole * 0 + 9)
        with dst.copy() as twin:
            dtl.fill(dst, 0)
            assert twin.placement_policy is dst.placement_policy
            holds(twin, whole)


def test_views_keep_the_memory(ctx: dtl.Context) -> None:
    vec = made(ctx, np.arange(10.0))
    view: Any = vec.local_view()
    assert isinstance(view, dtl.DeviceArray)
    assert vec.views_out == 1
    mine = part(vec, np.arange(10.0))
    with pytest.raises(dtl.BufferError, match="1 view of the container is out"):
        vec.resize(12)
    vec.close()
    del vec
    gc.collect()
    with made(ctx, np.full(10, -1.0)):  # would be where the first one was
        np.testing.assert_array_equal(view.to_numpy(), mine)


def test_what_a_view_says(ctx: dtl.Context) -> None:
    whole = values("int16", (6, 3, 2), 0)
    with made(ctx, whole) as tensor:
        view: Any = tensor.local_view()
        like = part(tensor, whole)
        for name in ("shape", "dtype", "ndim", "size", "itemsize", "nbytes"):
            assert getattr(view, name) == getattr(like, name)
        assert len(view) == len(like)
        assert view.strides == np.zeros(like.shape, np.int16).strides or not like.size
        told = view.__cuda_array_interface__
        assert (told["version"], told["shape"], told["typestr"], told["strides"]) == (3, like.shape, "<i2", None)
        assert told["data"][1] is False
        assert (told["data"][0] != 0) is (like.size > 0)
        assert view.__dlpack_device__() == (KINDS[0], view.device_id)
        assert repr(view) == f"<dtl.DeviceArray of shape {like.shape}, int16, on GPU {view.device_id}>"
        view.synchronize()


@pytest.mark.parametrize("version", [None, (1, 1)])
def test_dlpack(ctx: dtl.Context, version: tuple[int, int] | None) -> None:
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    for dtype, code in (("float32", 2), ("int64", 0), ("uint8", 1), ("bool", 6), ("complex128", 5)):
        with made(ctx, values(dtype, (12, 5), 0)) as tensor:
            view: Any = tensor.local_view()
            capsule = view.__dlpack__(stream=-1, max_version=version)
            if version is None:
                found = Tensor.from_address(pointer(capsule, b"dltensor"))
            else:
                whole = VersionedTensor.from_address(pointer(capsule, b"dltensor_versioned"))
                assert tuple(whole.version) == (1, 0)
                found = whole.tensor
            assert (found.kind, found.device, found.ndim) == (KINDS[0], view.device_id, 2)
            assert (found.code, found.bits, found.lanes) == (code, 8 * view.itemsize, 1)
            assert (tuple(found.shape[:2]), tuple(found.strides[:2])) == (view.shape, (5, 1))
            if view.size:
                assert found.data == view.__cuda_array_interface__["data"][0]
            assert tensor.views_out == 1
            del view
            assert tensor.views_out == 1
            del capsule
            assert tensor.views_out == 0


def test_dlpack_refuses_copies(ctx: dtl.Context) -> None:
    with made(ctx, np.arange(4.0)) as vec:
        view: Any = vec.local_view()
        with pytest.raises(dtl.BufferError, match="gives no copy"):
            view.__dlpack__(copy=True)
        with pytest.raises(dtl.BufferError, match=r"not on \(1, 0\)"):
            view.__dlpack__(dl_device=(1, 0))
        with pytest.raises(dtl.InvalidTypeError, match="stream must be"):
            view.__dlpack__(stream="default")
        for stream, error in (("default", dtl.InvalidTypeError), (True, dtl.InvalidTypeError), (-1, ValueError)):
            with pytest.raises(error, match="stream"):
                view.wait_for(stream)
        assert view.__dlpack__(stream=0, dl_device=view.__dlpack_device__(), copy=False) is not None


@contextmanager
def on(fake: Any, device: int) -> Iterator[None]:
    """Have the calls of the driver in a block go to a device."""
    if VENDOR == "hip":
        assert fake.hipSetDevice(device) == 0
        yield
        assert fake.hipSetDevice(0) == 0
        return
    context = ctypes.c_void_p()
    assert fake.cuDevicePrimaryCtxRetain(ctypes.byref(context), device) == 0
    assert fake.cuCtxPushCurrent_v2(context) == 0
    yield
    assert fake.cuCtxPopCurrent_v2(ctypes.byref(context)) == 0


def wait_for_the_default_stream(fake: Any, device: int) -> None:
    with on(fake, device):
        assert getattr(fake, vendors("cuStreamSynchronize"))(None) == 0


def test_streams_are_ordered(ctx: dtl.Context, fake: Any) -> None:
    with dtl.DistributedVector(ctx, 4 * ctx.size, dtype=np.uint8, placement="device") as vec:
        view: Any = vec.local_view()
        view.synchronize()
        dtl.fill(vec, 7)
        seen = ctypes.create_string_buffer(4)

        def now() -> bytes:
            assert fake.fake_peek(seen, view.__cuda_array_interface__["data"][0], 4) == 0
            return seen.raw

        assert now() == bytes(4)  # it is queued
        view.__dlpack__(stream=1)
        assert now() == bytes(4)
        wait_for_the_default_stream(fake, view.device_id)
        assert now() == bytes([7] * 4)  # the stream that was named has waited for it
        view.wait_for(0)
        np.testing.assert_array_equal(view.to_numpy(), [7] * 4)
        assert fake.fake_outstanding(5) == 0


def test_no_conversion_that_nobody_asked_for(ctx: dtl.Context) -> None:
    with made(ctx, np.arange(8.0)) as vec:
        view: Any = vec.local_view()
        calls = (
            lambda: np.asarray(view),
            lambda: np.sum(view),
            lambda: np.concatenate([view, view]),
            lambda: view + 1,
            lambda: view == 0,
            lambda: view[0],
            lambda: view.__setitem__(0, 1),
            lambda: list(view),
            lambda: bool(view),
            lambda: view.sum(axis=0),
            lambda: memoryview(view),
        )
        for call in calls:
            with pytest.raises(TypeError):
                call()
        with pytest.raises(dtl.InvalidTypeError, match=r"reshape: the elements are on GPU \d"):
            view.reshape(2, 4)
        assert not hasattr(view, "ravel")
        with pytest.raises(AttributeError, match="no attribute 'carrier'"):
            view.carrier  # noqa: B018


def test_places_do_not_mix(ctx: dtl.Context) -> None:
    whole = np.arange(12.0)
    with made(ctx, whole) as vec, dtl.DistributedVector(ctx, 12, fill=1.0) as host:
        for call in (
            lambda: vec + host,
            lambda: np.add(vec, 1, out=host),
            lambda: dtl.transform(host, vec, np.sin),
            lambda: dtl.sort_by_key(vec, host),
            lambda: dtl.where(host > 0, vec, 0),
            lambda: dtl.vdot(vec, host),
        ):
            with pytest.raises(dtl.DTLError, match=r"on GPU \d.*another of placement HOST|on GPU \d.*copy one"):
                call()
            ctx.barrier()
        holds(vec, whole)


def test_unified_memory_beside_another_device(ctx: dtl.Context) -> None:
    """Where a GPU cannot share managed memory while it works, work of another one is waited for, too."""
    last = dtl.Topology.num_gpus() - 1
    with dtl.Context(device_id=last) as other, dtl.DistributedVector(other, 50, placement="device") as busy:
        with dtl.DistributedVector(ctx, 20, placement="unified") as vec:
            dtl.fill(busy, 1)
            vec.local_view()[...] = 3
            holds(vec, np.full(20, 3.0))
        holds(busy, np.ones(50))


def test_collectives_by_way_of_the_host(ctx: dtl.Context) -> None:
    size, rank = ctx.size, ctx.rank
    mine = np.arange(6, dtype=np.float32) + rank
    ranks = [np.arange(6, dtype=np.float32) + r for r in range(size)]

    def vector(elements: Array) -> Any:
        return dtl.DistributedVector.from_local(ctx, elements)

    with dtl.DistributedVector(ctx, 6 * size, dtype=np.float32, placement="device") as vec:
        with vector(mine) as host:
            dtl.copy(host, vec)
        view: Any = vec.local_view()
        total = dtl.allreduce(ctx, view)
        assert type(total) is np.ndarray
        np.testing.assert_array_equal(total, sum(ranks))
        np.testing.assert_array_equal(dtl.allgather(ctx, view), ranks)
        np.testing.assert_array_equal(dtl.broadcast(ctx, view, root=size - 1), ranks[-1])
        gathered = dtl.gather(ctx, view)
        if rank == 0:
            np.testing.assert_array_equal(gathered, ranks)
        with dtl.DistributedVector(ctx, 6 * size, dtype=np.float32, fill=-1, placement="device") as other:
            out: Any = other.local_view()
            assert dtl.reduce(ctx, view, dtl.MAX, size - 1, out=out) is (out if rank == size - 1 else None)
            np.testing.assert_array_equal(out.to_numpy(), ranks[-1] if rank == size - 1 else [-1] * 6)
            assert dtl.allreduce(ctx, view, dtl.MIN, out=out) is out
            np.testing.assert_array_equal(out.to_numpy(), ranks[0])
            assert dtl.allreduce(ctx, dtl.IN_PLACE, out=out) is out
            np.testing.assert_array_equal(out.to_numpy(), ranks[0] * size)
            assert dtl.scatter(ctx, np.stack(ranks) if rank == 0 else None, out=out) is out
            np.testing.assert_array_equal(out.to_numpy(), mine)
            with pytest.raises(dtl.DTLError):  # on every rank
                dtl.allreduce(ctx, view, out=np.zeros(5, np.float32) if rank == 0 else out)
            if size > 1:  # a template is compared, wherever it is
                template = mine.astype(np.int32) if rank == 0 else view
                with pytest.raises(dtl.CollectiveMismatchError, match="broadcast"):
                    _ = dtl.broadcast(ctx, template), ctx.barrier()  # root does not wait in a short broadcast
            np.testing.assert_array_equal(out.to_numpy(), mine)


def test_other_collectives_by_way_of_the_host(ctx: dtl.Context) -> None:
    """What the same calls give of NumPy's arrays, with and without an out on the GPU."""
    size, root = ctx.size, ctx.size - 1
    mine = np.arange(3 * size, dtype=np.float32).reshape(size, 3) + 10 * ctx.rank
    ones = np.ones(size, np.int64)
    all_ranks = dtl.Graph(ctx, range(size), range(size))
    calls: Any = {
        "alltoall": lambda a, **out: dtl.alltoall(ctx, a, **out),
        "scan": lambda a, **out: dtl.scan(ctx, a, **out),
        "exscan": lambda a, **out: dtl.exscan(ctx, a, "max", **out),
        "alltoallv": lambda a, **out: dtl.alltoallv(ctx, a, ones, ones, **out),
        "iallreduce": lambda a, **out: dtl.iallreduce(ctx, a, **out).wait(),
        "ibroadcast": lambda a, **out: dtl.ibroadcast(ctx, a, root, **out).wait(),
        "ialltoallv": lambda a, **out: dtl.ialltoallv(ctx, a, ones, ones, **out).wait(),
        "neighbor_alltoall": all_ranks.neighbor_alltoall,
        "neighbor_alltoallv": lambda a, **out: all_ranks.neighbor_alltoallv(a, ones, ones, **out),
        "scatterv": lambda a: dtl.scatterv(ctx, a, ones, root),
        "allgatherv": lambda a: dtl.allgatherv(ctx, a),
        "gatherv": lambda a: dtl.gatherv(ctx, a, None, root),
        "iallgather": lambda a: dtl.iallgather(ctx, a).wait(),
        "igather": lambda a: dtl.igather(ctx, a, root).wait(),
        "neighbor_allgather": all_ranks.neighbor_allgather,
    }
    with dtl.DistributedTensor.from_local(ctx, mine) as host, made(ctx, np.zeros((size * size, 3), np.float32)) as vec:
        dtl.copy(host, vec)
        view: Any = vec.local_view()
        for name, call in calls.items():
            want = call(mine)
            with dtl.trace() as trace:
                got = call(view)
            if name not in ("ibroadcast", "scatterv") or ctx.rank == root:  # elsewhere there is nothing to copy
                assert f"{name} (staged)" in {record.operation for record in trace.records}
            assert type(got) is type(want)
            if want is not None:
                np.testing.assert_array_equal(got, want)
            if np.shape(want) == mine.shape and name in list(calls)[:9]:
                with dtl.DistributedTensor.from_local(ctx, view) as there:
                    out: Any = there.local_view()
                    if name == "ibroadcast":
                        given = view if ctx.rank == root else None
                        assert dtl.ibroadcast(ctx, given, root, out=out).wait() is out
                    else:
                        assert call(view, out=out) is out
                    np.testing.assert_array_equal(out.to_numpy(), want)
        holds(vec, host.gather_to(0) if size == 1 else dtl.broadcast(ctx, host.gather_to(0), 0))


def test_requests_by_way_of_the_host(ctx: dtl.Context) -> None:
    after, before = (ctx.rank + 1) % ctx.size, (ctx.rank - 1) % ctx.size
    with made(ctx, np.arange(8.0 * ctx.size)) as vec, made(ctx, np.zeros(8 * ctx.size)) as to:
        view: Any = vec.local_view()
        out: Any = to.local_view()
        received = dtl.irecv(ctx, before, out=out)
        sent = dtl.isend(ctx, view, after)
        assert received.wait() is out
        assert received.test() == (True, out)
        sent.wait()
        np.testing.assert_array_equal(out.to_numpy(), np.arange(8.0) + 8 * before)


@pytest.mark.parametrize("foreign", [False, True])
def test_persistent_requests_by_way_of_the_host(ctx: dtl.Context, foreign: bool) -> None:
    """Each start sends what the array holds then, and each wait has written what came."""
    after, before = (ctx.rank + 1) % ctx.size, (ctx.rank - 1) % ctx.size
    ranks = made(ctx, np.repeat(np.arange(float(ctx.size)), 8))
    with made(ctx, np.zeros(8 * ctx.size)) as vec, made(ctx, np.zeros(8 * ctx.size)) as to, dtl.trace() as trace:
        view: Any = _Capsules(vec.local_view()) if foreign else vec.local_view()
        out: Any = _Capsules(to.local_view()) if foreign else to.local_view()
        send, receive = dtl.send_init(ctx, view, after), dtl.recv_init(ctx, before, out=out)
        nothing = dtl.recv_init(ctx, dtl.PROC_NULL, out=out)
        for n in range(3):
            np.add(ranks, 10 * n, out=vec)
            dtl.startall([receive, send])
            assert dtl.waitall([receive, send]) == [out, None]
            nothing.start()
            assert nothing.wait() is out
            np.testing.assert_array_equal(to.to_numpy(), np.full(8, 10.0 * n + before))
        for request in (send, receive, nothing):
            request.close()
        with pytest.raises(dtl.BoundsError):
            dtl.send_init(ctx, view, ctx.size)
    staged = {record.operation: record.calls for record in trace.records if "staged" in record.operation}
    assert staged == {"send_init (staged)": 3, "recv_init (staged)": 3}


class _Capsules:
    """Another library's array, which speaks DLPack."""

    def __init__(self, view: Any, new: bool = True) -> None:
        self.view, self.new, self.streams = view, new, []

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.view.__dlpack_device__()  # type: ignore[no-any-return]

    def __dlpack__(self, stream: Any = None, **options: Any) -> Any:
        if options and not self.new:
            raise TypeError("__dlpack__() got an unexpected keyword argument 'max_version'")
        self.streams.append(stream)
        return self.view.__dlpack__(stream=stream, **options)


class _Interface:
    """Another library's array, which speaks the CUDA array interface, with what it says changed."""

    def __init__(self, view: Any, **changed: Any) -> None:
        self.view = view
        self.__cuda_array_interface__ = {**view.__cuda_array_interface__, **changed}


@pytest.mark.parametrize("kind", [_Capsules, lambda view: _Capsules(view, new=False), _Interface])
def test_arrays_of_other_libraries(ctx: dtl.Context, kind: Any) -> None:
    whole = values("int16", (5 * ctx.size, 3), 1)
    with made(ctx, whole) as tensor:
        dtl.fill(tensor, 4)
        foreign = kind(tensor.device_view())
        array = dtl.from_dlpack(foreign)
        assert type(array) is dtl.DeviceArray
        assert (array.shape, array.dtype, array.device_id) == ((5, 3), np.int16, tensor.device_view().device_id)
        np.testing.assert_array_equal(array.to_numpy(), np.full((5, 3), 4))  # after what was queued
        told = (array.__cuda_array_interface__["data"], tensor.device_view().__cuda_array_interface__["data"])
        assert told[0] == told[1]
        assert dtl.from_dlpack(array) is array
        with dtl.DistributedTensor.from_local(ctx, foreign) as twin:
            assert twin.placement_policy is dtl.PLACEMENT_DEVICE
            dtl.fill(tensor, 5)
            holds(twin, np.full((5 * ctx.size, 3), 4, np.int16))
        same = dtl.asarray(ctx, foreign)
        assert (same.placement_policy, same.shape) == (dtl.PLACEMENT_HOST, (5, 3))
        holds(same, np.full((5, 3), 5, np.int16))
        assert dtl.allreduce(ctx, foreign, out=foreign) is foreign
        np.testing.assert_array_equal(array.to_numpy(), np.full((5, 3), 5 * ctx.size))
        assert dtl.broadcast(ctx, foreign, 0).shape == (5, 3)
        mine = tensor.views_out
        del foreign, array
        gc.collect()
        assert tensor.views_out < mine or mine == 0


def test_arrays_of_other_libraries_that_do_not_fit(ctx: dtl.Context) -> None:
    with made(ctx, np.zeros((4 * ctx.size, 2))) as tensor:
        view: Any = tensor.device_view()
        at = view.__cuda_array_interface__["data"][0]
        for wrong, error, text in (
            (np.zeros(3), dtl.BufferError, r"on device \(1, 0\)")
            if hasattr(np.ndarray, "__dlpack__")
            else (np.zeros(3), dtl.InvalidTypeError, "has neither"),
            (3, dtl.InvalidTypeError, "has neither"),
            (_Interface(view, strides=(8, 32)), dtl.BufferError, "not in C order"),
            (_Interface(view, data=(at, True)), dtl.BufferError, "read-only"),
            (_Interface(view, typestr="<f16"), dtl.DTLError, "float128"),
            (_Interface(view, data=(64, False)), dtl.InvalidArgumentError, "address 0x40 is in no memory of a GPU"),
            (_Interface(view, data=(0, False)), dtl.InvalidArgumentError, "address 0 is in no memory of a GPU"),
            (_Interface(view, data=(at + 4, False)), dtl.InvalidArgumentError, "is no multiple of 8"),
            (_Interface(view, shape=(-1, 2)), dtl.InvalidArgumentError, "-1 is negative"),
            (_Interface(view, shape=3), dtl.InvalidTypeError, "is none: TypeError"),
            (_Interface(view, data=at), dtl.InvalidTypeError, "is none: TypeError"),
            (_Interface(view, stream="1"), dtl.InvalidTypeError, "stream must be the address"),
        ):
            with pytest.raises(error, match=text):
                dtl.from_dlpack(wrong)
        assert dtl.from_dlpack(_Interface(view, strides=(16, 8))).shape == (4, 2)
        assert dtl.from_dlpack(_Interface(view, shape=(0, 2), data=(0, False))).to_numpy().shape == (0, 2)
        wrong = _Interface(view, data=(64, False)) if ctx.rank == ctx.size - 1 else view
        with pytest.raises(dtl.DTLError, match="is in no memory of a GPU"):  # on every rank
            dtl.allreduce(ctx, wrong)
        np.testing.assert_array_equal(dtl.allreduce(ctx, view), np.zeros((4, 2)))


def test_messages_by_way_of_the_host(ctx: dtl.Context) -> None:
    after, before = (ctx.rank + 1) % ctx.size, (ctx.rank - 1) % ctx.size
    with made(ctx, np.arange(8.0 * ctx.size)) as vec, dtl.DistributedVector(
        ctx, 8 * ctx.size, placement="device"
    ) as to:
        view: Any = vec.local_view()
        out: Any = to.local_view()
        with dtl.trace() as trace:
            assert dtl.sendrecv(ctx, view, after, before, out=out) is out
        np.testing.assert_array_equal(out.to_numpy(), np.arange(8.0) + 8 * before)
        record = next(record for record in trace.records if record.operation == "sendrecv (staged)")
        assert (record.calls, record.bytes) == (1, 128)
        dtl.fill(to, 0)
        if ctx.size > 1:
            if ctx.rank == 0:
                dtl.send(ctx, view, 1)
            elif ctx.rank == 1:
                assert dtl.recv(ctx, 0, out=out) is out
                np.testing.assert_array_equal(out.to_numpy(), np.arange(8.0))
        assert dtl.recv(ctx, dtl.PROC_NULL, out=out) is out


def test_traces_say_what_is_staged(ctx: dtl.Context) -> None:
    with made(ctx, np.arange(6.0)) as vec, made(ctx, np.arange(6.0)) as other, dtl.trace() as trace:
        vec.gather_to(0)
        dtl.copy(vec, other)
        vec.to_numpy()
        dtl.round(vec, 1)
    ops = {record.operation for record in trace.records}
    assert "gather_to" in ops
    assert "copy" in ops
    assert {name for name in ops if "staged" in name} == {"np.round (staged)"}


def test_unified_memory_is_as_the_hosts(ctx: dtl.Context) -> None:
    whole = np.arange(20.0)
    with made(ctx, whole, "cyclic", "unified") as vec:
        dtl.fill(vec, 2)
        vec.local_view()[...] += vec.local_indices()
        holds(vec, whole + 2)
        assert float(vec.sum()) == float((whole + 2).sum())
        with vec * 2 as twice:
            assert twice.placement_policy is dtl.PLACEMENT_UNIFIED
            holds(twice, whole * 2 + 4)
            dtl.sort(twice, reverse=True)
            holds(twice, (whole * 2 + 4)[::-1])
        view = vec.device_view()
        assert view.__dlpack_device__()[0] == KINDS[1]
        np.testing.assert_array_equal(view.to_numpy(), part(vec, whole + 2))
        with vec.window():
            pass
        halo = vec.copy()
        halo.redistribute("block")
        with dtl.Halo(halo, 1):
            np.testing.assert_array_equal(halo.device_view().to_numpy(), part(halo, whole + 2))
            holds(halo, whole + 2)
        halo.close()


def test_hosts_have_no_device_view(ctx: dtl.Context) -> None:
    with dtl.DistributedVector(ctx, 3) as vec, pytest.raises(dtl.InvalidArgumentError, match="on the host"):
        vec.device_view()


def test_devices_of_contexts(ctx: dtl.Context) -> None:
    count = dtl.Topology.num_gpus()
    assert count >= 1
    assert not ctx.has_device
    with made(ctx, np.arange(4.0)) as vec:  # the ranks of a machine take them in turn
        view: Any = vec.local_view()
        assert view.device_id == ctx.rank % count
    with dtl.DistributedVector(ctx, 3, placement="device_preferred") as vec:
        assert vec.placement_policy is dtl.PLACEMENT_HOST
    with dtl.Context(device_id=count - 1) as on, ctx.with_cuda(count - 1) as also:
        for context in (on, also):
            assert (context.device_id, context.has_device, context.has_cuda) == (count - 1, True, VENDOR == "cuda")
            with dtl.DistributedVector(context, 3, placement="device_preferred") as vec:
                assert vec.placement_policy is dtl.PLACEMENT_DEVICE
                view = vec.local_view()
                assert view.device_id == count - 1
    with pytest.raises(dtl.BoundsError, match=rf"device {count} outside \[0, {count}\)"):
        dtl.Context(device_id=count)
    with pytest.raises(dtl.BoundsError):
        ctx.with_cuda(count)


def test_containers_outlive_their_context(ctx: dtl.Context) -> None:
    with ctx.dup() as context:
        vec = made(context, np.arange(5.0))
        mine = part(vec, np.arange(5.0))
    np.testing.assert_array_equal(vec.to_numpy(), mine)
    with ctx.dup() as context, made(context, np.ones(5)):  # perhaps on the same stream
        np.testing.assert_array_equal(vec.to_numpy(), mine)
    vec.close()


def test_functions_that_make_containers(ctx: dtl.Context) -> None:
    placement = "device"
    whole = values("float64", (4, 3), 1)
    for container, want in (
        (dtl.zeros(ctx, (4, 3), placement=placement), np.zeros((4, 3))),
        (dtl.ones(ctx, 7, "int32", placement=placement), np.ones(7, np.int32)),
        (dtl.full(ctx, (2, 5), 3, placement=placement, partition="cyclic"), np.full((2, 5), 3)),
        (dtl.arange(ctx, 2, 20, 3, placement=placement), np.arange(2, 20, 3)),
        (dtl.linspace(ctx, 0, 1, 9, placement=placement), np.linspace(0, 1, 9)),
        (dtl.eye(ctx, 4, 3, placement=placement), np.eye(4, 3)),
        (dtl.asarray(ctx, whole, placement=placement), whole),
        (dtl.ones(ctx, 5, like=dtl.zeros(ctx, 3, placement=placement)), np.ones(5)),
        (dtl.ones_like(dtl.asarray(ctx, whole, placement=placement)), np.ones((4, 3))),
    ):
        assert container.placement_policy.name == placement.upper()
        holds(container, want)


def test_array_api(ctx: dtl.Context) -> None:
    xp = dtl.array_api(ctx)
    whole = np.arange(9.0)
    x = xp.asarray(whole).to_device(dtl.PLACEMENT_DEVICE)
    assert x.device == dtl.PLACEMENT_DEVICE
    assert x.to_device(x.device) is x
    assert x.__dlpack_device__()[0] == KINDS[0]
    assert dtl.PLACEMENT_DEVICE in xp.__array_namespace_info__().devices()
    holds(x, whole)
    holds(xp.add(x, xp.ones(9, device=x.device)), whole + 1)
    holds(xp.zeros_like(x), np.zeros(9))
    back = x.to_device(dtl.PLACEMENT_HOST)
    assert back.__dlpack_device__() == (1, 0)
    np.testing.assert_array_equal(back.local_view(), part(back, whole))
    holds(dtl.zeros(ctx, 3, np.float16, placement="device"), np.zeros(3, np.float16))


def test_ranks_that_differ(ctx: dtl.Context) -> None:
    if ctx.size == 1:
        return
    with pytest.raises(dtl.CollectiveMismatchError, match="placement DEVICE"):
        dtl.DistributedVector(ctx, 3, placement="device" if ctx.rank == 0 else "host")


def test_one_rank_without_memory(ctx: dtl.Context, failing: Any) -> None:
    dtl.trim()
    if ctx.rank == ctx.size - 1:
        failing("cuMemAlloc_v2:1:2,cuMemAlloc_v2:2:2")  # also when what was kept is given back
    with pytest.raises(dtl.MemoryError, match="cannot be allocated on GPU"):
        dtl.DistributedVector(ctx, 1000, placement="device")
    with made(ctx, np.arange(3.0)) as vec:
        holds(vec, np.arange(3.0))


@pytest.mark.parametrize("symbol", ["cuMemcpyAsync", "cuMemsetD8Async", "cuEventSynchronize", "cuCtxPushCurrent_v2"])
def test_a_call_that_fails(ctx: dtl.Context, failing: Any, symbol: str) -> None:
    with dtl.DistributedVector(ctx, 10, placement="device") as vec:
        failing(f"{symbol}:1:719")

        def use() -> None:
            dtl.fill(vec, 0)
            vec.to_numpy()

        with pytest.raises(dtl.BackendError, match=r"GPU \d: .* failed: error 719 \(unspecified launch failure\)"):
            use()
        dtl.fill(vec, 4)
        holds(vec, np.full(10, 4.0))
