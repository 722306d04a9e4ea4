"""Containers as arrays: length, copies, and other element types. Conversions: test_numpy_functions.py."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from divisions import DIVISIONS, assert_holds, vector
from oracle import DTYPES, values
from refusals import TYPE, refused

import dtl


def test_length_and_hash(ctx: dtl.Context) -> None:
    x = vector(ctx, np.arange(10.0))
    assert len(x) == 10
    assert len(dtl.DistributedTensor(ctx, (3, 4))) == 3
    with pytest.raises(TypeError, match="unhashable"):
        hash(x)


@pytest.mark.parametrize("name", DIVISIONS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_astype(ctx: dtl.Context, name: str, dtype: str) -> None:
    array = np.arange(10) % 2
    x = vector(ctx, array, name)
    y = x.astype(dtype)
    assert type(y) is type(x)
    assert_holds(y, array.astype(dtype))
    y += y
    assert_holds(x, array)


def test_astype_casts_as_numpy_does(ctx: dtl.Context) -> None:
    array = np.array([-1.5, 2.5, 300.0, 0.0])
    x = vector(ctx, array)
    assert_holds(x.astype(bool), array.astype(bool))
    assert_holds(x.astype("i4"), array.astype("i4"))
    assert x.astype("f8", copy=False) is x
    assert x.astype("f8") is not x
    assert x.astype("f4", copy=False).dtype == np.float32
    refused(
        lambda: x.astype("i8", casting="same_kind"), TYPE, 101, "elements of float64 do not become int64", "same_kind"
    )
    refused(lambda: x.astype("f4", casting="safe"), TYPE, 101, "'safe'")
    for dtype in ("longdouble", object, "no type"):
        with pytest.raises(dtl.InvalidArgumentError):
            x.astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_copy(ctx: dtl.Context, dtype: str) -> None:
    array = values(dtype, (11,), 3)
    x = vector(ctx, array, "hash")
    for other in (x.copy(), copy.copy(x), copy.deepcopy(x), copy.deepcopy([x])[0]):
        assert type(other) is dtl.DistributedVector
        assert_holds(other, array)
        assert not np.shares_memory(other.local_view(), x.local_view())
        other.local_view()[...] = 0
        other.close()
    assert_holds(x, array)


def test_copy_of_a_span_owns_its_elements(ctx: dtl.Context) -> None:
    x = vector(ctx, np.arange(10.0), "cyclic")
    y = dtl.DistributedSpan(x).subspan(2, 5).copy()
    x.close()
    assert type(y) is dtl.DistributedVector
    assert_holds(y, np.arange(2.0, 7))


def test_no_pickle(ctx: dtl.Context) -> None:
    with pytest.raises(TypeError):
        pickle.dumps(vector(ctx, np.arange(3)))


#: Methods of arrays, and of what they are called.
METHODS: tuple[tuple[str, Any], ...] = (
    ("table", lambda a: a.argsort()),
    ("table", lambda a: a.argsort(0)),
    ("table", lambda a: a.argsort(None)),
    ("table", lambda a: a.repeat(2, 0)),
    ("table", lambda a: a.repeat([1, 0, 2, 1, 1], 0)),
    ("table", lambda a: a.swapaxes(0, 1)),
    ("table", lambda a: a.diagonal(1)),
    ("table", lambda a: a.trace()),
    ("table", lambda a: a.item(7)),
    ("table", lambda a: a.item((1, 2))),
    ("table", lambda a: a.item(1, 2)),
    ("table", lambda a: a[3:4, 2:3].item()),
    ("complex", lambda a: a.real),
    ("complex", lambda a: a.imag),
    ("complex", lambda a: a.conj()),
    ("complex", lambda a: a.conjugate()),
    ("sorted", lambda a: a.searchsorted([3, 4, 99])),
    ("sorted", lambda a: a.searchsorted([3, 4, 99], "right")),
)


@pytest.mark.parametrize("name", ["block", "cyclic"])
def test_methods_of_arrays(ctx: dtl.Context, name: str) -> None:
    table = np.random.default_rng(3).permutation(20).reshape(5, 4)
    known = {"table": table, "complex": np.arange(7) * (1 - 2j), "sorted": np.arange(0, 30, 3)}
    for of, call in METHODS:
        got, expected = call(dtl.asarray(ctx, known[of], partition=name)), call(known[of])
        if isinstance(got, np.ndarray):
            np.testing.assert_array_equal(got, expected)
        elif isinstance(expected, np.ndarray):
            assert_holds(got, expected)
        else:
            assert (type(got), got) == (type(expected), expected)
    for axis in (0, 1, -1):
        a, b = dtl.asarray(ctx, table, partition=name), table.copy()
        assert a.sort(axis) is None
        b.sort(axis)
        assert_holds(a, b)
    a.fill(3)
    assert_holds(a, np.full_like(table, 3))
    with pytest.raises(dtl.InvalidArgumentError, match="item: one of 20 elements"):
        a.item()
    for index in (20, (5, 0)):
        with pytest.raises(dtl.BoundsError):
            a.item(index)


def test_lists_of_text_and_dates(ctx: dtl.Context) -> None:
    days = [np.datetime64("2024-02-29"), np.datetime64("NaT", "D")]
    for given in (["b", "aa"], (b"x", b"yz"), days):
        assert_holds(dtl.asarray(ctx, given), np.array(given))
    with pytest.raises(dtl.InvalidTypeError, match="dtype object"):
        dtl.asarray(ctx, ["x", None])
