"""Results that are larger than the caches, which are written past them: NumPy's to the bit, with its warnings."""

from __future__ import annotations

import warnings
from typing import Any, Callable

import numpy as np
import pytest
from divisions import part

import dtl

#: How many bytes of a result every rank has, and a little more, for the last elements fill no line of the cache.
_BYTES = 12 * 2**20 + 1_000

_CHAINS: dict[str, Callable[..., Any]] = {
    "sum": lambda a, b: a + b,
    "difference of neighbours": lambda a, b: np.diff(a),
    "a slice": lambda a, b: a[3:] * b[:-3],
    "of one operand": lambda a, b: (-a, abs(a), np.square(a)),
    "numbers": lambda a, b: (a + 0.1, 0.1 - a, 1 / a),
    "a chain": lambda a, b: (a + b) * a - b / 3,
    "limits": lambda a, b: (np.clip(a, 0.75, -0.5), np.clip(a, 0.0, 1.0), np.clip(a, -1.0, -0.0)),
    "a limit that is NaN": lambda a, b: np.clip(a, -1, np.nan),
    "itself": lambda a, b: a - a,
    "shifted": lambda a, b: (np.roll(a, 1_001), np.roll(a, -7)),
    "a copy": lambda a, b: a.copy(),
    "joined": lambda a, b: np.concatenate([a[5:], b]),
}


#: An old NumPy returns the limit where an element is the other zero, and ignores limits that are NaN.
_CLIPS_AS_NOW = bool(np.signbit(np.clip(np.array([-0.0]), 0.0, 1.0))[0])


def _elements(ctx: dtl.Context, dtype: str) -> Any:
    count = _BYTES // np.dtype(dtype).itemsize * ctx.size
    x = (np.random.default_rng(3).random(count) * 4 - 2).astype(dtype)
    x[:: count // 7], x[1 :: count // 5], x[2 :: count // 3] = np.nan, 0.0, -0.0
    x[3 :: count // 4], x[4 :: count // 4] = np.inf, -np.inf
    return x


def _assert_bits(got: Any, want: Any) -> None:
    assert got.dtype == want.dtype
    assert got.shape == want.shape
    assert got.local_view().tobytes() == part(got, want).tobytes()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.filterwarnings("ignore")
def test_bits(ctx: dtl.Context, dtype: str) -> None:
    x = _elements(ctx, dtype)
    y = x[::-1].copy()
    a, b = dtl.asarray(ctx, x), dtl.asarray(ctx, y)
    for name, chain in _CHAINS.items():
        if "limit" in name and not _CLIPS_AS_NOW:
            continue
        got, want = chain(a, b), chain(x, y)
        for one, other in zip(*(each if isinstance(each, tuple) else (each,) for each in (got, want))):
            try:
                _assert_bits(one, other)
            except AssertionError as error:
                raise AssertionError(name) from error


def test_in_place_and_into_what_is_given(ctx: dtl.Context) -> None:
    x = np.nan_to_num(_elements(ctx, "float64"), posinf=1, neginf=2)
    y = x[::-1].copy()
    a, b = dtl.asarray(ctx, x), dtl.asarray(ctx, y)
    out = dtl.zeros(ctx, len(x))
    np.add(a, b, out=out)
    _assert_bits(out, x + y)
    np.subtract(a, 1, out=a)
    _assert_bits(a, x - 1)
    a += b
    _assert_bits(a, x - 1 + y)
    np.clip(a, 0, 1, out=a)
    _assert_bits(a, np.clip(x - 1 + y, 0, 1))


def test_warnings(ctx: dtl.Context) -> None:
    x = np.nan_to_num(_elements(ctx, "float64"), posinf=1, neginf=2)
    a = dtl.asarray(ctx, x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (a + 1).local_view()
        np.clip(a, -1, 1).local_view()
        np.clip(np.where(a > 1, np.nan, a), -1, 1).local_view()
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        (1 / (a * 0)).local_view()
    with pytest.warns(RuntimeWarning, match="overflow"):
        (a * 1e308 * 1e308).local_view()


@pytest.mark.parametrize("dtype", ["int8", "int16", "float32", "float64", "complex128"])
def test_repeated(ctx: dtl.Context, dtype: str) -> None:
    for often in (2, 3, 4, 8, 12, 16, 17, 64):
        count = _BYTES // np.dtype(dtype).itemsize * ctx.size // often + 3
        x = np.random.default_rng(often).integers(-100, 100, count).astype(dtype)
        _assert_bits(np.repeat(dtl.asarray(ctx, x), often), np.repeat(x, often))


def test_narrower(ctx: dtl.Context) -> None:
    x = np.concatenate([_elements(ctx, "float64")] * 2)
    x[5::97] *= 1e-42  # what becomes subnormal
    with np.errstate(all="ignore"):
        _assert_bits(dtl.asarray(ctx, x).astype(np.float32), x.astype(np.float32))
        _assert_bits(dtl.asarray(ctx, x)[1:-2].astype(np.float32), x[1:-2].astype(np.float32))
    x[7 :: len(x) // 8] = 1e300
    with pytest.warns(RuntimeWarning, match="overflow"):
        got = dtl.asarray(ctx, x).astype(np.float32)
    with np.errstate(all="ignore"):
        _assert_bits(got, x.astype(np.float32))


def test_wider(ctx: dtl.Context) -> None:
    ends, count = np.iinfo(np.int64), _BYTES // 8 * ctx.size + 5
    x = np.random.default_rng(5).integers(ends.min, ends.max, count, endpoint=True)
    x[::3] >>= 40
    for at, value in enumerate((ends.min, ends.max, 2**53 + 1, -(2**53) - 1, 2**63 - 513, 0, -1)):
        x[at :: len(x) // 6] = value
    for given in (x, x.astype(np.int32), np.resize(_elements(ctx, "float32"), count)):
        a = dtl.asarray(ctx, given)
        for some in (slice(None), slice(1, -2)):
            _assert_bits(a[some].astype(float), given[some].astype(float))
