"""Elements of dtypes that other libraries register with NumPy: sorted as the numbers that they are, or refused.

The kind of such a dtype may be "V", as that of bytes, and its size that of another one. bfloat16 is one of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from divisions import DIVISIONS, assert_holds, part, vector

import dtl

ml_dtypes = pytest.importorskip(
    "ml_dtypes", reason="needs ml_dtypes; runs where the extra test is, from Python 3.10 on"
)

REFUSING = ("min", "max", "sum", "prod", "cumsum", "argmax", "mean", "median", "var", "ptp", "histogram", "bincount")
NAMES = ["bfloat16", "float8_e4m3fn", "float8_e4m3fnuz", "int4", "uint4"]


def elements(name: str, size: int = 41) -> Any:
    """Return elements of a dtype, among which are NaNs and both zeros if it has them."""
    numbers = np.random.default_rng(3).integers(0 if name == "uint4" else -7, 8, size).astype(float)
    if name.startswith(("bfloat", "float")):
        numbers[::7] = np.nan
        numbers[[1, 3]] = -0.0
    return numbers.astype(getattr(ml_dtypes, name))


def whole(ctx: dtl.Context, c: Any) -> Any:
    """Return all elements on every rank, as numbers of float64."""
    return np.asarray(dtl.broadcast_object(ctx, c.gather_to(0))).astype(np.float64)


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize("division", DIVISIONS)
@pytest.mark.parametrize("name", NAMES)
def test_order(ctx: dtl.Context, name: str, division: str) -> None:
    array = elements(name)
    numbers, c = array.astype(np.float64), vector(ctx, array, division)
    order = np.argsort(numbers, kind="stable")
    assert_holds(np.argsort(c), order)
    np.testing.assert_array_equal(whole(ctx, np.sort(c)), numbers[order])
    np.testing.assert_array_equal(whole(ctx, np.partition(c, 3)), numbers[order])
    np.testing.assert_array_equal(whole(ctx, np.unique(c)), np.unique(numbers))
    want = np.unique(numbers, return_index=True, return_counts=True, return_inverse=True)
    got = np.unique(c, return_index=True, return_counts=True, return_inverse=True)
    for one, other in zip(got, want):
        np.testing.assert_array_equal(whole(ctx, one), other)
    for side in ("left", "right"):
        found = np.searchsorted(np.sort(c), array, side)
        np.testing.assert_array_equal(found, np.searchsorted(np.sort(numbers), numbers, side))


def test_records_with_such_fields(ctx: dtl.Context) -> None:
    numbers = np.array([(1, 2.5), (0, 1), (1, -3), (1, 2)], [("a", "i4"), ("b", "f8")])
    records = numbers.astype([("a", "i4"), ("b", ml_dtypes.bfloat16)])
    got = np.sort(vector(ctx, records))
    np.testing.assert_array_equal(got.local_view()["b"].astype(float), part(got, np.sort(numbers)["b"]))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "function",
    ["min", "max", "sum", "prod", "cumsum", "argmax", "mean", "median", "var", "ptp", "histogram", "bincount"],
)
def test_what_computes_with_them_refuses(ctx: dtl.Context, function: str, name: str) -> None:
    with pytest.raises(dtl.InvalidTypeError, match=name):
        getattr(np, function)(vector(ctx, elements(name)))


@pytest.mark.parametrize("field", ["g", "G"])
def test_fields_of_longdouble_have_no_order(ctx: dtl.Context, field: str) -> None:
    records = np.zeros(5, [("a", "i4"), ("b", field)])
    for function in (np.sort, np.argsort, np.unique):
        with pytest.raises(dtl.InvalidTypeError, match="have no order"):
            function(vector(ctx, records))
