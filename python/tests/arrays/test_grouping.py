"""Aggregates by key against naive loops with NumPy, and pandas."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
import pytest
from divisions import DIVISIONS, vector
from hypothesis import given
from hypothesis import strategies as st
from older_numpy import VERSION, unique
from oracle import DTYPES
from places import everywhere
from test_joining import keys, whole

import dtl
from dtl.algorithms import reductions
from dtl.algorithms.groupby import OPS

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

SIZES = (0, 1, 2, 1000)

every_division = pytest.mark.parametrize("name", DIVISIONS)


def naive(of: Array, values: Array, op: str) -> tuple[Array, Array]:
    """Return the distinct keys, and what NumPy makes of the values of each."""
    distinct = unique(of)
    groups = [values[np.isnan(of) if np.isnan(key) else of == key] for key in distinct]
    some = values[:1] if len(values) else np.ones(1, values.dtype)
    made = [aggregate(group, op) for group in groups]
    return distinct, np.array(made, aggregate(some, op).dtype)


def aggregate(group: Array, op: str) -> Any:
    if op == "count":
        return np.int64(len(group))
    if op in ("first", "last"):
        return group[0 if op == "first" else -1]
    if op == "nunique":
        return np.int64(len(unique(group)))
    with np.errstate(invalid="ignore"), warnings.catch_warnings():  # of infinities, NumPy warns of a variance
        warnings.simplefilter("ignore")
        return getattr(np, op)(group)


def check(ctx: dtl.Context, place: str, of: Array, values: Array, name: str = "block", ops: Any = OPS) -> None:
    a, b = vector(ctx, of, name, place), vector(ctx, values, name, place)
    with a, b, dtl.group_by(a) as groups:
        for op in ops:
            found, made = groups.agg(b, op)
            distinct, expected = naive(of, values, op)
            assert (found.dtype, made.dtype) == (of.dtype, expected.dtype)
            assert found.partition_policy is made.partition_policy is dtl.PARTITION_EXPLICIT
            assert found.local_size == made.local_size
            np.testing.assert_array_equal(whole(found), distinct)
            if op in ("var", "std") or (values.dtype.kind in "fc" and op in ("sum", "prod", "mean")):
                rtol = 1e-12 if values.dtype in (np.float64, np.complex128) else 1e-4
                np.testing.assert_allclose(whole(made), expected, rtol=rtol, atol=rtol if op in ("var", "std") else 0)
            else:
                np.testing.assert_array_equal(whole(made), expected)


def numbers(dtype: str, size: int) -> Array:
    """Return values whose products stay small."""
    made = np.random.default_rng(size).integers(1, 4, size).astype(dtype)
    if made.dtype.kind in "fc":
        made[: size // 2] /= 2
    return made + 1j * made[::-1] if made.dtype.kind == "c" else made


def ops_of(dtype: Any) -> list[str]:
    return [op for op in OPS if np.dtype(dtype).kind != "c" or op not in ("min", "max", "median")]


@everywhere
@every_division
@pytest.mark.parametrize("dtype", ["int64", "float64", "bool", "uint8"])
def test_keys(ctx: dtl.Context, place: str, dtype: str, name: str) -> None:
    for size in SIZES:
        check(ctx, place, keys(dtype, size, 1), numbers("int64", size), name)


@everywhere
@pytest.mark.parametrize("dtype", DTYPES)
def test_values(ctx: dtl.Context, place: str, dtype: str) -> None:
    for size in (0, 1, 200):
        check(ctx, place, np.arange(size) * 7 % 23, numbers(dtype, size), "cyclic", ops_of(dtype))


def test_complex_keys(ctx: dtl.Context) -> None:
    of = np.array([2 + 1j, 1j, 2 + 1j, -1, complex(np.nan, 1), 1j, complex(0, np.nan)])
    found, made = dtl.group_by(vector(ctx, of)).agg(vector(ctx, np.arange(7)), "sum")
    np.testing.assert_array_equal(whole(found)[:3], np.unique(of)[:3])
    np.testing.assert_array_equal(whole(made), [3, 6, 2, 10])


@pytest.mark.parametrize(
    "of",
    [
        np.zeros(600),  # one group on all ranks
        np.append(np.arange(5), np.full(600, 9)),
        np.append(np.full(600, -1), np.arange(5)),
        np.full(50, np.nan),
        np.arange(300)[::-1].copy(),  # groups of one
        np.arange(600) % 2,
        np.where(np.arange(90) % 3, 0.0, -0.0),
    ],
    ids=["one key", "skew at the end", "skew at the start", "NaN", "distinct", "two keys", "zeros"],
)
def test_what_is_hard_to_group(ctx: dtl.Context, of: Array) -> None:
    for dtype in ("int32", "float64"):
        check(ctx, "host", of, np.arange(len(of)).astype(dtype), "block", [op for op in OPS if op != "prod"])


def test_nans_and_integers_as_numpy(ctx: dtl.Context) -> None:
    of = np.array([1, 0, 1, 0, 2])
    check(ctx, "host", of, np.array([np.nan, 1, 2, np.inf, -0.0]))
    check(ctx, "host", of, np.array([2**62, 2**63 - 1, 2**62, 2**63 - 2, -(2**63)]), ops=("sum", "prod", "min", "max"))
    check(ctx, "host", of, np.array([100, 200, 200, 255, 1], np.uint8))
    check(ctx, "host", of, np.array([True, False, True, True, False]))


def test_operators_and_names(ctx: dtl.Context) -> None:
    of, values = vector(ctx, np.array([1, 0, 1])), vector(ctx, np.array([5, 6, 7]))
    groups = dtl.group_by(of)
    for op, name in ((dtl.SUM, "sum"), (dtl.PROD, "Prod"), (dtl.MIN, "MIN"), (dtl.MAX, "max")):
        np.testing.assert_array_equal(whole(groups.agg(values, op)[1]), whole(groups.agg(values, name)[1]))
    assert repr(groups) == "<dtl.GroupBy of 3 int64 in 2 groups>"
    groups.close()
    groups.close()
    assert repr(groups) == "<dtl.GroupBy, closed>"
    with pytest.raises(dtl.InvalidHandleError, match="the group_by is closed"):
        groups.agg(values, "sum")


def test_functions(ctx: dtl.Context) -> None:
    """Each group's values come to one rank, in the order of their indices, whatever the division."""
    for name, size in itertools.product(("block", "cyclic"), (0, 1, 2, 300)):
        of, values = np.arange(size) * 7 % 5, np.arange(size) ** 2 % 31
        a, b = vector(ctx, of, name), vector(ctx, values, name)
        with a, b, dtl.group_by(a) as groups:
            for f in (np.ptp, lambda x: x[-1] - x[0] / 2, lambda x: bool(x.all()), lambda x: x[0] + 1j):
                found, made = groups.agg(b, f)
                expected = np.array([f(values[of == key]) for key in np.unique(of)])
                np.testing.assert_array_equal(whole(found), np.unique(of))
                np.testing.assert_array_equal(whole(made), expected)
                assert made.dtype == expected.dtype
    with vector(ctx, np.arange(9)) as a, dtl.group_by(a) as groups:
        # A rank whose values look like integers has the dtype of them all.
        assert groups.agg(a, lambda x: 0.5 if x[0] == 8 else int(x[0]))[1].dtype == np.float64
        for f, text in ((lambda x: None, "gave values of object"), (lambda x: x, r"of shape \(1,\)")):
            with pytest.raises(dtl.InvalidArgumentError, match=text):
                groups.agg(a, f)
        for kind, f in ((ZeroDivisionError, lambda x: 1 // int(x[0] - 8)), (KeyError, lambda x: {}[x[0]])):
            with pytest.raises((kind, dtl.CommunicationError)):
                groups.agg(a, f)


@given(
    st.lists(st.tuples(st.integers(0, 4) | st.just(np.nan), st.integers(-9, 9)), max_size=40),
    st.sampled_from(DIVISIONS),
)
def test_drawn_groups(rows: list[tuple[float, int]], name: str) -> None:
    with dtl.Context() as ctx:
        of, values = (np.array([row[i] for row in rows], dtype) for i, dtype in enumerate(("float64", "int32")))
        check(ctx, "host", of, values, name)


def test_against_pandas(ctx: dtl.Context) -> None:
    pandas = pytest.importorskip("pandas", reason="not installed; runs in the environments of `make setup`")
    rng = np.random.default_rng(3)
    table = pandas.DataFrame({"key": rng.integers(0, 40, 1000), "value": rng.standard_normal(1000)})
    by = table.groupby("key")["value"]
    with dtl.group_by(vector(ctx, table["key"].to_numpy(), "hash")) as groups:
        values = vector(ctx, table["value"].to_numpy(), "hash")
        for op in OPS:
            found, made = groups.agg(values, op)
            expected = getattr(by, op)(**({"ddof": 0} if op in ("var", "std") else {}))
            np.testing.assert_array_equal(whole(found), expected.index)
            np.testing.assert_allclose(whole(made), expected, rtol=1e-11)


@everywhere
def test_later_changes_of_the_keys_change_nothing(ctx: dtl.Context, place: str) -> None:
    of, values = vector(ctx, np.arange(9) % 2, place=place), vector(ctx, np.arange(9), place=place)
    groups = dtl.group_by(of)
    dtl.fill(of, 5)
    of.close()
    found, made = groups.agg(values, "sum")
    dtl.fill(found, 7)
    found, made = groups.agg(values, "sum")
    groups.close()
    assert (whole(found).tolist(), whole(made).tolist()) == ([0, 1], [20, 16])


@everywhere
def test_spans(ctx: dtl.Context, place: str) -> None:
    elements = np.arange(40) % 7
    span = dtl.DistributedSpan(vector(ctx, elements, place=place)).subspan(7, 20)
    found, made = dtl.group_by(span).agg(span, dtl.SUM)
    distinct, expected = naive(elements[7:27], elements[7:27], "sum")
    assert (whole(found).tolist(), whole(made).tolist()) == (distinct.tolist(), expected.tolist())


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("together", [1, 4, 1 << 17])
def test_sorted_values_of_groups_on_several_ranks(
    ctx: dtl.Context, together: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reductions, "_TOGETHER", together)
    rng = np.random.default_rng(3)
    for size in (1, 2, 7, 60):
        for of in (np.zeros(size, int), np.arange(size) // 3, rng.zipf(1.5, size), np.minimum(rng.zipf(1.2, size), 3)):
            floats = rng.integers(0, 5, size).astype(float)
            floats[rng.random(size) < 0.1] = np.nan
            check(ctx, "host", of, floats, ops=("median", "nunique"))
            if VERSION >= "1.21.0":  # before, each NaT was another for NumPy
                check(ctx, "host", of, floats.astype("m8[s]"), ops=("nunique",))
            check(ctx, "host", of, rng.integers(-3, 3, size).astype(np.int8), ops=("median", "nunique"))
            check(ctx, "host", of, rng.integers(0, 3, size) * 1j, ops=("nunique",))
            check(ctx, "host", of, rng.integers(0, 12, size).astype("U2"), ops=("nunique",))


def test_overflow_is_infinite_on_every_rank(ctx: dtl.Context) -> None:
    values = np.append(np.full(6, np.finfo(np.float32).max), np.arange(30)).astype(np.float32)
    made = dtl.group_by(vector(ctx, np.arange(36) // 6)).agg(vector(ctx, values), "sum")[1]
    np.testing.assert_array_equal(whole(made)[:2], np.array([np.inf, 15], np.float32))


@everywhere
def test_sums_are_the_same_again(ctx: dtl.Context, place: str) -> None:
    rng = np.random.default_rng(4)
    of, values = (
        vector(ctx, rng.integers(0, 3, 5000), place=place),
        vector(ctx, rng.standard_normal(5000) * 1e9, place=place),
    )
    first, again = (whole(dtl.group_by(of).agg(values, "sum")[1]) for _ in range(2))
    assert first.tobytes() == again.tobytes()


def test_refusals(ctx: dtl.Context) -> None:
    of = vector(ctx, np.arange(10))
    with pytest.raises(dtl.InvalidTypeError, match="keys must be a distributed container"):
        dtl.group_by(np.arange(3))  # type: ignore[arg-type]
    with pytest.raises(dtl.InvalidArgumentError, match="must have 1 dimension"):
        dtl.group_by(dtl.DistributedTensor(ctx, (4, 4)))
    groups = dtl.group_by(of)
    for bad in ("mode", "land", "", dtl.BXOR, dtl.MINLOC):
        with pytest.raises(dtl.InvalidArgumentError, match="unknown op"):
            groups.agg(of, bad)
    for none in (None, 0, ["sum"]):
        with pytest.raises(dtl.InvalidTypeError, match="op must be a name, an operator or a function"):
            groups.agg(of, none)  # type: ignore[arg-type]
    for value in (np.arange(10), None):
        with pytest.raises(dtl.InvalidTypeError, match="values must be a distributed container"):
            groups.agg(value, "sum")  # type: ignore[arg-type]
    with pytest.raises(dtl.InvalidArgumentError, match="divided otherwise than the keys"):
        groups.agg(vector(ctx, np.arange(11)), "sum")
    with pytest.raises(dtl.InvalidTypeError, match="complex128 have no min"):
        groups.agg(vector(ctx, np.arange(10) + 1j), "min")
    with ctx.dup() as other, pytest.raises(dtl.InvalidArgumentError, match="another context"):
        groups.agg(vector(other, np.arange(10)), "sum")
    of.close()
    for call in (lambda: groups.agg(of, "sum"), lambda: dtl.group_by(of)):
        with pytest.raises(dtl.InvalidHandleError):
            call()
    assert whole(groups.agg(vector(ctx, np.arange(10)), "max")[1]).tolist() == list(range(10))


@pytest.mark.mpi(min_size=2)
def test_another_division_is_refused(ctx: dtl.Context) -> None:
    for name, other in itertools.permutations(("block", "cyclic", "replicated"), 2):
        groups = dtl.group_by(vector(ctx, np.arange(10), name))
        with pytest.raises(dtl.InvalidArgumentError, match="divided otherwise than the keys"):
            groups.agg(vector(ctx, np.arange(10), other), "sum")


@pytest.mark.mpi(min_size=2)
def test_ranks_that_differ(ctx: dtl.Context) -> None:
    of, values = vector(ctx, np.arange(20) % 3), vector(ctx, np.arange(20))
    with pytest.raises(dtl.CollectiveMismatchError):
        dtl.group_by(of if ctx.rank else values)
    groups, others = dtl.group_by(of), dtl.group_by(of)
    with pytest.raises(dtl.CollectiveMismatchError):
        groups.agg(values, "sum" if ctx.rank else "count")
    with pytest.raises(dtl.CollectiveMismatchError):
        (groups if ctx.rank else others).agg(values, "sum")
    with pytest.raises(dtl.CollectiveMismatchError):
        groups.agg(values if ctx.rank else of, "sum")
    with pytest.raises(dtl.InvalidArgumentError, match="unknown op 'mode'"):
        groups.agg(values, "sum" if ctx.rank else "mode")
    with pytest.raises(dtl.InvalidTypeError, match="values must be"):
        groups.agg(values if ctx.rank else None, "sum")  # type: ignore[arg-type]
    if ctx.rank == 0:
        others.close()
    with pytest.raises(dtl.InvalidHandleError):
        others.agg(values, "sum")
    assert whole(groups.agg(values, "last")[1]).tolist() == [18, 19, 17]


@every_division
@pytest.mark.parametrize("size", [0, 1, 2, 300])
def test_several_keys(ctx: dtl.Context, name: str, size: int) -> None:
    """Groups of pairs and triples, in the order of the first key, then of the second; NaNs are one key."""
    rng = np.random.default_rng(size)
    of = [rng.integers(0, 3, size), rng.integers(0, 4, size).astype(float), rng.integers(0, 2, size) == 0]
    of[1][of[1] == 3] = np.nan
    values = rng.integers(0, 100, size)
    for count in (1, 2, 3):
        groups: dict[Any, list[int]] = {}
        for row, value in zip(zip(*of[:count]), values.tolist()):
            groups.setdefault(tuple(1e9 if np.isnan(key) else key for key in row), []).append(value)
        columns = [vector(ctx, key, name) for key in of[:count]]
        with vector(ctx, values, name) as b, dtl.group_by(columns) as made:
            found, totals = made.agg(b, "sum")
            _, means = made.agg(b, "mean")
        assert type(found) is tuple
        assert [key.dtype for key in found] == [key.dtype for key in of[:count]]
        rows = zip(*[np.nan_to_num(whole(key).astype(float), nan=1e9) for key in found])
        assert list(rows) == sorted(groups)
        np.testing.assert_array_equal(whole(totals), [sum(groups[key]) for key in sorted(groups)])
        np.testing.assert_allclose(whole(means), [np.mean(groups[key]) for key in sorted(groups)])


def test_keys_that_do_not_fit(ctx: dtl.Context) -> None:
    with vector(ctx, np.arange(4)) as a, vector(ctx, np.arange(5)) as b:
        for keys_of, text in (([], "empty list"), ([a, b], "must be the same"), ([a, 3], "distributed container")):
            with pytest.raises((dtl.InvalidArgumentError, dtl.InvalidTypeError), match=text):
                dtl.group_by(keys_of)  # type: ignore[arg-type]


@every_division
@pytest.mark.parametrize("dtype", ["int64", "float64", "bool"])
def test_value_counts(ctx: dtl.Context, name: str, dtype: str) -> None:
    for size in SIZES:
        array = keys(dtype, size, 5)
        with vector(ctx, array, name) as vec:
            values, counts, _ = dtl.value_counts(vec)
        distinct, times = unique(array, return_counts=True)
        order = np.argsort(-times, kind="stable")
        assert values.dtype == array.dtype
        assert values.partition_policy is counts.partition_policy is dtl.PARTITION_BLOCK
        np.testing.assert_array_equal(whole(values), distinct[order])
        np.testing.assert_array_equal(whole(counts), times[order])
