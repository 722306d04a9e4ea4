"""Whether calls leave memory behind: the calls of the tests' tables, over and over on one rank."""

from __future__ import annotations

import gc
import sys
import time
from itertools import repeat
from pathlib import Path
from typing import Any, Callable, Dict

from mpi4py import MPI
from pages import resident
from rows import Row, deliver

import dtl
from dtl._native import _dtl
from dtl.runtime.mpi4py import communicator

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python" / "tests"))

import leak_calls
import window_calls

Calls = Dict[str, Callable[[], Any]]

#: Two million calls of each, or as many as this many seconds allow, but no fewer than the least.
_CALLS = 2_000_000
_SECONDS = 1.0
_LEAST_CALLS = 100_000
_WARM_UP = 20_000

#: What a leak on every call cannot stay under: Go's smallest object has 8 bytes, malloc's smallest block 24.
_BYTES_A_CALL = 4.0
#: The rounds of calls, and what may come in each of them from the heap's breath: of the least calls, 21 bytes each.
_ROUNDS = 4
_BREATH = 1 << 19


def mpi_calls(ctx: dtl.Context) -> Calls:
    """Return calls of functions that need MPI."""
    native_communicator = MPI._handleof(MPI.COMM_SELF)

    def exported() -> None:
        opened = _dtl.pydtl_ContextAdopt(native_communicator, -1)
        communicator(MPI, _dtl.pydtl_ContextExport(opened)).Free()
        _dtl.pydtl_ContextClose(opened)

    table = leak_calls.functions(ctx)
    return {
        "ContextExport": exported,
        "MpiAbi": _dtl.pydtl_MpiAbi,
        "MpiPath": _dtl.pydtl_MpiPath,
        "MpiSource": _dtl.pydtl_MpiSource,
        "MpiVersion": _dtl.pydtl_MpiVersion,
        **{name: table[name] for name in ("ContextDup", "ContextSplit")},
    }


def _count(call: Callable[[], object]) -> int:
    """Return how many calls to make, after some to warm up: fewer of what takes long."""
    start = time.perf_counter()
    for _ in repeat(None, _WARM_UP):
        call()
    took = (time.perf_counter() - start) / _WARM_UP
    return max(_LEAST_CALLS, min(_CALLS, int(_SECONDS / took)))


def growth(call: Callable[[], object], calls: int) -> int:
    """Return the bytes by which resident memory grows over so many calls, in the round of some in which it grows least.

    A leak grows in each round. Go's heap breathes by a megabyte or two, and comes back.
    """
    least = 1 << 62
    for _ in range(_ROUNDS):
        gc.collect()
        before = resident()
        for _ in repeat(None, calls):
            call()
        gc.collect()
        least = min(least, resident() - before)
    return least


def _rows(title: str, calls: Calls) -> list[Row]:
    rows = []
    for name, call in calls.items():
        count = _count(call) // _ROUNDS
        grown = growth(call, count)
        bound = max(_BYTES_A_CALL, _BREATH / count)
        detail = f"{grown / count:.3f} bytes a call in the least of {_ROUNDS} rounds of {count:,} calls"
        rows.append(
            Row(
                f"{title}{name}",
                f"< {bound:.0f} bytes a call",
                f"{grown / 1024:.0f} KiB",
                detail,
                grown < bound * count,
            )
        )
        print(rows[-1].measure, rows[-1].result, flush=True)
    return rows


def main() -> None:
    """Call everything: on a context without MPI, and on one with it."""
    rows: list[Row] = []
    with dtl.Environment() as env, env.make_cpu_context() as alone, dtl.Context(comm=MPI.COMM_SELF) as mpi:
        rows += _rows("", leak_calls.functions(alone))
        rows += _rows("", leak_calls.failures(alone))
        for title, ctx in (("no MPI", alone), ("MPI", mpi)):
            for table in (leak_calls.communication, leak_calls.containers, window_calls.windows):
                rows += _rows(f"{title}: ", table(ctx))
        rows += _rows("MPI: ", mpi_calls(mpi))
    deliver(rows, __doc__ or "")


if __name__ == "__main__":
    main()
