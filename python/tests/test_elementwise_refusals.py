"""What ufuncs and operators on containers refuse: with nothing written, and on this rank alone."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Callable

import numpy as np
import pandas as pd
import pytest
from divisions import DIVISIONS, assert_holds, vector
from refusals import ARGUMENT, TYPE, refused

import dtl

pytestmark = pytest.mark.few("refused on each rank by itself")


@pytest.mark.parametrize("name", DIVISIONS[1:])
def test_different_partitions(ctx: dtl.Context, name: str) -> None:
    """They are different on one rank, too, where the parts would fit: a program means the same on any number."""
    x, y = vector(ctx, np.arange(10.0)), vector(ctx, np.arange(10.0), name)
    if name == "explicit" and ctx.size == 1:
        x += y  # one range on each rank, of equal sizes, is one partition whatever it is called
        return
    for one, other in ((x, y), (y, x)):
        error = refused(lambda one=one, other=other: one + other, ARGUMENT, 100, "redistribute one of them first")
        assert "BLOCK over" in str(error)
    refused(lambda: np.add(x, 1, out=y), ARGUMENT, 100, "divided differently")
    refused(lambda: np.add(x, 1, where=y > 0), ARGUMENT, 100, "divided differently")
    with pytest.raises(ValueError, match="divided differently"):
        x += y
    assert_holds(x, np.arange(10.0))


def test_blocks_of_another_size(ctx: dtl.Context) -> None:
    options = {"partition": dtl.PARTITION_BLOCK_CYCLIC}
    x = dtl.DistributedVector(ctx, 10, block_size=2, **options)
    y = dtl.DistributedVector(ctx, 10, block_size=3, **options)
    refused(lambda: x + y, ARGUMENT, 100, "BLOCK_CYCLIC of 2 over")


def test_different_shapes(ctx: dtl.Context) -> None:
    x, y = vector(ctx, np.arange(10.0)), vector(ctx, np.arange(1.0))
    refused(lambda: x + y, ARGUMENT, 100, "np.add: the shapes (10,) and (1,) differ")
    tensor = dtl.DistributedTensor(ctx, (10, 1))
    refused(lambda: x + tensor, ARGUMENT, 100, "(10,) and (10, 1) differ")
    refused(lambda: np.sqrt(x, out=y), ARGUMENT, 100, "differ")


def test_different_contexts(ctx: dtl.Context) -> None:
    with ctx.dup() as other:
        x, y = vector(ctx, np.arange(10.0)), vector(other, np.arange(10.0))
        refused(lambda: x + y, ARGUMENT, 100, "different contexts; dtl.RedistributionPlan")


@pytest.mark.parametrize("array", [np.ones(10), np.ones(1), [1.0] * 10, (1,), np.ones((2, 5)), np.ma.masked], ids=repr)
def test_what_every_rank_has_whole(ctx: dtl.Context, array: Any) -> None:
    x = vector(ctx, np.arange(10.0))
    for function in (np.add, np.equal):
        refused(lambda function=function: function(x, array), TYPE, 101, "make a container of it with from_numpy")
        refused(lambda function=function: function(array, x), TYPE, 101, "from_numpy")
    assert_holds(x, np.arange(10.0))


def test_array_that_a_container_is_added_to(ctx: dtl.Context) -> None:
    x, array = vector(ctx, np.arange(10.0)), np.ones(10)
    with pytest.raises(TypeError, match="from_numpy"):
        array += x
    refused(lambda: np.add(x, 1, out=array), TYPE, 101, "out is of type ndarray; it must be a container")
    assert (array == 1).all()


@pytest.mark.parametrize("value", [None, "text", b"bytes", object(), Fraction(1, 2), {}, np.datetime64("2020-01-01")])
def test_what_is_no_number(ctx: dtl.Context, value: Any) -> None:
    x = vector(ctx, np.arange(10.0))
    for function in (np.add, np.multiply, np.logical_or):
        with pytest.raises(dtl.InvalidTypeError):
            function(x, value)
        with pytest.raises(dtl.InvalidTypeError):
            function(value, x)


def test_types_of_other_libraries_answer_for_themselves(ctx: dtl.Context) -> None:
    class Mine:
        def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> str:
            return f"Mine.{ufunc.__name__}"

    class Refuses:
        __array_ufunc__ = None

        def __radd__(self, other: Any) -> str:
            return "Refuses.__radd__"

    x: Any = vector(ctx, np.arange(10.0))
    assert x + Mine() == "Mine.add"
    assert Mine().__array_ufunc__(np.add, "__call__") == np.add(Mine(), x)
    assert x + Refuses() == "Refuses.__radd__"
    with pytest.raises(TypeError):
        x + pd.Series(np.ones(10))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "bool"])
def test_result_that_no_container_holds(ctx: dtl.Context, dtype: str) -> None:
    x = vector(ctx, np.ones(10, dtype))
    refused(lambda: np.sqrt(x), TYPE, 101, "np.sqrt: the result is of float16, which no container holds; dtype=")
    y = vector(ctx, np.zeros(10, np.float32))
    np.sqrt(x, out=y)  # the result is cast to it
    assert_holds(y, np.ones(10, np.float32))
    refused(lambda: np.add(x, 1, dtype=np.longdouble), TYPE, 101, np.dtype(np.longdouble).name)
    refused(lambda: np.add(x, 1, dtype=object), TYPE, 101, "object")


def test_of_several_results_none_is_written_if_one_is_refused(ctx: dtl.Context) -> None:
    x, whole = vector(ctx, np.arange(10.0)), vector(ctx, np.full(10, 7.0))
    integers = vector(ctx, np.full(10, 7))
    refused(lambda: np.modf(x, out=(whole, integers)), TYPE, 101, "same_kind")
    assert_holds(whole, np.full(10, 7.0))


def test_casting(ctx: dtl.Context) -> None:
    x = vector(ctx, np.arange(10))
    with pytest.raises(TypeError, match="same_kind"):
        x += 1.5
    with pytest.raises(TypeError, match="same_kind"):
        x /= 2
    refused(lambda: np.add(x, 1, out=x, casting="no", dtype="i4"), TYPE, 101, "casting rule 'no'")
    assert_holds(x, np.arange(10))


@pytest.mark.parametrize("size", [1, 10])
def test_scalar_that_numpy_refuses_is_refused_on_ranks_without_elements(ctx: dtl.Context, size: int) -> None:
    x = vector(ctx, np.arange(size))
    refused(lambda: x**-1, ARGUMENT, 100, "negative integer powers")
    small = vector(ctx, np.zeros(size, np.int8))
    if np.lib.NumpyVersion(np.__version__) >= "2.0.0":
        error = refused(lambda: small + 1000, dtl.OverflowError, 105, "1000 out of bounds for int8")
        assert isinstance(error, OverflowError)
    assert_holds(small, np.zeros(size, np.int8))


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("np.subtract.reduce", np.subtract.reduce),
        ("np.subtract.accumulate", np.subtract.accumulate),
        ("np.add.reduceat", lambda x: np.add.reduceat(x, [0, 3])),
        ("np.multiply.outer", lambda x: np.multiply.outer(x, x)),
        ("np.add.at", lambda x: np.add.at(x, [0], 1)),
    ],
)
def test_other_methods_of_ufuncs(ctx: dtl.Context, name: str, call: Callable[[Any], Any]) -> None:
    x = vector(ctx, np.arange(10.0))
    refused(lambda: call(x), TYPE, 101, f"{name}: no containers; use it on local_view()")
    assert_holds(x, np.arange(10.0))


def test_products_with_arrays(ctx: dtl.Context) -> None:
    x: Any = dtl.DistributedTensor(ctx, (3, 3))
    refused(lambda: x @ np.ones((3, 3)), TYPE, 101, "b must be a distributed container")
    refused(lambda: np.matmul(x, x, out=x), TYPE, 101, "np.matmul: no containers")


def test_masks(ctx: dtl.Context) -> None:
    x = vector(ctx, np.arange(10.0))
    refused(lambda: np.add(x, 1, where=np.ones(10, bool)), TYPE, 101, "it must be a container of bool")
    refused(lambda: np.add(x, 1, where=x), TYPE, 101, "where holds float64; it must hold bool")


def test_closed_containers(ctx: dtl.Context) -> None:
    x, y = vector(ctx, np.arange(10.0)), vector(ctx, np.arange(10.0))
    y.close()
    for call in (lambda: x + y, lambda: y + x, lambda: y + 1, lambda: np.add(x, 1, out=y), lambda: -y):
        with pytest.raises(dtl.InvalidHandleError):
            call()
    assert_holds(x, np.arange(10.0))


def test_truth(ctx: dtl.Context) -> None:
    x = vector(ctx, np.arange(10.0))
    for use in (bool, lambda container: not container, lambda container: 0 < container < 5):
        error = refused(lambda use=use: use(x), ARGUMENT, 100, "neither true nor false")
        assert isinstance(error, ValueError)
    refused(lambda: bool(vector(ctx, np.zeros(0))), ARGUMENT, 100, "neither true nor false")
