"""topk in one pass, where few are wanted: what a stable sort says, whatever the order of the elements."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import pytest
from divisions import vector

import dtl

SIZE = 150_000
ORDERS: dict[str, Callable[[int], Any]] = {
    "random": lambda n: np.random.default_rng(1).standard_normal(n),
    "ascending": lambda n: np.arange(n, dtype=np.float64),
    "descending": lambda n: -np.arange(n, dtype=np.float64),
    "equal": np.ones,
    "few values": lambda n: np.arange(n) % 3.0,
    "small integers": lambda n: (np.arange(n) * 7919 % 251).astype(np.uint8),
    "truths": lambda n: np.arange(n) % 5 == 0,
    "zeros": lambda n: np.where(np.arange(n) % 3, 0.0, -0.0),
    "NaNs first": lambda n: np.where(np.arange(n) < n // 2, np.nan, np.arange(n) % 100),
    "NaNs but few": lambda n: np.where(np.arange(n) % 50_000 == 7, np.arange(n), np.nan),
    "NaNs alone": lambda n: np.full(n, np.nan),
}


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", ["block", "cyclic"])
def test_topk(ctx: dtl.Context, name: str, order: str, largest: bool) -> None:
    whole = ORDERS[order](SIZE)
    with vector(ctx, whole, name) as vec:
        for k in (1, 5, SIZE // 64 // ctx.size):
            numbers = np.flatnonzero(~np.isnan(whole))
            keys = whole[numbers].astype(np.float64)
            want = numbers[np.argsort(-keys if largest else keys, kind="stable")][:k]
            want = np.concatenate([want, np.flatnonzero(np.isnan(whole))])[:k]
            values, indices = dtl.topk(vec, k, largest)
            assert np.array_equal(indices, want)
            assert values.tobytes() == whole[want].tobytes()
