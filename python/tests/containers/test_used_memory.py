"""Results in memory that others have used: each element is written, or zero where nobody writes it."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import pytest
from divisions import assert_holds, part

import dtl

#: Of float64: enough for each rank's part to be a mapping of its own, which is kept for the next one.
_EACH = 600_000


def _use(ctx: dtl.Context, count: int) -> None:
    """Leave memory behind that is full of what nobody expects."""
    vec = dtl.DistributedVector(ctx, count, fill=-7.0)
    twice = vec + vec
    del twice, vec


_MADE: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "ufunc": (np.sqrt, np.sqrt),
    "astype": (lambda v: v.astype(np.int64), lambda a: a.astype(np.int64)),
    "slice": (lambda v: v[3:-5], lambda a: a[3:-5]),
    "mask": (lambda v: v[v > 10], lambda a: a[a > 10]),
    "reshape": (lambda v: v.reshape(4, -1), lambda a: a.reshape(4, -1)),
    "transpose": (lambda v: v.reshape(4, -1).T, lambda a: a.reshape(4, -1).T),
    "concat": (lambda v: np.concatenate([v, v]), lambda a: np.concatenate([a, a])),
    "stack": (lambda v: np.stack([v, v], axis=1), lambda a: np.stack([a, a], axis=1)),
    "spread": (
        lambda v: v.reshape(4, -1) + np.arange(4.0)[:, None],
        lambda a: a.reshape(4, -1) + np.arange(4.0)[:, None],
    ),
    "where": (lambda v: np.where(v > 10, v, 0.0), lambda a: np.where(a > 10, a, 0.0)),
    "product": (lambda v: v.reshape(-1, 4) @ np.eye(4), lambda a: a.reshape(-1, 4)),
    "fft": (lambda v: np.fft.fft(v.reshape(-1, 4), axis=1), lambda a: np.fft.fft(a.reshape(-1, 4), axis=1)),
}


@pytest.mark.parametrize("what", _MADE)
@pytest.mark.parametrize("partition", [dtl.PARTITION_BLOCK, dtl.PARTITION_CYCLIC])
def test_all_elements_are_written(ctx: dtl.Context, what: str, partition: Any) -> None:
    array = np.arange(float(_EACH * ctx.size))
    vec = dtl.asarray(ctx, array, partition=partition)
    ours, theirs = _MADE[what]
    _use(ctx, len(array))
    with ours(vec) as made:
        assert_holds(made, theirs(array))


def test_what_is_not_written_is_zero(ctx: dtl.Context) -> None:
    array = np.arange(float(_EACH * ctx.size))
    vec = dtl.asarray(ctx, array)
    _use(ctx, len(array))
    with np.sqrt(vec, where=vec > 10) as made:
        assert_holds(made, np.where(array > 10, np.sqrt(array), 0))
    _use(ctx, len(array))
    with np.add(vec, 1.0, where=np.array([False])) as made:
        assert_holds(made, np.zeros_like(array))
    _use(ctx, len(array))
    vec.resize(len(array) + 1000)
    assert_holds(vec, np.concatenate([array, np.zeros(1000)]))


def test_redistributed_parts_are_written(ctx: dtl.Context) -> None:
    array = np.arange(float(_EACH * ctx.size))
    vec = dtl.asarray(ctx, array)
    for partition in (dtl.PARTITION_CYCLIC, dtl.PARTITION_HASH, dtl.PARTITION_BLOCK):
        _use(ctx, len(array))
        vec.redistribute(partition)
        assert_holds(vec, array)


@pytest.mark.parametrize("axis", [0, 1, 2, (0, 1), (0, 2), (1, 2), (0, 1, 2)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128, np.int16, np.bool_])
def test_variances_of_many_rows(ctx: dtl.Context, axis: Any, dtype: Any) -> None:
    shape = (300, 40, 30)
    array = (np.random.default_rng(3).normal(size=shape) * 50).astype(dtype)
    if array.dtype.kind == "c":
        array = array + 1j * array[::-1]
    tensor = dtl.asarray(ctx, array)
    tolerance = 1e-5 if dtype == np.float32 else 1e-12
    for name in ("var", "std"):
        got = getattr(tensor, name)(axis=axis)
        wanted = getattr(array, name)(axis=axis, dtype=None if dtype != np.float32 else np.float64)
        if isinstance(got, dtl.DistributedContainer):
            wanted, got = part(got, wanted), got.to_numpy()
        np.testing.assert_allclose(got, wanted, rtol=tolerance)
