"""np.delete, np.insert and np.put_along_axis with containers of indices, masks and values, beside NumPy's of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from divisions import DIVISIONS, assert_holds, vector

import dtl


class _Drawn:
    """Arrays and, of each, a container that is divided in a way drawn at random; the same on every rank."""

    def __init__(self, ctx: dtl.Context, seed: int) -> None:
        self.ctx, self.rng = ctx, np.random.default_rng(seed)

    def beside(self, array: Any) -> Any:
        """Return a container of the elements, or now and then the array itself."""
        return array if self.rng.random() < 0.2 else self.divided(array)

    def divided(self, array: Any) -> Any:
        if array.ndim == 1:
            return vector(self.ctx, array, str(self.rng.choice(DIVISIONS)))
        return dtl.asarray(self.ctx, array, partition=str(self.rng.choice(["block", "cyclic", "replicated"])))

    def indices(self, extent: int) -> Any:
        """Return a mask, or indices from both ends of which some occur twice."""
        if self.rng.random() < 0.4:
            return self.rng.random(extent) < 0.4
        return self.rng.integers(-extent, extent, int(self.rng.integers(0, 8)) if extent else 0)


@pytest.mark.parametrize("seed", range(3))
def test_delete_and_insert(ctx: dtl.Context, seed: int) -> None:
    drawn = _Drawn(ctx, seed)
    rng = drawn.rng
    for turn in range(12):
        shape = (int(rng.integers(0, 14)), 3)[: 1 + (turn % 3 == 2)]
        whole = rng.integers(0, 100, shape).astype(["i8", "f4"][turn % 2])
        axis = [None, 0, -1][int(rng.integers(0, 3))]
        extent = whole.size if axis is None else whole.shape[axis]
        at = drawn.indices(extent)
        count = int(at.sum()) if at.dtype == np.bool_ else len(at)
        values = rng.integers(0, 9, count).astype("i4") if len(shape) == 1 and rng.random() < 0.7 else np.array(7)
        c, places = drawn.divided(whole), drawn.beside(at)
        assert_holds(np.delete(c, places, axis), np.delete(whole, at, axis))
        given = drawn.beside(values) if values.ndim else 7
        points = np.flatnonzero(at) if at.dtype == np.bool_ else at  # which NumPy before 2 does not make of a mask
        assert_holds(np.insert(c, places, given, axis), np.insert(whole, points, values, axis))


@pytest.mark.parametrize("partition", ["block", "cyclic", "replicated"])
@pytest.mark.parametrize(
    "at",
    [
        slice(None, None, 3),
        slice(40, 2, -7),
        slice(30, 10),
        slice(None),
        slice(9, 200),
        [],
        -1,
        [7, 7, 0, -1, 7],
        range(0, 300, 2),
    ],
    ids=str,
)
def test_few_ranges_and_many(ctx: dtl.Context, partition: str, at: Any) -> None:
    whole = np.arange(300 * 2).reshape(300, 2) * 1.5
    at = list(at) if isinstance(at, range) else at
    count = len(np.atleast_1d(np.arange(300)[at]))
    for given, axis in ((whole, 0), (whole.T.copy(), 1), (whole[:, 0].copy(), None), (whole, None)):
        a = dtl.asarray(ctx, given, partition=partition)
        assert_holds(np.delete(a, at, axis), np.delete(given, at, axis))
        assert_holds(np.insert(a, at, -7, axis), np.insert(given, at, -7, axis))
        if given.ndim == 1 and isinstance(at, list):
            assert_holds(np.insert(a, at, np.arange(count)), np.insert(given, at, np.arange(count)))


@pytest.mark.parametrize("seed", range(3))
def test_put_along_axis(ctx: dtl.Context, seed: int) -> None:
    drawn = _Drawn(ctx, seed)
    rng = drawn.rng
    for _ in range(10):
        want = rng.integers(0, 100, tuple(rng.integers(1, 7, int(rng.integers(1, 4))))).astype("f8")
        axis = int(rng.integers(-want.ndim, want.ndim))
        extent = want.shape[axis]
        places = np.argsort(rng.random(want.shape), axis).take(range(int(rng.integers(0, extent + 1))), axis)
        places = np.where(rng.random(places.shape) < 0.3, places - extent, places)
        values = rng.integers(0, 9, places.shape)
        c = drawn.divided(want)
        np.put_along_axis(c, drawn.beside(places), drawn.beside(values), axis)
        np.put_along_axis(want, places, values, axis)
        assert_holds(c, want)


def test_no_rank_gathers_indices_and_values(ctx: dtl.Context, monkeypatch: pytest.MonkeyPatch) -> None:
    n = 1000
    whole, at, mask = np.arange(n), np.arange(0, 2 * n, 2) % n, np.arange(n) % 3 == 0
    c, places, gone = (vector(ctx, each, "block") for each in (whole, at, mask))

    def refused(*_: Any) -> Any:
        raise AssertionError("all elements of a container were asked for")

    monkeypatch.setattr("dtl.algorithms.inserting.on_every_rank", refused)
    monkeypatch.setattr("dtl.protocol.small_arguments.whole", lambda value: value if np.ndim(value) == 0 else refused())
    assert_holds(np.delete(c, places), np.delete(whole, at))
    assert_holds(np.delete(c, gone), np.delete(whole, mask))
    assert_holds(np.insert(c, places, places), np.insert(whole, at, at))
    assert_holds(np.insert(c, gone, 5), np.insert(whole, np.flatnonzero(mask), 5))


def test_what_numpy_refuses(ctx: dtl.Context) -> None:
    c = vector(ctx, np.arange(5.0))
    table = dtl.asarray(ctx, np.ones((2, 2), np.int64))
    for call, error in (
        (lambda: np.delete(c, vector(ctx, [0, 5])), IndexError),
        (lambda: np.delete(c, vector(ctx, [True, False])), ValueError),
        (lambda: np.delete(c, vector(ctx, [0.5])), TypeError),
        (lambda: np.insert(c, vector(ctx, [0, 6]), 1), IndexError),
        (lambda: np.insert(c, vector(ctx, [-6, 0]), 1), IndexError),
        (lambda: np.insert(c, vector(ctx, [0, 1]), [1, 2, 3]), ValueError),
        (lambda: np.insert(c, vector(ctx, [0.5, 1]), 1), TypeError),
        (lambda: np.insert(c, table, 1), ValueError),
        (lambda: np.insert(c, table > 0, 1), ValueError),
    ):
        with pytest.raises(dtl.DTLError) as caught:
            call()
        assert isinstance(caught.value, error)
    assert_holds(c, np.arange(5.0))
