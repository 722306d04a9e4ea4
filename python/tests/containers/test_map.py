"""DistributedMap: what it holds, against a dict."""

from __future__ import annotations

import datetime
from typing import Any

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest
from oracle import DTYPES, OPS, has, reduced
from places import everywhere

import dtl

KEYS = (
    "int64",
    "int32",
    "int16",
    "int8",
    "uint64",
    "uint32",
    "uint16",
    "uint8",
    "float64",
    "S5",
    "S8",
    "U1",
    "U7",
    "M8[D]",
    "M8[s]",
    "m8[ms]",
    "float16",
    "i4,S3",
    "U2,(2,)f4,M8[s],?",
)


def some_keys(dtype: str, numbers: Any) -> Any:
    """Return different keys for numbers below 100."""
    kind = np.dtype(dtype)
    if kind.names is not None:
        made = np.zeros(len(numbers), dtype)
        made[kind.names[0]] = np.array(numbers, int) // 5
        made[kind.names[1]] = (np.array(numbers, int) % 5).reshape(-1, *[1] * len(kind[1].shape))
        return made
    if kind.kind in "SU":
        letters = [f"{n:x}" if kind.itemsize > 4 else chr(0x4E00 + n) for n in numbers]
        return np.array(letters, "U").astype(dtype) if letters else np.empty(0, dtype)
    if kind.kind in "mM":
        return (np.array(numbers, np.int64) * 1000 - 5000).astype(dtype)
    if kind.kind == "f":
        return (np.array(numbers, float) / 8 - 5).astype(dtype)
    if kind.kind == "i":
        return (np.array(numbers, np.int64) + np.iinfo(dtype).min).astype(dtype)
    return (np.array(numbers, np.uint64) + np.uint64(np.iinfo(dtype).max - 100)).astype(dtype)


def listed(keys: Any) -> list[Any]:
    """Return keys as Python's, of which equal ones are equal: records that hold arrays as bytes."""
    return keys.tolist() if keys.dtype.names is None else [key.tobytes() for key in keys]


def contents(m: dtl.DistributedMap) -> dict[Any, Any]:
    keys, values = m.global_view()
    assert keys.dtype == m.key_dtype
    assert values.dtype == m.value_dtype
    everything = dict(zip(listed(keys), values.tolist()))
    assert len(everything) == len(keys) == len(values) == len(m)
    return everything


@pytest.mark.parametrize("key_dtype", KEYS)
@everywhere
def test_every_type_of_keys(ctx: dtl.Context, key_dtype: str, place: str) -> None:
    everyones = [some_keys(key_dtype, range(rank, 60, rank + 1)) for rank in range(ctx.size)]
    mine = everyones[ctx.rank]
    with dtl.DistributedMap(ctx, key_dtype, np.int32, placement=place) as m:
        m.insert_many(mine, np.full(len(mine), ctx.rank))
        want = {key: rank for rank, keys in enumerate(everyones) for key in listed(keys)}
        assert contents(m) == want
        for form in (mine, mine.tolist()):
            values, found = m.find_many(form)
            assert values.tolist() == [want[key] for key in listed(mine)]
            assert found.all()
        assert not m.contains_many(some_keys(key_dtype, range(61, 90))).any()
        for key in mine[:3], mine.tolist()[:3]:
            for one in key:
                assert m[one] == want[listed(np.array([one], m.key_dtype))[0]]
                assert one in m


@pytest.mark.parametrize("value_dtype", DTYPES)
@everywhere
def test_every_type_of_values(ctx: dtl.Context, value_dtype: str, place: str) -> None:
    values = np.arange(100).astype(value_dtype)
    if values.dtype.kind == "c":
        values = values + np.array(1j, value_dtype) * 3
    with dtl.DistributedMap(ctx, "i4", value_dtype, placement=place) as m:
        m.insert_many(np.arange(ctx.rank, 100, ctx.size), values[ctx.rank :: ctx.size])
        found_values, found = m.find_many(np.arange(120), default=1)
        assert found_values.dtype == m.value_dtype == values.dtype
        assert found.dtype == np.bool_
        np.testing.assert_array_equal(found, np.arange(120) < 100)
        np.testing.assert_array_equal(found_values, np.concatenate([values, np.ones(20, value_dtype)]))
        assert type(m[7]) is values.dtype.type
        assert m.erase_many([7, 8, 7, 500]).tolist() == [True, True, True, False]
        m.insert(8, values[9])  # where 7 or 8 was
        assert (8 in m, 7 in m, m[8]) == (True, False, values[9])


@pytest.mark.parametrize("value_dtype", DTYPES)
@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
@everywhere
def test_every_operator(ctx: dtl.Context, op: dtl.ops.Op, value_dtype: str, place: str) -> None:
    with dtl.DistributedMap(ctx, "U3", value_dtype, placement=place) as m:
        keys = np.array(["a", "b", "a", "c", "b", "a"])
        values = np.array([3, 1, 2, 0, 1, 1]).astype(value_dtype)
        if not has(op, value_dtype):
            with pytest.raises(dtl.InvalidArgumentError, match=f"{op.name} is not defined for {value_dtype}"):
                m.update_many(keys, values, op)
            assert len(m) == 0
            return
        for times in (1, 2):
            m.update_many(keys, values, op)
            for key in "abc":
                assert m[key] == reduced(op, np.tile(values[keys == key], times * ctx.size))
        m.update_many(["c"], 1, op.name.lower())
        assert len(m) == 3


@everywhere
def test_update_starts_with_the_value(ctx: dtl.Context, place: str) -> None:
    for op in filter(lambda op: has(op, np.float64), OPS):
        with dtl.DistributedMap(ctx, np.int64, np.float64, placement=place) as m:
            m.update_many([ctx.rank], [-2.5], op)
            assert m[ctx.rank] == -2.5


@everywhere
def test_a_key_of_several_ranks(ctx: dtl.Context, place: str) -> None:
    with dtl.DistributedMap(ctx, np.int64, np.int64, placement=place) as m:
        m.insert_many([5, 6, 5], [100 + ctx.rank, ctx.rank, 200 + ctx.rank])
        assert m[5] == 199 + ctx.size
        assert m[6] == ctx.size - 1
        assert m.erase_many([6, 6, 7]).tolist() == [True, True, False], "as it was when the call began"
        m[5] = ctx.rank
        assert m[5] == ctx.size - 1
        assert len(m) == 1


@everywhere
def test_single_keys(ctx: dtl.Context, place: str) -> None:
    with dtl.DistributedMap(ctx, "S4", np.float64, placement=place) as m:
        mine = b"r%d" % ctx.rank
        m.insert(mine, ctx.rank / 2)
        m[b"all"] = 1.5
        assert len(m) == ctx.size + 1
        assert m.find(mine) == ctx.rank / 2
        assert m.find(b"none") is None
        assert m.find(b"none", 7) == 7
        assert m.contains(mine)
        assert b"none" not in m
        assert m.erase(mine) is True
        assert m.erase(mine) is False
        assert b"all" in m
        del m[b"all"]
        assert len(m) == 0


def test_missing_key_is_the_own_rank_s(ctx: dtl.Context) -> None:
    with dtl.DistributedMap(ctx, np.int64, np.int64) as m:
        m.insert_many([1], [2])
        if ctx.rank == 0:
            with pytest.raises(dtl.KeyNotFoundError, match="no key 9") as caught:
                m[9]
            assert isinstance(caught.value, KeyError)
            assert caught.value.op == "find"
        else:
            assert m[1] == 2
        with pytest.raises(KeyError):
            del m[10 + ctx.rank]
        assert len(m) == 1


@everywhere
def test_a_rank_without_keys(ctx: dtl.Context, place: str) -> None:
    with dtl.DistributedMap(ctx, "U4", np.int64, placement=place) as m:
        if ctx.rank == 0:
            m["a"] = 1
            assert m["a"] == 1
            assert m.erase("a")
        else:
            m.insert_many([], [])
            values, found = m.find_many([])
            assert (values.shape, found.shape) == ((0,), (0,))
            assert m.erase_many(np.array([])).tolist() == []
        assert m.empty


@everywhere
def test_sizes(ctx: dtl.Context, place: str) -> None:
    with dtl.DistributedMap(ctx, np.uint16, np.int8, placement=place) as m:
        assert (len(m), m.size, m.global_size, m.local_size, m.empty) == (0, 0, 0, 0, True)
        m.insert_many(np.arange(1000), 1)
        if ctx.is_root:  # a rank may look at it alone
            assert (len(m), m.size, m.global_size, m.empty) == (1000, 1000, 1000, False)
        assert dtl.allreduce(ctx, m.local_size) == 1000
        assert abs(m.local_size - 1000 / ctx.size) < 100, "the hash spreads neighbours evenly"
        m.erase_many(np.arange(0, 1000, 2))
        assert len(m) == m.global_size == 500
        m.sync()
        m.flush()
        m.clear()
        assert (len(m), m.global_size, m.local_size) == (0, 0, 0)
        assert not m


@everywhere
def test_local_part(ctx: dtl.Context, place: str) -> None:
    with dtl.DistributedMap(ctx, np.int64, np.int64, placement=place) as m:
        m.insert_many(np.arange(100), np.arange(100) ** 2)
        keys, values = m.to_numpy()
        assert len(keys) == m.local_size
        np.testing.assert_array_equal(values, keys**2)
        assert list(m) == keys.tolist()
        assert dict(m.items()) == dict(zip(keys.tolist(), values.tolist()))
        parts = dtl.allgather(ctx, np.concatenate([keys, np.full(100 - len(keys), -1)])).ravel()
        assert sorted(parts[parts >= 0].tolist()) == list(range(100))
        keys[:] = -1
        assert -1 not in m, "it was a copy"


@everywhere
def test_floats_that_are_one_key(ctx: dtl.Context, place: str) -> None:
    with dtl.DistributedMap(ctx, float, np.int64, placement=place) as m:
        m.insert_many([-0.0, np.nan, np.inf], [1, 2, 3])
        other_nan = np.array([0xFFF8000000000123], np.uint64).view(float)
        assert m.find_many(np.concatenate([[0.0, np.inf], other_nan]))[0].tolist() == [1, 3, 2]
        assert m[0] == 1
        keys, _ = m.global_view()
        assert not np.signbit(keys[keys == 0]).any()


@everywhere
def test_halves_that_are_one_key(ctx: dtl.Context, place: str) -> None:
    with dtl.DistributedMap(ctx, np.float16, np.int64, placement=place) as m:
        m.insert_many([-0.0, np.nan, np.inf, 0.5], [1, 2, 3, 4])
        other_nan = np.array([0xFE01, 0x8000], np.uint16).view(np.float16)
        assert m.find_many(other_nan)[0].tolist() == [2, 1]
        assert m.find_many(np.array([0.5, np.inf], np.float32))[0].tolist() == [4, 3]
        assert m[0] == m[0.0] == m[np.float16(-0.0)] == 1
        assert len(m) == 4
        for key in (0.1, 1e6, 2049, 10**6, np.float32(0.1)):
            with pytest.raises(dtl.InvalidTypeError, match="is no float16: it would become"):
                m.insert(key, 1)
            with pytest.raises(dtl.InvalidTypeError, match="is no float16: it would become"):
                m.insert_many([1.0, key], 1)
        with pytest.raises(dtl.InvalidTypeError, match="is not of float16"):
            m.insert(True, 1)
        with pytest.raises(dtl.InvalidTypeError, match="are not of float16"):
            m.insert_many(["a"], 1)


@everywhere
def test_records_that_are_one_key(ctx: dtl.Context, folder: str, place: str) -> None:
    """Gaps are no part of a key, nor are signs of zeros and NaNs; nested fields are."""
    inner = np.dtype([("when", "M8[s]"), ("z", "c8")])
    dtype = np.dtype([("flag", "?"), ("x", "f8"), ("h", "f2", (2,)), ("in", inner)], align=True)
    raw = np.frombuffer(bytes([1]) + bytes(range(1, dtype.itemsize)), dtype)  # with gaps that are not zero
    keys = np.concatenate([raw, np.zeros(3, dtype)])
    keys["flag"] = True
    keys["x"] = [1.5, -0.0, np.nan, 7]
    keys["h"] = [[1, -0.0], [0, np.nan], [0, 0], [0, 0]]
    keys["in"]["when"] = np.array(["2024-01-01", "NaT", "NaT", "NaT"], "M8[s]")
    keys["in"]["z"] = [complex(-0.0, np.nan), 0, 0, 0]
    with dtl.DistributedMap(ctx, dtype, np.int64, placement=place) as m:
        m.insert_many(keys, [1, 2, 3, 4])
        same = np.array(
            [
                (True, 1.5, (1, 0.0), (np.datetime64("2024-01-01"), complex(0, -np.nan))),
                (True, 0.0, (-0.0, -np.nan), (np.datetime64("NaT", "D"), -0j)),
                (True, -np.nan, (0, 0), (np.datetime64("NaT", "D"), 0)),
            ],
            dtype.newbyteorder(),
        )
        assert m.find_many(same)[0].tolist() == [1, 2, 3]
        assert m[same[0]] == 1
        assert m[True, -0.0, (0, np.nan), (np.datetime64("NaT", "D"), 0)] == 2
        assert m.contains_many([same[1], (True, 7.0, [0, 0], (np.datetime64("NaT", "D"), 0))]).all()
        assert len(m) == 4
        dtl.checkpoint(folder, {"m": m})
        again = dtl.restore(ctx, folder)["m"]
        assert again.key_dtype.names == dtype.names
        assert again.find_many(keys)[0].tolist() == [1, 2, 3, 4]
    with dtl.DistributedMap(
        ctx, [("name", "U3"), ("n", "i1"), ("f", "f4"), ("s", "S2", (2,))], np.int64, placement=place
    ) as m:
        m.insert(("abc", 5, 0.5, (b"x", b"y")), 1)
        assert m["abc", np.int64(5), 0.5, [b"x", b"y"]] == 1
        for bad in (
            ("abcd", 5, 0.5, (b"x", b"y")),
            ("abc", 300, 0.5, (b"x", b"y")),
            ("abc", 5, 0.1, (b"x", b"y")),
            ("abc", 5, None, (b"x", b"y")),
            ("abc", 5, 0.5, (b"x", b"yyy")),
            ("abc", 5, 0.5),
            ("abc\0", 5, 0.5, (b"x", b"y")),
            "abc",
            5,
            None,
            np.zeros(1, "U3,i1,f4,S2")[0],
        ):
            with pytest.raises(dtl.InvalidTypeError, match=r"is not of \[\('name'"):
                m.find(bad)
            with pytest.raises(dtl.InvalidTypeError, match=r"is not of \[\('name'"):
                m.find_many([bad])
        for keys in (np.zeros(2, "U3,i1,f4,S2"), np.zeros(2)):
            with pytest.raises(dtl.InvalidTypeError, match=r"are not of \[\('name'"):
                m.find_many(keys)
        assert len(m) == 1


#: What a call does with a list of (key, value) from each rank.
CALLS = ("insert", "update", "erase", "find")
LISTS = st.lists(st.tuples(st.integers(-4, 4), st.integers(-100, 100)), max_size=12)


@everywhere
@hypothesis.given(st.lists(st.tuples(st.sampled_from(CALLS), st.lists(LISTS, min_size=4, max_size=4)), max_size=12))
def test_calls_in_any_order(ctx: dtl.Context, place: str, calls: list[Any]) -> None:
    want: dict[int, int] = {}
    with dtl.DistributedMap(ctx, np.int8, np.int64, placement=place) as m:
        for name, lists in calls:
            everyones = lists[: ctx.size]
            keys = [key for key, _ in everyones[ctx.rank]]
            values = [value for _, value in everyones[ctx.rank]]
            answers: list[list[Any]] = [[] for _ in everyones]
            for rank, entries in enumerate(everyones):
                for key, value in entries:
                    answers[rank].append(want.get(key))
                    if name == "insert":
                        want[key] = value
                    elif name == "update":
                        want[key] = want.get(key, 0) + value
            if name == "erase":
                want = {k: v for k, v in want.items() if all(k != key for part in everyones for key, _ in part)}
            mine = answers[ctx.rank]
            if name == "insert":
                m.insert_many(keys, values)
            elif name == "update":
                m.update_many(keys, values)
            elif name == "erase":
                assert m.erase_many(keys).tolist() == [value is not None for value in mine]
            else:
                found_values, found = m.find_many(keys, default=1000)
                assert found.tolist() == m.contains_many(keys).tolist() == [value is not None for value in mine]
                assert found_values.tolist() == [1000 if value is None else value for value in mine]
            assert len(m) == len(want)
        assert contents(m) == want


@everywhere
def test_growth_and_erasure(ctx: dtl.Context, place: str) -> None:
    """Many rounds, cells that become free and are taken again, and rehashed tables."""
    count = 60_000
    mine = np.arange(ctx.rank, count, ctx.size)
    with dtl.DistributedMap(ctx, np.int64, np.int32, placement=place) as m:
        for round_ in range(3):
            m.insert_many(mine * 7919, mine)
            assert len(m) == count
            assert m.erase_many(mine[::2] * 7919).all()
            assert m.find_many(mine * 7919)[1].tolist() == [i % 2 == 1 for i in range(len(mine))]
            m.insert_many(mine[::2] * 7919, round_)
            values, found = m.find_many(mine * 7919)
            assert found.all()
            np.testing.assert_array_equal(values[1::2], mine[1::2])
            np.testing.assert_array_equal(values[::2], round_)
        m.clear()
        assert (len(m), len(m.to_numpy()[0])) == (0, 0)
        m.update_many([1], 5)
        assert m[1] == 5 * ctx.size


@everywhere
def test_hot_key(ctx: dtl.Context, place: str) -> None:
    """More of one key than a round takes: they go in parts, and still each counts once."""
    count = 150_000
    with dtl.DistributedMap(ctx, np.int64, np.int64, placement=place) as m:
        m.update_many(np.where(np.arange(count) % 10 == 0, np.arange(count), -1), 1)
        assert m[-1] == count * 9 // 10 * ctx.size
        assert len(m) == count // 10 + 1
        m.insert_many(np.full(count, -1), np.arange(count) + ctx.rank)
        assert m[-1] == count - 1 + ctx.size - 1


def test_keywords_of_all_containers(ctx: dtl.Context) -> None:
    options: Any = {"partition": dtl.PARTITION_HASH, "placement": "host", "execution": dtl.EXEC_PAR}
    with dtl.DistributedMap(ctx, np.int64, np.float64, **options) as m:
        policies = (m.partition_policy, m.placement_policy, m.execution_policy)
        assert policies == (dtl.PARTITION_HASH, dtl.PLACEMENT_HOST, dtl.EXEC_PAR)
    for wrong, text in (
        ({"partition": "block"}, "a map has PARTITION_HASH"),
        ({"execution": "async"}, "a map has no execution EXEC_ASYNC"),
        ({"placement": "nowhere"}, "placement 'nowhere'"),
    ):
        with pytest.raises(dtl.InvalidArgumentError, match=text):
            dtl.DistributedMap(ctx, np.int64, np.float64, **wrong)  # type: ignore[arg-type]


def test_placements_without_a_gpu(ctx: dtl.Context) -> None:
    with dtl.DistributedMap(ctx, int, int, placement="device_preferred") as m:
        assert m.placement_policy is dtl.PLACEMENT_HOST
    if not dtl.placement_available("device"):  # where there is a device, maps_on_a_device.py has what is so
        for placement in (dtl.PLACEMENT_DEVICE, dtl.PLACEMENT_UNIFIED):
            with pytest.raises(dtl.BackendUnavailableError, match=f"placement {placement.name} needs a GPU"):
                dtl.DistributedMap(ctx, int, int, placement=placement)


def test_local_view(ctx: dtl.Context) -> None:
    with dtl.DistributedMap(ctx, np.int64, np.float64) as m:
        m.insert_many(np.arange(20), np.arange(20) * 0.5)
        keys, elements = m.local_view()
        assert len(keys) == m.local_size
        assert (elements == keys * 0.5).all()
        for array in (keys, elements):
            with pytest.raises(ValueError, match="read-only"):
                array[:] = 0
        m.clear()
        assert len(m.local_view()[0]) == 0


@everywhere
def test_dates_are_keys(ctx: dtl.Context, folder: str, place: str) -> None:
    noon = datetime.datetime(2024, 2, 29, 12)
    with dtl.DistributedMap(ctx, "M8[s]", np.int64, placement=place) as m:
        m.insert_many(np.array(["2024-02-29", "NaT", "1969-12-31"], "M8[D]"), [1, 2, 3])
        m.insert(noon, 4)
        assert m[datetime.date(2024, 2, 29)] == m[np.datetime64("2024-02-29T00:00:00.000")] == 1
        assert m[np.datetime64("NaT", "D")] == 2
        assert m[np.datetime64("2024-02-29T12", "h")] == 4
        assert len(m) == 4
        assert m.contains_many([noon, datetime.date(1970, 1, 1)]).tolist() == [True, False]
        for key in ("2024-02-29", 5, np.timedelta64(5, "s"), None, 0.5):
            with pytest.raises(dtl.InvalidTypeError, match=r"is not of datetime64\[s\]"):
                m.insert(key, 1)
            with pytest.raises(dtl.InvalidTypeError, match=r"(is|are) not of datetime64\[s\]"):
                m.insert_many([key], 1)
        with pytest.raises(dtl.InvalidTypeError, match="it would become"):
            m.insert(np.datetime64("2024-02-29T12:00:00.5"), 1)
        dtl.checkpoint(folder, {"m": m})
        again = dtl.restore(ctx, folder)["m"]
        assert again.key_dtype == m.key_dtype
        assert contents(again) == contents(m)
    with dtl.DistributedMap(ctx, "U5", np.int64, placement=place) as m, pytest.raises(
        dtl.InvalidTypeError, match="NoneType is not of U5"
    ):
        m.insert_many(["a", None], 1)
    with dtl.DistributedMap(ctx, "M8[ns]", np.int64, placement=place) as m, pytest.raises(
        dtl.InvalidTypeError, match="is no datetime"
    ):
        m.insert(np.datetime64("9999-01-01", "D"), 1)


@pytest.mark.mpi(min_size=2)
def test_ranks_with_other_units_disagree(ctx: dtl.Context) -> None:
    fields = [(f"field_{i}", "i4") for i in range(80)]
    for one, other in (("f2", "u2"), ("i4,i4", "i8"), ("i4,i4", "i4,u4"), (fields, fields[::-1]), (fields, "S320")):
        with pytest.raises(dtl.CollectiveMismatchError):
            dtl.DistributedMap(ctx, other if ctx.rank else one, np.int64)
    for other in ("M8[ms]", "m8[s]", "i8"):
        with pytest.raises(dtl.CollectiveMismatchError):
            dtl.DistributedMap(ctx, other if ctx.rank else "M8[s]", np.int64)
