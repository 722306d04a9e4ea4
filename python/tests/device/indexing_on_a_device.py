"""Elements of containers on GPUs by their indices, and by masks, and that no part goes through the host for them.

It is run as on_a_device.py is.
"""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest
from divisions import DIVISIONS
from kernels_on_a_device import by_kernels
from on_a_device import failing, fake, holds, made
from oracle import DTYPES, values

import dtl

__all__ = ["failing", "fake"]

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


@pytest.mark.parametrize("dtype", DTYPES)
def test_elements(ctx: dtl.Context, dtype: str) -> None:
    """Reads and writes of listed elements, of each size of element."""
    whole = values(dtype, (29,), 1)
    places = np.array([[3, -1, 3], [28, 0, 14]])
    with made(ctx, whole, "cyclic") as vec, by_kernels():
        assert vec[-2] == whole[-2]
        np.testing.assert_array_equal(vec[places], whole[places])
        np.testing.assert_array_equal(vec.get([ctx.rank, -1 - ctx.rank]), whole[[ctx.rank, -1 - ctx.rank]])
        vec[[5, 7, 5, 20]] = whole[[1, 2, 3, 4]]
        vec[9] = whole[6]
        whole[[5, 7, 5, 20]], whole[9] = whole[[1, 2, 3, 4]].copy(), whole[6]
        vec[[21, 23, 21]] = whole[8]
        whole[[21, 23]] = whole[8]
        holds(vec, whole)
        vec.put([10 + ctx.rank, 10 + ctx.rank], whole[[0, ctx.rank + 1]])  # of which the last stays
        whole[10 : 10 + ctx.size] = whole[1 : 1 + ctx.size].copy()
        holds(vec, whole)


@pytest.mark.parametrize("name", DIVISIONS)
def test_elements_of_each_division(ctx: dtl.Context, name: str) -> None:
    whole = values("float32", (13, 3), 2)
    with made(ctx, whole, name) as t, by_kernels():
        assert t[4, 1] == whole[4, 1]
        np.testing.assert_array_equal(t[[0, 12, 5], [2, -1, 0]], whole[[0, 12, 5], [2, -1, 0]])
        t[[0, 12, 5], [2, -1, 0]] = [1, 2, 3]
        whole[[0, 12, 5], [2, -1, 0]] = [1, 2, 3]
        holds(t, whole)
        t.put(([ctx.rank], [1]), 50 + ctx.rank)
        if name != "replicated":
            whole[: ctx.size, 1] = np.arange(50, 50 + ctx.size)
        else:
            whole[: ctx.size, 1] = np.arange(50, 50 + ctx.size)
        holds(t, whole)


def test_many_elements(ctx: dtl.Context) -> None:
    """More than one exchange has, so that a later batch comes after an earlier one."""
    whole = np.arange(70000) * 7
    order = np.random.default_rng(1).permutation(np.repeat(np.arange(70000), 2))
    given = np.arange(order.size)
    with made(ctx, whole, "cyclic") as vec, by_kernels():
        np.testing.assert_array_equal(vec[order], whole[order])
        mine = np.random.default_rng(ctx.rank).permutation(70000)
        np.testing.assert_array_equal(vec.get(mine), whole[mine])
        vec[order] = given
        whole[order] = given
        holds(vec, whole)


@pytest.mark.parametrize("name", DIVISIONS)
@pytest.mark.parametrize("placement", ["device", "unified"])
def test_masks(ctx: dtl.Context, name: str, placement: str) -> None:
    """A container of bool as a mask: what it selects, and where that is."""
    for shape in ((1,), (37,), (300 * ctx.size,)):
        whole = values("int16", shape, 3)
        with made(ctx, whole, name, placement) as vec, vec > 0 as mask, by_kernels():
            with vec[mask] as some:
                assert some.placement_policy is vec.placement_policy
                np.testing.assert_array_equal(_gathered(some), whole[whole > 0])
            with vec[vec > 30000] as none:
                assert none.shape == (int((whole > 30000).sum()),)
            vec[mask] = 5
            expected = np.where(whole > 0, 5, whole)
            holds(vec, expected)
            many = np.arange((whole > 0).sum(), dtype=np.int16)
            vec[mask] = many
            expected[whole > 0] = many
            holds(vec, expected)


@pytest.mark.parametrize("name", ["block", "cyclic"])
def test_containers_where_a_mask_is_true(ctx: dtl.Context, name: str) -> None:
    for shape in ((23,), (23, 3)):
        whole = values("float64", shape, 3)
        truth = np.arange(whole.size).reshape(shape) % 3 == 1
        given = np.arange(float(truth.sum())) * -1
        with made(ctx, whole, name) as c, made(ctx, given, "cyclic") as some, made(ctx, truth, name) as mask:
            with dtl.trace() as trace:
                c[mask] = some
            staged = [record.operation for record in trace.records if "staged" in record.operation]
            assert staged == (["setitem (staged)"] if name == "cyclic" and ctx.size > 1 else [])
            whole[truth] = given
            holds(c, whole)
    rows = np.arange(12.0).reshape(4, 3)
    truth = np.arange(23) % 6 == 2
    with made(ctx, whole, name) as t, made(ctx, rows) as some, made(ctx, truth) as mask:
        t[mask] = some
        whole[truth] = rows
        holds(t, whole)
    with made(ctx, np.zeros(5)) as vec, made(ctx, np.ones(5, bool), placement="host") as mask:
        with pytest.raises(dtl.InvalidTypeError, match=r"on GPU \d.*another of placement HOST"):
            vec[mask]
        with pytest.raises(dtl.InvalidTypeError, match=r"on GPU \d.*another of placement HOST"):
            vec[mask] = 1
        holds(vec, np.zeros(5))


def test_rows_and_columns_by_containers(ctx: dtl.Context) -> None:
    whole = values("float64", (12, 3), 1)
    rows = np.array([5, -1, 0, 5])
    with made(ctx, whole) as t, made(ctx, rows) as at:
        with t[at] as some:
            holds_whole(some, whole[rows])
        with made(ctx, np.arange(4.0 * 3).reshape(4, 3), "cyclic") as given, made(ctx, np.arange(4)) as four:
            t[four] = given
            whole[:4] = np.arange(12.0).reshape(4, 3)
            holds(t, whole)
            t[[6, 7, 8, 9]] = given
            whole[6:10] = np.arange(12.0).reshape(4, 3)
            holds(t, whole)
        with made(ctx, np.arange(24).reshape(12, 2)) as ints, dtl.trace() as trace:
            t[:, [2, 0]] = ints  # which become floats on the host
            whole[:, [2, 0]] = np.arange(24).reshape(12, 2)
            holds(t, whole)
        assert "setitem (staged)" in {record.operation for record in trace.records}
    vec, at = made(ctx, np.arange(9.0), "cyclic"), made(ctx, np.array([8, 0, -6]))
    with vec, at, dtl.trace() as trace, vec[at] as some:
        holds_whole(some, np.array([8.0, 0, 3]))
    staged = [record.operation for record in trace.records if "staged" in record.operation]
    assert staged == ["take (staged)"] * (ctx.size > 1)
    with made(ctx, np.arange(9.0), "cyclic") as vec, made(ctx, np.array([0.5, 1.5, 2.5])) as given, by_kernels():
        vec[[8, 0, 8]] = given
        expected = np.arange(9.0)
        expected[[8, 0, 8]] = [0.5, 1.5, 2.5]
        holds(vec, expected)


@pytest.mark.parametrize("name", ["block", "explicit", "replicated"])
@pytest.mark.parametrize("dtype", ["float32", "int8", "complex128"])
def test_indices_in_a_container(ctx: dtl.Context, name: str, dtype: str) -> None:
    """They stay on the GPU; only elements of other ranks, and their indices, travel."""
    for shape in ((40,), (10, 4)):
        whole = values(dtype, shape, 1)
        for places in (np.arange(30) * 7 % 40 - 20, np.arange(12).reshape(6, 2) * 3, np.zeros(0, int), np.array([39])):
            flat = whole.reshape(-1)
            for other in ("block", "cyclic", "replicated"):
                with made(ctx, whole, name) as c, made(ctx, places, other) as at, by_kernels(), dtl.take(c, at) as some:
                    assert some.placement_policy is dtl.PLACEMENT_DEVICE
                    holds(some, flat[places])
            if len(shape) > 1:
                continue
            with made(ctx, whole, name) as c, made(ctx, places.astype(np.int16)) as at, made(ctx, places) as wide:
                with by_kernels(), c[at] as some:
                    holds_whole(some, flat[places])
                given = values(dtype, places.shape, 3)
                kept = dtype == "complex128" or (name == "replicated" and ctx.size > 1)
                with dtl.trace() as trace, made(ctx, given, "cyclic") as other_values:
                    c[wide] = 1
                    c[wide] = given
                    c[at] = other_values
                assert kept or not any("staged" in record.operation for record in trace.records)
                want = flat.copy()
                want[places] = given
                holds(c, want)
                c[wide] = 3
                want[places] = 3
                holds(c, want)
    with made(ctx, whole.reshape(-1), name) as c, made(ctx, np.array([3, 40])) as outside:
        for call in (lambda: dtl.take(c, outside), lambda: c[outside], lambda: c.__setitem__(outside, 1)):
            with pytest.raises(dtl.BoundsError):
                call()
        holds(c, whole.reshape(-1))


@pytest.mark.parametrize("name", DIVISIONS)
def test_takes(ctx: dtl.Context, name: str) -> None:
    whole = values("int64", (14, 3), 1)
    places = np.array([2, -1, 2, 0])
    with made(ctx, whole, name) as t, by_kernels():
        assert dtl.take(t, 4) == whole.take(4)
        for axis in (None, 0, 1):
            wanted = places % 3 if axis else places
            with np.take(t, wanted, axis) as some:
                assert some.placement_policy is dtl.PLACEMENT_DEVICE
                holds_whole(some, whole.take(wanted, axis))
    with made(ctx, whole[:, 0].copy(), name) as vec, made(ctx, places) as at:
        with np.take(vec, at) as some:
            assert some.placement_policy is dtl.PLACEMENT_DEVICE
            holds_whole(some, whole[:, 0].take(places))
        with made(ctx, places, placement="host") as here, pytest.raises(
            dtl.InvalidTypeError, match="another of placement HOST"
        ):
            np.take(vec, here)
        with dtl.take(np.arange(20) * 2, at) as some:
            holds_whole(some, places % 20 * 2)


@pytest.mark.parametrize("name", DIVISIONS)
def test_puts(ctx: dtl.Context, name: str) -> None:
    whole = values("float32", (14, 3), 1)
    with made(ctx, whole, name) as t:
        with by_kernels():
            np.put(t, [3, -1, 3, 20], [1, 2, 3])
            np.put(whole, [3, -1, 3, 20], [1, 2, 3])
            holds(t, whole)
            np.put(t, [50, -60], 8, mode="clip")
            np.put(whole, [50, -60], 8, mode="clip")
            holds(t, whole)
        with made(ctx, np.array([5, 9, 40])) as at, made(ctx, np.array([1, 2], np.float32)) as given:
            np.put(t, at, given)
            np.put(whole, [5, 9, 40], [1, 2])
            holds(t, whole)
        with made(ctx, np.array([5]), placement="host") as here, pytest.raises(
            dtl.InvalidTypeError, match="placement HOST"
        ):
            np.put(t, here, 0)
        with pytest.raises(dtl.BoundsError):
            np.put(t, [1, 42], 0)
        holds(t, whole)


@pytest.mark.parametrize("dtype", DTYPES)
def test_where_elements_are_not_zero(ctx: dtl.Context, dtype: str) -> None:
    flat = values(dtype, (200 * ctx.size,), 1)
    flat[::3] = 0
    for name in ("block", "cyclic", "replicated"):
        for whole in (flat, flat.reshape(-1, 4), flat[:1], flat[:0]):
            with made(ctx, whole, name) as c:
                with by_kernels():
                    found = np.nonzero(c)
                for got, want in zip(found, np.nonzero(whole)):
                    assert got.placement_policy is dtl.PLACEMENT_DEVICE
                    np.testing.assert_array_equal(_gathered(got), want)
                assert len(found) == whole.ndim


@pytest.mark.parametrize("name", DIVISIONS)
def test_takes_along_an_axis(ctx: dtl.Context, name: str) -> None:
    """Where parts are no ranges, the host reads the indices; the elements stay where they are."""
    there = name in ("block", "explicit", "replicated") or ctx.size == 1
    whole = values("float64", (14, 3), 1)
    for axis, places in ((1, np.arange(42).reshape(14, 3)[:, ::-1] % 3), (0, np.array([[5, -1, 0], [13, 2, 2]]))):
        with made(ctx, whole, name) as t, made(ctx, places) as at:
            with dtl.trace() as trace:
                some = np.take_along_axis(t, at, axis)
            assert some.placement_policy is dtl.PLACEMENT_DEVICE
            holds_whole(some, np.take_along_axis(whole, places, axis))
            some.close()
        staged = [(record.calls, record.bytes) for record in trace.records if "staged" in record.operation]
        assert staged == ([] if there else [(1, 8 * at_size(places, ctx))]), staged
    with made(ctx, whole) as t, made(ctx, places + 14) as outside, pytest.raises(dtl.BoundsError):
        np.take_along_axis(t, outside, 0)
    with made(ctx, whole) as t, made(ctx, places, placement="host") as at, pytest.raises(
        dtl.InvalidTypeError, match="placement HOST"
    ):
        np.take_along_axis(t, at, 0)


@pytest.mark.parametrize("name", DIVISIONS)
def test_puts_along_an_axis(ctx: dtl.Context, name: str) -> None:
    """Where parts are no ranges, the host reads the indices; of the elements, only those that are written go there."""
    there = name in ("block", "explicit") or ctx.size == 1
    for axis, places in ((1, np.arange(42).reshape(14, 3)[:, ::-1] % 3), (0, np.array([[5, -1, 0], [13, 2, 2]]))):
        whole = values("float64", (14, 3), 1)
        given = np.arange(float(places.size)).reshape(places.shape)
        with made(ctx, whole, name) as t, made(ctx, places) as at, made(ctx, given, "cyclic") as some:
            with dtl.trace() as trace:
                np.put_along_axis(t, at, given, axis)
                np.put_along_axis(t, at, some + 1, axis)
            np.put_along_axis(whole, places, given + 1, axis)
            holds(t, whole)
            staged = [(record.calls, record.bytes) for record in trace.records if "staged" in record.operation]
            assert staged == ([] if there else 2 * [(1, 8 * at_size(places, ctx))]), staged
            with made(ctx, np.arange(3.0)) as row:
                np.put_along_axis(t, at, row, axis)
                np.put_along_axis(whole, places, np.arange(3.0), axis)
                holds(t, whole)
            with made(ctx, places + 14) as outside, pytest.raises(dtl.BoundsError):
                np.put_along_axis(t, outside, 0, axis)
            holds(t, whole)
    flat = np.array([3, -1, 40])
    with made(ctx, whole, name) as t, made(ctx, flat) as at:
        np.put_along_axis(t, at, 9, None)
        whole.reshape(-1)[flat] = 9
        holds(t, whole)
        with made(ctx, flat, placement="host") as here, pytest.raises(dtl.InvalidTypeError, match="placement HOST"):
            np.put_along_axis(t, here, 0, None)


@pytest.mark.parametrize("name", DIVISIONS)
@pytest.mark.parametrize("function", [np.putmask, np.place])
def test_puts_by_masks(ctx: dtl.Context, name: str, function: Any) -> None:
    """No part goes through the host: of elements, only values that are written."""
    for shape in ((31,), (11, 3)):
        whole = values("int32", shape, 1)
        truth = np.arange(whole.size).reshape(shape) % 4 == 1
        with made(ctx, whole, name) as c, made(ctx, truth, name) as mask, made(ctx, 1 * truth, "block") as ones:
            with made(ctx, np.arange(5, dtype=np.int32), "cyclic") as some, by_kernels():
                for true in (mask, ones, truth):
                    for given in (7, [3, 2, 1], some):
                        function(c, true, given)
                        function(whole, truth, np.arange(5, dtype=np.int32) if given is some else given)
                        holds(c, whole)
            for refused in (truth.reshape(-1)[1:], mask.ravel()[1:]):
                with pytest.raises(dtl.InvalidArgumentError, match="same size"):
                    function(c, refused, 1)
            if function is np.putmask:
                function(c, mask, [])
                holds(c, whole)
            else:
                with pytest.raises(dtl.InvalidArgumentError, match="no values"):
                    function(c, mask, [])
            with made(ctx, truth, placement="host") as here, pytest.raises(
                dtl.InvalidTypeError, match="placement HOST"
            ):
                function(c, here, 1)
            holds(c, whole)


def at_size(whole: Array, ctx: dtl.Context) -> int:
    """Return how many elements this rank has of an array that is divided by blocks of rows."""
    rows, ranks = len(whole), ctx.size
    return (rows // ranks + (ctx.rank < rows % ranks)) * int(np.prod(whole.shape[1:]))


def test_what_a_condition_leaves(ctx: dtl.Context) -> None:
    whole = values("uint16", (31,), 1)
    truth = np.arange(31) % 3 == 1
    with made(ctx, whole) as vec, made(ctx, truth) as condition:
        with by_kernels():
            with np.compress(condition, vec) as some:
                assert some.placement_policy is dtl.PLACEMENT_DEVICE
                holds_whole(some, whole[truth])
            with np.compress(truth[:7], vec) as some:
                holds_whole(some, np.compress(truth[:7], whole))
        with made(ctx, truth, placement="host") as here, pytest.raises(dtl.InvalidTypeError, match="placement HOST"):
            np.compress(here, vec)
        with np.extract(condition, vec) as some:
            holds_whole(some, whole[truth])
    for name in DIVISIONS:
        with made(ctx, whole, name) as vec, made(ctx, truth) as at, by_kernels(), np.compress(at, vec) as some:
            assert some.placement_policy is dtl.PLACEMENT_DEVICE
            holds_whole(some, whole[truth])
    square = whole[:30].reshape(10, 3)
    with made(ctx, square) as t, made(ctx, truth[:10]) as condition, np.compress(condition, t, axis=0) as some:
        holds_whole(some, square[truth[:10]])


def test_indices_of_what_is_not_zero_as_rows(ctx: dtl.Context) -> None:
    for whole in (np.arange(60).reshape(20, 3) % 4, np.arange(31) % 3, np.zeros((4, 2)), np.zeros((0, 3))):
        with made(ctx, whole) as c, by_kernels(), np.argwhere(c) as rows:
            assert rows.placement_policy is dtl.PLACEMENT_DEVICE
            holds_whole(rows, np.argwhere(whole))


@pytest.mark.parametrize("name", DIVISIONS)
def test_what_is_extracted(ctx: dtl.Context, name: str) -> None:
    whole = np.arange(60.0).reshape(20, 3)
    numbers = np.arange(60).reshape(20, 3) % 4
    for given, condition in ((whole, numbers > 1), (whole, numbers), (whole[:, 0].copy(), numbers[:, 0].copy())):
        with made(ctx, given, name) as c, made(ctx, condition, name) as at, by_kernels(), np.extract(at, c) as some:
            assert type(some) is dtl.DistributedVector
            assert some.placement_policy is dtl.PLACEMENT_DEVICE
            holds_whole(some, np.extract(condition, given))
    for other in ("cyclic", "replicated"):
        with made(ctx, whole, name) as c, made(ctx, numbers, other) as where, by_kernels(), np.extract(
            where, c
        ) as some:
            holds_whole(some, np.extract(numbers, whole))
    with made(ctx, whole[:, 0].copy(), name) as c, by_kernels(), np.extract(numbers[:, 0] > 1, c) as some:
        holds_whole(some, np.extract(numbers[:, 0] > 1, whole[:, 0]))
    with made(ctx, whole) as c, made(ctx, numbers, placement="host") as where, pytest.raises(
        dtl.InvalidTypeError, match="placement HOST"
    ):
        np.extract(where, c)


@pytest.mark.parametrize("symbol", ["cuLaunchKernel", "cuMemcpyAsync", "cuMemAlloc_v2"])
def test_nothing_is_kept(ctx: dtl.Context, fake: Any, failing: Any, symbol: str) -> None:
    """Memory of the GPU that calls take is given back, also when they fail, at whichever call of the driver.

    On one rank alone: of what fails on a rank where nobody else takes part, the others do not hear.
    """
    whole = np.arange(60.0).reshape(20, 3)

    def work(t: Any) -> None:
        with t > 7 as mask, t[mask] as some, t[:, [0, 2]] as columns, np.take(t, [1, 2], 0) as rows:
            t[mask] = 3
            for container in (*np.nonzero(t), some, columns, rows):
                container.close()
        t.redistribute("cyclic")
        t.redistribute("block")
        with dtl.Halo(t, 1) as halo:
            halo.exchange()
            t[::-1] = t
            np.add(t, 1, out=t)
        with t.copy() as other:
            dtl.copy(t, other)
        t.get(([ctx.rank], [1]))

    def used() -> int:
        gc.collect()
        dtl.trim()
        return int(fake.fake_outstanding(1))

    with made(ctx, whole) as t:
        work(t)  # and loads what stays
    before = used()
    for n in range(60 if ctx.size == 1 else 1):
        with made(ctx, whole) as t:
            if n:
                dtl.trim()
                failing(f"{symbol}:{n}:719")
            try:
                work(t)
            except dtl.DTLError:
                assert n
            failing("")
    assert used() == before


@pytest.mark.parametrize("symbol", ["cuLaunchKernel", "cuMemcpyAsync"])
def test_a_kernel_that_fails(ctx: dtl.Context, failing: Any, symbol: str) -> None:
    """On one rank: every rank gets the error, and what comes next is right."""
    whole = np.arange(40.0)
    with made(ctx, whole, "cyclic") as vec, vec > 3 as mask:
        calls = {
            "take": lambda: vec[[3, 1, 2]],
            "one": lambda: vec[ctx.size - 1],
            "get": lambda: vec.get([0, 1, 2, 3]),
            "give": lambda: vec.__setitem__([3, 1, 2], [3.0, 1.0, 2.0]),
            "put": lambda: vec.put([0, 1, 2, 3], [0.0, 1, 2, 3]),
            "select": lambda: dtl.sum(vec[mask]),
            "assign": lambda: vec.__setitem__(mask, 5),
            "nonzero": lambda: len(np.nonzero(vec)[0]),
        }
        for call in calls.values():
            ctx.barrier()
            if ctx.rank == ctx.size - 1:
                failing(f"{symbol}:1:719")
            with pytest.raises(dtl.DTLError, match=r"failed: error 719|rank"):
                call()
            failing("")
            vec[...] = whole
            holds(vec, whole)


def holds_whole(container: Any, whole: Array) -> None:
    """Check all elements, however they are divided."""
    assert container.dtype == whole.dtype
    np.testing.assert_array_equal(_gathered(container), whole)


def _gathered(container: Any) -> Array:
    """Return all elements, without gather_to, for which parts go through the host."""
    mine = [container.local_indices(d) for d in range(container.ndim)], container.to_numpy()
    whole = np.zeros(container.shape, container.dtype)
    for indices, elements in dtl.allgather_object(container.context, mine):
        whole[np.ix_(*indices)] = elements
    return whole


@pytest.mark.parametrize("name", ["block", "explicit", "replicated"])
@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_rows_by_a_container(ctx: dtl.Context, name: str, dtype: str) -> None:
    """The indices stay on the GPU, and so do the rows of this rank's part."""
    for shape in ((20, 3), (9, 2, 2), (7, 0), (5, 1)):
        whole, n = values(dtype, shape, 1), shape[0]
        for places in (np.arange(17) * 7 % n - n // 2, np.arange(12).reshape(6, 2) * 3 % n, np.zeros(0, int)):
            for other in ("block", "cyclic", "replicated"):
                with made(ctx, whole, name) as t, made(ctx, places, other) as at, by_kernels():
                    for some in (t[at], t[at, :], t[at, ...]):
                        assert some.placement_policy is dtl.PLACEMENT_DEVICE
                        holds_whole(some, whole[places])
                        some.close()
            with made(ctx, whole, name) as t, made(ctx, places.astype(np.int16)) as at, t[at] as some:
                holds_whole(some, whole[places])
    with made(ctx, whole, name) as t, made(ctx, np.array([3, 5])) as outside:
        for call in (lambda: t[outside], lambda: t.__setitem__(outside, 1)):
            with pytest.raises(dtl.BoundsError):
                call()
        holds(t, whole)


@pytest.mark.parametrize("name", ["block", "explicit", "replicated"])
@pytest.mark.parametrize("dtype", ["float32", "int8", "complex128"])
def test_assignments_to_rows_by_a_container(ctx: dtl.Context, name: str, dtype: str) -> None:
    """Of an index that occurs twice, one of the rows stays, and not a part of each."""
    for shape in ((20, 3), (9, 2, 2), (30,)):
        whole, n = values(dtype, shape, 1), shape[0]
        kept = name == "replicated" and ctx.size > 1
        for places in (np.arange(n)[::-2] - n // 2, np.arange(6).reshape(3, 2), np.zeros(0, int)):
            given = values(dtype, (*places.shape, *shape[1:]), 2)
            with made(ctx, whole, name) as t, made(ctx, places, "cyclic") as at, made(ctx, given) as rows:
                want = whole.copy()
                for value, there in ((3, 3), (given[:1], given[:1]), (rows, given)):
                    if value is not rows and places.size == 0:
                        continue
                    with dtl.trace() as trace:
                        t[at] = value
                    staged = [record.operation for record in trace.records if "staged" in record.operation]
                    assert kept or not staged, staged
                    want[places] = there
                    holds(t, want)
        twice = np.array([4, 1, 4, 4, 1])
        given = values(dtype, (5, *shape[1:]), 3)
        with made(ctx, whole, name) as t, made(ctx, twice) as at, made(ctx, given) as rows:
            t[at] = rows
            got = _gathered(t)
            for i in (1, 4):
                assert any(np.array_equal(got[i], given[k]) for k in np.flatnonzero(twice == i))


@pytest.mark.parametrize("name", ["block", "explicit", "replicated"])
@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_indices_along_an_axis_stay(ctx: dtl.Context, name: str, dtype: str) -> None:
    """take_along_axis and put_along_axis read no indices on the host."""
    for shape in ((12, 5), (6, 4, 3)):
        whole = values(dtype, shape, 1)
        for axis in range(-1, len(shape) - 1):
            extents = list(shape)
            extents[axis] = 2
            places = np.arange(np.prod(extents)).reshape(extents) * 5 % shape[axis] - 1
            divided = name if axis or name == "replicated" else "block"
            with made(ctx, whole, name) as t, made(ctx, places, divided) as at:
                with by_kernels(), np.take_along_axis(t, at, axis) as some:
                    assert some.placement_policy is dtl.PLACEMENT_DEVICE
                    holds(some, np.take_along_axis(whole, places, axis))
                want = whole.copy()
                with dtl.trace() as trace:
                    np.put_along_axis(t, at, 2, axis)
                np.put_along_axis(want, places, 2, axis)
                holds(t, want)
                kept = name == "replicated" and ctx.size > 1
                assert kept or not any("staged" in record.operation for record in trace.records)
                with made(ctx, places * 0 + shape[axis]) as outside:
                    for call in (
                        lambda t=t, at=outside, axis=axis: np.take_along_axis(t, at, axis),
                        lambda t=t, at=outside, axis=axis: np.put_along_axis(t, at, 1, axis),
                    ):
                        with pytest.raises(dtl.BoundsError):
                            call()
                holds(t, want)
    flat = values(dtype, (30,), 1)
    with made(ctx, flat, name) as vec, made(ctx, np.array([3, -1, 7])) as at, made(ctx, flat[:3].copy()) as given:
        np.put_along_axis(vec, at, given, None)
        want = flat.copy()
        want[[3, -1, 7]] = flat[:3]
        holds(vec, want)


def test_bytes_of_what_stays(ctx: dtl.Context, fake: Any) -> None:
    """Of indices and elements that stay on a rank, the host has least, greatest and counts, however many there are."""
    n = 20000
    whole = np.arange(2.0 * n * ctx.size).reshape(-1, 2)
    mine = np.concatenate([np.arange(n)[::-1] + rank * n for rank in range(ctx.size)])
    calls: Any = {
        "rows": lambda t, at, lines: t[at].close(),
        "elements": lambda t, at, lines: dtl.take(t, at).close(),
        "rows that are written": lambda t, at, lines: t.__setitem__(at, 5),
        "lines": lambda t, at, lines: np.take_along_axis(t, lines, 1).close(),
        "lines that are written": lambda t, at, lines: np.put_along_axis(t, lines, 3, 1),
    }
    for name, call in calls.items():
        if name == "elements" and ctx.size > 1:
            continue  # those of the indices lie on other ranks
        with made(ctx, whole) as t, made(ctx, mine) as at, made(ctx, (mine % 2).reshape(-1, 1)) as lines:
            before = fake.fake_outstanding(7), fake.fake_outstanding(8)
            with by_kernels():
                call(t, at, lines)
            crossed = [fake.fake_outstanding(7) - before[0], fake.fake_outstanding(8) - before[1]]
            assert max(crossed) < 8 * n // 2, (name, crossed)
