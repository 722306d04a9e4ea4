"""np.add.at and other ufuncs' at of containers, add_at and put with an operator, beside NumPy's on one rank."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from divisions import DIVISIONS, assert_holds, vector

import dtl

ELEMENTS = np.array([0.1, 2.0, -3.5, 4.25, 1e16, 7.0, -0.0])
INDICES = np.array([3, 3, -1, 0, 4, 4, 4, 3, 6, 0, 2])
VALUES = np.array([0.1, 0.2, 0.3, 1.7, 1.0, -1e16, 0.4, 0.6, 0.7, 0.9, 5.0])


@pytest.mark.parametrize("divided", DIVISIONS)
@pytest.mark.parametrize("of_indices", ["array", "block", "cyclic", "replicated"])
def test_repeated_indices_accumulate_in_numpys_order(ctx: dtl.Context, divided: str, of_indices: str) -> None:
    indices = INDICES if of_indices == "array" else vector(ctx, INDICES, of_indices)
    for ufunc in (np.add, np.subtract, np.maximum):
        for given, beside in ((VALUES, VALUES), (vector(ctx, VALUES, "cyclic"), VALUES), (2.5, 2.5)):
            want, c = ELEMENTS.copy(), vector(ctx, ELEMENTS, divided)
            ufunc.at(want, INDICES, beside)
            ufunc.at(c, indices, given)
            assert_holds(c, want)


@pytest.mark.parametrize(
    "key",
    [
        [0, 0, 3],
        (slice(None), [1, 1]),
        ([0, 0], [2, 2]),
        (1, slice(None)),
        ...,
        (slice(1, 3), 2),
        np.arange(4) % 2 == 0,
    ],
    ids=str,
)
def test_any_subscript(ctx: dtl.Context, key: Any) -> None:
    want = np.arange(20.0).reshape(4, 5)
    c = dtl.asarray(ctx, want)
    np.add.at(want, key, 1.5)
    np.add.at(c, key, 1.5)
    assert_holds(c, want)


def test_rows_masks_and_ufuncs_of_one_operand(ctx: dtl.Context) -> None:
    want = np.arange(20.0).reshape(4, 5)
    c = dtl.asarray(ctx, want)
    np.add.at(want, [0, 0, 3], np.ones((3, 1)))
    np.add.at(c, vector(ctx, [0, 0, 3]), np.ones((3, 1)))
    dtl.add_at(c, c > 6, 2)
    np.add.at(want, want > 6, 2)
    np.negative.at(c, (0, [1, 2]))
    np.negative.at(want, (0, [1, 2]))
    assert_holds(c, want)


@pytest.mark.parametrize("divided", DIVISIONS)
def test_put_with_an_operator_takes_each_ranks_own_list(ctx: dtl.Context, divided: str) -> None:
    c, want = vector(ctx, np.arange(7), divided), np.arange(7)
    c.put([ctx.rank % 7, -1], [5, 6], op=dtl.SUM)
    for rank in range(ctx.size):
        np.add.at(want, [rank % 7, -1], [5, 6])
    assert_holds(c, want)
    c.put([0] if ctx.rank == 0 else [], 100, op="max")
    want[0] = 100
    assert_holds(c, want)


def test_what_numpy_refuses_changes_nothing(ctx: dtl.Context) -> None:
    c = vector(ctx, ELEMENTS)
    for indices, value, error in (
        ([7], 1.0, IndexError),
        (vector(ctx, [0, -8]), 1.0, IndexError),
        ([0], 1j, TypeError),
        ([0, 1], [1.0, 2.0, 3.0], ValueError),
        ([0, 1], vector(ctx, [1.0, 2.0, 3.0]), ValueError),
        ([0.5], 1.0, IndexError),
    ):
        with pytest.raises((error, dtl.DTLError)):
            np.add.at(c, indices, value)
    with pytest.raises(dtl.InvalidArgumentError, match="replace"):
        c.put([0], 1.0, op="replace")
    assert_holds(c, ELEMENTS)


def test_outer_of_arrays_and_containers(ctx: dtl.Context) -> None:
    a, b = np.arange(4.0), np.arange(6).reshape(2, 3)
    for first, second in ((vector(ctx, a), dtl.asarray(ctx, b)), (vector(ctx, a), b), (a, dtl.asarray(ctx, b))):
        assert_holds(np.subtract.outer(first, second), np.subtract.outer(a, b))
    assert_holds(np.add.outer(vector(ctx, a), 2), np.add.outer(a, 2))


def test_reduce_takes_numpys_keywords(ctx: dtl.Context) -> None:
    a = np.arange(6.0).reshape(2, 3)
    c, out = dtl.asarray(ctx, a), dtl.zeros(ctx, 3)
    assert np.add.reduce(c, axis=0, out=out) is out
    assert_holds(out, a.sum(0))
    more = {"axis": 0, "initial": -np.inf, "where": [True, False, True]}
    assert_holds(np.maximum.reduce(c, **more), np.maximum.reduce(a, **more))
    assert_holds(np.logical_and.reduce(c, axis=0, dtype=bool), np.logical_and.reduce(a, axis=0, dtype=bool))


def test_insert_at_a_list_of_one_index(ctx: dtl.Context) -> None:
    a = np.array([[1, 1], [2, 2], [3, 3]])
    for values in ([[1], [2], [3]], [1, 2, 3]):
        for index in ([1], 1):
            if index == 1 and np.ndim(values) == 2:
                continue
            want = np.insert(a, index, values, axis=1)
            assert_holds(np.insert(dtl.asarray(ctx, a), index, values, axis=1), want)


SEGMENTED = [np.add, np.multiply, np.minimum, np.maximum, np.logical_or, np.bitwise_and, np.bitwise_xor]


def test_reduceat(ctx: dtl.Context) -> None:
    """Segments in any order, of one element, over several ranks."""
    rng = np.random.default_rng(1)
    for turn in range(20):
        n, m = int(rng.integers(1, 30)), int(rng.integers(0, 12))
        whole = rng.integers(-5, 6, n).astype(["f8", "i4", "u1"][turn % 3])
        indices = rng.integers(0, n, m) if turn % 2 else np.sort(rng.integers(0, n, m))
        x = dtl.asarray(ctx, whole, partition=("block", "cyclic", "replicated")[turn // 3 % 3])
        for ufunc in SEGMENTED:
            if "bitwise" in ufunc.__name__ and whole.dtype.kind == "f":
                with pytest.raises(TypeError):
                    ufunc.reduceat(x, indices)
                continue
            got, wanted = ufunc.reduceat(x, indices), ufunc.reduceat(whole, indices)
            assert got.dtype == wanted.dtype
            np.testing.assert_allclose(got.local_view(), wanted[got.local_indices()])
        rows = rng.integers(-5, 6, (n, 4)).astype(float)
        for axis, extent in ((0, n), (1, 4)):
            indices = rng.integers(0, extent, m)
            made = np.add.reduceat(dtl.asarray(ctx, rows), indices, axis=axis)
            wanted = np.add.reduceat(rows, indices, axis=axis)
            own = np.ix_(made.local_indices(0), made.local_indices(1))
            np.testing.assert_array_equal(made.local_view(), wanted[own])


@pytest.mark.parametrize("divided", DIVISIONS)
def test_reduceat_by_containers(ctx: dtl.Context, divided: str) -> None:
    """Indices, or they alone, are containers, which are divided as the elements are or otherwise."""
    whole, indices = np.array([4, 3, 2, 1, 0, 1]), np.array([0, 3, 4])
    for ufunc in (np.add, np.maximum):
        for given in (vector(ctx, whole, divided), whole):
            got = ufunc.reduceat(given, vector(ctx, indices, divided))
            assert_holds(got, ufunc.reduceat(whole, indices))
    assert_holds(np.add.reduceat(vector(ctx, whole, divided), indices), np.add.reduceat(whole, indices))


def test_bad_segments(ctx: dtl.Context) -> None:
    x = dtl.asarray(ctx, np.arange(4.0))
    with pytest.raises(IndexError, match="index 9 is out of bounds"):
        np.add.reduceat(x, [9])
    with pytest.raises(TypeError, match="in one dimension"):
        np.add.reduceat(x, [[1]])
    with pytest.raises(TypeError, match="cannot be combined"):
        np.subtract.reduceat(x, [1])


BITS = (np.bitwise_and, np.bitwise_or, np.bitwise_xor)


def _equal(found: Any, want: Any) -> None:
    """Compare a result with NumPy's: a container, or what every rank has."""
    if isinstance(found, dtl.DistributedContainer):
        assert_holds(found, want)
    else:
        np.testing.assert_array_equal(found, want)
        assert np.asarray(found).dtype == np.asarray(want).dtype


@pytest.mark.parametrize("seed", range(3))
def test_reduce_bits(ctx: dtl.Context, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for turn in range(20):
        shape = tuple(rng.integers(0, 6, int(rng.integers(1, 4))))
        whole = rng.integers(-50, 50, shape).astype(["i8", "i4", "u1", "?"][turn % 4])
        c = dtl.asarray(ctx, whole, partition=("block", "cyclic", "replicated")[turn % 3])
        options: dict[str, Any] = {"axis": [None, 0, -1, tuple(range(len(shape)))][int(rng.integers(0, 4))]}
        options.update({} if rng.random() < 0.7 else {"keepdims": True})
        options.update({} if rng.random() < 0.7 else {"initial": 3})
        options.update({} if rng.random() < 0.7 else {"dtype": np.int16})
        where = rng.random(shape) < 0.5 if rng.random() < 0.4 else True
        of_container = dtl.asarray(ctx, where) if where is not True and turn % 2 else where
        for ufunc in BITS:
            want = ufunc.reduce(whole, where=where, **options)
            _equal(ufunc.reduce(c, where=of_container, **options), want)
    out = dtl.zeros(ctx, 3, np.int64)
    assert np.bitwise_or.reduce(dtl.asarray(ctx, np.arange(6).reshape(2, 3)), out=out) is out
    assert_holds(out, [3, 5, 7])
    with pytest.raises(TypeError, match="float64"):
        np.bitwise_or.reduce(dtl.zeros(ctx, 3))


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "i1"])
def test_accumulate_into_a_container(ctx: dtl.Context, dtype: str) -> None:
    """Sums and products wrap around in a dtype of few bits, as NumPy's do."""
    for ufunc in (np.add, np.multiply, np.minimum, np.maximum):
        whole = np.array([[100, 120, -3], [7, 50, 90]])
        for axis in (0, 1):
            want = np.zeros(whole.shape, dtype)
            ufunc.accumulate(whole, axis, out=want)
            out = dtl.asarray(ctx, np.zeros(whole.shape, dtype), partition="cyclic")
            assert ufunc.accumulate(dtl.asarray(ctx, whole), axis, out=out) is out
            assert_holds(out, want)
    c = vector(ctx, np.arange(4.0))
    for out, error in (
        (np.zeros(4), TypeError),
        (vector(ctx, np.arange(4)), TypeError),
        (dtl.zeros(ctx, 3), ValueError),
    ):
        with pytest.raises(error):
            np.add.accumulate(c, out=out)


@pytest.mark.parametrize("divided", [name for name in DIVISIONS if name != "explicit"])
def test_bincount_in_a_container(ctx: dtl.Context, divided: str) -> None:
    """Sums of floats are NumPy's to the last bit, however the elements and the counts are divided."""
    rng = np.random.default_rng(3)
    for turn in range(6):
        whole = rng.integers(0, 9, int(rng.integers(0, 20))).astype(["i8", "u1", "u8"][turn % 3])
        weights = np.append(rng.normal(size=len(whole))[1:], [1e16] * (len(whole) > 0))
        a, heavy = vector(ctx, whole, divided), vector(ctx, weights, "cyclic")
        how = {"partition": divided, "block_size": 2 if divided == "block_cyclic" else None}
        counts = dtl.bincount(a, minlength=turn, **how)
        assert counts.partition_policy.name.lower() == divided
        assert_holds(counts, np.bincount(whole.astype(np.int64), minlength=turn))
        assert_holds(dtl.bincount(a, heavy, turn, **how), np.bincount(whole.astype(np.int64), weights, turn))


def test_bincount_in_a_container_refuses(ctx: dtl.Context) -> None:
    for elements, options, error in (
        ([1, -2], {}, ValueError),
        ([1.0], {}, TypeError),
        ([1], {"minlength": -1}, ValueError),
        ([1], {"weights": [1.0, 2.0]}, ValueError),
        ([1], {"weights": [1j]}, TypeError),
        ([1], {"partition": "diagonal"}, ValueError),
        ([1], {"partition": None, "block_size": 3}, ValueError),
    ):
        given: dict[str, Any] = {"partition": "block", **options}
        with pytest.raises(error):
            dtl.bincount(vector(ctx, elements), **given)
    with pytest.raises(ValueError, match="1 dimension"):
        dtl.bincount(dtl.zeros(ctx, (2, 2), np.int64), partition="block")
