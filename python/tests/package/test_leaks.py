"""Calls of every kind, many times: memory stays where it is."""

from __future__ import annotations

import gc
import os
from typing import Any, Callable

import pytest
from leak_calls import UNLISTED, communication, containers, failures, functions
from window_calls import windows

import dtl
from dtl._native import _dtl, library

pytestmark = pytest.mark.alone("looks at this process's memory, which MPI uses, too")

CALLS = 2_500

#: A leak of 40 bytes a call is more.
BOUND = 100_000


def resident() -> int:
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def grows(call: Callable[[], Any]) -> int:
    """Return the least growth in bytes of some rounds; a leak grows in each, a heap that settles does not.

    Go's heap takes up to 4 MB before it is collected, and gives pages back when it rests: there are as many rounds
    as a leak of twice the bound needs to pass that.
    """
    least = BOUND * 1000
    for rounds in range(60):
        gc.collect()
        before = resident()
        for _ in range(CALLS):
            call()
        gc.collect()
        least = min(least, resident() - before)
        if least < BOUND // 4 or (rounds >= 8 and least <= BOUND):
            break
    return least


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "table", [functions, failures, communication, containers, windows], ids=lambda table: table.__name__
)
def test_memory_stays_where_it_is(table: Callable[[dtl.Context], dict[str, Callable[[], Any]]]) -> None:
    for _ in range(20 * CALLS):  # Go's heap grows to 4 MB before its first collection, whatever allocates
        library.backend_count()
    grown = {}
    for name, call in table(dtl.Context()).items():
        call()
        used = library.memory_in_use()
        grown[name] = grows(call)
        gc.collect()
        assert library.memory_in_use() <= used, f"{name} keeps memory of the core"
    leaks = {name: f"{count / CALLS:.0f} bytes a call" for name, count in grown.items() if count > BOUND}
    assert not leaks


def test_every_exported_function_is_here() -> None:
    """But those that open MPI, or end the process."""
    exported = {name[len("pydtl_") :] for name in dir(_dtl) if name.startswith("pydtl_")}
    assert exported - UNLISTED == set(functions(dtl.Context()))
