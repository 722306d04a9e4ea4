"""What a map takes: memory while it grows, and what it gives back."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

import dtl
from dtl._native import library


def in_use() -> int:
    return int(library.memory_in_use())


def headroom(alone: dtl.Context) -> dtl.DistributedVector:
    """Fill the memory up to the highest mark so far, so that whatever comes on top moves the mark."""
    return dtl.DistributedVector(alone, library.memory_peak() - in_use(), np.int8)


def test_one_million_entries(ctx: dtl.Context, alone: dtl.Context) -> None:
    """On all ranks together, with what is sent and received: at most four times the keys' and values' bytes."""
    count = 1_000_000
    mine = np.arange(ctx.rank, count, ctx.size) * 7919
    with headroom(alone), dtl.DistributedMap(ctx, np.int64, np.int64) as m:
        before = library.memory_peak()
        m.insert_many(mine, mine)
        values, found = m.find_many(mine)
        extra = dtl.allreduce(ctx, library.memory_peak() - before)
        assert found.all()
        np.testing.assert_array_equal(values, mine)
        assert len(m) == count
        assert 16 * count <= extra <= 4 * 16 * count


def test_updates_of_few_keys_take_little(ctx: dtl.Context, alone: dtl.Context) -> None:
    """Temporary memory is bounded by the list, not by what all ranks send one at once."""
    count = 500_000
    with headroom(alone), dtl.DistributedMap(ctx, np.int64, np.int64) as m:
        before = library.memory_peak()
        m.update_many(np.zeros(count, np.int64), 1)
        assert m[0] == count * ctx.size
        # The list in order; and on the owner what undoes the call, nine bytes for each update of every rank.
        assert library.memory_peak() - before <= count * (4 + 16 + 9 * ctx.size) + 8_000_000


def test_clear_and_close_give_memory_back(ctx: dtl.Context) -> None:
    before = in_use()
    m = dtl.DistributedMap(ctx, np.int64, np.int64)
    empty = in_use() - before
    assert 0 < empty < 100_000
    m.insert_many(np.arange(100_000), 1)
    assert in_use() - before > 16 * 100_000 // ctx.size // 2
    m.clear()
    assert in_use() - before <= empty + 50_000  # buffers that the context keeps
    m.insert_many(np.arange(10), 1)
    m.close()
    assert in_use() - before <= 50_000


def test_arrays_outlive_their_map(ctx: dtl.Context) -> None:
    before = in_use()
    m = dtl.DistributedMap(ctx, "U6", np.complex128)
    m.update_many(["a", "ä", "猫猫猫猫猫猫"], [1, 2, 3j])
    keys, values = m.global_view()
    m.close()
    del m
    gc.collect()
    size = ctx.size
    assert dict(zip(keys.tolist(), values.tolist())) == {"a": size, "ä": 2 * size, "猫" * 6: 3j * size}
    keys[0] = "b"
    del keys
    values[:] = 0
    del values
    gc.collect()
    assert in_use() - before <= 50_000


def test_collected_map_lets_its_memory_go(ctx: dtl.Context) -> None:
    before = in_use()
    m = dtl.DistributedMap(ctx, np.int64, np.int64)
    m.insert_many(np.arange(100_000), 1)
    gone = weakref.ref(m)
    del m
    gc.collect()
    assert gone() is None
    assert in_use() - before <= 50_000


def test_iteration_is_over_a_copy(ctx: dtl.Context) -> None:
    with dtl.DistributedMap(ctx, np.int64, np.int64) as m:
        m.insert_many(np.arange(1000), np.arange(1000))
        iterator, pairs = iter(m), m.items()
        n = m.local_size
        m.clear()
        assert len(list(iterator)) == len(list(pairs)) == n


@pytest.mark.parametrize("dtype", ["S", "U", "i8", "f8"])
def test_keys_of_any_layout(ctx: dtl.Context, dtype: str) -> None:
    """Strided, byte-swapped, read-only, wider and object arrays give the keys that they hold."""
    numbers = np.arange(20)
    plain: Any = numbers.astype(f"{dtype}4" if dtype in "SU" else dtype)
    width = "4" if dtype in "SU" else ""
    frozen = plain.copy()
    frozen.flags.writeable = False
    unaligned = np.frombuffer(b"x" + plain.tobytes(), plain.dtype, offset=1)
    forms = [np.repeat(plain, 2)[::2], plain[::-1][::-1], frozen, unaligned, plain.tolist(), tuple(plain.tolist())]
    forms.append(plain.astype(plain.dtype.newbyteorder(">")))
    if dtype in "SU":
        forms += [plain.astype(object), plain.astype(f"{dtype}30"), plain.astype(f"{dtype}2")]
    elif dtype == "i8":
        forms += [plain.astype("i1"), plain.astype("u8"), range(20)]
    else:
        forms += [plain.astype("f2"), plain.astype("i4"), plain.astype("f4")]
    with dtl.DistributedMap(ctx, dtype + width if dtype in "SU" else dtype, np.int64) as m:
        m.insert_many(plain, numbers)
        for form in forms:
            values, found = m.find_many(form)
            assert found.all()
            assert values.tolist() == numbers.tolist()
            m.insert_many(form, numbers[::-1].copy()[::-1])
        assert len(m) == 20
