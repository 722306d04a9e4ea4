"""Containers as arrays: conversion on one rank, refusal on several, copies, and other element types."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from divisions import DIVISIONS, assert_holds, vector
from oracle import DTYPES, values
from refusals import ARGUMENT, TYPE, refused

import dtl

NUMPY_2 = np.lib.NumpyVersion(np.__version__) >= "2.0.0"


@pytest.mark.parametrize("name", DIVISIONS)
@pytest.mark.parametrize("size", [0, 1, 10])
def test_no_copy_on_one_rank(alone: dtl.Context, name: str, size: int) -> None:
    x: Any = vector(alone, np.arange(size), name)
    for array in (np.asarray(x), np.asarray(x, np.int64), x.__array__(), x.__array__(None), x.__array__(copy=False)):
        assert type(array) is np.ndarray
        assert array.dtype == np.int64
        assert array.tolist() == list(range(size))
        assert size == 0 or np.shares_memory(array, x.local_view())
        array[:] = np.arange(size)
    assert x.views_out > 0
    del array
    assert x.views_out == 0


def test_tensor_and_span_on_one_rank(alone: dtl.Context) -> None:
    tensor: Any = dtl.DistributedTensor(alone, (3, 4))
    np.asarray(tensor)[1, 2] = 5
    assert tensor.local_view()[1, 2] == 5
    span: Any = dtl.DistributedSpan(tensor).subspan(1, 1)
    assert np.asarray(span).tolist() == [[0, 0, 5, 0]]
    assert np.shares_memory(np.asarray(span), tensor.local_view())


def test_copies_on_one_rank(alone: dtl.Context) -> None:
    x: Any = vector(alone, np.arange(10))
    for array in (np.array(x), x.__array__(copy=True), np.asarray(x, np.float32), x.__array__(np.float32)):
        assert array.tolist() == list(range(10))
        assert not np.shares_memory(array, x.local_view())
    assert np.array(x, np.complex64).dtype == np.complex64
    if NUMPY_2:
        assert np.shares_memory(np.array(x, copy=None), x.local_view())
        assert np.shares_memory(np.array(x, copy=False), x.local_view())
        with pytest.raises(ValueError, match="by a copy only"):
            np.array(x, np.float32, copy=False)
    refused(lambda: x.__array__(np.float32, copy=False), ARGUMENT, 100, "elements of int64")


def test_functions_of_numpy_on_one_rank(alone: dtl.Context) -> None:
    x: Any = vector(alone, np.arange(10.0))
    assert np.mean(x) == 4.5
    assert np.concatenate([x, x]).shape == (20,)
    assert np.dot(x, x) == 285
    np.testing.assert_array_equal(x, np.arange(10.0))


@pytest.mark.mpi(min_size=2)
@pytest.mark.parametrize("name", DIVISIONS)
def test_refused_on_several_ranks(ctx: dtl.Context, name: str) -> None:
    x: Any = vector(ctx, np.arange(10.0), name)
    uses = [np.asarray, np.array, np.sort_complex, lambda given: np.concatenate([given, given]), np.ones(10).dot]
    uses += [lambda given: np.asarray(given, np.float32), lambda given: np.ones(10)[given]]
    for use in uses:
        error = refused(lambda use=use: use(x), TYPE, 101, "to_numpy()", "gather_to(root)", f"on {ctx.size} ranks")
        assert isinstance(error, (TypeError, ValueError))
    array = np.zeros(10)
    with pytest.raises(TypeError, match="gather_to"):
        array[:] = x
    assert not array.any()


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
    refused(lambda: x.astype("f4", "safe"), TYPE, 101, "'safe'")
    for dtype in ("float16", object, "U3", "no type", ">f8"):
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
