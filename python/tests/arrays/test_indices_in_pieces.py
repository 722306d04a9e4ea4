"""Elements at indices and masks in containers on disk, of which a few rows are in memory at a time, beside NumPy."""

from __future__ import annotations

import math
from typing import Any, Callable, Iterator

import numpy as np
import pytest
from divisions import assert_holds

import dtl
from dtl.algorithms import writing
from dtl.containers.indexing import by_rows

SHAPE = (97, 3)
SIZE = math.prod(SHAPE)


@pytest.fixture(params=["near", "far"])
def disk(disk: dtl.Context, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[dtl.Context]:
    """A context whose ranks have some twenty indices in memory, in files by ranges of seven elements or not."""
    limit = dtl.get_memory_limit()
    dtl.set_memory_limit(1 << 40)
    monkeypatch.setattr(by_rows, "_rows_of_block", lambda inner: max(1, 20 // max(inner, 1)))
    monkeypatch.setattr(by_rows, "_rows_of_range", lambda a: 7)
    monkeypatch.setattr(by_rows, "_are_far", lambda *_: request.param == "far")
    monkeypatch.setattr(writing, "mapped_at_once", lambda: 20 << 4)
    yield disk
    dtl.set_memory_limit(limit)


@pytest.fixture
def ranges(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A number for each piece that was written to a file."""
    written: list[int] = []
    add = by_rows.Spill.add
    monkeypatch.setattr(
        by_rows.Spill, "add", lambda self, *given: written.append(len(given[0][0])) or add(self, *given)
    )
    return written


def on_disk(ctx: dtl.Context, values: Any, partition: str = "block") -> Any:
    made = dtl.zeros(ctx, values.shape, dtype=values.dtype, placement="disk", partition=partition)
    made[...] = values
    return made


ORDER = np.random.default_rng(3).permutation(SIZE)
SIGNED = np.where(ORDER % 3 == 0, ORDER - SIZE, ORDER)
ROWS = np.random.default_rng(4).permutation(SHAPE[0])
ALONG = np.random.default_rng(5).integers(-3, 3, SHAPE)
MASK = np.random.default_rng(6).random(SIZE) < 0.4
WORDS = np.array([f"word {i}" for i in range(SIZE)])

READS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "take": (np.take, (np.arange(SIZE) * 1.5, SIGNED)),
    "take of words": (np.take, (WORDS, ORDER)),
    "take of dates": (np.take, (ORDER.astype("M8[D]"), ORDER.astype(np.int32))),
    "take the same": (np.take, (np.arange(SIZE), np.full(SIZE, 7))),
    "take in the shape of indices": (np.take, (np.arange(SIZE), ORDER.reshape(SHAPE))),
    "subscript": (lambda a, i: a[i], (np.arange(SIZE) % 2 == 0, ORDER)),
    "rows": (lambda a, i: a[i], (np.arange(SIZE).reshape(SHAPE), ROWS)),
    "rows of negative indices": (lambda a, i: a[i], (np.arange(SIZE).reshape(SHAPE), -1 - ROWS)),
    "take_along_axis": (lambda a, i: np.take_along_axis(a, i, 1), (np.arange(SIZE).reshape(SHAPE), ALONG)),
}


@pytest.mark.parametrize("partition", ["block", "cyclic"])
@pytest.mark.parametrize("name", READS)
def test_reads(disk: dtl.Context, ranges: list[int], name: str, partition: str) -> None:
    call, arrays = READS[name]
    assert_holds(call(*(on_disk(disk, each, partition) for each in arrays)), call(*arrays))
    if by_rows._are_far():
        assert ranges


def _assign(a: Any, at: Any, values: Any) -> None:
    a[at] = values


WRITES: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "put": (np.put, (np.zeros(SIZE), SIGNED, np.arange(SIZE) + 0.5)),
    "put a few again": (np.put, (np.zeros(SIZE, "i4"), SIGNED[: SIZE // 2], np.array([3, 5, 7], "i4"))),
    "put of another dtype": (np.put, (np.zeros(SIZE), ORDER, np.arange(SIZE))),
    "put_along_axis": (
        lambda *of: np.put_along_axis(*of, 1),
        (np.zeros(SHAPE), ALONG % 3 * 0 + [1, 2, 0], ALONG * 1.5),
    ),
    "put_along_axis a number": (lambda a, i: np.put_along_axis(a, i, 7, 0), (np.zeros(SHAPE), ALONG)),
    "elements": (_assign, (np.zeros(SIZE), SIGNED, ORDER * 0.5)),
    "rows": (_assign, (np.zeros(SHAPE), ROWS, ORDER.reshape(SHAPE) * 0.5)),
    "words": (_assign, (WORDS, ORDER, WORDS)),
    "a row for all": (lambda a, i: _assign(a, i, np.array([1.0, 2.0, 3.0])), (np.zeros(SHAPE), ROWS[::2].copy())),
    "putmask": (np.putmask, (np.zeros(SIZE), MASK, np.arange(SIZE) + 0.5)),
    "putmask of fewer": (np.putmask, (np.zeros(SHAPE), MASK.reshape(SHAPE), np.arange(7.0))),
    "putmask of another dtype": (np.putmask, (np.zeros(SIZE), MASK, np.arange(SIZE))),
    "putmask a number": (lambda a, mask: np.putmask(a, mask, 7), (np.zeros(SHAPE), MASK.reshape(SHAPE))),
    "place": (np.place, (np.zeros(SIZE), MASK, np.arange(11.0))),
    "place in rows": (lambda a, mask: np.place(a, mask, [1, 2]), (np.zeros(SHAPE, "i2"), MASK.reshape(SHAPE))),
    "place numbers where not zero": (np.place, (np.zeros(SIZE), MASK * 3, np.arange(SIZE) + 0.5)),
}


@pytest.mark.parametrize("partition", ["block", "cyclic"])
@pytest.mark.parametrize("name", WRITES)
def test_writes(disk: dtl.Context, name: str, partition: str) -> None:
    call, arrays = WRITES[name]
    given = [on_disk(disk, each, partition if number != 1 else "block") for number, each in enumerate(arrays)]
    want = arrays[0].copy()
    call(want, *arrays[1:])
    call(*given)
    assert_holds(given[0], want)


def test_the_last_of_a_list_stays(disk: dtl.Context) -> None:
    # Each rank's list has other indices, so that on any number of ranks the last is one of its own.
    a, at = dtl.zeros(disk, SIZE, placement="disk"), np.sort(ORDER % (SIZE // 3))
    np.put(a, on_disk(disk, at), on_disk(disk, np.arange(SIZE) * 1.0))
    found = a.gather_to(0)
    if found is not None:
        last = {int(i): number for number, i in enumerate(at)}
        edges = {int(at[SIZE * rank // disk.size]) for rank in range(1, disk.size)}
        assert all(found[i] == number for i, number in last.items() if i not in edges)


@pytest.mark.parametrize("call", ["take", "put", "setitem"])
def test_nothing_is_written_where_an_index_is_outside(disk: dtl.Context, call: str) -> None:
    at = ORDER.copy()
    at[-1] = SIZE
    a, places, values = (on_disk(disk, each) for each in (np.zeros(SIZE), at, np.ones(SIZE)))
    with pytest.raises(dtl.BoundsError, match="outside"):
        {"take": lambda: np.take(a, places), "put": lambda: np.put(a, places, values)}.get(
            call, lambda: _assign(a, places, values)
        )()
    assert not a.any()


def test_nothing_is_written_where_a_value_does_not_fit(disk: dtl.Context) -> None:
    values = np.zeros(SIZE, np.int64)
    values[-1] = 300
    a, places, given = (on_disk(disk, each) for each in (np.ones(SIZE, "u1"), ORDER, values))
    with pytest.raises(OverflowError):
        np.put(a, places, given)
    assert (a == 1).all()


OF_ITSELF: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "put values": (lambda a, i: np.put(a, i, _kept(a)), (np.arange(SIZE) * 1.5, ORDER)),
    "put indices": (lambda a, x: np.put(a, _kept(a), x), (ORDER, np.arange(SIZE))),
    "elements": (lambda a, i: _assign(a, i, _kept(a)), (np.arange(SIZE) * 1.5, ORDER)),
    "rows": (lambda a, i: _assign(a, i, _kept(a)), (np.arange(SIZE).reshape(SHAPE), ROWS)),
    "put_along_axis": (
        lambda a, i: np.put_along_axis(a, i, _kept(a), 1),
        (np.arange(SIZE).reshape(SHAPE), ALONG % 3 * 0 + [1, 2, 0]),
    ),
    "place": (lambda a, mask: np.place(a, mask, _kept(a)), (np.arange(SIZE) * 1.5, MASK)),
}


def _kept(a: Any) -> Any:
    """Return NumPy's array as it is now, and a container itself."""
    return a.copy() if isinstance(a, np.ndarray) else a


@pytest.mark.parametrize("partition", ["block", "cyclic"])
@pytest.mark.parametrize("name", OF_ITSELF)
def test_elements_that_are_written_are_read_before(disk: dtl.Context, name: str, partition: str) -> None:
    call, arrays = OF_ITSELF[name]
    given, want = [on_disk(disk, each, partition) for each in arrays], arrays[0].copy()
    call(want, *arrays[1:])
    call(*given)
    assert_holds(given[0], want)


def test_many_indices_in_rows_and_columns(ctx: dtl.Context) -> None:
    at = np.random.default_rng(7).integers(-5000, 5000, (100, 80))
    assert (dtl.asarray(ctx, np.arange(5000.0)).get(at) == at % 5000).all()
