"""The largest singular values by a random projection, against NumPy's decomposition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from divisions import vector
from refusals import ARGUMENT, TYPE, refused
from test_linalg import KINDS, close, gathered, hows, is_on_every_rank, numbers
from test_numbers_axes import tensor

import dtl
from dtl import linalg
from dtl.linalg import LinAlgError, tall

#: Shapes that divide among ranks and that do not: tall, square and wide, with fewer rows than ranks, of one column.
SHAPES = ((300, 40), (301, 37), (40, 40), (37, 301), (300, 2), (2, 300), (50, 1), (1, 1), (3, 3))


def of_rank(shape: tuple[int, int], rank: int, kind: str = "float64") -> Any:
    """Return a matrix of low rank, which is the product of two narrow ones."""
    return numbers((shape[0], rank), kind) @ numbers((rank, shape[1]), kind, seed=2)


def of_spectrum(shape: tuple[int, int], values: Any, kind: str = "float64") -> Any:
    """Return a matrix of these singular values."""
    k = len(values)
    u, v = (np.linalg.qr(numbers((extent, k), kind, seed))[0] for seed, extent in enumerate(shape))
    return ((u * np.asarray(values)) @ v.conj().T).astype(u.dtype)


def best(whole: Any, k: int) -> Any:
    """Return NumPy's U, S and Vh of the k largest singular values, with the signs that dtl's have."""
    u, s, vh = np.linalg.svd(whole, full_matrices=False)
    u, s, vh = u[:, :k], s[:k], vh[:k]
    small = vh.T if whole.shape[0] >= whole.shape[1] else u.conj()
    largest = small[np.abs(small).argmax(axis=0), np.arange(k)]
    phase = largest / np.abs(largest)
    return u * phase, s, vh * phase.conj()[:, np.newaxis]


def check(whole: Any, got: Any, k: int, kind: str) -> None:
    """Compare with NumPy's, and say that vectors are orthonormal and where they are."""
    u, s, vh = (gathered(each) for each in got)
    assert (u.shape, s.shape, vh.shape) == ((whole.shape[0], k), (k,), (k, whole.shape[1]))
    want = np.linalg.svd(whole, compute_uv=False)
    close(got.S, want[:k], kind)
    dtype = np.linalg.svd(whole)[0].dtype
    best_u, best_s, best_vh = best(whole, k)
    close((u * s) @ vh, ((best_u * best_s) @ best_vh).astype(dtype), kind)
    close(u.conj().T @ u, np.eye(k, dtype=dtype), kind)
    close(vh @ vh.conj().T, np.eye(k, dtype=dtype), kind)
    wide = whole.shape[0] < whole.shape[1]
    assert is_on_every_rank(got.S)
    assert is_on_every_rank(got.U if wide else got.Vh)
    assert not is_on_every_rank(got.Vh if wide else got.U)


@pytest.mark.parametrize("kind", [*KINDS, "complex64"])
@pytest.mark.parametrize("shape", SHAPES)
def test_matrices_of_low_rank(ctx: dtl.Context, shape: tuple[int, int], kind: str) -> None:
    rank = min(3, *shape)
    whole = of_rank(shape, rank, kind)
    check(whole, linalg.svd_lowrank(tensor(ctx, whole), rank), rank, "float32" if kind == "complex64" else kind)


@pytest.mark.parametrize("kind", ["float64", "float32", "complex128"])
@pytest.mark.parametrize("shape", [(400, 60), (60, 400), (150, 150)])
def test_a_spectrum_that_falls_off(ctx: dtl.Context, shape: tuple[int, int], kind: str) -> None:
    whole = of_spectrum(shape, 0.5 ** np.arange(60), kind)
    got = linalg.svd_lowrank(tensor(ctx, whole), 8)
    u, s, vh = best(whole, 8)
    close(got.S, s, kind)
    limit = 1e-3 if kind == "float32" else 1e-7
    np.testing.assert_allclose(gathered(got.U), u, atol=limit)
    np.testing.assert_allclose(gathered(got.Vh), vh, atol=limit)


def test_a_spectrum_that_hardly_falls_off(ctx: dtl.Context) -> None:
    """The error is within the bound of Halko and others, corollary 10.10, and power iterations help."""
    values = 1.0 / np.sqrt(1.0 + np.arange(100))
    whole = of_spectrum((500, 100), values)
    errors = []
    for turns in (0, 1, 2, 6):
        u, s, vh = (gathered(c) for c in linalg.svd_lowrank(tensor(ctx, whole), 10, power_iterations=turns))
        assert (s <= values[:10] * (1 + 1e-12)).all()
        errors.append(np.linalg.norm(whole - (u * s) @ vh, 2))
        spread = 1 + np.sqrt(10 / 9) + np.e * np.sqrt(20) / 10 * np.sqrt(90)
        assert errors[-1] <= values[10] * (1 + spread ** (1 / (2 * turns + 1)))
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 1.01 * values[10] < errors[0]
    wider = gathered(linalg.svd_lowrank(tensor(ctx, whole), 10, oversampling=90).S)
    np.testing.assert_allclose(wider, values[:10], rtol=1e-10)


def test_the_result_does_not_depend_on_the_ranks_and_the_division(ctx: dtl.Context) -> None:
    whole = of_spectrum((90, 30), 1.0 / (1.0 + np.arange(30)))
    for each in (whole, whole.T.copy()):
        with dtl.Environment() as environment, environment.make_cpu_context() as alone:
            want = [gathered(c) for c in linalg.svd_lowrank(tensor(alone, each), 5, oversampling=3, seed=7)]
        exact = np.linalg.svd(each, compute_uv=False)[:5]
        assert np.abs(want[1] - exact).max() > 1e-6  # so that another random matrix is seen
        for how in hows(ctx, len(each)):
            for got, one in zip(linalg.svd_lowrank(tensor(ctx, each, **how), 5, oversampling=3, seed=7), want):
                np.testing.assert_allclose(gathered(got), one, atol=1e-10)
    other = linalg.svd_lowrank(tensor(ctx, whole), 5, oversampling=3, seed=8).S.local_view()
    assert np.abs(other - want[1]).max() > 1e-9
    span: Any = dtl.DistributedSpan(tensor(ctx, whole)).subspan(3, 60)
    close(linalg.svd_lowrank(span, 5, oversampling=25).S, np.linalg.svd(whole[3:63], compute_uv=False)[:5])


def test_u_is_divided_as_the_rows_are(ctx: dtl.Context) -> None:
    whole, last = of_rank((20, 6), 2), ctx.rank == ctx.size - 1
    a = dtl.DistributedTensor.from_local(ctx, whole if last else whole[:0])
    u, s, vh = linalg.svd_lowrank(a, 2)
    assert u.local_view().shape == (20 if last else 0, 2)
    close((gathered(u) * gathered(s)) @ gathered(vh), whole)


def test_subspaces_that_are_not_tall(ctx: dtl.Context, monkeypatch: pytest.MonkeyPatch) -> None:
    """A basis of more columns than one rank is to decompose the triangles of is made panel by panel."""
    monkeypatch.setattr(tall, "_PANEL", 4)
    whole = of_spectrum((50, 30), 0.7 ** np.arange(30))
    got = linalg.svd_lowrank(tensor(ctx, whole), 20, oversampling=5)
    u, s, vh = (gathered(c) for c in got)
    close(s[:15], np.linalg.svd(whole, compute_uv=False)[:15])
    close(u.T @ u, np.eye(20))
    close(vh @ vh.T, np.eye(20))
    assert np.linalg.norm(whole - (u * s) @ vh, 2) < 1.1 * 0.7**20


def test_few_and_many_more_dimensions(ctx: dtl.Context) -> None:
    whole = of_rank((60, 20), 4)
    want = np.linalg.svd(whole, compute_uv=False)
    for more, turns in ((0, 0), (0, 3), (1, 1), (1000, 0)):
        got = linalg.svd_lowrank(tensor(ctx, whole), 4, oversampling=more, power_iterations=turns, seed=12)
        close(got.S, want[:4])
    every = linalg.svd_lowrank(tensor(ctx, numbers((30, 8))), 8)
    close(every.S, np.linalg.svd(numbers((30, 8)), compute_uv=False))
    zero = linalg.svd_lowrank(tensor(ctx, np.zeros((30, 8))), 3)
    close(zero.S, np.zeros(3))
    close(zero.U.T @ zero.U, np.eye(3))


def test_refusals_of_svd_lowrank(ctx: dtl.Context) -> None:
    a = tensor(ctx, numbers((12, 5)))
    for k in (0, -1, 6):
        refused(lambda k=k: linalg.svd_lowrank(a, k), ARGUMENT, 100, f"k {k} outside [1, 5]", "(12, 5)")  # type: ignore[misc]
    refused(lambda: linalg.svd_lowrank(tensor(ctx, np.zeros((4, 0))), 1), ARGUMENT, 100, "[1, 0]")
    refused(lambda: linalg.svd_lowrank(a, 2.0), TYPE, 101, "k must be an integer")  # type: ignore[arg-type]
    refused(lambda: linalg.svd_lowrank(a, 2, oversampling=-1), ARGUMENT, 100, "oversampling -1")
    refused(
        lambda: linalg.svd_lowrank(a, 2, power_iterations=-1), ARGUMENT, 100, "power_iterations -1 outside [0, 1000]"
    )
    refused(lambda: linalg.svd_lowrank(a, 2, seed=-1), ARGUMENT, 100, "seed -1 is negative")
    refused(lambda: linalg.svd_lowrank(a, 2, seed=None), TYPE, 101, "seed")  # type: ignore[arg-type]
    refused(lambda: linalg.svd_lowrank(vector(ctx, numbers((4,))), 1), LinAlgError, 110, "1-dimensional")
    refused(lambda: linalg.svd_lowrank(np.eye(3), 1), TYPE, 101, "a must be")
    if ctx.size > 1:
        with pytest.raises(dtl.CollectiveMismatchError, match="seed"):
            linalg.svd_lowrank(a, 2, seed=ctx.rank)


@pytest.mark.parametrize("shape", [(12, 5), (5, 12)])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite(ctx: dtl.Context, value: float, shape: tuple[int, int]) -> None:
    """One element of the last rank, or all: the error that NumPy has of NaN, on every rank."""
    whole = numbers(shape)
    whole[-1, -1] = value
    refused(lambda: linalg.svd_lowrank(tensor(ctx, whole), 2), LinAlgError, 110, "SVD did not converge")
    refused(lambda: linalg.svd_lowrank(tensor(ctx, np.full(shape, value)), 2), LinAlgError, 110, "SVD did not converge")
