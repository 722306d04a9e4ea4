"""Sorts of floats that only their bits tell apart: the same on every division, and by any library."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from divisions import DIVISIONS, vector

import dtl

SPECIAL = {
    "float64": [
        0,
        1 << 63,
        0x7FF0 << 48,
        0xFFF0 << 48,
        0x7FF8 << 48,
        0x7FF8000000000001,
        0xFFF8000000000001,
        1,
        1 << 63 | 1,
    ],
    "float32": [0, 1 << 31, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7FC00001, 0xFFC00001, 1, 1 << 31 | 1],
}


def given(dtype: str, size: int, share: float) -> Any:
    """Return floats of which a share are special."""
    rng = np.random.default_rng(size)
    values = rng.standard_normal(size).astype(dtype)
    bits = values.view("u" + dtype.replace("float", "int"))
    at = rng.random(size) < share
    bits[at] = rng.choice(np.array(SPECIAL[dtype], bits.dtype), int(at.sum()))
    return values


def expected(values: Any, reverse: bool) -> Any:
    """Return what is sorted, stably, NaNs last: those by their bits as the keys of docs/guide/sorting.md order them."""
    bits = values.view(f"i{values.itemsize}")
    nan = np.isnan(values)
    numbers, order = values[~nan], np.argsort(-values[~nan] if reverse else values[~nan], kind="stable")
    broken = bits[nan]
    negative, positive = np.sort(broken[broken < 0]), np.sort(broken[broken >= 0])
    last = np.concatenate([negative, positive[::-1]] if reverse else [positive, negative[::-1]])
    return np.concatenate([bits[~nan][order] if len(numbers) else bits[:0], last])


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("name", DIVISIONS)
@pytest.mark.parametrize("dtype", SPECIAL)
def test_bits(ctx: dtl.Context, dtype: str, name: str, reverse: bool) -> None:
    for size in (3, 30, 45, 3000):
        for share in (0.0, 0.5, 1.0):
            values = given(dtype, size, share)
            with vector(ctx, values, name) as vec:
                dtl.sort(vec, reverse)
                got = np.asarray(vec.local_view()).view(f"i{values.itemsize}")
                assert np.array_equal(got, expected(values, reverse)[vec.local_indices()])


@pytest.mark.parametrize("policy", [dtl.EXEC_SEQ, dtl.EXEC_PAR])
@pytest.mark.parametrize("share", [0.0, 0.001, 0.9])
def test_many_bits(ctx: dtl.Context, share: float, policy: Any) -> None:
    values = given("float64", 200_000 * ctx.size, share)
    for whole in (values, np.abs(values)):
        with dtl.DistributedVector(ctx, whole.size, execution=policy) as vec:
            vec.local_view()[...] = whole[vec.local_indices()]
            dtl.sort(vec)
            assert np.array_equal(vec.local_view().view(np.int64), expected(whole, False)[vec.local_indices()])
