"""Calls with more than 2**31 elements or bytes, on 2 ranks: ``make test-large``, or with the names of some families.

2.2 billion int8 are more elements than an int counts, and 280 million float64 are fewer, but 2.2 GB. Every element that
arrives is compared. A family begins when the one before has given its memory back, and none needs more than 13 GiB on
both ranks, what the MPI library takes included.

More than 2**31 elements of a wider type are sent and broadcast only, as int16: of what computes or collects, two ranks
together hold 4 times as much, and of float64 even a message needs 35 GB. MINLOC and MAXLOC of an array are left out,
whose result has an int64 for each element.
"""

from __future__ import annotations

import re
import resource
import sys
import time
from pathlib import Path

from large_families import FAMILIES

import dtl

_GIB = 1 << 30
_NEEDED = 13 * _GIB


def free_memory() -> int:
    """Return how many bytes this machine and this process's group may still take."""
    found = re.search(r"MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text())
    least = int(found[1]) * 1024 if found else 0
    limit, used = Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")
    if limit.exists() and limit.read_text().strip() != "max":
        least = min(least, int(limit.read_text()) - int(used.read_text()))
    return least


def run(ctx: dtl.Context, name: str) -> None:
    """Make all calls of a family, and say on rank 0 what each took."""
    calls, kinds = FAMILIES[name]
    for kind in kinds:
        start = time.perf_counter()
        for call in calls(ctx, kind):
            ctx.barrier()
            if ctx.is_root:
                seconds = time.perf_counter() - start
                print(f"{name:22}{call:32}{kind.count:>14,} {kind.dtype.name:8}{seconds:7.1f} s", flush=True)
            start = time.perf_counter()


def main() -> None:
    names = sys.argv[1:] or list(FAMILIES)
    unknown = sorted(set(names) - set(FAMILIES))
    if unknown:
        sys.exit(f"no family {', '.join(unknown)}; there are {', '.join(FAMILIES)}")
    with dtl.Context() as ctx:
        free = dtl.broadcast(ctx, free_memory())
        why = "" if ctx.size == 2 else f"this runs on 2 ranks, not {ctx.size}"
        if free < _NEEDED:
            why = f"this needs {_NEEDED / _GIB:.0f} GiB of free memory, and there are {free / _GIB:.1f}"
        if why:
            sys.exit(why if ctx.is_root else 1)
        for name in names:
            run(ctx, name)
        most = dtl.gather(ctx, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20))
        if ctx.is_root:
            print(f"at most {most[0]:.1f} and {most[1]:.1f} GiB on the ranks")


if __name__ == "__main__":
    main()
