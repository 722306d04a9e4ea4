"""Maps whose lists of keys are more than the limit of memory has room for: what they have, beside Python's dict."""

import os

import numpy as np
import pytest

import dtl
from dtl._native import library

COUNT = 80_000  # of each rank's list: some rounds


@pytest.fixture
def limited(disk):
    """A context of whose lists only a few thousand keys are in memory at a time."""
    before = library.memory_limit()
    library.memory_set_limit(1 << 20)
    try:
        yield disk
    finally:
        library.memory_set_limit(before)


def lists(ctx, dtype, skewed):
    """Return the list of each rank: half of the keys are on other ranks, too."""
    made = []
    for rank in range(ctx.size):
        numbers = np.random.default_rng(rank).integers(0, COUNT, COUNT) + rank * COUNT // 2
        numbers[: COUNT // 10 * 9 if skewed else 0] = 7
        made.append(numbers.astype(dtype))
    return made


def entries(m):
    keys, values = m.global_view()
    return dict(zip(keys.tolist(), values.tolist()))


@pytest.mark.parametrize("skewed", [False, True])
@pytest.mark.parametrize("dtype", ["i8", "f8", "S9"])
def test_the_last_value_stays(limited, dtype, skewed):
    every = lists(limited, dtype, skewed)
    m = dtl.DistributedMap(limited, dtype, np.float64)
    values = [np.arange(COUNT) + rank / 8 for rank in range(limited.size)]
    m.insert_many(every[limited.rank], values[limited.rank])
    want = dict(zip(np.concatenate(every).tolist(), np.concatenate(values).tolist()))
    assert entries(m) == want
    m.insert_many(every[limited.rank][:: limited.rank + 1], -1.0)
    for rank, keys in enumerate(every):
        want.update(dict.fromkeys(keys[:: rank + 1].tolist(), -1.0))
    assert entries(m) == want


@pytest.mark.parametrize("skewed", [False, True])
def test_counts(limited, skewed):
    every = lists(limited, "i8", skewed)
    m = dtl.DistributedMap(limited, np.int64, np.int64)
    m.update_many(every[limited.rank], 1)
    m.update_many(every[limited.rank] if limited.is_root else [], 3)
    expected = dict(zip(*(each.tolist() for each in np.unique(np.concatenate(every), return_counts=True))))
    for key in every[0].tolist():
        expected[key] += 3
    assert entries(m) == expected
    found, there = m.find_many(every[limited.rank])
    assert there.all()
    assert found.tolist() == [expected[key] for key in every[limited.rank].tolist()]


def test_a_folder_that_has_gone_is_an_error_on_every_rank(limited):
    m = dtl.DistributedMap(limited, np.int64, np.int64)
    m.update_many([limited.rank], 1)
    keys = np.arange(COUNT) if limited.rank == limited.size - 1 else np.arange(3)
    limited.barrier()
    if limited.is_root:
        os.rmdir(limited.scratch)
    limited.barrier()
    with pytest.raises(FileNotFoundError, match="does not exist"):
        m.update_many(keys, 1)
    assert entries(m) == dict.fromkeys(range(limited.size), 1)
