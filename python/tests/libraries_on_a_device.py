"""Containers on a GPU beside arrays of CuPy, PyTorch and Numba, which need a real one: ``make test-gpu`` runs it."""

from __future__ import annotations

import importlib
import warnings
from typing import Any, Iterator

import numpy as np
import pytest
from divisions import part
from on_a_device import holds, made

import dtl

#: As they may with a real driver; and what the libraries say of each other's versions.
pytestmark = pytest.mark.filterwarnings("ignore")

WHOLE = np.arange(24.0).reshape(8, 3)


def library(name: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = importlib.import_module(name)
        except ImportError as error:
            pytest.skip(f"{error}; runs where `make test-gpu` finds {name}")
    return found


@pytest.fixture
def cupy(ctx: dtl.Context) -> Iterator[Any]:
    found = library("cupy")
    with made(ctx, WHOLE) as own, found.cuda.Device(own.device_view().device_id):
        yield found


@pytest.fixture
def torch(ctx: dtl.Context) -> Iterator[Any]:
    found = library("torch")
    if not found.cuda.is_available():
        pytest.skip("PyTorch sees no GPU; runs where it is built for the driver")
    with made(ctx, WHOLE) as own, found.cuda.device(own.device_view().device_id):
        yield found


def test_views_in_cupy(ctx: dtl.Context, cupy: Any) -> None:
    """By DLPack and by the CUDA array interface; what CuPy writes is there, on the default stream and on others."""
    with made(ctx, WHOLE) as tensor:
        mine = part(tensor, WHOLE)
        for take in (cupy.from_dlpack, cupy.asarray):
            np.testing.assert_array_equal(cupy.asnumpy(take(tensor.local_view())), mine)
        for n, stream in enumerate([cupy.cuda.get_current_stream(), cupy.cuda.Stream(non_blocking=True)]):
            with stream:
                dtl.fill(tensor, n + 1)
                view: Any = tensor.local_view()
                there = cupy.from_dlpack(view)
                there *= 3
                view.wait_for(stream.ptr)
            holds(tensor + 1, np.full(WHOLE.shape, 3.0 * (n + 1) + 1))


def test_arrays_of_cupy(ctx: dtl.Context, cupy: Any) -> None:
    for dtype in ("float64", "float32", "int32", "complex64", "bool"):
        there = cupy.arange(6).astype(dtype)
        got = dtl.from_dlpack(there)
        assert got.shape == (6,)
        np.testing.assert_array_equal(got.to_numpy(), np.arange(6).astype(dtype))
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        there = cupy.zeros(1 << 20)
        for _ in range(50):
            there += 1  # which is under way
        total = cupy.empty_like(there)
        dtl.allreduce(ctx, there, out=total)
        assert float(total.max()) == float(total.min()) == 50 * ctx.size
        with dtl.DistributedVector.from_local(ctx, there) as vec:
            assert vec.placement_policy is dtl.PLACEMENT_DEVICE
            assert vec.sum() == 50 * vec.global_size
        assert dtl.allgather(ctx, there[:2]).shape == (ctx.size, 2)


def test_views_in_torch(ctx: dtl.Context, torch: Any) -> None:
    with made(ctx, WHOLE) as tensor:
        view: Any = tensor.local_view()
        for stream in (torch.cuda.current_stream(), torch.cuda.Stream()):
            with torch.cuda.stream(stream):
                dtl.fill(tensor, 2)
                there = torch.from_dlpack(view)
                there.mul_(4)
                view.wait_for(stream.cuda_stream)
            holds(tensor, np.full(WHOLE.shape, 8.0))


def test_tensors_of_torch(ctx: dtl.Context, torch: Any) -> None:
    for stream in (torch.cuda.current_stream(), torch.cuda.Stream()):
        with torch.cuda.stream(stream):
            there = torch.zeros(1 << 20, device="cuda")
            for _ in range(50):
                there += 1
            dtl.allreduce(ctx, there, out=there)
            assert float(there.max()) == 50 * ctx.size
            with dtl.DistributedVector.from_local(ctx, there) as vec:
                assert vec.max() == 50 * ctx.size


def test_views_in_numba(ctx: dtl.Context) -> None:
    cuda = library("numba.cuda")
    if not cuda.is_available():
        pytest.skip("Numba sees no GPU; runs where it is built for the driver")
    with made(ctx, np.arange(8.0 * ctx.size)) as vec, cuda.gpus[vec.device_view().device_id]:
        view: Any = vec.local_view()

        @cuda.jit
        def twice(array: Any) -> None:
            n = cuda.grid(1)
            if n < array.size:
                array[n] *= 2

        twice[1, 64](cuda.as_cuda_array(view))
        cuda.synchronize()
        holds(vec, 2 * np.arange(8.0 * ctx.size))
