"""The ledger of slow paths: each kind is told with its line, and programs without any are told nothing."""

from __future__ import annotations

import inspect
import math
import os
from typing import Any, Callable

import numpy as np
import pytest

import dtl
from dtl._native import slow_paths as told
from dtl.monitoring import advice
from dtl.tracing import SlowPath, SlowPaths, report

SEVERAL = "nothing moves on one rank"


def here() -> int:
    """Return the line that calls this."""
    frame = inspect.currentframe()
    assert frame is not None
    assert frame.f_back is not None
    return frame.f_back.f_lineno


def only(ledger: SlowPaths) -> SlowPath:
    (record,) = ledger
    return record


def check(record: SlowPath, kind: str, operation: str, line: int, count: int, size: int | None = None) -> None:
    assert (record.kind, record.operation, record.times) == (kind, operation, count)
    assert (os.path.basename(record.file), record.line) == ("test_slow_paths.py", line)
    assert 0 <= record.seconds < 60
    assert size is None or record.bytes == size
    assert record.faster


# ---- Elements one by one ----


def test_elements_read_in_a_loop(ctx: dtl.Context) -> None:
    vec = dtl.arange(ctx, 20.0)
    with dtl.slow_paths() as slow:
        for i in range(20):
            vec[i]
    check(only(slow), advice.ONE_BY_ONE, "getitem", here() - 1, 20)


def test_elements_written_in_a_loop(ctx: dtl.Context) -> None:
    table = dtl.zeros(ctx, (4, 5))
    with dtl.slow_paths() as slow:
        for i in range(4):
            for j in range(5):
                table[i, j] = i * j
    check(only(slow), advice.ONE_BY_ONE, "setitem", here() - 1, 20)


def test_keys_in_a_loop(ctx: dtl.Context) -> None:
    with dtl.DistributedMap(ctx, np.int64, np.float64) as table:
        with dtl.slow_paths() as slow:
            for key in range(12):
                table[key] = 1.0
        check(only(slow), advice.ONE_BY_ONE, "insert", here() - 1, 12)


def test_reads_of_many_elements_are_none(ctx: dtl.Context) -> None:
    vec = dtl.arange(ctx, 1000.0)
    with dtl.slow_paths() as slow:
        for _ in range(20):
            vec[np.arange(100)]
            vec[10:500].close()
    assert not slow.records


def test_a_few_elements_are_no_loop(ctx: dtl.Context) -> None:
    vec = dtl.arange(ctx, 20.0)
    with dtl.slow_paths() as slow:
        print(vec[0], vec[-1])
    assert str(slow) == "no slow paths"
    assert len(slow) == 0


# ---- Operands that move ----


def test_operand_moved(ctx: dtl.Context) -> None:
    a, b = dtl.ones(ctx, 100), dtl.ones(ctx, 100, partition="cyclic")
    with dtl.slow_paths() as slow:
        np.add(a, b)
    if ctx.size == 1:
        assert not slow.records, SEVERAL
        return
    check(only(slow), told.MOVED, "np.add", here() - 4, 1, 800)


def test_operand_collected_on_every_rank(ctx: dtl.Context) -> None:
    table, row = dtl.ones(ctx, (8, 6)), dtl.ones(ctx, 6)
    with dtl.slow_paths() as slow:
        for _ in range(2):
            table - row
    if ctx.size == 1:
        assert not slow.records, SEVERAL
        return
    check(only(slow), told.EVERYWHERE, "np.subtract", here() - 4, 2, 96)


def test_operands_divided_alike_are_none(ctx: dtl.Context) -> None:
    a, b = dtl.ones(ctx, 100), dtl.ones(ctx, 100)
    with dtl.slow_paths() as slow:
        np.sqrt(a + b).sum()
    assert not slow.records


def test_elements_looked_for_are_collected(ctx: dtl.Context) -> None:
    a, b = dtl.arange(ctx, 10), dtl.arange(ctx, 5)
    with dtl.slow_paths() as slow:
        dtl.isin(a, b)
    if ctx.size == 1:
        assert not slow.records, SEVERAL
        return
    check(only(slow), told.EVERYWHERE, "isin", here() - 4, 1, 40)


def test_matrix_collected_on_one_rank(ctx: dtl.Context) -> None:
    n = 370  # more than a MiB
    large, small = dtl.eye(ctx, n), dtl.eye(ctx, 3)
    with dtl.slow_paths() as slow:
        dtl.linalg.eigvalsh(small)
        dtl.linalg.eigvalsh(large)
    if ctx.size == 1:
        assert not slow.records, SEVERAL
        return
    check(only(slow), told.GATHERED, "eigvalsh", here() - 4, 1, 8 * n * n)


# ---- Functions of elements ----


def positive(x: Any) -> Any:
    return x if x > 0 else 0.0


def _nothing(x: Any) -> None:
    positive(x)


CALLED: dict[str, Callable[[Any], object]] = {
    "transform of a function of math": lambda c: dtl.transform(c, c, math.sqrt),
    "transform of a function that wants numbers": lambda c: dtl.transform(c, c, positive),
    "transform of elements": lambda c: dtl.transform(c, c, np.negative, elementwise=True),
    "for_each": lambda c: dtl.for_each(c, _nothing),
    "for_each of elements": lambda c: dtl.for_each(c, _nothing, elementwise=True),
    "count_if": lambda c: dtl.count_if(c, lambda x: True if x else False),  # noqa: SIM210
    "replace_if": lambda c: dtl.replace_if(c, math.isnan, 0),
    "generate": lambda c: dtl.generate(c, math.sqrt),
    "transform_reduce": lambda c: dtl.transform_reduce(c, math.sqrt),
    "partition_by": lambda c: dtl.partition_by(c, math.isnan),
}


@pytest.mark.parametrize("name", CALLED)
def test_function_of_elements(ctx: dtl.Context, name: str) -> None:
    vec = dtl.ones(ctx, 40 * ctx.size)
    with dtl.slow_paths() as slow:
        CALLED[name](vec)
    record = only(slow)
    assert (record.kind, record.operation, record.times) == (told.BY_ELEMENTS, name.split(maxsplit=1)[0], 1)
    assert record.bytes == 320
    assert os.path.basename(record.file) == "test_slow_paths.py"


def test_function_of_arrays_is_none(ctx: dtl.Context) -> None:
    vec = dtl.ones(ctx, 40)
    with dtl.slow_paths() as slow:
        dtl.transform(vec, vec, np.sqrt)
        dtl.transform(vec, vec, lambda a: np.where(a > 0, a, 0))
        dtl.count_if(vec, np.isnan)
    assert not slow.records


# ---- Python objects ----


@pytest.mark.parametrize("numbers", [np.ones(10), [1.0] * 1000, (1,) * 1000], ids=["array", "list", "tuple"])
def test_numbers_as_objects(ctx: dtl.Context, numbers: Any) -> None:
    with dtl.slow_paths() as slow:
        dtl.allgather_object(ctx, numbers)
    check(only(slow), told.OBJECTS, "allgather_object", here() - 1, 1)


@pytest.mark.parametrize("thing", [{"a": 1}, [1, 2], ["a"] * 1000, None], ids=["dict", "few", "words", "None"])
def test_other_objects_are_none(ctx: dtl.Context, thing: Any) -> None:
    with dtl.slow_paths() as slow:
        dtl.allgather_object(ctx, thing)
    assert not slow.records


def test_long_list_made_an_array(ctx: dtl.Context) -> None:
    numbers = [1.0] * 1000
    with dtl.slow_paths() as slow:
        for _ in range(3):
            dtl.allreduce(ctx, numbers)
    check(only(slow), told.CONVERTED, "value", here() - 1, 3, 24000)


# ---- The ledger ----


def test_ledgers_inside_each_other(ctx: dtl.Context) -> None:
    vec = dtl.ones(ctx, 10)
    with dtl.slow_paths() as outer:
        dtl.transform(vec, vec, math.sqrt)
        with dtl.slow_paths() as inner, inner:
            dtl.transform(vec, vec, math.sqrt)
        dtl.transform(vec, vec, math.sqrt)
    counted = [sum(record.times for record in ledger) for ledger in (outer, inner)]
    assert counted == ([3, 1] if vec.local_size else [0, 0])
    assert not told.listeners
    assert repr(inner) == f"<dtl.tracing.SlowPaths with {len(inner)} records, stopped>"


def test_text(ctx: dtl.Context) -> None:
    records = [
        SlowPath(told.BY_ELEMENTS, "transform", os.path.join(os.getcwd(), "app.py"), 3, 1, 80, 0.25),
        SlowPath(advice.ONE_BY_ONE, "getitem", "", 0, 20, 160, 0.125),
    ]
    assert report(records).splitlines() == [
        "app.py:3: transform: a function called for each element",
        "    once, 80 bytes, 0.250000 s",
        "    faster: pass a function of arrays: np.sqrt for math.sqrt, np.where for a condition",
        "?: getitem: elements one by one",
        "    20 times, 160 bytes, 0.125000 s",
        f"    faster: {records[1].faster}",
    ]


def test_sums_of_all_ranks(ctx: dtl.Context) -> None:
    vec = dtl.ones(ctx, 10 * ctx.size)
    with dtl.slow_paths() as slow:
        for _ in range(ctx.rank + 1):
            dtl.transform(vec, vec, math.sqrt)
        for _ in range(ctx.size - ctx.rank - 1):  # as many on every rank
            dtl.transform(vec, vec, lambda a: a**0.5)
    sums = slow.sums(ctx)
    assert (sums is None) != ctx.is_root
    if sums is not None:
        assert [record.times for record in sums] == [ctx.size * (ctx.size + 1) // 2]


def test_asynchronous_calls_name_the_line(ctx: dtl.Context) -> None:
    vec = dtl.ones(ctx, 10 * ctx.size)
    with dtl.slow_paths() as slow:
        future = dtl.async_transform(vec, vec, math.sqrt)
        future.get()
    check(only(slow), told.BY_ELEMENTS, "transform", here() - 2, 1)


def test_every_kind_has_a_faster_way() -> None:
    kinds = [value for name, value in vars(told).items() if name.isupper() and isinstance(value, str)]
    assert len(kinds) == 9
    for kind in [*kinds, advice.STAGED]:
        assert advice.advice(kind, "")
    for operation in advice.ELEMENTS:
        assert advice.advice(advice.ONE_BY_ONE, operation)
