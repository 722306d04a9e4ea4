"""Containers beside arrays whose classes change what operators and functions do, by NumPy's protocol of classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from divisions import assert_holds
from older_numpy import VERSION

import dtl

pytestmark = pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")

A = np.array([[1.0, 2], [3, 4]])


class Plain(np.ndarray):  # type: ignore[type-arg]
    """A subclass of arrays that changes nothing, as memory maps and arrays of records are."""


class Preferred(np.ndarray):  # type: ignore[type-arg]
    """A subclass that has operators of its own, and says so by its priority."""

    __array_priority__ = 15


class OwnUfuncs(np.ndarray):  # type: ignore[type-arg]
    """A subclass that computes ufuncs itself."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return "own ufunc"


class Quantity(np.ndarray):  # type: ignore[type-arg]
    """A subclass that computes ufuncs and functions itself, of its own class and arrays alone."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return NotImplemented

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return NotImplemented


CALLS: dict[str, Any] = {
    "c * x": lambda c, x: c * x,
    "x * c": lambda c, x: x * c,
    "c @ x": lambda c, x: c @ x,
    "x @ c": lambda c, x: x @ c,
    "c == x": lambda c, x: c == x,
    "c **= x": lambda c, x: c.copy().__ipow__(x),
    "np.multiply": np.multiply,
    "np.multiply, where": lambda c, x: np.multiply(c, 2, where=x > 1, out=c.copy()),
    "np.where": lambda c, x: np.where(c > 1, c, x),
    "np.concatenate": lambda c, x: np.concatenate([c, x]),
    "np.dot": lambda c, x: np.dot(x, c),
    "np.isclose": np.isclose,
    "dtl.where": lambda c, x: dtl.where(c > 1, c, x),
}


@pytest.mark.parametrize("call", [name for name in CALLS if name != "np.multiply, where"])
@pytest.mark.parametrize("kind", ["matrix", "masked", "nothing masked", "Preferred", "Quantity"])
def test_arrays_that_redefine_are_refused(ctx: dtl.Context, kind: str, call: str) -> None:
    """np.matrix multiplies matrices with *, and a container would do so element by element and say nothing."""
    arrays: dict[str, Any] = {
        "matrix": np.matrix(A),
        "masked": np.ma.array(A, mask=A > 3),
        "nothing masked": np.ma.array(A),
        "Preferred": A.view(Preferred),
        "Quantity": A.view(Quantity),
    }
    with pytest.raises(TypeError):
        CALLS[call](dtl.asarray(ctx, A), arrays[kind])
    assert dtl.allreduce(ctx, 1) == ctx.size


def test_the_refusal_says_what_to_give(ctx: dtl.Context) -> None:
    for call in (CALLS["c * x"], CALLS["np.concatenate"]):
        with pytest.raises(dtl.InvalidTypeError, match=r"type matrix.*np.asarray\(x\)"):
            call(dtl.asarray(ctx, A), np.matrix(A))


def test_a_class_that_computes_nothing_with_containers_is_named(ctx: dtl.Context) -> None:
    """Where NumPy would print what every operand's method returned."""
    c, x = dtl.asarray(ctx, A), A.view(Quantity)
    calls = [CALLS["c * x"], CALLS["x * c"], CALLS["c @ x"]]
    if VERSION >= "1.23.0":  # before, NumPy does not ask what where is
        calls.append(lambda c, x: np.sin(A, out=(x,), where=c > 1))
    for call in calls:
        with pytest.raises(dtl.InvalidTypeError, match="type Quantity, which does not compute with containers"):
            call(c, x)


def test_a_class_with_ufuncs_of_its_own_computes_them(ctx: dtl.Context) -> None:
    c, x = dtl.asarray(ctx, A), A.view(OwnUfuncs)
    assert c * x == x * c == np.add(c, x) == "own ufunc"
    with pytest.raises(TypeError):
        np.where(c > 1, c, x)


@pytest.mark.parametrize("call", [name for name in CALLS if name != "dtl.where"])
def test_arrays_of_ordinary_subclasses(ctx: dtl.Context, call: str) -> None:
    """They are arrays: the elements are right."""
    assert_holds(CALLS[call](dtl.asarray(ctx, A), A.view(Plain)), np.asarray(CALLS[call](A, A)))


@pytest.mark.parametrize("make", [np.matrix, np.ma.array])
def test_elements_are_taken_where_no_operator_is_meant(ctx: dtl.Context, make: Any) -> None:
    """As NumPy's arrays take them."""
    c = dtl.zeros(ctx, (2, 2))
    c[...] = make(A)
    assert_holds(c, A)
    assert_holds(dtl.asarray(ctx, make(A)), A)
