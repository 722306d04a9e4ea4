"""Sizes, fills and policies that a vector refuses.

All run on a context of this process alone, on every rank by itself: nothing is sent.
"""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np
import pytest
from refusals import ARGUMENT, TYPE, refused

import dtl

pytestmark = pytest.mark.few("refused on every rank, whatever their number")


@pytest.mark.parametrize("size", [-1, -1000, -(2**63)])
def test_negative_size(alone: dtl.Context, size: int) -> None:
    error = refused(lambda: dtl.DistributedVector(alone, size), ARGUMENT, 100, f"size {size} is negative", op="vector")
    assert isinstance(error, ValueError)


@pytest.mark.parametrize("size", [1.0, 2.5, "10", None, [3], np.float64(3), 1j, np.array([1, 2])])
def test_size_that_is_no_integer(alone: dtl.Context, size: Any) -> None:
    error = refused(lambda: dtl.DistributedVector(alone, size), TYPE, 101, f"size must be an integer, not {size!r}")
    assert isinstance(error, TypeError)
    assert isinstance(error, ValueError)


@pytest.mark.parametrize("size", [2**63, -(2**63) - 1, 10**30])
def test_size_beyond_64_bits(alone: dtl.Context, size: int) -> None:
    refused(lambda: dtl.DistributedVector(alone, size), ARGUMENT, 100, f"size {size} outside [-2**63, 2**63)")


@pytest.mark.parametrize(
    ("size", "dtype", "texts"),
    [
        (2**45, "float64", [str(2**48)]),
        (2**47, "int8", [str(2**47)]),
        (2**60, "float64", [str(2**60), "float64"]),
        (2**63 - 1, "int8", [str(2**63 - 1)]),
        (2**63 - 1, "complex128", [str(2**63 - 1), "complex128"]),
    ],
)
def test_memory_that_cannot_be_allocated(alone: dtl.Context, size: int, dtype: str, texts: list[str]) -> None:
    error = refused(lambda: dtl.DistributedVector(alone, size, dtype=dtype), dtl.MemoryError, 200, *texts, op="vector")
    assert isinstance(error, builtins.MemoryError)
    with dtl.DistributedVector(alone, 10) as vec:
        assert vec.local_view().shape == (10,)


@pytest.mark.parametrize(
    ("dtype", "fill"),
    [("float64", "x"), ("float64", [1, 2]), ("int64", 1j), ("float64", object()), ("int8", "a"), ("int16", np.nan)],
)
def test_fill_that_does_not_fit(alone: dtl.Context, dtype: str, fill: Any) -> None:
    text = f"fill {fill!r} does not fit {dtype}"
    refused(lambda: dtl.DistributedVector(alone, 3, dtype=dtype, fill=fill), ARGUMENT, 100, text)


def test_policies_that_are_none(alone: dtl.Context) -> None:
    refused(lambda: dtl.DistributedVector(alone, 3, partition=9), ARGUMENT, 100, "partition 9")
    refused(lambda: dtl.DistributedVector(alone, 3, placement="here"), ARGUMENT, 100, "'here'")
    for placement in (7, "here", None):
        text = f"placement {placement!r}"
        refused(lambda wrong=placement: dtl.placement_available(wrong), ARGUMENT, 100, text)


@pytest.mark.parametrize(
    ("dtype", "fill"),
    [
        ("int64", 2**63),
        ("int64", -(2**63) - 1),
        ("uint64", 2**64),
        ("uint8", np.int64(300)),
        ("uint64", np.int64(-1)),
        ("int32", np.float64(1e30)),
        ("int32", -np.inf),
        ("int8", np.array(128)),
        ("float32", 1e300),
        ("float32", np.float64(-1e300)),
        ("float64", 10**400),
    ],
)
def test_fill_beyond_the_dtype(alone: dtl.Context, dtype: str, fill: Any) -> None:
    text = f"fill {fill!r} does not fit {dtype}"
    error = refused(lambda: dtl.DistributedVector(alone, 3, dtype=dtype, fill=fill), dtl.OverflowError, 105, text)
    assert isinstance(error, builtins.OverflowError)
    assert isinstance(error, ValueError)


@pytest.mark.parametrize(("dtype", "fill"), [("int32", 1.5), ("float64", np.complex128(1j))])
def test_fill_that_would_be_another_number(alone: dtl.Context, dtype: str, fill: Any) -> None:
    text = f"fill {fill!r} does not fit {dtype}"
    refused(lambda: dtl.DistributedVector(alone, 3, dtype=dtype, fill=fill), ARGUMENT, 100, text)


def test_fill_that_is_rounded_fits(alone: dtl.Context) -> None:
    for dtype, fill in (("float32", 0.1), ("float32", np.inf), ("int8", 3.0), ("complex64", 1j), ("bool", np.bool_(1))):
        view = dtl.DistributedVector(alone, 2, dtype=dtype, fill=fill).local_view()
        assert (view == np.array(fill, dtype)).all()


@pytest.mark.parametrize("fill", ["1.5", b"1", "False", np.ma.masked, np.datetime64(1, "ns")])
def test_fill_that_is_no_number(ctx: dtl.Context, fill: Any) -> None:
    for dtype in ("float64", "int64", "bool"):
        refused(lambda dtype=dtype: dtl.DistributedVector(ctx, 3, dtype=dtype, fill=fill), ARGUMENT, 100, "no number")


def test_truth_value_that_is_none(ctx: dtl.Context) -> None:
    with pytest.raises(dtl.OverflowError, match=r"fill 2 does not fit bool: outside \[0, 1\]"):
        dtl.DistributedVector(ctx, 3, dtype=bool, fill=2)


def test_a_forgotten_context() -> None:
    for call, text in (
        (lambda: dtl.DistributedVector(10), r"DistributedVector: ctx, the context, is missing, .*: (ctx, 10)"),
        (lambda: dtl.DistributedArray(size=10), "DistributedArray: ctx, the context, is missing"),
        (lambda: dtl.DistributedTensor((3, 4)), "(ctx, (3, 4))"),
        (lambda: dtl.DistributedTensor(shape=3), "(ctx, shape=3)"),
    ):
        refused(call, TYPE, 101, *text.split(".*"))
