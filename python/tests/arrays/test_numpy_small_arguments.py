"""Calls of NumPy's functions whose first argument is an array, or that take edges, axes and counts from containers."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import pytest
from divisions import DIVISIONS, vector
from numpy_calls import same

import dtl

F, I, B = np.arange(6.0), np.arange(6), np.arange(6) > 2  # noqa: E741 - floats, integers, bool
T = F.reshape(3, 2)

#: Each is called with a function that returns an array as it is, or a container of it.
FIRST: dict[str, Callable[[Any], Any]] = {
    "all where": lambda c: np.all(B, where=c(B)),
    "mean where, of a list": lambda c: np.mean([1, 2, 3, 4, 5, 6], where=c(B)),
    "sum to a container": lambda c: np.sum(T, axis=0, out=c(np.zeros(2))),
    "cumsum to a container": lambda c: np.cumsum(F, out=c(np.zeros(6))),
    "average with weights": lambda c: np.average(F, weights=c(F)),
    "histogram with weights": lambda c: np.histogram(F, weights=c(F)),
    "cov with weights": lambda c: np.cov(np.arange(12.0).reshape(2, 6), aweights=c(F)),
    "insert values": lambda c: np.insert(F, [1], c(F[:1])),
    "gradient over places": lambda c: np.gradient(F**2, c(F)),
    "piecewise": lambda c: np.piecewise(F, [c(B)], [1.0]),
    "round to a container": lambda c: np.round(F, out=c(np.zeros(6))),
    "median to a container": lambda c: np.median(T, axis=0, out=c(np.zeros(2))),
}

SMALL: dict[str, Callable[[Any], Any]] = {
    "histogram by edges": lambda c: np.histogram(c(F), bins=c(np.array([0.0, 1.5, 4.0]))),
    "histogram of an array by edges": lambda c: np.histogram(F, c(np.array([0.0, 1.5, 4.0]))),
    "digitize": lambda c: np.digitize(c(F), c(np.array([1.0, 3.0]))),
    "digitize an array": lambda c: np.digitize(F, bins=c(np.array([1.0, 3.0]))),
    "interp": lambda c: np.interp(c(F), c(np.array([0.0, 2.0, 9.0])), c(np.array([5.0, -1.0, 2.0]))),
    "interp of an array": lambda c: np.interp(F, np.array([0.0, 2.0, 9.0]), c(np.array([5.0, -1.0, 2.0]))),
    "delete": lambda c: np.delete(c(F), c(np.array([4, 0]))),
    "insert at indices": lambda c: np.insert(c(F), c(np.array([4, 0])), -1.0),
    "repeat": lambda c: np.repeat(c(F), c(I)),
    "tile": lambda c: np.tile(c(F), c(np.array([2, 1]))),
    "quantile": lambda c: np.quantile(c(F), c(np.array([0.1, 0.5]))),
    "percentile along an axis": lambda c: np.percentile(c(T), c(np.array([10.0, 50.0])), axis=0),
    "roll": lambda c: np.roll(c(F), c(np.array([2]))),
    "reshape": lambda c: np.reshape(c(F), c(np.array([3, 2]))),
    "moveaxis": lambda c: np.moveaxis(c(T), c(np.array([0, 1])), c(np.array([1, 0]))),
    "split": lambda c: np.split(c(F), c(np.array([1, 4]))),
    "unravel_index": lambda c: np.unravel_index(c(I), c(np.array([2, 3]))),
    "ravel_multi_index": lambda c: np.ravel_multi_index((c(I % 2), c(I % 3)), c(np.array([2, 3]))),
    "reshape, a method": lambda c: c(F).reshape(c(np.array([3, 2]))),
    "transpose, a method": lambda c: c(T).transpose(c(np.array([1, 0]))),
    "repeat, a method": lambda c: c(F).repeat(c(I)),
    "interp by names": lambda c: np.interp(x=F, xp=c(np.array([0.0, 2.0, 9.0])), fp=[5.0, -1.0, 2.0]),
    "polyval": lambda c: np.polyval(c(np.array([1.0, 2.0])), c(F)),
    "lexsort of keys that are divided otherwise": lambda c: np.lexsort((F[::-1], c(F % 2))),
    "array_equal of text": lambda c: np.array_equal(c(np.array(["a", "bc"])), np.array(["a", "bc"])),
    "array_equal of other text": lambda c: np.array_equal(np.array(["a", "bc"]), c(np.array(["a", "b"]))),
}


def _checked(ctx: Any, case: str, call: Callable[[Any], Any], name: str) -> None:
    def given(array: Any) -> Any:
        return vector(ctx, array, name) if array.ndim == 1 else dtl.asarray(ctx, array)

    expected, found = call(lambda array: array), call(given)
    if case == "quantile":  # a few numbers, which every rank has
        same(found, expected, everywhere=True)
    elif case.startswith("histogram"):  # the edges are on every rank
        same(found[1], expected[1], everywhere=True)
        expected, found = expected[0], found[0]
        same(found, expected, everywhere=isinstance(found, np.ndarray))
    else:
        same(found, expected)


@pytest.mark.parametrize("case", FIRST)
def test_arrays_beside_containers(ctx: Any, case: str) -> None:
    _checked(ctx, case, FIRST[case], "block")


@pytest.mark.parametrize("name", DIVISIONS)
@pytest.mark.parametrize("case", SMALL)
def test_what_every_rank_needs_whole(ctx: Any, case: str, name: str) -> None:
    _checked(ctx, case, SMALL[case], name)


def test_interp_of_a_number(ctx: Any) -> None:
    places, values = vector(ctx, np.array([0.0, 2.0])), vector(ctx, np.array([5.0, 1.0]))
    assert np.interp(0.5, places, values) == 4.0


@pytest.mark.parametrize("name", DIVISIONS)
def test_lexsort_of_keys_that_are_divided_otherwise(ctx: Any, name: str) -> None:
    first, last = np.array([3, 1, 2, 1, 0]), np.array([1, 0, 1, 0, 1])
    same(np.lexsort((vector(ctx, first, name), vector(ctx, last, "cyclic"))), np.lexsort((first, last)))


def test_a_container_that_numpy_would_iterate_says_what_to_do(ctx: Any) -> None:
    with pytest.raises(dtl.InvalidTypeError, match="a container is not iterated"):
        np.poly(dtl.asarray(ctx, T))
    with pytest.raises(dtl.InvalidTypeError, match="a container is not iterated"):
        list(vector(ctx, F))


def test_the_words_of_a_call_with_many_containers(ctx: Any) -> None:
    parts = [np.full((1, 1), float(number)) for number in range(40)]
    same(np.hstack([dtl.asarray(ctx, each) for each in parts]), np.hstack(parts))
