"""Fourier transforms of containers, against NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from divisions import DIVISIONS, division, vector
from refusals import ARGUMENT, TYPE, refused
from test_linalg import close, hows, numbers
from test_numbers_axes import tensor

import dtl
from dtl import fft
from dtl.fft import lines

ONE = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
SEVERAL = ("fftn", "ifftn", "rfftn", "irfftn")
NORMS = (None, "ortho", "forward")


def single(kind: str, want: Any) -> Any:
    """Return NumPy's result in the dtype that NumPy 2 gives it."""
    if kind not in ("float32", "complex64"):
        return want
    return want.astype(np.complex64 if want.dtype.kind == "c" else np.float32)


def sample(shape: tuple[int, ...], kind: str, name: str) -> Any:
    if name in ("rfft", "ihfft", "rfftn", "rfft2") and kind[0] == "c":
        kind = "float64"
    return numbers(shape, kind)


@pytest.mark.parametrize("name", ONE)
@pytest.mark.parametrize("kind", ["float64", "complex128", "float32", "int64"])
def test_along_one_dimension(ctx: dtl.Context, name: str, kind: str) -> None:
    whole = sample((6, 9), kind, name)
    for how, axis in zip(hows(ctx, 6) * 2, [0] * len(hows(ctx, 6)) + [-1] * len(hows(ctx, 6))):
        a = tensor(ctx, whole, **how)
        for n, norm in zip((None, 5, 12), NORMS):
            want = single(kind, getattr(np.fft, name)(whole, n, axis, norm))
            got = getattr(fft, name)(a, n, axis, norm)
            close(got, want, "float32" if kind == "float32" else "float64")
            if a.partition_policy is not dtl.PARTITION_BLOCK and got.shape[0] == 6:
                assert got.partition_policy is a.partition_policy
            elif a.partition_policy is dtl.PARTITION_BLOCK:
                assert got.grid == a.grid


@pytest.mark.parametrize("name", ONE)
@pytest.mark.parametrize("n", [1, 2, 7, 16, 30, 101, 360])
def test_vectors(ctx: dtl.Context, monkeypatch: pytest.MonkeyPatch, name: str, n: int) -> None:
    from dtl.fft import long_vectors

    whole = sample((40,), "complex128", name)
    for shortest, norm in ((1 << 14, None), (0, None), (0, "ortho"), (0, "forward")):
        monkeypatch.setattr(long_vectors, "_SHORT", shortest)
        want = getattr(np.fft, name)(whole, n, norm=norm)
        close(getattr(fft, name)(vector(ctx, whole), n, norm=norm), want)


@pytest.mark.parametrize("name", DIVISIONS)
@pytest.mark.parametrize("shortest", [1 << 14, 0])
def test_vectors_of_every_division(ctx: dtl.Context, monkeypatch: pytest.MonkeyPatch, name: str, shortest: int) -> None:
    from dtl.fft import long_vectors

    monkeypatch.setattr(long_vectors, "_SHORT", shortest)
    whole = numbers((100,))
    v: Any = dtl.DistributedVector(ctx, 100, **division(name, 100, ctx.size))
    v.local_view()[:] = whole[v.local_indices()]
    got = fft.fft(v)
    close(got, np.fft.fft(whole))
    assert got.partition_policy is v.partition_policy
    close(fft.irfft(fft.rfft(v)), whole)
    close(v, whole)


@pytest.mark.parametrize("n", [40_000, 40_006, 32_771])
def test_long_vectors(ctx: dtl.Context, n: int) -> None:
    whole = numbers((n,), "complex128")
    spectrum = fft.fft(vector(ctx, whole))
    close(spectrum, np.fft.fft(whole))
    close(fft.ifft(spectrum), whole)
    single_precision = vector(ctx, whole.real.astype(np.float32))
    assert fft.rfft(single_precision).dtype == np.complex64
    close(fft.rfft(single_precision), np.fft.rfft(whole.real).astype(np.complex64), "float32")
    half = fft.rfft(vector(ctx, whole.real))
    close(half, np.fft.rfft(whole.real))
    assert half[0].imag == 0
    assert n % 2 or half[-1].imag == 0
    close(fft.ihfft(vector(ctx, whole.real), norm="ortho"), np.fft.ihfft(whole.real, norm="ortho"))


def test_phases_of_a_matrix_give_memory_back_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a matrix on disk, all pages would be in memory before anybody looks."""
    looks: list[None] = []
    monkeypatch.setattr(lines.library, "memory_ease", lambda: looks.append(None))
    matrix = np.ones((256, 1 << 10), np.complex128)
    lines.turn(matrix, np.arange(256), np.arange(1 << 10), -2j * np.pi / matrix.size)
    assert len(looks) >= matrix.nbytes >> 20
    phases = np.outer(np.arange(256), np.arange(1 << 10)) * (-2j * np.pi / matrix.size)
    np.testing.assert_allclose(matrix, np.exp(phases), atol=1e-12)


@pytest.mark.parametrize("name", SEVERAL)
def test_along_several_dimensions(ctx: dtl.Context, name: str) -> None:
    whole = sample((4, 5, 6), "complex128", name)
    grids_of_three: tuple[Any, ...] = ((1, ctx.size, 1), (1, 1, ctx.size))
    divisions: list[dict[str, Any]] = [{}, *({"grid": grid} for grid in grids_of_three), {"partition": "cyclic"}]
    for how in divisions:
        a = tensor(ctx, whole, **how)
        for s, axes in ((None, None), (None, (0, 2)), ((3, 8), (2, 0)), ((4, 4), (-2, -1)), (None, (1,))):
            close(getattr(fft, name)(a, s, axes, "ortho"), getattr(np.fft, name)(whole, s, axes, "ortho"))
        two = name[:-1] + "2"
        close(getattr(fft, two)(a), getattr(np.fft, two)(whole))
    span: Any = dtl.DistributedSpan(a).subspan(1, 3)
    close(getattr(fft, name)(span), getattr(np.fft, name)(whole[1:4]))


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
def test_of_no_elements(ctx: dtl.Context, name: str) -> None:
    """They are zeros before and after, where NumPy's irfft and hfft return memory as they find it."""
    dtype = getattr(np.fft, name)(np.ones(2), 4).dtype
    halved = 3 if name in ("rfft", "ihfft") else 4
    for kept in [np.full(4, 7.0) for _ in range(3)]:  # memory that would be found
        del kept
        close(getattr(fft, name)(dtl.zeros(ctx, 0), 4), np.zeros(halved, dtype))
        close(getattr(fft, name)(dtl.zeros(ctx, (0, 3)), 4, 0), np.zeros((halved, 3), dtype))
        close(getattr(fft, name)(dtl.zeros(ctx, (3, 0)), 4), np.zeros((3, halved), dtype))


def test_frequencies(ctx: dtl.Context) -> None:
    for n in (1, 2, 7, 8):
        close(fft.fftfreq(ctx, n, 0.1), np.fft.fftfreq(n, 0.1))
        close(fft.rfftfreq(ctx, n, 0.1, partition="cyclic"), np.fft.rfftfreq(n, 0.1))
    for shape in ((7,), (4, 5), (0,), (2, 3, 4)):
        whole = numbers(shape)
        for how in [{}, {"partition": "cyclic"}]:
            a = tensor(ctx, whole, **how) if len(shape) > 1 else vector(ctx, whole, how.get("partition", "block"))
            for axes in (None, 0, (-1,)):
                close(fft.fftshift(a, axes), np.fft.fftshift(whole, axes))
                close(fft.ifftshift(a, axes), np.fft.ifftshift(whole, axes))


def test_refusals(ctx: dtl.Context) -> None:
    a, c = tensor(ctx, numbers((4, 3))), tensor(ctx, numbers((4, 3), "complex128"))
    refused(lambda: fft.fft(np.ones(3)), TYPE, 101, "a must be")
    refused(lambda: fft.fft(a, axis=2), dtl.AxisError, 108, "axis 2")
    refused(lambda: fft.fft(a, n=0), ARGUMENT, 100, "Invalid number of FFT data points (0)")
    refused(lambda: fft.fft(a, n=2.5), TYPE, 101)  # type: ignore[arg-type]
    refused(lambda: fft.fft(a, norm="both"), ARGUMENT, 100, "Invalid norm value both")
    refused(lambda: fft.rfft(c), TYPE, 101, "not real")
    refused(lambda: fft.fftn(a, (2, 2), (0,)), ARGUMENT, 100, "different lengths")
    refused(lambda: fft.fftn(a, axes=(0, 0)), ARGUMENT, 100, "duplicate")
    refused(lambda: fft.fftfreq(ctx, 0), ARGUMENT, 100, "less than 1")
    refused(lambda: fft.fftshift(a, 5), dtl.AxisError, 108)


@pytest.mark.mpi(min_size=2)
def test_ranks_that_transform_differently(ctx: dtl.Context) -> None:
    v = vector(ctx, numbers((40,)))
    with pytest.raises(dtl.CollectiveMismatchError):
        fft.fft(v, n=10 + ctx.rank)
    with pytest.raises(dtl.CollectiveMismatchError):
        fft.fftfreq(ctx, 10, 1.0 + ctx.rank)
    close(fft.fft(v), np.fft.fft(numbers((40,))))
