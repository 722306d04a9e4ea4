"""Sums of products, and histograms, of float16: computed in float32 and rounded once, beside NumPy's."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import pytest
from divisions import DIVISIONS, division

import dtl

V = np.arange(6, dtype=np.float16) / 3 - 1
M = (np.arange(6, dtype=np.float16) / 7).reshape(2, 3)

CASES: dict[str, Callable[..., Any]] = {
    "dot": lambda v, m: np.dot(v, v),
    "dot with integers": lambda v, m: np.dot(v, np.arange(6)),
    "dot with small integers": lambda v, m: np.dot(v, np.arange(6, dtype=np.int8)),
    "dot with float32": lambda v, m: np.dot(v.astype(np.float32), v),
    "vdot": lambda v, m: np.vdot(m, m),
    "inner": lambda v, m: np.inner(m, m),
    "matmul": lambda v, m: m @ m.T,
    "matmul with an array": lambda v, m: m @ np.ones(3, np.float16),
    "vecdot": lambda v, m: np.vecdot(m, m) if hasattr(np, "vecdot") else np.einsum("ij,ij->i", m, m),
    "tensordot": lambda v, m: np.tensordot(m, m, ([1], [1])),
    "einsum": lambda v, m: np.einsum("ij,kj->ik", m, m),
    "multi_dot": lambda v, m: np.linalg.multi_dot([m, m.T, m]),
    "histogram": lambda v, m: np.histogram(v, 3),
    "histogram with edges": lambda v, m: np.histogram(v, [-1, 0, 0.5], density=True),
    "histogram2d": lambda v, m: np.histogram2d(v, v, 2),
}


@pytest.mark.parametrize("name", CASES)
def test_as_numpy_does(ctx: dtl.Context, name: str) -> None:
    for partition in DIVISIONS:
        v, m = (dtl.asarray(ctx, array, **division(partition, len(array), ctx.size)) for array in (V, M))
        got, want = CASES[name](v, m), CASES[name](V, M)
        for one, other in zip(*(each if isinstance(each, tuple) else (each,) for each in (got, want))):
            found = one[...].copy() if isinstance(one, dtl.DistributedContainer) else one
            whole = dtl.broadcast_object(ctx, found.gather_to(0), 0) if hasattr(found, "gather_to") else found
            assert np.asarray(whole).dtype == np.asarray(other).dtype
            np.testing.assert_allclose(whole, other, rtol=2e-3)


def test_a_sum_that_float16_does_not_hold(ctx: dtl.Context) -> None:
    many = dtl.full(ctx, 4000, 5.0, dtype=np.float16)
    with np.errstate(all="ignore"):
        assert many.dot(many) == np.inf  # 100000, as a float16
