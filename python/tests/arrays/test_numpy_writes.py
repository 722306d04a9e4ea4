"""NumPy's functions that write to elements, or take them, with values, masks and indices of all forms."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import pytest
from divisions import DIVISIONS, assert_holds, vector
from numpy_calls import ARRAYS, changed, copied, held, same
from older_numpy import VERSION
from refusals import ARGUMENT, TYPE, refused

import dtl

LARGE = 2**60 + np.arange(7)


CASES: dict[str, Callable[[Any], Any]] = {
    "put nothing": lambda g: changed(np.put, g.v, [0, 9], []),
    "putmask without values": lambda g: changed(np.putmask, g.v, g.b, []),
    "place without values where nothing is true": lambda g: changed(np.place, g.v, g.v > 99, []),
    "fill_diagonal without values": lambda g: changed(np.fill_diagonal, g.t, []),
    "take_along_axis of all": lambda g: np.take_along_axis(g.t, np.array([1, 3, -1]), axis=None),
    "take_along_axis of all, by a container": lambda g: np.take_along_axis(g.u, g.i, axis=None),
    "put_along_axis of arrays": lambda g: changed(np.put_along_axis, g.t, np.array([[0], [1], [3], [2], [0]]), 50, 1),
    "put_along_axis of indices that spread": lambda g: changed(
        np.put_along_axis, g.t, np.array([[3, 1]]), np.array([[-1], [-2], [-3], [-4], [-5]]), 1
    ),
    "put_along_axis of all": lambda g: changed(np.put_along_axis, g.t, np.array([4, 19]), np.array([7, 8]), None),
    "copyto with leading dimensions": lambda g: copied(g.t, g.t[np.newaxis] + 1),
    "copyto of what casting allows": lambda g: copied(g.i, np.array(2.5), casting="unsafe"),
    "copyto of a container that casting allows": lambda g: copied(g.i, g.v, casting="unsafe"),
    "copyto where a number says nothing": lambda g: copied(g.v, g.w, where=False),
    "copyto of a list where a mask spreads": lambda g: copied(g.t, [1, 2, 3, 4], where=g.t[:, :1] > 3),
    "reshape to no dimensions": lambda g: np.reshape(g.v[:1], ()),
    "reshape to no dimensions, a method": lambda g: g.t[:1, :1].reshape(()),
    "take of each": lambda g: g.v.take([[0, 1], [2, -1]]),
}


@pytest.mark.parametrize("name", CASES)
def test_as_numpy_does(ctx: dtl.Context, name: str) -> None:
    case = CASES[name]
    for partition in ("block", DIVISIONS[len(name) % len(DIVISIONS)]):
        same(case(held(ctx, partition)), case(ARRAYS))


def test_copyto_keeps_large_integers_that_are_not_chosen(ctx: dtl.Context) -> None:
    """They are no float64 on the way, though what is copied is."""
    for value in (np.ones(7), vector(ctx, np.ones(7))):
        c, whole = vector(ctx, LARGE), LARGE.copy()
        np.copyto(c, value, casting="unsafe", where=vector(ctx, LARGE % 2 == 0))
        np.copyto(whole, np.ones(7), casting="unsafe", where=LARGE % 2 == 0)
        assert_holds(c, whole)


def test_one_element_for_many(ctx: dtl.Context) -> None:
    whole = np.arange(12.0).reshape(4, 3)
    rows, cells = np.array([True, False, True, True]), whole % 2 == 0
    one = dtl.asarray(ctx, [-1.0])
    for partition in ("block", "cyclic", "replicated"):
        for key in (rows, cells, [0, 2], (slice(None), 1), ..., (2, 1)):
            keys = [key]
            if isinstance(key, (list, np.ndarray)):
                keys.append(dtl.asarray(ctx, key, partition=partition))
            for each in keys:
                c, expected = dtl.asarray(ctx, whole, partition=partition), whole.copy()
                c[each] = one
                expected[key] = -1.0
                same(c, expected)


def test_containers_spread_where_others_choose(ctx: dtl.Context) -> None:
    whole = np.arange(12.0).reshape(4, 3)
    rows = np.array([True, False, True, True])
    for key, value in (
        (rows, np.ones((3, 1))),
        (rows, np.arange(3.0)),
        (rows, np.arange(9.0).reshape(1, 3, 3)),
        (np.array([3, 0]), np.arange(3.0)),
        (np.array([3, 0]), np.arange(2.0).reshape(2, 1)),
    ):
        for given in (value, dtl.asarray(ctx, value, partition="cyclic")):
            c, expected = dtl.asarray(ctx, whole), whole.copy()
            c[dtl.asarray(ctx, key)] = given
            expected[key] = value
            same(c, expected)


def test_refusals(ctx: dtl.Context) -> None:
    g = held(ctx, "block")
    refused(lambda: np.place(g.v, g.b, []), ARGUMENT, 100, "no values for the elements")
    refused(lambda: np.putmask(g.v, g.t > 0, []), ARGUMENT, 100, "20 and 7 elements")
    refused(lambda: np.copyto(g.v, 1, casting="most"), ARGUMENT, 100, "casting must be")
    refused(lambda: np.copyto(g.i, g.v), TYPE, 101, "the rule 'same_kind'")
    refused(lambda: np.put_along_axis(g.t, g.i, 1, 1), ARGUMENT, 100, "along axis 1")
    refused(lambda: np.take_along_axis(g.t, g.t.astype(int), None), ARGUMENT, 100, "single dimension")
    refused(lambda: np.reshape(g.v, ()), ARGUMENT, 100, "size 7 into shape ()")
    same(g.v, ARRAYS.v)


@pytest.mark.parametrize("partition", ["block", "cyclic", "hash", "replicated"])
def test_as_many_dimensions_as_there_can_be(ctx: dtl.Context, partition: str) -> None:
    ndim = 32 if VERSION < "2.0.0" else 64
    whole = np.arange(6.0).reshape(3, *[1] * (ndim - 2), 2)
    c = dtl.asarray(ctx, whole, partition=partition)
    for got, expected in ((c, whole), (c[[2, 0]], whole[[2, 0]]), (c.T, whole.T)):
        assert got.shape == expected.shape
        elements = got.gather_to(0)
        assert ctx.rank or (elements == expected).all()
    c[c > 4] = np.array([9.0])
    same(np.squeeze(c), np.array([[0, 1], [2, 3], [4, 9.0]]))


RAGGED: Any = [[1], [2, 3]]


@pytest.mark.parametrize(
    "call",
    [
        lambda g: np.take(g.v, RAGGED),
        lambda g: np.put(g.v, RAGGED, 1),
        lambda g: np.put(g.v, [0], RAGGED),
        lambda g: np.putmask(g.v, RAGGED, 1),
        lambda g: np.place(g.v, RAGGED, 1),
        lambda g: g.i.choose(np.array(2)),
        *([lambda g: np.compress(RAGGED, g.v)] if VERSION >= "1.24.0" else []),  # before, an array of objects
        lambda g: np.copyto(g.v, RAGGED),
        lambda g: np.copyto(g.v, 1, where=RAGGED),
        lambda g: np.take_along_axis(g.v, RAGGED, 0),
        lambda g: np.put_along_axis(g.v, RAGGED, 1, 0),
        lambda g: g.v[RAGGED],
        lambda g: g.v.__setitem__(RAGGED, 1),
        lambda g: np.dot(g.v, RAGGED),
        lambda g: np.inner(g.v, RAGGED),
        lambda g: np.vdot(g.v, RAGGED),
        lambda g: np.outer(g.v, RAGGED),
        lambda g: np.kron(g.v, RAGGED),
        lambda g: np.matmul(g.t, RAGGED),
        lambda g: np.einsum("i,i", g.v, RAGGED),
        lambda g: np.linalg.solve(g.t[:4], RAGGED),
        lambda g: np.linalg.lstsq(g.t, g.v[:5], RAGGED),
        lambda g: np.linalg.lstsq(g.t, g.v[:5], "small"),
        lambda g: np.linalg.pinv(g.t, RAGGED),
        lambda g: np.linalg.pinv(g.t, 1j),
        lambda g: np.linalg.matrix_rank(g.t, "small"),
        lambda g: np.linalg.cond(g.t, np.array([1, 2])),
        lambda g: np.linalg.norm(g.t, np.array([1, 2])),
    ],
)
def test_what_is_no_array_or_number(ctx: dtl.Context, call: Callable[[Any], Any]) -> None:
    """The errors are those of dtl, whose classes are NumPy's, too."""
    g = held(ctx, "cyclic")
    with pytest.raises((dtl.InvalidArgumentError, dtl.InvalidTypeError)):
        call(g)
    same(g.v, ARRAYS.v)
