"""What ufuncs and operators on containers refuse: with nothing written, and on this rank alone."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Callable

import numpy as np
import pandas as pd
import pytest
from divisions import assert_holds, vector
from older_numpy import VERSION
from refusals import ARGUMENT, TYPE, refused

import dtl

pytestmark = pytest.mark.few("refused on each rank by itself")


def test_different_shapes(ctx: dtl.Context) -> None:
    x, y = vector(ctx, np.arange(10.0)), vector(ctx, np.arange(3.0))
    refused(lambda: x + y, ARGUMENT, 100, "np.add: operands could not be broadcast together with shapes (10,) (3,)")
    refused(lambda: x + np.ones(3), ARGUMENT, 100, "(10,) (3,)")
    refused(lambda: np.sqrt(x, out=vector(ctx, np.arange(1.0))), ARGUMENT, 100, "out has shape (1,)")
    refused(lambda: np.add(x, 1, where=np.ones(4, bool)), ARGUMENT, 100, "(4,)")
    ragged = (ARGUMENT, 100, "an operand is no array") if VERSION >= "1.24.0" else (TYPE, 101, "holds object")
    refused(lambda: np.add(x, [[1], [1, 2]]), *ragged)


def test_several_results_divided_differently(ctx: dtl.Context) -> None:
    x, y = vector(ctx, np.arange(10.0)), vector(ctx, np.arange(10.0), "cyclic")
    refused(lambda: np.divmod(x, 2, out=(x, y)), ARGUMENT, 100, "divided differently")
    assert_holds(x, np.arange(10.0))


def test_different_contexts(ctx: dtl.Context) -> None:
    with ctx.dup() as other:
        x, y = vector(ctx, np.arange(10.0)), vector(other, np.arange(10.0))
        refused(lambda: x + y, ARGUMENT, 100, "different contexts; dtl.RedistributionPlan")


@pytest.mark.parametrize(
    "array",
    [np.ma.masked, np.ma.array([1, 2], mask=[0, 1]), np.array(["a"]), np.array(["2020"], "M8"), ["a"]],
    ids=repr,
)
def test_what_every_rank_has_whole_and_is_no_numbers(ctx: dtl.Context, array: Any) -> None:
    x = vector(ctx, np.arange(10.0))
    for function in (np.add, np.equal):
        with pytest.raises(dtl.InvalidTypeError, match="an operand"):
            function(x, array)
    assert_holds(x, np.arange(10.0))


def test_array_that_a_container_is_added_to(ctx: dtl.Context) -> None:
    x, array = vector(ctx, np.arange(10.0)), np.ones(10)
    with pytest.raises(TypeError, match="out is of type ndarray; it must be a container"):
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
    assert_holds(np.sqrt(x), np.ones(10, np.float16))
    y = vector(ctx, np.zeros(10, np.float32))
    np.sqrt(x, out=y)  # the result is cast to it
    assert_holds(y, np.ones(10, np.float32))
    no_container = "which no container holds; dtype= chooses another"
    refused(lambda: np.add(x, 1, dtype=np.longdouble), TYPE, 101, np.dtype(np.longdouble).name, no_container)
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
    with pytest.raises(TypeError, match=r"same_kind|No loop"):  # NumPy 1.20 says the latter
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
    ],
)
def test_other_methods_of_ufuncs(ctx: dtl.Context, name: str, call: Callable[[Any], Any]) -> None:
    x = vector(ctx, np.arange(10.0))
    refused(lambda: call(x), TYPE, 101, f"{name}: no containers; use it on local_view()")
    assert_holds(x, np.arange(10.0))


def test_products_with_lists_and_outputs(ctx: dtl.Context) -> None:
    x: Any = dtl.DistributedTensor(ctx, (3, 3))
    refused(lambda: x @ [[1.0, 2.0, 3.0]] * 3, ARGUMENT, 100, "shapes (3, 3) and (1, 3) not aligned")
    refused(lambda: np.matmul(x, x, out=x[:2]), ARGUMENT, 100, "out has shape (2, 3), and the result shape (3, 3)")


def test_masks(ctx: dtl.Context) -> None:
    x = vector(ctx, np.arange(10.0))
    refused(lambda: np.add(x, 1, where=3), TYPE, 101, "it must be a container or an array of bool")
    refused(lambda: np.add(x, 1, where=np.ones(10)), TYPE, 101, "where holds float64; it must hold bool")
    refused(lambda: np.add(x, 1, where=x), TYPE, 101, "where holds float64; it must hold bool")


def test_the_extents_of_closed_containers(ctx: dtl.Context) -> None:
    x = vector(ctx, np.arange(9.0))
    made = x + 1
    assert made.shape == (9,)
    assert made.local_size == x.local_size
    made.close()
    for ask in (lambda: made.shape, lambda: made.local_size, lambda: made.size):
        with pytest.raises(dtl.InvalidHandleError, match="the container is closed"):
            ask()
    assert x.shape == (9,)


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


def test_in(ctx: dtl.Context) -> None:
    for name in ("block", "cyclic"):
        x = vector(ctx, np.arange(10.0), name)
        assert 9 in x
        assert 10 not in x
    with pytest.raises(dtl.InvalidTypeError, match="of type str"):
        assert "9" in x
