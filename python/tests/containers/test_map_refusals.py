"""Keys, values and calls that a map refuses: on every rank, also where one rank alone has the reason."""

from __future__ import annotations

import builtins
from typing import Any, Callable

import numpy as np
import pytest
from refusals import ARGUMENT, TYPE, refused

import dtl
from dtl import exceptions

TOO_LARGE = exceptions.OverflowError
MISMATCH = exceptions.CollectiveMismatchError

#: A map's key and value dtype, a call on it, and how it is refused.
REFUSED: list[tuple[str, str, Callable[[Any], Any], type[dtl.DTLError], int, str]] = [
    ("i8", "f8", lambda m: m.insert("a", 1), TYPE, 101, "key 'a' of type str is not of int64"),
    ("i8", "f8", lambda m: m.insert(1.0, 1), TYPE, 101, "key 1.0 of type float is not of int64"),
    ("i8", "f8", lambda m: m.find(None), TYPE, 101, "key None of type NoneType"),
    ("i8", "f8", lambda m: m.find(True), TYPE, 101, "key True of type bool"),
    ("i8", "f8", lambda m: m[np.float32(2)], TYPE, 101, "float32 is not of int64"),
    ("i8", "f8", lambda m: m[(1, 2)], TYPE, 101, "key (1, 2) of type tuple"),
    ("i1", "f8", lambda m: m.find(128), TOO_LARGE, 105, "key 128 does not fit int8: outside [-128, 127]"),
    ("u8", "f8", lambda m: -1 in m, TOO_LARGE, 105, "key -1 does not fit uint64: outside [0, 18446744073709551615]"),
    ("u8", "f8", lambda m: m.erase(2**64), TOO_LARGE, 105, "key 18446744073709551616 does not fit uint64"),
    ("f8", "f8", lambda m: m.find("a"), TYPE, 101, "key 'a' of type str is not of float64"),
    ("f8", "f8", lambda m: m.find(1j), TYPE, 101, "key 1j of type complex is not of float64"),
    ("f8", "f8", lambda m: m.find(2**53 + 1), TOO_LARGE, 105, "key 9007199254740993 does not fit float64 exactly"),
    ("S3", "f8", lambda m: m.find("abc"), TYPE, 101, "key 'abc' of type str is not of S3"),
    ("S3", "f8", lambda m: m.find(b"abcd"), TOO_LARGE, 105, "key b'abcd' of 4 characters is longer than 3"),
    ("S3", "f8", lambda m: m.find(b"a\0"), ARGUMENT, 100, "key b'a\\x00' ends in NUL"),
    ("U3", "f8", lambda m: m.find(b"abc"), TYPE, 101, "key b'abc' of type bytes is not of U3"),
    ("U3", "f8", lambda m: m.find(1), TYPE, 101, "key 1 of type int"),
    ("U3", "f8", lambda m: m.insert("äöüß", 1), TOO_LARGE, 105, "key 'äöüß' of 4 characters is longer than 3"),
    ("i8", "f8", lambda m: m.insert_many(["a"], [1]), TYPE, 101, "keys of U1 are not of int64"),
    ("i8", "f8", lambda m: m.insert_many([1.5], [1]), TYPE, 101, "keys of float64 are not of int64"),
    ("i8", "f8", lambda m: m.find_many([True]), TYPE, 101, "keys of bool are not of int64"),
    ("i8", "f8", lambda m: m.find_many(3), ARGUMENT, 100, "keys of shape () must have 1 dimension"),
    ("i8", "f8", lambda m: m.find_many([[1, 2]]), ARGUMENT, 100, "keys of shape (1, 2) must have 1 dimension"),
    ("i8", "f8", lambda m: m.find_many(np.ma.array([1, 2], mask=[0, 1])), ARGUMENT, 100, "masked"),
    ("u1", "f8", lambda m: m.erase_many([1, 256]), TOO_LARGE, 105, "256 does not fit uint8: outside [0, 255]"),
    ("u4", "f8", lambda m: m.contains_many(np.array([-1])), TOO_LARGE, 105, "-1 does not fit uint32"),
    ("f8", "f8", lambda m: m.find_many(np.array([2**60])), TOO_LARGE, 105, "key 1152921504606846976 does not fit"),
    ("f8", "f8", lambda m: m.find_many(np.array([1], "g")), TYPE, 101, "would be rounded to float64"),
    ("U3", "f8", lambda m: m.find_many("abc"), TYPE, 101, "not the str 'abc'"),
    ("U3", "f8", lambda m: m.find_many(["ab", 3]), TYPE, 101, "key 3 of type int is not of U3"),
    ("U3", "f8", lambda m: m.find_many(np.array(["ab", "abcd"])), TOO_LARGE, 105, "'abcd' of 4 characters is longer"),
    ("U3", "f8", lambda m: m.find_many(np.array([b"ab"])), TYPE, 101, "keys of S2 are not of U3"),
    ("S3", "f8", lambda m: m.find_many([b"ab", b"x\0"]), ARGUMENT, 100, "ends in NUL"),
    ("i8", "i1", lambda m: m.insert(1, 128), TOO_LARGE, 105, "128 does not fit int8: outside [-128, 127]"),
    ("i8", "i1", lambda m: m.insert(1, 1.5), TYPE, 101, "float64 would not stay what they are as int8"),
    ("i8", "i1", lambda m: m.insert(1, "x"), TYPE, 101, "would not stay what they are as int8"),
    ("i8", "f4", lambda m: m.insert(1, 1e300), TOO_LARGE, 105, "does not fit float32"),
    ("i8", "f4", lambda m: m.insert(1, [1, 2]), ARGUMENT, 100, "2 values for 1 keys"),
    ("i8", "f4", lambda m: m.insert_many([1, 2, 3], [1.0]), ARGUMENT, 100, "1 values for 3 keys"),
    ("i8", "f4", lambda m: m.insert_many([1], [[1.0]]), ARGUMENT, 100, "values of shape (1, 1) must have 1 dimension"),
    ("i8", "f4", lambda m: m.find_many([1, 2], default=[1]), ARGUMENT, 100, "1 default for 2 keys"),
    ("i8", "i4", lambda m: m.find_many([1, 2], default=0.5), TYPE, 101, "would not stay what they are as int32"),
    ("i8", "c8", lambda m: m.update_many([1], [1], dtl.MIN), ARGUMENT, 104, "MIN is not defined for complex64"),
    ("i8", "?", lambda m: m.update_many([1], [True]), ARGUMENT, 104, "SUM is not defined for bool"),
    ("i8", "i8", lambda m: m.update_many([1], [1], "mean"), ARGUMENT, 100, "unknown op 'mean'"),
    ("i8", "i8", lambda m: m.update_many([1], [1], 99), ARGUMENT, 100, "op number 99 outside [0, 11)"),
    ("i8", "i8", lambda m: m.update_many([1], [1], dtl.MINLOC), ARGUMENT, 104, "MINLOC gives values and ranks"),
    ("i8", "f8", lambda m: m.update_many([1], [1], "bxor"), ARGUMENT, 104, "BXOR is not defined for float64"),
]


def good(m: dtl.DistributedMap) -> None:
    """Make the call that the other ranks make meanwhile."""
    m.insert_many(np.empty(0, m.key_dtype), [])


@pytest.mark.parametrize("row", REFUSED, ids=lambda row: row[-1])
def test_refused_on_every_rank(ctx: dtl.Context, row: Any) -> None:
    key_dtype, value_dtype, call, error, code, text = row
    with dtl.DistributedMap(ctx, key_dtype, value_dtype) as m:
        refused(lambda: call(m), error, code, text)
        assert len(m) == m.global_size == 0, "nothing was changed, and the next call works"


@pytest.mark.mpi(min_size=2)
@pytest.mark.parametrize("row", REFUSED, ids=lambda row: row[-1])
def test_one_rank_alone_is_refused(ctx: dtl.Context, row: Any) -> None:
    key_dtype, value_dtype, call, error, code, text = row
    with dtl.DistributedMap(ctx, key_dtype, value_dtype) as m:
        if ctx.rank == ctx.size - 1:
            refused(lambda: call(m), error, code, text)
        else:
            refused(lambda: good(m), error, code, f"rank {ctx.size - 1}", text, op="insert_many")
        assert m.empty


@pytest.mark.parametrize(
    ("key_dtype", "value_dtype", "text"),
    [
        ("f4", "f8", "key_dtype float32 is none of keys"),
        ("?", "f8", "key_dtype bool is none of keys"),
        ("c16", "f8", "key_dtype complex128 is none of keys"),
        ("O", "f8", "key_dtype object is none of keys"),
        ("f4", "f8", "they are integers, float64, float16, dates, spans of time, bytes S<n>, str U<n> or records"),
        ("V8", "f8", "is none of keys"),
        ([("a", "i8"), ("b", "O")], "f8", "has a field of objects"),
        ([("a", "i8"), ("b", [("c", "g", 2)])], "f8", "or of long floats"),
        ([], "f8", "has no elements in its fields"),
        (np.dtype({"names": ["a", "b"], "formats": ["i4", "i2"], "offsets": [0, 2]}), "f8", "fields that overlap"),
        ("M8", "f8", "has no unit"),
        (str, "f8", "has no length; U20 has 20 characters"),
        ("S", "f8", "has no length; S20 has 20 characters"),
        ("nonsense", "f8", "unknown key_dtype 'nonsense'"),
        ("U300000", "f8", "keys of 1200000 bytes: they must have 1 to 1048576"),
        ("i8", "f2", "dtype float16 is not held"),
        ("i8", "U3", "is not held"),
        ("i8", "nonsense", "unknown dtype 'nonsense'"),
    ],
)
def test_dtypes_that_a_map_cannot_have(ctx: dtl.Context, key_dtype: Any, value_dtype: Any, text: str) -> None:
    refused(lambda: dtl.DistributedMap(ctx, key_dtype, value_dtype), ARGUMENT, 100, text)
    if ctx.size > 1:
        mine = (key_dtype, value_dtype) if ctx.rank == 0 else ("i8", "f8")
        refused(lambda: dtl.DistributedMap(ctx, *mine), ARGUMENT, 100, text)


def test_records_that_are_too_long(ctx: dtl.Context) -> None:
    text = "keys of 2000000 bytes: they must have 1 to 1048576"
    refused(lambda: dtl.DistributedMap(ctx, [("a", "S2000000")], "f8"), ARGUMENT, 100, text)


@pytest.mark.mpi(min_size=2)
def test_ranks_that_differ(ctx: dtl.Context) -> None:
    first = ctx.rank == 0
    for mine, text in [
        (("i8" if first else "u8", "f8"), "rank 0 called map(keys of int64, values of float64)"),
        (("i8", "f8" if first else "i8"), "rank 0 called map(keys of int64, values of float64)"),
        (("U2" if first else "S8", "f8"), "rank 0 called map(keys of U2, values of float64)"),
    ]:
        refused(lambda mine=mine: dtl.DistributedMap(ctx, *mine), MISMATCH, 301, text)
    with dtl.DistributedMap(ctx, "i8", "i8") as one, dtl.DistributedMap(ctx, "i8", "i8") as other:
        refused(lambda: (one if first else other).insert(1, 1), MISMATCH, 301, "ranks disagree")
        refused(lambda: one.update_many([1], 1, "max" if first else "min"), MISMATCH, 301, "ranks disagree")
        refused(lambda: one.clear() if first else one.insert(1, 1), MISMATCH, 301, "rank 0 called clear")
        refused(lambda: one.sync() if first else one.flush(), MISMATCH, 301, "rank 0 called sync")
        assert one.empty
        assert other.empty


CALLS: list[Callable[[dtl.DistributedMap], Any]] = [
    lambda m: m.insert_many([1], [1]),
    lambda m: m.update_many([1], [1]),
    lambda m: m.find_many([1]),
    lambda m: m.contains_many([1]),
    lambda m: m.erase_many([1]),
    lambda m: m[1],
    lambda m: m.clear(),
    lambda m: m.sync(),
    lambda m: m.flush(),
    lambda m: m.global_view(),
]


@pytest.mark.parametrize("call", CALLS)
def test_closed_map(ctx: dtl.Context, call: Callable[[dtl.DistributedMap], Any]) -> None:
    m = dtl.DistributedMap(ctx, "i8", "i8")
    if ctx.rank == 0 or ctx.size == 1:
        m.close()
        m.close()
    refused(lambda: call(m), exceptions.InvalidHandleError, 102, "the map is closed")
    m.close()
    for local in (
        lambda: len(m),
        lambda: m.global_size,
        lambda: m.empty,
        lambda: m.local_size,
        m.to_numpy,
        lambda: iter(m),
    ):
        refused(local, exceptions.InvalidHandleError, 102, "closed")
    assert repr(m) == "<dtl.DistributedMap, closed>"


def test_closed_context() -> None:
    context = dtl.Context()
    m = dtl.DistributedMap(context, "i8", "i8")
    m.insert(3, 4)
    context.close()
    assert (len(m), m.local_size) == (1, len(m.to_numpy()[0]))
    refused(lambda: m.insert(1, 1), exceptions.InvalidHandleError, 102, "closed")
    m.close()


def test_kinship(ctx: dtl.Context) -> None:
    with dtl.DistributedMap(ctx, "i1", "i1") as m:
        with pytest.raises(builtins.OverflowError):
            m[1000] = 1
        with pytest.raises(TypeError):
            m["a"] = 1
        with pytest.raises(ValueError, match="2 values for 1 keys"):
            m.insert_many([1], [1, 2])
        with pytest.raises(KeyError):
            m[1]
