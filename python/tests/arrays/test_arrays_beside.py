"""Arrays that are the same on every rank, as operands beside containers: in each place in turn."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import pytest

import dtl

numbers = np.arange(4.0)
indices = np.array([1, 0, 3, 1])
square = np.diag(np.arange(1.0, 5.0))
space = np.array([[1.0, 2.0, 3.0], [0.0, 1.0, 0.5]])

#: A function and its operands.
CALLS: dict[str, tuple[Any, ...]] = {
    "solve": (np.linalg.solve, square, numbers),
    "lstsq": (lambda a, b: np.linalg.lstsq(a, b, rcond=None)[0], square, numbers),
    "multi_dot": (lambda a, b, c: np.linalg.multi_dot([a, b, c]), square, square, square),
    "tensorsolve": (np.linalg.tensorsolve, square, numbers),
    "dot": (np.dot, numbers, numbers + 1),
    "dot of matrices": (np.dot, square, numbers),
    "vdot": (np.vdot, square, square + 1),
    "matmul": (np.matmul, square, square + 1),
    "inner": (np.inner, numbers, numbers),
    "outer": (np.outer, numbers, numbers),
    "kron": (np.kron, numbers, numbers + 1),
    "cross": (np.cross, space[0], space[1]),
    "polyfit": (lambda x, y: np.polyfit(x, y, 1), numbers, 2 * numbers + 1),
    "polymul": (np.polymul, numbers, numbers - 1),
    "concatenate": (lambda a, b: np.concatenate([a, b]), numbers, indices),
    "stack": (lambda a, b: np.stack([a, b], axis=1), numbers, indices),
    "hstack": (lambda a, b: np.hstack([a, b]), numbers, indices),
    "vstack": (lambda a, b: np.vstack([a, b]), square, numbers),
    "dstack": (lambda a, b: np.dstack([a, b]), numbers, indices),
    "column_stack": (lambda a, b: np.column_stack([a, b]), square, numbers),
    "block": (lambda a, b: np.block([[a, b], [b, a]]), square, square + 1),
    "append": (np.append, numbers, indices),
    "choose": (lambda k, a, b: np.choose(k, [a, b]), indices % 2, numbers, -numbers),
    "compress": (np.compress, numbers > 1, numbers),
    "extract": (np.extract, numbers > 1, numbers),
    "isin": (np.isin, numbers, indices),
    "union1d": (np.union1d, numbers, numbers + 2),
    "intersect1d": (np.intersect1d, numbers, numbers + 2),
    "setdiff1d": (np.setdiff1d, numbers, numbers + 2),
    "setxor1d": (np.setxor1d, numbers, numbers + 2),
    "allclose": (np.allclose, numbers, numbers),
    "array_equal": (np.array_equal, numbers, numbers + 1),
    "cov": (np.cov, numbers, indices),
    "corrcoef": (np.corrcoef, numbers, indices),
    "histogram": (lambda a, w: np.histogram(a, 3, weights=w)[0], numbers, indices),
    "histogram2d": (lambda x, y, w: np.histogram2d(x, y, 2, weights=w)[0], numbers, indices, numbers + 1),
    "bincount": (lambda a, w: np.bincount(a, weights=w), indices, numbers),
    "lexsort": (lambda a, b: np.lexsort((a, b)), numbers, indices),
    "trapezoid": (np.trapezoid if hasattr(np, "trapezoid") else np.trapz, numbers, indices),
    "diff": (lambda a, b: np.diff(a, prepend=b), numbers, indices),
    "ediff1d": (lambda a, b: np.ediff1d(a, to_end=b), numbers, indices),
    "clip": (np.clip, numbers, numbers - 1, numbers + 1),
    "take_along_axis": (lambda a, i: np.take_along_axis(a, i, 0), numbers, indices),
    "broadcast_arrays": (lambda a, b: np.broadcast_arrays(a, b)[1], square, numbers),
    "meshgrid": (lambda a, b: np.meshgrid(a, b)[0], numbers, indices),
    "searchsorted": (np.searchsorted, numbers, indices),
    "searchsorted, right": (lambda a, v: np.searchsorted(a, v, "right"), numbers, indices),
}
for name in ("vecdot", "matvec", "vecmat"):
    if hasattr(np, name):
        first = square if name == "matvec" else numbers
        CALLS[name] = (getattr(np, name), first, square if name == "vecmat" else numbers)


def whole(value: Any) -> Any:
    if not hasattr(value, "gather_to"):
        return value
    return dtl.broadcast_object(value.context, value.gather_to(0), 0)


@pytest.mark.parametrize(
    ("name", "place"), [(name, place) for name, call in CALLS.items() for place in range(len(call) - 1)]
)
def test_an_array_beside_containers(ctx: dtl.Context, name: str, place: int) -> None:
    function: Callable[..., Any] = CALLS[name][0]
    operands = CALLS[name][1:]
    given = [each if k == place else dtl.asarray(ctx, each) for k, each in enumerate(operands)]
    got, want = whole(function(*given)), function(*operands)
    np.testing.assert_allclose(got, want, atol=1e-12)
    assert np.shape(got) == np.shape(want)


def test_take_of_a_table(ctx: dtl.Context) -> None:
    made = dtl.take([10, 20, 30], dtl.asarray(ctx, [[2, -3], [1, 1]]))
    np.testing.assert_array_equal(whole(made), [[30, 10], [20, 20]])
    with pytest.raises(dtl.BoundsError, match=r"index 3 outside \[-3, 3\)"):
        dtl.take(np.arange(3), dtl.asarray(ctx, [0, 3]))
    with pytest.raises(dtl.InvalidTypeError, match="float64"):
        dtl.take(np.arange(3), dtl.asarray(ctx, [0.0]))


def test_arrays_that_differ(ctx: dtl.Context) -> None:
    if ctx.size == 1:
        pytest.skip("one rank's array is that of all; runs on more")
    vec = dtl.asarray(ctx, numbers)
    with pytest.raises(dtl.CollectiveMismatchError):
        np.concatenate([vec, numbers + ctx.rank])


def test_a_list_beside_a_container(ctx: dtl.Context) -> None:
    np.testing.assert_array_equal(whole(np.concatenate([[7, 8], dtl.arange(ctx, 2)])), [7, 8, 0, 1])


@pytest.mark.parametrize("other", [None, "text", 5, np.float64(1)])
def test_what_is_no_array(ctx: dtl.Context, other: Any) -> None:
    with pytest.raises(dtl.InvalidTypeError, match="must be a distributed container"):
        dtl.concat([dtl.arange(ctx, 2), other])


# ---- Methods ----


def test_methods(ctx: dtl.Context) -> None:
    vec = dtl.asarray(ctx, [3, 1, 2, 0])
    np.testing.assert_array_equal(whole(vec.compress([True, False, True, False])), [3, 2])
    np.testing.assert_array_equal(whole((vec % 2).choose([vec, -vec])), [-3, -1, 2, 0])
    np.testing.assert_array_equal(whole(vec[vec.argpartition(1)]), [0, 1, 2, 3])
    vec.partition(1)
    np.testing.assert_array_equal(whole(vec), [0, 1, 2, 3])
    with pytest.raises(dtl.InvalidArgumentError, match=r"kth\(=4\) out of bounds \(4\)"):
        vec.partition(4)
    with pytest.raises(dtl.InvalidTypeError, match="tolist"):
        vec.tolist()
