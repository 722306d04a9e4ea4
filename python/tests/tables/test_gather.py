"""Rows of tables of pyarrow, taken by loops of this package, compared with Arrow's own."""

from __future__ import annotations

import decimal
import threading
from typing import Any, Iterator

import numpy as np
import pytest

import dtl
from dtl._native.library import bridge
from dtl.runtime.threaded import each, made_ahead
from dtl.tables import by_ranges, gather

pa = pytest.importorskip("pyarrow", "14", reason="tables are pyarrow's")

KINDS = [
    "text", "binary", "bool", "decimal", "categories", "fixed", "list", "null", "time",
    "int8", "int16", "int32", "int64", "uint8", "uint64", "float32", "float64",
]  # fmt: skip


def array_of(kind: str, rows: int, mask: Any, rng: Any) -> Any:
    numbers = rng.integers(0, 100, rows)
    texts = ["x" * int(n % 40) + str(n) for n in numbers]
    made = {
        "text": lambda: pa.array(texts, pa.string(), mask=mask),
        "binary": lambda: pa.array(texts, pa.string(), mask=mask).cast(pa.binary()),
        "categories": lambda: pa.array(texts, pa.string(), mask=mask).dictionary_encode(),
        "bool": lambda: pa.array(numbers < 50, mask=mask),
        "decimal": lambda: pa.array([decimal.Decimal(int(n)) for n in numbers], pa.decimal128(20, 2), mask=mask),
        "fixed": lambda: pa.array([bytes([n] * 3) for n in numbers.tolist()], pa.binary(3), mask=mask),
        "list": lambda: pa.array([[n] for n in numbers.tolist()], pa.list_(pa.int64()), mask=mask),
        "time": lambda: pa.array(numbers, mask=mask).cast(pa.timestamp("us")),
        "null": lambda: pa.nulls(rows),
    }
    return made[kind]() if kind in made else pa.array(numbers.astype(kind), mask=mask)


def column_of(kind: str, rows: int, nulls: bool, rng: Any) -> Any:
    """Return a column whose chunks begin within Arrow's buffers."""
    array = array_of(kind, rows + 3, rng.random(rows + 3) < 0.2 if nulls else None, rng).slice(3)
    cut = int(rng.integers(0, rows + 1))
    return pa.chunked_array([array.slice(0, cut), array.slice(cut)])


@pytest.fixture(params=[1, 3], ids=["one thread", "three threads"])
def threads(request: pytest.FixtureRequest) -> Any:
    before = dtl.get_num_threads()
    dtl.set_num_threads(request.param)
    yield
    dtl.set_num_threads(before)


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("nulls", [False, True])
@pytest.mark.parametrize("rows", [0, 1, 5, 300])
def test_rows_are_those_that_arrow_takes(monkeypatch: pytest.MonkeyPatch, rows: int, nulls: bool) -> None:
    monkeypatch.setattr(gather, "ROWS", 50)
    rng = np.random.default_rng([rows, nulls])
    table = pa.table({kind: column_of(kind, rows, nulls, rng) for kind in KINDS})
    for least in (0, -1):
        for count in (0, 1, 49, 64, 65, 200) if rows > least + 1 else ():
            wanted = rng.integers(least, max(rows, least + 1), count)
            found = gather.taken(table, wanted)
            found.validate(full=True)
            assert found.equals(table.take(pa.array(wanted, pa.int64(), mask=wanted < 0)))
    mask = rng.random(rows) < 0.7
    mask[: rows // 2] = True
    found = gather.kept(table, mask)
    found.validate(full=True)
    assert found.equals(table.filter(pa.array(mask)))


@pytest.mark.parametrize("kind", KINDS)
def test_no_rows_within_a_buffer(kind: str) -> None:
    rng = np.random.default_rng(3)
    array = array_of(kind, 12, rng.random(12) < 0.5, rng).slice(9, 0)
    (made,) = gather.taker(array)(gather.Chosen(np.array([-1, -1]), True))
    assert made.to_pylist() == [None, None]


def test_text_of_more_bytes_than_an_array_has_offsets_for_comes_in_several(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gather, "_TEXT", 100)
    texts = pa.table({"text": ["a" * 40, None, "b"]})
    rows = np.array([0, 1, 0, 2, -1, 0, 0, 2])
    found = gather.taken(texts, rows)
    assert found["text"].num_chunks > 1
    assert found["text"].to_pylist() == ["a" * 40, None, "a" * 40, "b", None, "a" * 40, "a" * 40, "b"]


@pytest.mark.parametrize("kind", KINDS)
def test_rows_in_parts(kind: str) -> None:
    rng = np.random.default_rng(3)
    for rows, parts, null in ((0, 4, 0.0), (50, 4, 0.0), (50, 4, 0.3), (300, 1, 0.0), (300, 200, 0.0)):
        array = array_of(kind, rows + 9, rng.random(rows + 9) < null if null else None, rng)
        column = pa.chunked_array([array.slice(5, rows // 3), array.slice(0, 0), array.slice(9 + rows // 3)])
        numbers = rng.integers(0, parts, len(column))
        order = np.argsort(numbers, kind="stable")
        table = pa.table({"a": column, "n": np.arange(len(column)), "t": [str(n) for n in range(len(column))]})
        in_parts = by_ranges.InParts(numbers.copy(), parts)
        assert in_parts.taken(table).equals(table.take(pa.array(order)))
        assert in_parts.counts.tolist() == np.bincount(numbers, minlength=parts).tolist()


def test_loops_refuse_memory_that_is_too_small() -> None:
    rows, ends = np.zeros(4, np.int64), np.array([0, 5, 9, 9, 9], np.int32)
    room = np.zeros(8, np.uint8)
    for refused in (
        lambda: bridge.take_fixed(room, room, 1, 8, rows, 4),
        lambda: bridge.take_fixed(np.zeros(4), room, 2, 8, rows, 4),
        lambda: bridge.take_fixed(np.zeros(5), np.zeros(1), 1, 8, rows, 5),
        lambda: bridge.part_fixed(room[:3], room, 1, rows, 4, rows, 4),
        lambda: bridge.part_fixed(room, room, 3, rows, 2, rows.copy(), 4),
        lambda: bridge.part_fixed(room, room, 2, rows, 4, rows.copy()[:3], 4),
        lambda: bridge.part_fixed(room, room, 2, rows + 4, 4, rows.copy(), 4),
        lambda: bridge.part_fixed(room, room, 2, rows, 4, rows - 1, 4),
        lambda: bridge.take_bits(room[:0], room, 0, 1, rows, 4),
        lambda: bridge.take_bits(room, room, 1, 64, rows, 4),
        lambda: bridge.take_offsets(ends[:4], ends, ends, 1, rows, 4),
        lambda: bridge.take_text(room, 8, ends, ends, 4, room, 8),
    ):
        with pytest.raises(ValueError, match="bytes"):
            refused()


@pytest.mark.usefixtures("threads")
def test_the_error_of_a_task_is_raised_once_all_are_over() -> None:
    def fail(number: int) -> int:
        if number == 3:
            raise KeyError(number)
        return number

    assert each([lambda n=n: n * n for n in range(9)]) == [n * n for n in range(9)]  # type: ignore[misc]
    with pytest.raises(KeyError, match="3"):
        each([lambda n=n: fail(n) for n in range(9)])  # type: ignore[misc]


def test_what_is_made_ahead_comes_in_the_order_of_the_items() -> None:
    taken, begun, both = [], [], threading.Barrier(2)

    def items() -> Iterator[int]:
        for number in range(20):
            taken.append(number)
            yield number

    def square(number: int) -> int:
        begun.append(number)
        if number < 2:
            both.wait(60)  # so that two are made side by side
        return number * number

    made = made_ahead(square, items(), 3)
    for number in range(20):
        assert next(made) == number * number
        assert len(taken) <= number + 3  # with the one that has been yielded
    assert (next(made, None), sorted(begun)) == (None, list(range(20)))
    assert list(made_ahead(square, [5, 6], 1)) == [25, 36]
    assert list(made_ahead(square, [], 4)) == []


def test_errors_of_what_is_made_ahead_come_in_their_place() -> None:
    def items() -> Iterator[int]:
        yield from range(4)
        raise KeyError("no more")

    def fail(number: int) -> int:
        if number == 2:
            raise ValueError("no two")
        return number

    for threads in (1, 3):
        made, several = made_ahead(abs, items(), threads), made_ahead(fail, range(9), threads)
        assert [next(made) for _ in range(4)] == [0, 1, 2, 3]
        with pytest.raises(KeyError, match="no more"):
            next(made)
        assert [next(several), next(several)] == [0, 1]
        with pytest.raises(ValueError, match="no two"):
            next(several)
    others = threading.active_count()
    stopped = made_ahead(abs, iter(range(100)), 3)
    assert next(stopped) == 0
    stopped.close()
    assert threading.active_count() <= others
