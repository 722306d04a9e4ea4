"""Sums, products and variances whose parts leave the range of floats, or its digits, where the whole does not."""

from __future__ import annotations

import warnings
from fractions import Fraction
from typing import Any, Callable, Iterator

import numpy as np
import pytest

import dtl

Array = Any

#: Elements, in their order, of which some ranks' come to what is too large or too small, where no beginning of all is.
PRODUCTS = {
    "a zero first": np.arange(100.0),
    "small, then large": np.array([1e-200, 1e-100, 1e200, 1e200, 3.0, 2.0]),
    "large, then small": np.array([1e200, 1e100, 1e-200, 1e-200, 3.0, 1e-150, 2.0]),
    "digits lost in a part": np.array([1e300, 1.0, 1e-160, 1.23456789e-160, 1e200, 1.0]),
    "infinite, and so on": np.array([1e200, 1e200, 1e-300, 1e-300, 1e-300, 1e-300]),
    "nothing, and so on": np.array([1e-200, 1e-200, 1e300, 1e300, 1e300, 1e300]),
    "not a number": np.array([1e200, 1e200, np.nan, 2.0, 0.0, 1.0]),
}
B = 1.7e308
SUMS = {
    "a part is infinite": np.array([-1e308, -0.5e308, 1e308, 1e308, 0.0, 0.0]),
    "a part is infinite, the whole is 0": np.array([-B, 0.0, B, B, -B, 0.0]),
    "infinite, and so on": np.array([B, B, -B, -B, 1.0, 2.0]),
    "infinite within a part": np.array([B, 0.0, B, -B, 1.0, 2.0]),
    "infinite elements": np.array([B, np.inf, B, -B, 1.0, 2.0]),
    "long": np.tile([-B, B, B, -B], 100),
}


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def forms(ctx: dtl.Context, a: Array) -> Iterator[tuple[str, Any, Callable[[Array], Array]]]:
    """Give a vector as containers, and what makes of NumPy's result along the vector the one that is expected."""
    for partition in ("block", "cyclic", "replicated"):
        yield partition, dtl.asarray(ctx, a, partition=partition), lambda made: made
    yield "complex", dtl.asarray(ctx, a.astype(complex)), lambda made: made.astype(complex)


def close(ctx: dtl.Context, made: Any, wanted: Array) -> None:
    got = dtl.broadcast_object(ctx, made.gather_to(0)) if hasattr(made, "gather_to") else np.asarray(made)
    assert got.shape == wanted.shape
    if got.dtype.kind == "c":  # NumPy's own products of infinities and zeros have other parts
        good = np.isfinite(wanted)
        got, wanted = np.where(good & np.isfinite(got), got, 0).real, np.where(good & np.isfinite(got), wanted, 0).real
    np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=0)


@pytest.mark.parametrize("name", PRODUCTS)
def test_products(ctx: dtl.Context, name: str) -> None:
    a = PRODUCTS[name]
    for _, x, like in forms(ctx, a):
        close(ctx, np.cumprod(x), like(np.cumprod(a)))
        close(ctx, np.multiply.accumulate(x), like(np.cumprod(a)))
        before = np.concatenate([[1.0], np.cumprod(a)[:-1]])
        close(ctx, dtl.cumprod(x, exclusive=True), like(before))
    close(ctx, np.nancumprod(dtl.asarray(ctx, a)), np.nancumprod(a))


@pytest.mark.parametrize("name", PRODUCTS)
def test_products_along_an_axis(ctx: dtl.Context, name: str) -> None:
    a = PRODUCTS[name]
    lines = np.stack([a, np.ones(len(a)), a[::-1]], axis=1)
    x, across = dtl.asarray(ctx, lines), dtl.asarray(ctx, np.ascontiguousarray(lines.T), grid=(1, ctx.size))
    close(ctx, np.cumprod(x, axis=0), np.cumprod(lines, axis=0))
    close(ctx, np.cumprod(across, axis=1), np.cumprod(lines.T, axis=1))
    close(ctx, dtl.cumprod(x, 0, exclusive=True)[1:], np.cumprod(lines, axis=0)[:-1])
    if "and so on" not in name:  # NumPy multiplies these in another order
        wanted = np.array([exactly(line) for line in lines.T])
        close(ctx, np.prod(x, axis=0), wanted)
        close(ctx, np.prod(across, axis=1), wanted)
        groups = dtl.group_by(dtl.asarray(ctx, np.arange(len(a)) % 2)).agg(dtl.asarray(ctx, a), "prod")[1]
        close(ctx, groups, np.array([exactly(a[::2]), exactly(a[1::2])]))


def exactly(a: Array) -> float:
    """Return a product that overflows nowhere but in the end."""
    fractions, exponents = np.frexp(a)
    return float(np.ldexp(fractions.prod(), int(exponents.sum())))


@pytest.mark.parametrize("name", SUMS)
def test_sums(ctx: dtl.Context, name: str) -> None:
    a = SUMS[name]
    for _, x, like in forms(ctx, a):
        close(ctx, np.cumsum(x), like(np.cumsum(a)))
        close(ctx, dtl.cumsum(x, exclusive=True), like(np.concatenate([[0.0], np.cumsum(a)[:-1]])))
    lines = np.stack([a, np.ones(len(a))], axis=1)
    x = dtl.asarray(ctx, lines)
    close(ctx, np.cumsum(x, axis=0), np.cumsum(lines, axis=0))
    if np.isfinite(np.cumsum(a)).all():
        for vec in (dtl.asarray(ctx, a), dtl.asarray(ctx, a) * 1.0):
            assert abs(np.sum(vec) - np.cumsum(a)[-1]) <= 1e-9 * B
        totals = dtl.broadcast_object(ctx, np.sum(x, axis=0).gather_to(0))
        np.testing.assert_allclose(totals, [np.cumsum(a)[-1], len(a)], rtol=0, atol=1e-9 * B)
        assert (dtl.asarray(ctx, a) * 1.0).mean() == pytest.approx(np.cumsum(a)[-1] / len(a), abs=1e-9 * B)


def test_random_scans(ctx: dtl.Context) -> None:
    """Elements of all sizes, on the way to infinity, to zero, and back."""
    rng = np.random.default_rng(5)
    for _ in range(60):
        n = int(rng.integers(1, 40))
        a = 10.0 ** rng.uniform(-160, 160, n) * rng.choice([1, 1, -1], n)
        a[rng.random(n) < 0.02] = 0
        partition = ("block", "cyclic")[int(rng.integers(2))]
        close(ctx, np.cumprod(dtl.asarray(ctx, a, partition=partition)), np.cumprod(a))
        both = np.stack([a, a[::-1]], 1)
        close(ctx, np.cumprod(dtl.asarray(ctx, both), axis=0), np.cumprod(both, axis=0))
        a = rng.choice([B, -B, 0.5 * B, -0.5 * B, 0.0], n)
        got, wanted = np.cumsum(dtl.asarray(ctx, a, partition=partition)), np.cumsum(a)
        got = dtl.broadcast_object(ctx, got.gather_to(0))
        assert (np.isfinite(got) == np.isfinite(wanted)).all()
        np.testing.assert_allclose(got / B, wanted / B, rtol=0, atol=1e-12)


LARGE = {
    "nanoseconds": (1.7e18 + np.arange(1000) * 256.0, 256.0**2 * (1000**2 - 1) / 12),
    "1e15 and whole numbers": (1e15 + np.arange(40.0), (40**2 - 1) / 12),
    "seconds and fractions": (1.7e9 + np.arange(1024) / 1024, (1024**2 - 1) / 12 / 1024**2),
}


@pytest.mark.parametrize("name", LARGE)
def test_variances_of_large_means(ctx: dtl.Context, name: str) -> None:
    a, exact = LARGE[name]
    n = len(a)
    near = {"rel": 1e-9}
    for partition in ("block", "cyclic", "replicated"):
        x = dtl.asarray(ctx, a, partition=partition)
        assert x.var() == pytest.approx(exact, **near)
        assert x.std(ddof=1) == pytest.approx((exact * n / (n - 1)) ** 0.5, **near)
        assert abs(np.nanvar(x) - exact) <= 2 * abs(a.var() - exact)  # NumPy's two passes
    close(ctx, np.var(dtl.asarray(ctx, np.stack([a, 2 * a], 1)), axis=0), np.array([exact, 4 * exact]))
    for keys in (np.zeros(n, int), np.zeros(n)):  # integers are counted, others sorted
        close(ctx, dtl.group_by(dtl.asarray(ctx, keys)).agg(dtl.asarray(ctx, a), "var")[1], np.array([exact]))


@pytest.mark.parametrize(("dtype", "far", "rel"), [("complex128", 1e12, 1e-12), ("complex64", 1e4, 1e-6)])
@pytest.mark.parametrize("n", [3, 40, 1100])
def test_complex_variances_of_large_means(ctx: dtl.Context, n: int, dtype: str, far: float, rel: float) -> None:
    rng = np.random.default_rng(n)
    z = ((far + rng.random(n)) + (3 * far + rng.random(n)) * 1j).astype(dtype)
    exact = sum(_variance_of(part) for part in (z.real, z.imag))
    chosen = np.arange(n) > 0
    some = sum(_variance_of(part[1:]) for part in (z.real, z.imag))
    for partition in ("block", "cyclic", "replicated"):
        x, on = (dtl.asarray(ctx, each, partition=partition) for each in (z, chosen))
        for found in (x.var(), np.nanvar(x), (x * 1).var(), x.var(where=on | True), np.square(x.std())):
            assert found == pytest.approx(exact, rel=rel)
        assert np.var(x, ddof=1) == pytest.approx(exact * n / (n - 1), rel=rel)
        assert x.var(where=on) == pytest.approx(some, rel=rel)
    made = [
        np.var(dtl.asarray(ctx, np.stack([z, z], 1)), axis=0),
        np.nanvar(dtl.asarray(ctx, np.stack([z, z], 1)), axis=0),
    ]
    made += [dtl.group_by(dtl.asarray(ctx, np.zeros(n, kind))).agg(dtl.asarray(ctx, z), "var")[1] for kind in "if"]
    for each in made:
        got = dtl.broadcast_object(ctx, each.gather_to(0))
        assert got == pytest.approx([exact] * len(got), rel=rel)


def _variance_of(part: Array) -> float:
    """Return the variance of numbers by fractions, whose sums are exact."""
    numbers = [Fraction(float(x)) for x in part]
    return float(sum(x * x for x in numbers) / len(numbers) - (sum(numbers) / len(numbers)) ** 2)
