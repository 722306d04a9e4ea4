"""How many pages of the memory that ranks share a rank looks at in a call: the kernel marks each page that is read.

An entry of another rank is in a page of its own, so that is what each rank looks at of the others.
"""

from __future__ import annotations

import re
import statistics
import time
from pathlib import Path
from typing import Callable

import numpy as np
from rows import Row, deliver

import dtl

_ROUNDS = 15
_APART = 0.1  # seconds from a round to the next, whose ranks wake at one time and call at once
_MAPPING = re.compile(r"[0-9a-f]+-[0-9a-f]+ ...s .* /dev/shm/")
_REFERENCED = re.compile(r"Referenced: +([0-9]+) kB")


def looked_at() -> int:
    """Return how many pages of shared memory this process has looked at since the marks were cleared."""
    pages, shared = 0, False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        found = _REFERENCED.match(line)
        if found and shared:
            pages += int(found[1]) // 4
        elif line[0].islower() or line[0].isdigit():
            shared = _MAPPING.match(line) is not None
    return pages


def measure(ctx: dtl.Context, call: Callable[[], object]) -> list[int]:
    """Return the pages that each rank looked at in calls that are apart from others. Collective."""
    mine, start = [], dtl.broadcast(ctx, time.time())
    for number in range(1, _ROUNDS + 1):
        Path("/proc/self/clear_refs").write_text("1")
        before = looked_at()
        time.sleep(max(0.0, start + number * _APART - time.time()))
        call()
        mine.append(looked_at() - before)
    return [pages for each in dtl.allgather_object(ctx, mine) for pages in each]


def main() -> None:
    """Measure the calls in which all ranks wait for all, and one in which they wait for root."""
    with dtl.Context() as ctx:
        one, out = np.ones(1), np.empty(1)
        calls: dict[str, Callable[[], object]] = {
            "barrier": ctx.barrier,
            "allreduce": lambda: dtl.allreduce(ctx, one, out=out),
            "broadcast": lambda: dtl.broadcast(ctx, one, out=out),
        }
        digits = len(np.base_repr(max(ctx.size - 1, 1), 8))
        bound = 8 * digits + 4  # of a group for each digit, and the rank's own, the outcome and the elements
        rows = []
        for name, call in calls.items():
            for _ in range(50):
                call()
            pages = measure(ctx, call)
            middle = statistics.median(pages)
            detail = f"of {ctx.size} ranks the least {min(pages)}, the most {max(pages)}"
            rows.append(
                Row(f"`{name}` of 8 B, {ctx.size} ranks", f"≤ {bound} pages", f"{middle:g}", detail, middle <= bound)
            )
        if ctx.is_root:
            deliver(rows, __doc__ or "")


if __name__ == "__main__":
    main()
