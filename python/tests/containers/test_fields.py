"""Fields of records, by name: read, written, sorted by and grouped by, as NumPy does."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import pytest
from divisions import DIVISIONS, assert_holds, division

import dtl

PEOPLE = np.array(
    [(41, b"Ada", 1.5), (36, b"Alan", 2.5), (41, b"Bob", -1.0), (7, b"Cy", 0.0), (36, b"Dee", 9.0)],
    [("age", "i8"), ("name", "S8"), ("score", "f8")],
)
TABLE = np.stack([PEOPLE, PEOPLE[::-1]])


def changed(people: Any, key: Any, value: Any) -> Any:
    made = people.copy()
    made[key] = value
    return made


READ: dict[str, Callable[[Any], Any]] = {
    "a field": lambda p: p["age"],
    "text": lambda p: p["name"] == b"Bob",
    "a mask of a field": lambda p: p[p["age"] > 36]["score"],
    "of a slice": lambda p: p[1:4]["score"],
    "a slice of it": lambda p: p["score"][::-2],
    "computed with": lambda p: p["score"] / p["age"],
    "written": lambda p: changed(p, "age", 5),
    "written with values": lambda p: changed(p, "score", [1, 2, 3, 4, 5]),
    "written with another": lambda p: changed(p, "score", p["age"]),
    "written with text": lambda p: changed(p, "name", b"Eve"),
    "sorted by a field": lambda p: np.sort(p, order="score"),
    "sorted by two": lambda p: np.sort(p, order=["age", "score"]),
    "indices by a field": lambda p: np.argsort(p, order="score"),
    "indices by text": lambda p: np.argsort(p, order=["name"]),
    "an element written": lambda p: changed(p, 2, (1, b"Zed", 0.5)),
    "elements written": lambda p: changed(p, slice(1, 3), [(1, b"Zed", 0.5), (2, b"Yo", 3)]),
}


@pytest.mark.parametrize("name", READ)
def test_as_numpy(ctx: dtl.Context, name: str) -> None:
    for partition in DIVISIONS:
        people = dtl.asarray(ctx, PEOPLE, **division(partition, 5, ctx.size))
        assert_holds(READ[name](people), READ[name](PEOPLE))


def test_several_fields_are_records_without_gaps(ctx: dtl.Context) -> None:
    some = dtl.asarray(ctx, PEOPLE)[["score", "age"]]
    assert some.dtype == np.dtype([("score", "f8"), ("age", "i8")])
    assert some[3].tolist() == (0.0, 7)
    people = dtl.asarray(ctx, PEOPLE)
    people[["score", "age"]] = some[::-1]
    assert people[0].tolist() == (36, b"Ada", 9.0)


def test_tables_are_sorted_by_fields(ctx: dtl.Context) -> None:
    table = dtl.asarray(ctx, TABLE)
    for axis in (0, 1):
        assert_holds(np.sort(table, axis=axis, order="score"), np.sort(TABLE, axis=axis, order="score"))
    assert_holds(np.sort(table, axis=None, order=["name"]), np.sort(TABLE, axis=None, order=["name"]))


def test_groups_by_a_field(ctx: dtl.Context) -> None:
    people = dtl.asarray(ctx, PEOPLE)
    with dtl.group_by(people["age"]) as groups:
        keys, means = groups.agg(people["score"], "mean")
    assert_holds(means, [0.0, 5.75, 0.25])
    assert keys[[0, 1, 2]].tolist() == [7, 36, 41]


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda p: p["weight"], ValueError, "no field of name weight"),
        (lambda p: p[["age", "weight"]], KeyError, "no field of name weight"),
        (lambda p: changed(p, "weight", 1), ValueError, "no field"),
        (lambda p: changed(p, "age", 1.5), TypeError, "would not stay"),
        (lambda p: changed(p, "age", [1, 2]), ValueError, "do not spread"),
        (lambda p: changed(p, "name", b"a name of more than eight"), TypeError, "would not stay"),
        (lambda p: changed(p, 0, (1, b"Zed")), ValueError, "has 2 fields"),
        (lambda p: changed(p, 0, (1, b"more than eight", 2.0)), TypeError, "field 'name'"),
        (lambda p: np.sort(p, order="weight"), ValueError, "unknown field name"),
        (lambda p: np.sort(p, order=["age", "age"]), ValueError, "more than once"),
        (lambda p: p["age"]["age"], TypeError, "indices are"),
    ],
)
def test_refused(ctx: dtl.Context, call: Callable[[Any], Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call(dtl.asarray(ctx, PEOPLE))


def test_a_field_of_arrays_is_refused(ctx: dtl.Context) -> None:
    pairs = dtl.asarray(ctx, np.zeros(4, [("pair", "i2", 2), ("n", "i4")]))
    assert_holds(pairs["n"], np.zeros(4, np.int32))
    with pytest.raises(TypeError, match="is an array of shape"):
        pairs["pair"]


def test_ranks_that_write_other_values(ctx: dtl.Context) -> None:
    if ctx.size == 1:
        pytest.skip("one rank cannot differ from itself")
    people = dtl.asarray(ctx, PEOPLE)
    with pytest.raises(dtl.CollectiveMismatchError):
        people["age"] = ctx.rank


#: Records with bytes that belong to no value: gaps between fields, and the last bytes of long floats.
WITH_GAPS = {
    "gaps": (np.dtype([("a", "i1"), ("b", "f8")], align=True), [(1, 2.5), (2, 3.5), (3, 4.5)]),
    "long floats": (np.dtype([("a", np.longdouble), ("b", "i1")]), [(1.5, 1), (2.5, 2), (3.5, 3)]),
    "long complex": (np.dtype([("a", np.clongdouble, (2,))]), [([1j, 2],), ([3, 4j],), ([5, 6],)]),
    "records of these": (
        np.dtype([("a", np.dtype([("b", "i2"), ("c", np.longdouble)], align=True))]),
        [((1, 2.5),), ((2, 3.5),), ((3, 4.5),)],
    ),
}


def of_rank(ctx: dtl.Context, dtype: np.dtype[Any], values: list[Any]) -> Any:
    """Return records that are equal on all ranks, with other bytes in their gaps on each."""
    made = np.empty(len(values), dtype)
    made.view(np.uint8)[:] = 17 * ctx.rank + 1
    for place, value in enumerate(values):
        made[place] = value
    return made


@pytest.mark.parametrize("name", WITH_GAPS)
def test_bytes_of_no_value(ctx: dtl.Context, name: str) -> None:
    dtype, values = WITH_GAPS[name]
    plain, given = np.array(values, dtype), of_rank(ctx, dtype, values)
    with dtl.DistributedVector.from_numpy(ctx, given) as vec:
        vec[:] = given[::-1].copy()
        vec[0] = given[1]
        vec[[1, 2]] = given[:2]
        vec[vec == given[0]] = given[2]
        assert_holds(vec, plain[[1, 2, 1]])
        assert_holds(np.isin(vec, given[1:2]), np.array([True, False, True]))
        assert_holds(np.append(vec, given), plain[[1, 2, 1, 0, 1, 2]])
        assert_holds(np.insert(vec, 1, given[0]), plain[[1, 0, 2, 1]])
    with dtl.full(ctx, 3, given[1], dtype=dtype) as vec:
        assert_holds(vec, plain[[1, 1, 1]])
