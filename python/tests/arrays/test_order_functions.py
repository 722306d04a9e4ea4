"""Functions that rest on the order of elements, for dates, text, records and float16: each beside NumPy's."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import pytest
from divisions import division, part
from older_numpy import VERSION
from test_moved_elements import ARRAYS, divisions, places, same

import dtl

FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "unique": lambda a, b: np.unique(a),
    "unique, with counts": lambda a, b: np.unique(a, return_counts=True),
    "unique, with the inverse": lambda a, b: np.unique(a, return_inverse=True),
    "union1d": np.union1d,
    "intersect1d": np.intersect1d,
    "setdiff1d": np.setdiff1d,
    "setxor1d": np.setxor1d,
    "isin": np.isin,
    "isin, inverted": lambda a, b: np.isin(a, b, invert=True),
    "searchsorted": lambda a, b: np.searchsorted(np.sort(a), b),
    "searchsorted, on the right": lambda a, b: np.searchsorted(np.sort(a), b, "right"),
}


def distinct(array: Any, equal_nan: bool = True) -> tuple[Any, Any, Any]:
    """Return np.unique with the inverse and the counts."""
    if VERSION >= "1.24.0":
        return np.unique(array, return_inverse=True, return_counts=True, equal_nan=equal_nan)
    at = places(array)
    order = np.argsort(at, kind="stable")
    ordered, at = array[order], at[order]
    first, inverse = np.ones(len(array), bool), np.empty(len(array), np.int64)
    first[1:] = at[1:] != at[:-1]
    if not equal_nan or array.dtype.names is not None:
        first[1:] |= ordered[1:] != ordered[1:]
    inverse[order] = np.cumsum(first) - 1
    return ordered[first], inverse, np.bincount(inverse)


def unlike(a: Any, b: Any) -> Any:
    """Return what is in one of two arrays only, as np.setxor1d."""
    both = np.concatenate([distinct(a)[0], distinct(b)[0]])
    both = both[np.argsort(places(both), kind="stable")]
    differ = np.concatenate([[True], both[1:] != both[:-1], [True]])
    return both[differ[1:] & differ[:-1]]


def placed(a: Any, b: Any, side: Any = "left") -> Any:
    """Return where elements belong among others, as np.searchsorted of those in order."""
    at = places(np.concatenate([a, b]))
    return np.searchsorted(np.sort(at[: len(a)]), at[len(a) :], side)


#: For NumPy before 1.21, where each NaT and NaN is distinct, and NaT is first in records.
BY_HAND: dict[str, Callable[[Any, Any], Any]] = {
    "unique": lambda a, b: distinct(a)[0],
    "unique, with counts": lambda a, b: distinct(a)[::2],
    "unique, with the inverse": lambda a, b: distinct(a)[:2],
    "union1d": lambda a, b: distinct(np.concatenate([a, b]))[0],
    "setdiff1d": lambda a, b: distinct(a[~np.isin(a, b)])[0],
    "setxor1d": unlike,
    "searchsorted": placed,
    "searchsorted, on the right": lambda a, b: placed(a, b, "right"),
}

NONE = np.array(["2020-03-01", "2019-01-01"], "M8[D]")

#: What is looked for among the elements of that name: some of them, and others, of another length or unit too.
OTHERS: dict[str, Any] = {
    "days": np.array(["2020-03-01T12", "1960-01-01", "NaT", "2020-03-01", "1970-01-01"], "M8[h]"),
    "spans of time": np.array([7365, -1, 30000, 10000], "m8[D]"),
    "float16": np.array([1.5, 0.0, np.nan, 3.25], np.float16),
    "bytes": np.array([b"fig", b"a", b"zz\xff", b"figs"], "S4"),
    "long text": np.array(["abcd", "abc", "abcdefg", "\U0001f600"], "U7"),
}


@pytest.fixture(params=list(ARRAYS), ids=lambda name: name.replace(" ", "-"))
def arrays(request: pytest.FixtureRequest) -> tuple[Any, Any]:
    array = ARRAYS[request.param]
    return array, OTHERS.get(request.param, np.concatenate([array[2:4], array[5:], array[2:3]]))


def assert_all_same(got: Any, wanted: Any) -> None:
    """Check containers, or arrays, or tuples of them, against NumPy's results."""
    several, others = (each if isinstance(each, tuple) else (each,) for each in (got, wanted))
    assert len(several) == len(others)
    for one, other in zip(several, others):
        assert one.shape == other.shape
        if isinstance(one, np.ndarray):  # as of values that are each rank's own
            same(one, other)
        else:
            same(one.local_view(), part(one, other))


@pytest.mark.parametrize("name", list(FUNCTIONS))
def test_as_numpy(ctx: dtl.Context, arrays: tuple[Any, Any], name: str) -> None:
    function, (array, other) = FUNCTIONS[name], arrays
    wanted = (BY_HAND.get(name, function) if VERSION < "1.21.0" else function)(array, other)
    for partition in divisions(ctx):
        vec = dtl.asarray(ctx, array, **division(partition, len(array), ctx.size))
        assert_all_same(function(vec, dtl.asarray(ctx, other, partition="cyclic")), wanted)
    assert_all_same(function(dtl.asarray(ctx, array), other), wanted)


def test_a_table_that_every_rank_has(ctx: dtl.Context, arrays: tuple[Any, Any]) -> None:
    array, other = arrays
    for side in ("left", "right"):
        table = array[np.argsort(places(array))]
        got = dtl.searchsorted(table, dtl.asarray(ctx, other, partition="cyclic"), side)
        assert_all_same(got, (placed if VERSION < "1.21.0" else np.searchsorted)(table, other, side))


def test_searches_in_descending_order(ctx: dtl.Context, arrays: tuple[Any, Any]) -> None:
    array, other = arrays
    if array.dtype.names is not None:
        with pytest.raises(dtl.InvalidTypeError, match="ascending"):
            dtl.searchsorted(dtl.asarray(ctx, array), other, reverse=True)
        return
    present = array[~is_missing(array)]
    vec = dtl.asarray(ctx, array, partition="cyclic")
    dtl.sort(vec, reverse=True)
    for value in other:
        none = bool(is_missing(np.asarray(value)))
        given: Any = (lambda x: x.tobytes()) if array.dtype.kind == "V" else (lambda x: x)
        before = sum(bool(given(x) > given(value)) for x in present) if not none else len(present)
        equal = sum(bool(x == value) for x in present) if not none else len(array) - len(present)
        assert dtl.searchsorted(vec, value, reverse=True) == before
        assert dtl.searchsorted(vec, value, "right", reverse=True) == before + equal


def is_missing(array: Any) -> Any:
    return np.isnan(array) if array.dtype.kind in "mMf" else np.zeros(array.shape, bool)


def test_each_rank_looks_up_its_own(ctx: dtl.Context) -> None:
    texts = dtl.asarray(ctx, np.array(["b", "dd", "dd", "f"]))
    own = [["a", "dd"], "ddd", np.array([["g"], ["b"]]), []][ctx.rank % 4]
    wanted = [[0, 1], 3, [[4], [0]], []][ctx.rank % 4]
    np.testing.assert_array_equal(dtl.searchsorted(texts, own), wanted)
    assert dtl.searchsorted(dtl.zeros(ctx, 0, "U2"), "a") == 0
    assert dtl.lower_bound(texts, "dd") == 1


def test_kinds_that_are_not_compared(ctx: dtl.Context) -> None:
    days, texts = dtl.asarray(ctx, NONE), dtl.asarray(ctx, np.array(["b", "a"]))
    for call in (
        lambda: dtl.searchsorted(days, "2020-01-01"),
        lambda: dtl.searchsorted(days, 3),
        lambda: dtl.searchsorted(texts, b"a"),
        lambda: dtl.searchsorted(np.array(["a"]), days),
        lambda: dtl.merge(days, texts),
        lambda: dtl.join(days, texts),
    ):
        with pytest.raises(dtl.InvalidTypeError, match="are not compared"):
            call()
    with pytest.raises(dtl.InvalidTypeError, match="are not compared"):
        dtl.searchsorted(days, np.datetime64("2020-01-01") if ctx.rank else 5)


def test_merge(ctx: dtl.Context, arrays: tuple[Any, Any]) -> None:
    array, other = arrays
    made = dtl.merge(dtl.asarray(ctx, array, partition="cyclic"), dtl.asarray(ctx, other))
    both = np.concatenate([array, other])
    assert_all_same(made, both[np.argsort(places(both), kind="stable")])


def test_distinct_values_of_the_standard(ctx: dtl.Context) -> None:
    """Each NaT is distinct there, as each NaN is."""
    for name in ("days", "text", "float16"):
        array = ARRAYS[name]
        x = dtl.asarray(ctx, array)
        found = x.__array_namespace__().unique_all(x)
        values, _, counts = distinct(array, equal_nan=False)
        assert_all_same(found.values, values)
        assert_all_same(found.counts, counts)


#: To which group each of the seven elements belongs.
GROUPS = np.array([2, 1, 2, 2, 0, 1, 2])


@pytest.mark.parametrize("several", [False, True], ids=["one-key", "several-keys"])
def test_they_are_keys(ctx: dtl.Context, arrays: tuple[Any, Any], several: bool) -> None:
    array, _ = arrays
    which = distinct(array)[1].reshape(-1)  # NaT in a record is equal to none, and sorts by what comes behind it
    groups = np.unique(which * 3 + GROUPS if several else which, return_inverse=True)[1]
    firsts = np.array([np.flatnonzero(groups == k)[0] for k in range(groups.max() + 1)])
    values = np.arange(7.0) ** 2
    for partition in divisions(ctx):
        own = division(partition, 7, ctx.size)
        key, other = dtl.asarray(ctx, array, **own), dtl.asarray(ctx, GROUPS, **own)
        with dtl.group_by([key, other] if several else key) as by:
            keys, sums = by.agg(dtl.asarray(ctx, values, **own), "sum")
            assert_all_same(keys[0] if several else keys, array[firsts])
            assert_all_same(sums, np.bincount(groups, values))
            assert_all_same(by.agg(other, "count")[1], np.bincount(groups))
        if not several:
            order = np.argsort(-np.bincount(groups), kind="stable")
            found = dtl.value_counts(key)
            assert_all_same((found.values, found.counts), (array[firsts][order], np.bincount(groups)[order]))


AGGREGATES: dict[str, Callable[[Any], Any]] = {
    "first": lambda group: group[0],
    "last": lambda group: group[-1],
    "count": len,
    "nunique": lambda group: len(distinct(group)[0]),
    **{name: getattr(np, name) for name in ("sum", "prod", "min", "max", "mean", "var", "std", "median")},
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's own, of float16 that overflow
@pytest.mark.parametrize("op", list(AGGREGATES))
def test_they_are_aggregated_where_numpy_does(ctx: dtl.Context, arrays: tuple[Any, Any], op: str) -> None:
    array, _ = arrays
    if array.dtype == np.float16 and op in ("var", "std"):
        array = np.minimum(array, np.float16(9))  # of larger ones NumPy's squares are infinite
    vec, groups = dtl.asarray(ctx, array), dtl.asarray(ctx, GROUPS)
    try:
        wanted = np.array([AGGREGATES[op](array[k == GROUPS]) for k in range(3)])
        wanted = wanted.astype(array.dtype) if op in ("first", "last") else wanted
    except TypeError:
        with dtl.group_by(groups) as by, pytest.raises(dtl.InvalidTypeError, match=f"{op} is for numbers"):
            by.agg(vec, op)
        return
    with dtl.group_by(groups) as by:
        made = by.agg(vec, op)[1]
    if array.dtype.kind == "f" and op in ("mean", "var", "std"):  # which NumPy computes in fewer digits
        np.testing.assert_allclose(made.local_view(), part(made, wanted), rtol=2e-3)
        assert made.dtype == wanted.dtype
    else:
        assert_all_same(made, wanted)


def test_aggregates_by_functions(ctx: dtl.Context, arrays: tuple[Any, Any]) -> None:
    array, _ = arrays
    with dtl.group_by(dtl.asarray(ctx, GROUPS)) as by:
        made = by.agg(dtl.asarray(ctx, array), lambda group: group[len(group) // 2])[1]
    assert_all_same(made, np.array([array[k == GROUPS][np.sum(k == GROUPS) // 2] for k in range(3)]))


@pytest.mark.parametrize("how", ["inner", "semi", "anti"])
def test_joins(ctx: dtl.Context, arrays: tuple[Any, Any], how: str) -> None:
    left, right = arrays
    place = places(np.concatenate([left, right]))
    pairs = [(place[i], i, j) for i in range(len(left)) for j in range(len(right)) if left[i] == right[j]]
    inside = {i for _, i, _ in pairs}
    ordered = [i for _, i in sorted((place[i], i) for i in range(len(left)))]
    wanted = {
        "inner": tuple(np.array([pair[k] for pair in sorted(pairs)], np.int64) for k in (1, 2)),
        "semi": np.array([i for i in ordered if i in inside], np.int64),
        "anti": np.array([i for i in ordered if i not in inside], np.int64),
    }
    for partition in divisions(ctx):
        found = dtl.join(
            dtl.asarray(ctx, left, **division(partition, len(left), ctx.size)), dtl.asarray(ctx, right), how
        )
        assert_all_same(found, wanted[how])


TRUTHS: dict[str, Callable[[Any], Any]] = {
    "any": np.any,
    "all": np.all,
    "any along": lambda t: np.any(t, axis=0),
    "all along": lambda t: np.all(t, axis=1),
    "count_nonzero": np.count_nonzero,
    "count_nonzero along": lambda t: np.count_nonzero(t, axis=1),
    "nonzero": np.nonzero,
    "flatnonzero": np.flatnonzero,
    "array_equal": lambda t: np.array_equal(t, t),
}


@pytest.mark.parametrize("name", list(TRUTHS))
def test_truths(ctx: dtl.Context, arrays: tuple[Any, Any], name: str) -> None:
    array, call = arrays[0], TRUTHS[name]
    table = np.stack([array, array[::-1], np.zeros_like(array)])
    if array.dtype.kind in "SU" and VERSION < "2.0.0":
        pytest.skip("NumPy before 2.0 has other truths of text; runs with later ones")
    try:
        wanted = call(table)
    except TypeError:
        pytest.skip("NumPy has no truths of these; what it has runs in the other cases")
    for partition in divisions(ctx):
        got = call(dtl.asarray(ctx, table, **division(partition, 3, ctx.size)))
        if isinstance(got, (tuple, dtl.DistributedContainer)):
            assert_all_same(got, wanted)
        else:
            assert got == wanted


@pytest.mark.parametrize("function", [np.nanmin, np.nanmax])
def test_extremes_but_for_nat(ctx: dtl.Context, function: Any) -> None:
    days = ARRAYS["days"]
    table = np.stack([days, np.roll(days, 1), np.full(7, "NaT", "M8[D]")])
    for array in (table, table - days[0]):
        for partition in divisions(ctx):
            got = dtl.asarray(ctx, array, **division(partition, 3, ctx.size))
            assert function(got) == function(array)
            assert_all_same(function(got, axis=0), function(array, axis=0))
            with pytest.warns(RuntimeWarning, match="All-NaN"):
                extremes = function(got, axis=1)
            assert_all_same(extremes, np.stack([function(array[0]), function(array[1]), array[2, 0]]))
