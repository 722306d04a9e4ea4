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


def _thrice_in_numba(cuda: Any) -> Any:
    """Return a function of an array on a GPU that Numba computes."""

    @cuda.jit
    def thrice(array: Any, out: Any) -> None:
        n = cuda.grid(1)
        if n < array.size:
            out[n] = 3 * array[n]

    def f(array: Any) -> Any:
        out = cuda.device_array(array.shape, array.dtype)
        thrice[(array.size + 63) // 64, 64](array, out)
        return out

    return f


@pytest.mark.parametrize("name", ["cupy", "torch", "numba.cuda"])
def test_functions_of_users(ctx: dtl.Context, name: str) -> None:
    """They get arrays of the library, and nothing is copied to the host or waited for by hand."""
    found = library(name)
    if name == "torch" and not found.cuda.is_available():
        pytest.skip("PyTorch sees no GPU; runs where it is built for the driver")
    if name == "numba.cuda" and not found.is_available():
        pytest.skip("Numba sees no GPU; runs where it is built for the driver")
    f = _thrice_in_numba(found) if name == "numba.cuda" else lambda array: array * 3
    whole = np.arange(40_000.0 * ctx.size)
    with made(ctx, whole) as src, made(ctx, whole) as dst, dtl.trace() as trace:
        for _ in range(20):
            dtl.fill(dst, 1)
            dtl.transform(src, dst, f, library=name)
            dtl.fill(src, 0)
            dtl.copy(dst, src)
            np.multiply(src, 1 / 3, out=src)
        assert not [record.operation for record in trace.records if "staged" in record.operation]
        np.testing.assert_allclose(dst.to_numpy(), 3 * part(dst, whole), rtol=1e-12)


@pytest.mark.parametrize("name", ["cupy", "torch"])
def test_functions_of_users_on_streams(ctx: dtl.Context, name: str) -> None:
    """Whichever stream is current, and in place, with predicates, in any order, and of other types."""
    found = library(name)
    if name == "torch" and not found.cuda.is_available():
        pytest.skip("PyTorch sees no GPU; runs where it is built for the driver")
    with made(ctx, WHOLE) as tensor, made(ctx, WHOLE) as to:
        device = tensor.device_view().device_id
        if name == "cupy":
            with found.cuda.Device(device):
                stream = found.cuda.Stream(non_blocking=True)
        else:
            stream = found.cuda.Stream(device)
        with stream if name == "cupy" else found.cuda.stream(stream):
            for _ in range(20):
                dtl.fill(to, 1)
                dtl.for_each(to, lambda array: array.__imul__(5), library=name)
                dtl.transform((tensor, to), to, lambda a, b: a + b, library=name)
        holds(to, WHOLE + 5)
        assert dtl.count_if(tensor, lambda array: array > 7, library=name) == (WHOLE > 7).sum()
        assert dtl.transform_reduce(tensor, lambda array: array * 2, library=name) == 2 * WHOLE.sum()
        dtl.generate(to, lambda index: index * 2, library=name)
        holds(to, 2 * WHOLE)
        dtl.transform(tensor, to, lambda array: (array.T * 2).T, library=name)
        holds(to, 2 * WHOLE)
        with pytest.raises(dtl.InvalidTypeError, match="which is on no GPU"):
            dtl.transform(tensor, to, lambda array: np.zeros(array.shape), library=name)
